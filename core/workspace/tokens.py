"""Identifier-aware tokens: `loadManifest`, `load_manifest` and `load manifest` share their words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

MAX_TOKEN = 64  # characters; longer words are keys, hashes and encoded data
_WORD = re.compile(r"\w+")


def tokens(text: str) -> Iterator[str]:
    """Yield the case-folded tokens of a text in order.

    Each word gives its parts, and itself where it has more than one: `HTTPServer2` gives
    `httpserver2`, `http`, `server`, `2`. Text is put into Unicode normal form NFKC first.
    """
    for match in _WORD.finditer(unicodedata.normalize("NFKC", text)):
        yield from _word_tokens(match.group()[:MAX_TOKEN])


@lru_cache(maxsize=65536)
def _word_tokens(word: str) -> tuple[str, ...]:
    parts = [part.casefold() for piece in word.split("_") for part in _humps(piece)]
    whole = word.casefold()
    if not parts or parts == [whole]:
        return tuple(parts)
    return (whole, *parts)


def _humps(piece: str) -> Iterator[str]:
    """Split where a capital follows a small letter, at the last of several capitals, and around digits."""
    start = 0
    for position in range(1, len(piece)):
        before, here, after = piece[position - 1], piece[position], piece[position + 1 : position + 2]
        if (
            before.isdigit() != here.isdigit()
            or (here.isupper() and before.islower())
            or (here.isupper() and before.isupper() and after.islower())
        ):
            yield piece[start:position]
            start = position
    if piece:
        yield piece[start:]
