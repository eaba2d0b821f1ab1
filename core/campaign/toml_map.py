"""Where each value of a TOML text stands, which TOML's parsers do not tell."""

from __future__ import annotations

import contextlib
import re
import tomllib
from bisect import bisect_right
from collections.abc import Mapping
from typing import NamedTuple

Place = tuple[str | int, ...]

_TOKEN = re.compile(
    r'(?P<string>"""(?:\\.|[^\\])*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\')'
    r"|(?P<comment>\#[^\n]*)"
    r"|(?P<newline>\n)"
    r"|(?P<space>[^\S\n]+)"
    r"|(?P<mark>[\[\]{},=.])"
    r"|(?P<bare>[^\s\#\"'\[\]{},=.]+)"
    r"|(?P<other>.)",
    re.DOTALL,
)


class Span(NamedTuple):
    """The first and the last line of a value, counted from 1; a table's include what stands in it."""

    first: int
    last: int


class Block(NamedTuple):
    """A table written under a header of its own: the header's line, and its own last value's, from 1.

    The root table has the header line 0.
    """

    header: int
    last: int


class TomlMap(NamedTuple):
    """What of a text stands where, by places such as `("candidates", 0, "id")`.

    `values` gives the offsets of each value's text, from the first character to after the last; `comments`
    the offsets of every comment, in order.
    """

    spans: Mapping[Place, Span]
    values: Mapping[Place, tuple[int, int]]
    blocks: Mapping[Place, Block]
    comments: tuple[tuple[int, int], ...]

    def line(self, place: Place) -> int | None:
        """Return the line of a place, or of the nearest table around it that has one."""
        for length in range(len(place), 0, -1):
            found = self.spans.get(place[:length])
            if found is not None:
                return found.first
        return None


class _Token(NamedTuple):
    kind: str
    text: str
    start: int
    end: int


def map_toml(text: str) -> TomlMap:
    """Return where everything stands in a valid TOML text; of another, what comes before its fault."""
    scanner = _Scanner(text)
    with contextlib.suppress(IndexError, RecursionError):
        scanner.scan()
    return TomlMap(scanner.spans, scanner.values, scanner.blocks, scanner.comments)


class _Scanner:
    """Walks the tokens of a text once and notes where each key, entry and table stands."""

    def __init__(self, text: str) -> None:
        self.spans: dict[Place, Span] = {}
        self.values: dict[Place, tuple[int, int]] = {}
        self.blocks: dict[Place, Block] = {(): Block(0, 0)}
        self._starts = [0, *(match.end() for match in re.finditer("\n", text))]
        self._tokens = [
            _Token(str(match.lastgroup), match.group(), match.start(), match.end())
            for match in _TOKEN.finditer(text)
            if match.lastgroup != "space"
        ]
        self.comments = tuple((each.start, each.end) for each in self._tokens if each.kind == "comment")
        self._at = 0
        self._counts: dict[Place, int] = {}  # entries seen of each array of tables

    def scan(self) -> None:
        table: Place = ()
        while self._at < len(self._tokens):
            token = self._tokens[self._at]
            if token.kind in {"newline", "comment"}:
                self._at += 1
            elif token.text == "[":
                table = self._header()
            else:
                end = self._pair(table)
                self.blocks[table] = Block(self.blocks[table].header, self._line(max(end - 1, 0)))

    def _header(self) -> Place:
        first = self._tokens[self._at]
        following = self._tokens[self._at + 1]
        is_entry = following.text == "[" and following.start == first.end
        self._at += 2 if is_entry else 1
        keys, last = self._keys("]")
        self._at += 2 if is_entry else 1
        place: Place = ()
        for position, key in enumerate(keys):
            place = (*place, key)
            if is_entry and position == len(keys) - 1:
                self._counts[place] = self._counts.get(place, 0) + 1
            if place in self._counts:
                place = (*place, self._counts[place] - 1)
        self._note(place, first.start, last)
        line = self._line(first.start)
        self.blocks[place] = Block(line, line)
        return place

    def _pair(self, table: Place) -> int:
        """Pass over a key and its value; return where the value ends."""
        start = self._tokens[self._at].start
        keys, _ = self._keys("=")
        self._at += 1
        place: Place = (*table, *keys)
        begins = self._tokens[self._at].start
        ends = self._value(place)
        self.values[place] = (begins, ends)
        self._note(place, start, ends)
        return ends

    def _keys(self, until: str) -> tuple[list[str], int]:
        """Return a dotted key's parts, and where the last of them ends."""
        parts: list[str] = []
        end = 0
        while (token := self._tokens[self._at]).text != until:
            if token.kind in {"string", "bare"}:
                parts.append(_unquoted(token))
            end = token.end
            self._at += 1
        return parts, end

    def _value(self, place: Place) -> int:
        """Pass over a value, noting what stands in it; return where it ends."""
        token = self._tokens[self._at]
        if token.text == "[":
            return self._array(place)
        if token.text == "{":
            return self._inline_table(place)
        end = token.end
        while self._at < len(self._tokens):
            token = self._tokens[self._at]
            if token.kind in {"newline", "comment"} or token.text in {",", "]", "}"}:
                break
            end = token.end
            self._at += 1
        return end

    def _array(self, place: Place) -> int:
        self._at += 1
        number = 0
        while (token := self._tokens[self._at]).text != "]" or token.kind != "mark":
            if token.kind in {"newline", "comment"} or token.text == ",":
                self._at += 1
                continue
            inner: Place = (*place, number)
            end = self._value(inner)
            self.values[inner] = (token.start, end)
            self._note(inner, token.start, end)
            number += 1
        self._at += 1
        return token.end

    def _inline_table(self, place: Place) -> int:
        self._at += 1
        while (token := self._tokens[self._at]).text != "}" or token.kind != "mark":
            if token.kind in {"newline", "comment"} or token.text == ",":
                self._at += 1
                continue
            self._pair(place)
        self._at += 1
        return token.end

    def _note(self, place: Place, start: int, end: int) -> None:
        first, last = self._line(start), self._line(max(end - 1, start))
        self.spans.setdefault(place, Span(first, last))
        for length in range(len(place), 0, -1):
            around = place[:length]
            known = self.spans.get(around)
            if known is None:
                self.spans[around] = Span(first, last)
            elif known.last < last:
                self.spans[around] = Span(known.first, last)

    def _line(self, offset: int) -> int:
        return bisect_right(self._starts, offset)


def _unquoted(token: _Token) -> str:
    if token.kind == "bare":
        return token.text
    try:
        return str(tomllib.loads(f"x = {token.text}")["x"])
    except tomllib.TOMLDecodeError:
        return token.text
