"""Markdown from text that may hold anything: nothing in it becomes markup, and tables stay whole."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from core.reports.sentence import Name, Sentence
from core.text import printable

CODE_LIMIT = 160

# `_` inside a word, `<` before a space or digit and the `@` of `MRR@10` are no markup, and stay readable.
_MARKUP = re.compile(
    r"([\\`*\[\]>~&#]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|<(?![ 0-9])"
    r"|(?<![A-Za-z])@|@(?!\d{1,3}(?![\w-]|\.\w)))"
)
_RUNS = re.compile(r"`+")
_LINKS = re.compile(r"(?i)(?<=[a-z])://|(?<=www)\.")


def text(value: str, limit: int | None = None) -> str:
    """Return a value as Markdown text on one line that shows it literally, also inside a table."""
    escaped = _MARKUP.sub(r"\\\1", printable(value, limit)).replace("|", "&#124;")
    # Bare addresses would become links; an entity shows the same character and makes none.
    return _LINKS.sub(lambda found: f"&#{ord(found.group()[0])};{found.group()[1:]}", escaped)


def code(value: str, limit: int = CODE_LIMIT) -> str:
    """Return a value as a code span, or as text where a code span cannot hold it inside a table."""
    shown = printable(value, limit)
    if not shown.strip() or "|" in shown:
        return text(shown)
    fence = "`" * (max((len(run) for run in _RUNS.findall(shown)), default=0) + 1)
    pad = " " if shown[0] in "` " or shown[-1] in "` " else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def prose(sentence: Sentence) -> str:
    """Return a sentence with its names in bold."""
    return "".join(f"**{text(part)}**" if isinstance(part, Name) else text(part) for part in sentence)


def table(headers: Sequence[str], rows: Iterable[Sequence[str]], words: int = 1) -> list[str]:
    """Return the lines of a table whose cells are Markdown already; the first `words` columns hold words.

    The other columns are aligned right. Raises ValueError for a row of another length than the headers.
    """
    lines = [_row(headers), _row([":---" if at < words else "---:" for at in range(len(headers))])]
    for row in rows:
        if len(row) != len(headers):
            raise ValueError(f"a table of {len(headers)} columns was given a row of {len(row)}")
        lines.append(_row(row))
    return lines


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
