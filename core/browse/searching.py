"""Finds text in files of any size, forwards and backwards, a chunk at a time."""

from __future__ import annotations

import re
from collections.abc import Callable

from core.browse.paging import Source

CHUNK = 256 * 1024

OnSearched = Callable[[int], None]


class Needle:
    """Text to find; letters match in either case unless one of its own is a capital."""

    def __init__(self, text: str) -> None:
        """Prepare a search; the text must not be empty."""
        self.text = text
        self._any_case = text == text.lower()
        self._bytes = text.encode("utf-8", "backslashreplace")
        # Both cases of other letters than ASCII's differ in more than one bit, and in length.
        self._pattern = None if text.isascii() or not self._any_case else re.compile(_either(text))
        self._longest = sum(max(len(form) for form in _forms(letter)) for letter in text)

    def places_in(self, shown: str) -> list[tuple[int, int]]:
        """Return where it stands in text on the screen, as `(start, end)`."""
        sought = self.text if not self._any_case else self.text.lower()
        within = shown if not self._any_case else shown.lower()
        if len(within) != len(shown):  # a letter whose small form is longer
            return []
        return [(found.start(), found.end()) for found in re.finditer(re.escape(sought), within)]

    def find(
        self, source: Source, start: int, is_cancelled: Callable[[], bool], on_searched: OnSearched
    ) -> int | None:
        """Return the first place at or after an offset; None without one, or where cancelled.

        `on_searched` is told the bytes looked through so far. Raises OSError.
        """
        offset, size = start, source.size()
        while offset < size and not is_cancelled():
            data = source.read(offset, CHUNK + self._longest - 1)
            found = self._first(data)
            if 0 <= found < CHUNK:
                return offset + found
            offset += CHUNK
            on_searched(min(offset, size) - start)
        return None

    def find_before(
        self, source: Source, stop: int, is_cancelled: Callable[[], bool], on_searched: OnSearched
    ) -> int | None:
        """Return the last place that begins before an offset; else as `find`."""
        end = stop
        while end > 0 and not is_cancelled():
            begin = max(end - CHUNK, 0)
            data = source.read(begin, end - begin + self._longest - 1)
            found = self._last(data, end - begin)
            if found >= 0:
                return begin + found
            end = begin
            on_searched(stop - end)
        return None

    def _first(self, data: bytes) -> int:
        if self._pattern is not None:
            found = self._pattern.search(data)
            return found.start() if found else -1
        return (data.lower() if self._any_case else data).find(self._bytes)

    def _last(self, data: bytes, stop: int) -> int:
        """Return the last place that begins before `stop`, or -1."""
        if self._pattern is not None:
            return max(
                (each.start() for each in self._pattern.finditer(data) if each.start() < stop), default=-1
            )
        return (data.lower() if self._any_case else data).rfind(self._bytes, 0, stop + len(self._bytes) - 1)


def _forms(letter: str) -> list[bytes]:
    forms = {letter, letter.lower(), letter.upper()}
    return sorted(form.encode("utf-8", "backslashreplace") for form in forms)


def _either(text: str) -> bytes:
    return b"".join(b"(?:%s)" % b"|".join(map(re.escape, _forms(letter))) for letter in text)
