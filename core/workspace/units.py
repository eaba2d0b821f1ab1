"""The unit of retrieval: a definition, a module or a section, with its place and its texts."""

from __future__ import annotations

from typing import NamedTuple

from core.ranking import Channel, Kind


class Unit(NamedTuple):
    """One thing that can be found.

    Lines count from 1 and `end_line` is inclusive; a module has neither, as it stands for its whole
    file. No text is longer than the text limit that the unit was made with.
    """

    channel: Channel
    kind: Kind
    path: str
    line: int | None
    end_line: int | None
    name: str  # an identifier, a module's name or a heading
    scope: str  # the names or headings around it, outermost first
    summary: str  # its docstring; empty for a section
    source: str  # its source text from `line` on
    rest: str  # its source without the docstring or heading line


def embedding_text(unit: Unit, limit: int) -> str:
    """Return the text that a model embeds: the name in its scope, what it says of itself, then the rest.

    A model reads only so many tokens; in this order the cut falls where least is lost.
    """
    named = f"{unit.scope} {unit.name}".strip()
    return "\n".join(part for part in (named, unit.summary, unit.rest) if part)[:limit]


def excerpt(source: str, limit: int) -> str:
    """Return the whole first lines of a source that fit into `limit` characters, or a piece of the first."""
    if len(source) <= limit:
        return source
    end = source.rfind("\n", 0, limit + 1)
    return source[: end if end > 0 else limit]
