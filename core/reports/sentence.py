"""Sentences made of parts, so that Markdown and the terminal can each set off the names in them."""

from __future__ import annotations

from collections.abc import Sequence


class Name(str):
    """A candidate's id inside a sentence."""

    __slots__ = ()


Sentence = tuple[str, ...]


def plain(sentence: Sentence) -> str:
    """Return a sentence as plain text."""
    return "".join(sentence)


def name_list(names: Sequence[str]) -> Sentence:
    """Return names as parts that read `a`, `a and b`, or `a, b and c`."""
    parts: list[str] = []
    for position, name in enumerate(names):
        if position:
            parts.append(" and " if position == len(names) - 1 else ", ")
        parts.append(Name(name))
    return tuple(parts)
