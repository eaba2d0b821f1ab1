"""Printing: results on stdout, narration on stderr, nothing untrusted as markup."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable, Sequence


def say(text: str) -> None:
    """Print a result line; raises OSError where stdout cannot take it, unless its reader is gone."""
    write([text, "\n"])


def narrate(text: str) -> None:
    """Print a line of narration; whether anybody reads it changes no outcome."""
    with contextlib.suppress(OSError, ValueError):
        print(text, file=sys.stderr, flush=True)  # noqa: T201 - narration goes to stderr


def write(chunks: Iterable[str]) -> None:
    """Print text as it is, without adding line ends; raises as `say` does."""
    try:
        for chunk in chunks:
            sys.stdout.write(chunk)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader (`head`, a closed pager) has enough: the work and its exit code go on without it.
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


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
