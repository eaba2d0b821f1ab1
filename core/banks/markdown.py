"""Witnesses in Markdown: ATX headings outside fenced code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from core.banks.rules import DOCS, FileWitnesses, Witness

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_HASHES = re.compile(r"#{1,6}(?=\s)")


class Heading(NamedTuple):
    """An ATX heading: its line from 1, its level from 1 to 6 and its text without closing `#`s."""

    line: int
    level: int
    text: str


def markdown_cases(source: bytes) -> FileWitnesses:
    """Return the witnesses of a Markdown file's raw bytes; undecodable bytes are replaced."""
    found: list[Witness] = []
    short = 0
    for heading in headings(markdown_lines(source)):
        if len(heading.text) >= DOCS.minimum:
            found.append(Witness(DOCS, heading.text, heading.line))
        else:
            short += 1
    return FileWitnesses(tuple(found), short)


def markdown_lines(source: bytes) -> list[str]:
    """Return the lines that headings are counted by: those of `str.splitlines()`."""
    return source.decode("utf-8", errors="replace").splitlines()


def headings(lines: list[str]) -> Iterator[Heading]:
    """Yield the headings outside fenced code, in the order of their lines.

    A fence is closed by its own mark, at least as long, with nothing but white space after it.
    """
    fence = ""
    for number, line in enumerate(lines, start=1):
        mark = _FENCE.match(line)
        if mark is not None:
            if not fence:
                fence = mark[1]
            elif mark[1].startswith(fence) and not line[mark.end() :].strip():
                fence = ""
        elif not fence:
            hashes = _HASHES.match(line)
            if hashes is not None:
                yield Heading(number, hashes.end(), _text(line[hashes.end() :]))


def _text(rest: str) -> str:
    """Return a heading's text: closing `#`s fall away even where no space stands before them."""
    return rest.strip().rstrip("#").rstrip()
