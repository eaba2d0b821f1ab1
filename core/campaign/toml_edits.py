"""Edits of a TOML text that touch one value and leave every other character, comments above all, in place.

Each returns the new text, or None where the text is written in a way that these edits do not know. Who
calls must compare what the new text says with what was wanted.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import tomlkit

from core.campaign.toml_map import Place, TomlMap

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def set_value(text: str, where: TomlMap, place: Place, value: Any) -> str | None:
    """Give a place a value: in place of the one that it has, or under the header of its table."""
    if place in where.values:
        return _replaced(text, where, place, render(value))
    if place[:-1] in where.values:
        return _into_inline_table(text, where, place, value)
    known = next(place[:length] for length in range(len(place) - 1, -1, -1) if place[:length] in where.blocks)
    missing = place[len(known) :]
    if known != place[:-1] and (place[: len(known) + 1] in where.spans or not _are_keys(missing)):
        return None
    if len(missing) == 1:
        line = f"{_key(missing[0])} = {render(value)}"
        return _inserted(text, where.blocks[known].last, [line])
    header = _header((*known, *missing[:-1]))
    at = where.spans[known].last if known else _line_count(text)
    return _inserted(text, at, ["", f"[{header}]", f"{_key(missing[-1])} = {render(value)}"])


def remove_value(text: str, where: TomlMap, place: Place) -> str | None:
    """Remove a key with its value and the comment on its line; other comments stay."""
    if place not in where.values:
        return None
    if place[:-1] not in where.blocks:
        return _out_of_inline_table(text, where, place)
    span = where.spans[place]
    return _without(text, where, span.first, span.last)


def remove_entry(text: str, where: TomlMap, place: Place) -> str | None:
    """Remove an entry of an array of tables, its header to its last value; comments around it stay."""
    if place not in where.blocks:
        return None
    span = where.spans[place]
    lines = text.splitlines(keepends=True)
    before, after = lines[: span.first - 1], lines[span.last :]
    while after and not after[0].strip() and (not before or not before[-1].strip()):
        after.pop(0)
    return "".join(before + after)


def append_entry(text: str, where: TomlMap, table: str, entry: Mapping[str, Any]) -> str | None:
    """Append an entry after the last one of an array of tables, or at the text's end."""
    block = tomlkit.dumps({table: [_tables_last(entry)]}).strip("\n").split("\n")
    span = where.spans.get((table,))
    if span is None:
        return _inserted(text, _line_count(text), ["", *block])
    if (table, 0) not in where.blocks:
        return None
    return _inserted(text, span.last, ["", *block])


def render(value: Any) -> str:
    """Return a value as TOML on one line."""
    if isinstance(value, Mapping):
        inner = ", ".join(f"{_key(key)} = {render(each)}" for key, each in value.items())
        return f"{{ {inner} }}" if inner else "{}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(render, value))}]"
    return str(tomlkit.item(value).as_string())


def _replaced(text: str, where: TomlMap, place: Place, new: str) -> str:
    begin, end = where.values[place]
    inside = [text[first:last] for first, last in where.comments if begin <= first < end]
    if not inside:
        return text[:begin] + new + text[end:]
    # Comments between the entries of a list have no place in the new one: they go above it.
    line = text.rfind("\n", 0, begin) + 1
    kept = "".join(comment.rstrip("\r") + _newline(text) for comment in inside)
    return text[:line] + kept + text[line:begin] + new + text[end:]


def _into_inline_table(text: str, where: TomlMap, place: Place, value: Any) -> str | None:
    begin, end = where.values[place[:-1]]
    if text[begin] != "{" or text[end - 1] != "}":
        return None
    new = f"{_key(place[-1])} = {render(value)}"
    last = max((span[1] for span in _inside(where, place[:-1])), default=None)
    if last is None:
        return f"{text[:begin]}{{ {new} }}{text[end:]}"
    return f"{text[:last]}, {new}{text[last:]}"


def _out_of_inline_table(text: str, where: TomlMap, place: Place) -> str | None:
    begin, _ = where.values.get(place[:-1], (0, 0))
    if text[begin] != "{":
        return None
    own = where.values[place]
    before = max((end for _, end in _inside(where, place[:-1]) if end <= own[0]), default=None)
    if before is not None:
        return text[:before] + text[own[1] :]
    rest = text[own[1] :].lstrip(" \t").removeprefix(",").lstrip(" \t")
    return f"{text[: begin + 1]}{' ' if text[begin + 1] == ' ' else ''}{rest}"


def _inside(where: TomlMap, table: Place) -> list[tuple[int, int]]:
    """Return the offsets of the values in an inline table."""
    return [span for known, span in where.values.items() if known[:-1] == table]


def _without(text: str, where: TomlMap, first: int, last: int) -> str:
    lines = text.splitlines(keepends=True)
    return "".join(lines[: first - 1] + lines[last:])


def _inserted(text: str, after: int, new: Sequence[str]) -> str:
    """Return the text with lines put after a line, counted from 1; none where the text begins is empty."""
    newline = _newline(text)
    lines = text.splitlines(keepends=True)
    before, rest = lines[:after], lines[after:]
    if before and not before[-1].endswith("\n"):
        before[-1] += newline
    added = list(new)
    if added[0] == "" and (not before or not before[-1].strip()):
        added.pop(0)
    return "".join([*before, *(line + newline for line in added), *rest])


def _line_count(text: str) -> int:
    return len(text.splitlines())


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _are_keys(parts: Sequence[str | int]) -> bool:
    return all(isinstance(part, str) for part in parts)


def _header(place: Place) -> str:
    return ".".join(_key(part) for part in place if isinstance(part, str))


def _key(part: str | int) -> str:
    text = str(part)
    return text if _BARE_KEY.fullmatch(text) else str(tomlkit.item(text).as_string())


def _tables_last(entry: Mapping[str, Any]) -> dict[str, Any]:
    return dict(sorted(entry.items(), key=lambda item: isinstance(item[1], Mapping)))
