"""Printing: results on stdout, narration on stderr, nothing untrusted as markup."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence


def say(text: str) -> None:
    """Print a result line."""
    print(text)  # noqa: T201 - results go to stdout


def narrate(text: str) -> None:
    """Print a line of narration."""
    print(text, file=sys.stderr, flush=True)  # noqa: T201 - narration goes to stderr


def write(chunks: Iterable[str]) -> None:
    """Print text as it is, without adding line ends."""
    for chunk in chunks:
        sys.stdout.write(chunk)
    sys.stdout.flush()


def table(headers: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print columns that line up; numbers, which begin with a digit, stand on the right."""
    body = [tuple(row) for row in rows]
    widths = [max(map(len, column)) for column in zip(headers, *body, strict=True)]
    for row in (tuple(headers), *body):
        cells = [
            cell.rjust(width) if cell[:1].isdigit() else cell.ljust(width)
            for cell, width in zip(row, widths, strict=True)
        ]
        say("  ".join(cells).rstrip())
