"""Fallen gates as workflow commands, which GitHub shows as annotations beside a pull request.

Escaping as GitHub's own toolkit does it: `%`, CR and LF in messages, in properties also `:` and `,`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from core.reports.gates import GateRow
from core.text import printable_lines

_MESSAGE = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_PROPERTY = {**_MESSAGE, ":": "%3A", ",": "%2C"}


def error_commands(rows: Sequence[GateRow]) -> Iterator[str]:
    """Yield one command for each gate that fell, without its line end."""
    for row in rows:
        if not row.held:
            title = _escaped(f"Gate fell: {row.title} ({row.candidate})", _PROPERTY)
            message = _escaped("\n".join([row.sentence, *row.details]), _MESSAGE)
            yield f"::error title={title}::{message}"


def _escaped(text: str, replacements: dict[str, str]) -> str:
    return "".join(replacements.get(character, character) for character in printable_lines(text))
