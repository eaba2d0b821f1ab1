"""Help as screens write it, taken apart: keys with what they do, and the prose between them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

_DESCRIPTION = re.compile(r"\S.*?\s{2,}(?=\S)")
_FEWEST = 2  # lines that share a column before it counts as one


class Prose(NamedTuple):
    """A line to be read, however wide it is."""

    text: str


class Keys(NamedTuple):
    """Keys in a column, each with what it does beside it."""

    rows: tuple[tuple[str, str], ...]


def help_parts(text: str) -> Iterator[Prose | Keys]:
    """Yield the parts of a help text, lines that its source broke as one; empty prose parts paragraphs."""
    for number, paragraph in enumerate(text.split("\n\n")):
        if number:
            yield Prose("")
        yield from _paragraph(paragraph.split("\n"))


def _paragraph(lines: Sequence[str]) -> Iterator[Prose | Keys]:
    column = _column(lines)
    rows: list[tuple[str, str]] = []
    prose: list[str] = []
    for line in lines:
        key, told = line[:column], line[column:]
        if column and key.endswith("  ") and told and not told[0].isspace():
            if key.strip():
                rows.append((key.strip(), told))
            elif rows:
                rows[-1] = (rows[-1][0], f"{rows[-1][1]} {told}")
        elif prose and _goes_on(prose[-1], line):
            prose[-1] = f"{prose[-1]} {line}"
        else:
            prose.append(line)
    yield from map(Prose, prose)
    if rows:
        yield Keys(tuple(rows))


def _column(lines: Sequence[str]) -> int:
    """Return the column at which most lines begin to say what a key does; 0 where there are no keys."""
    found = Counter(match.end() for line in lines if (match := _DESCRIPTION.match(line)))
    column, shared = max(found.items(), key=lambda item: item[1], default=(0, 0))
    return column if shared >= _FEWEST else 0


def _goes_on(before: str, line: str) -> bool:
    """Tell whether a line goes on with the sentence of the one before; lines of legends stand alone."""
    return "  " not in before + line and (line[:1].islower() or line[:1].isdigit() or line[:1] == "(")
