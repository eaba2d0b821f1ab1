"""Reads lines of text by a pattern of fields with literal text between them, such as `{path}:{line}:{text}`.

Fields: `path`, `line`, `end_line`, `kind`, `score`, `excerpt`; `column` is a number and `text` anything, and
neither is kept. A field reaches up to the next place where the rest of the pattern fits; numbers are digits
only. So `a:b.py:12:x` reads as line 12 of `a:b.py`, whatever follows in `x`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import NamedTuple

from core.errors import ProblemsError
from core.retrievers.declared.templates import Word, parse_word

FIELDS = ("path", "line", "end_line", "kind", "score", "excerpt", "column", "text")
NUMBERS = frozenset({"line", "end_line", "column"})
_DIGITS = re.compile("[0-9]+")


class LinePattern(NamedTuple):
    """A pattern taken apart."""

    shown: str
    parts: tuple[tuple[str, bool], ...]

    @property
    def fields(self) -> frozenset[str]:
        """The fields that it holds."""
        return frozenset(text for text, is_field in self.parts if is_field)

    def read(self, line: str) -> Mapping[str, str] | None:
        """Return the fields of a line, None where it does not fit."""
        found: dict[str, str] = {}
        return found if _fits(self.parts, line, 0, found, set()) else None


def parse_pattern(pattern: str, field: str) -> LinePattern:
    """Take a pattern apart; raises ProblemsError naming `field`."""
    parts = _merged(parse_word(pattern, FIELDS, field))
    names = [text for text, is_field in parts if is_field]
    problems = []
    if "path" not in names:
        problems.append(f"{field}: found no {{path}}, which every result needs")
    problems += [f"{field}: found {{{name}}} twice" for name in FIELDS if names.count(name) > 1]
    problems += [
        f"{field}: {{{left}}} and {{{right}}} stand side by side; put what the tool prints between them"
        for (left, is_left), (right, is_right) in pairwise(parts)
        if is_left and is_right
    ]
    if problems:
        raise ProblemsError(f"{field} is not valid:", problems)
    return LinePattern(pattern, parts)


def _merged(word: Word) -> tuple[tuple[str, bool], ...]:
    """Join literal texts that stand side by side, as doubled braces leave them."""
    merged: list[tuple[str, bool]] = []
    for text, is_field in word.parts:
        if merged and not is_field and not merged[-1][1]:
            merged[-1] = (merged[-1][0] + text, False)
        else:
            merged.append((text, is_field))
    return tuple(merged)


def _fits(
    parts: tuple[tuple[str, bool], ...], line: str, start: int, found: dict[str, str], spent: set[int]
) -> bool:
    """Tell whether parts read a line from `start` to its end, and put what their fields hold into `found`.

    `spent` holds how many parts were left at each field that took every end it could, in vain. Its ends
    from further on are among those, so it is never tried again, and a line costs no more than its length.
    """
    if not parts:
        return start == len(line)
    (text, is_field), rest = parts[0], parts[1:]
    if not is_field:
        return line.startswith(text, start) and _fits(rest, line, start + len(text), found, spent)
    if len(parts) in spent:
        return False
    is_number = text in NUMBERS
    for end in _number_ends(rest, line, start) if is_number else _ends(rest, line, start):
        if (end > start or text in ("excerpt", "text")) and _fits(rest, line, end, found, spent):
            found[text] = line[start:end]
            return True
    if not is_number:
        spent.add(len(parts))
    return False


def _ends(rest: tuple[tuple[str, bool], ...], line: str, start: int) -> Iterator[int]:
    """Yield where a field may end: before each occurrence of the literal text that follows it."""
    if not rest:
        yield len(line)
        return
    at = line.find(rest[0][0], start)
    while at >= 0:
        yield at
        at = line.find(rest[0][0], at + 1)


def _number_ends(rest: tuple[tuple[str, bool], ...], line: str, start: int) -> Iterator[int]:
    """Yield where a number may end: as `_ends`, but not beyond the digits that it begins with."""
    digits = _DIGITS.match(line, start)
    end = digits.end() if digits else start
    if not rest:
        if end == len(line):
            yield end
        return
    following = rest[0][0]
    at = line.find(following, start, end + len(following))
    while at >= 0:
        yield at
        at = line.find(following, at + 1, end + len(following))
