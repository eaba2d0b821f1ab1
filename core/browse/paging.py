"""Rows of files of any size, found from any byte offset by reading a few blocks around it.

A row is a line. A line without an end within a block is shown in several rows, so that no look at a file
reads more than two blocks a row: a row also begins at a multiple of the block size where the whole block
before it holds no line end. Which bytes make a row depends on those near it alone, and is the same whether
one comes from above or from below.
"""

from __future__ import annotations

import errno
import os
import stat
import threading
from pathlib import Path
from typing import NamedTuple, Protocol

from core.errors import InputError
from core.text import printable

BLOCK = 64 * 1024
COUNTED_BYTES = 64 * 1024 * 1024  # lines are numbered up to here, bytes alone beyond
_COUNT_STEP = 1024 * 1024
_LONGEST_CHARACTER = 4  # bytes in UTF-8
_TAB = 8


class Source(Protocol):
    """Bytes that can be read anywhere, and may grow; threads may share one."""

    def size(self) -> int:
        """Return how many bytes there are now; raises OSError."""

    def read(self, offset: int, size: int) -> bytes:
        """Return the bytes from `offset` on, fewer than `size` only at the end; raises OSError."""

    def trouble(self) -> str | None:
        """Return what became of the file since it was opened, None where all is well."""

    def close(self) -> None:
        """Close it; safe to call twice."""


class FileSource:
    """A regular file, held open: what was shown stays readable when its name is gone."""

    def __init__(self, path: Path) -> None:
        """Open a file; raises InputError where it cannot be read or is no regular file."""
        self.path = path
        self._lock = threading.Lock()
        shown = printable(str(path))
        try:
            # A pipe in a file's place must not keep anyone waiting.
            self._descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        except FileNotFoundError:
            raise InputError(f"{shown}: no such file; it was removed, or never written") from None
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise InputError(f"{shown}: cannot be read: {reason}; check its rights") from None
        self._status = os.fstat(self._descriptor)
        if not stat.S_ISREG(self._status.st_mode):
            self.close()
            raise InputError(f"{shown}: no regular file, so there is nothing to show")
        self._largest = self._status.st_size

    def size(self) -> int:
        """Return the file's present size."""
        with self._lock:
            size = os.fstat(self._held()).st_size
        self._largest = max(self._largest, size)
        return size

    def read(self, offset: int, size: int) -> bytes:
        """Return the bytes from `offset` on."""
        parts = []
        with self._lock:
            while size > 0 and (part := os.pread(self._held(), size, offset)):
                parts.append(part)
                offset += len(part)
                size -= len(part)
        return b"".join(parts)

    def _held(self) -> int:
        """Return the descriptor, whose number is another file's once it was closed."""
        if self._descriptor < 0:
            raise OSError(errno.EBADF, "closed")
        return self._descriptor

    def trouble(self) -> str | None:
        """Return what became of the file: removed, replaced or cut."""
        try:
            found = self.path.stat()
        except OSError:
            return "removed since it was opened; what it held is still shown"
        if (found.st_dev, found.st_ino) != (self._status.st_dev, self._status.st_ino):
            return "replaced since it was opened; go back and open it again"
        if found.st_size < self._largest:
            return "cut since it was opened"
        return None

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            descriptor, self._descriptor = self._descriptor, -1
            if descriptor >= 0:
                os.close(descriptor)


class BytesSource:
    """Bytes in memory."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def size(self) -> int:
        """Return how many there are."""
        return len(self._data)

    def read(self, offset: int, size: int) -> bytes:
        """Return the bytes from `offset` on."""
        return self._data[offset : offset + size]

    def trouble(self) -> str | None:
        """Return None: nothing can happen to them."""
        return None

    def close(self) -> None:
        """Do nothing."""


class Row(NamedTuple):
    """The bytes from `start` to `end`, the line end included, which `stop` leaves out."""

    start: int
    stop: int
    end: int
    is_first: bool  # of its line
    goes_on: bool  # the line has more rows after this one


class Rows:
    """The rows of a source as it is now; holds the blocks that it read, so use one for a page and drop it."""

    def __init__(self, source: Source) -> None:
        """Look at a source; raises OSError."""
        self._source = source
        self.size = source.size()
        self._blocks: dict[int, bytes] = {}

    def at(self, offset: int) -> Row | None:
        """Return the row that holds a byte, the nearest one where there is no such byte, None of nothing."""
        if self.size == 0:
            return None
        return self._row(self._start(min(max(offset, 0), self.size - 1)))

    def after(self, row: Row) -> Row | None:
        """Return the next row."""
        return self._row(row.end) if row.end < self.size else None

    def before(self, row: Row) -> Row | None:
        """Return the row before."""
        return self.at(row.start - 1) if row.start > 0 else None

    def text(self, row: Row, characters: int | None = None) -> str:
        """Return a row as safe text of one line, at least its first `characters` where it has as many.

        Bytes that are no UTF-8 show as a backslash, `x` and two digits, controls by their pictures.
        """
        stop = row.stop if characters is None else row.start + characters * _LONGEST_CHARACTER
        if stop >= row.stop:
            data = self._read(row.start, row.stop)
            if row.goes_on:
                data += self._rest_of_character(row.stop)
        else:
            data = self._read(row.start, stop)
        if not row.is_first:
            data = data[len(_continuation(data)) :]
        return safe_text(data)

    def column_of(self, row: Row, offset: int) -> int:
        """Return where in a row's text a byte of it stands, in characters."""
        return len(self.text(row._replace(stop=min(max(offset, row.start), row.stop), goes_on=False)))

    def _rest_of_character(self, stop: int) -> bytes:
        return _continuation(self._read(stop, min(stop + _LONGEST_CHARACTER, self.size)))

    def _start(self, offset: int) -> int:
        block = offset - offset % BLOCK
        found = self._read(block, offset).rfind(b"\n")
        if found >= 0 or block == 0:
            return block + found + 1
        found = self._read(block - BLOCK, block).rfind(b"\n")
        return block - BLOCK + found + 1 if found >= 0 else block

    def _row(self, start: int) -> Row:
        limit = start - start % BLOCK + BLOCK
        if start % BLOCK:  # then a line end stands before it in the same block
            limit += BLOCK
        data = self._read(start, min(limit, self.size))
        found = data.find(b"\n")
        is_first = start == 0 or self._read(start - 1, start) == b"\n"
        if found >= 0:
            return Row(start, start + found, start + found + 1, is_first, goes_on=False)
        end = start + (len(data) or 1)  # a file that was cut meanwhile has nothing there
        return Row(start, start + len(data), end, is_first, goes_on=end < self.size)

    def _read(self, start: int, stop: int) -> bytes:
        parts = []
        while start < stop:
            number, skipped = divmod(start, BLOCK)
            if number not in self._blocks:
                self._blocks[number] = self._source.read(number * BLOCK, BLOCK)
            part = self._blocks[number][skipped : skipped + stop - start]
            if not part:
                break
            parts.append(part)
            start += len(part)
        return b"".join(parts)


class LineNumbers:
    """Numbers the lines of a source's beginning; what was counted once is not counted again."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._before = [0]  # line ends before each step

    def at(self, offset: int) -> int | None:
        """Return the number, from 1, of the line that holds a byte; None beyond COUNTED_BYTES."""
        if offset > COUNTED_BYTES:
            return None
        step, rest = divmod(offset, _COUNT_STEP)
        while len(self._before) <= step:
            block = self._source.read((len(self._before) - 1) * _COUNT_STEP, _COUNT_STEP)
            self._before.append(self._before[-1] + block.count(b"\n"))
        return self._before[step] + self._source.read(step * _COUNT_STEP, rest).count(b"\n") + 1


def head_of(source: Source, rows: int, characters: int) -> tuple[tuple[str, ...], bool]:
    """Return the first rows as safe text, each cut to `characters`, and whether they leave anything out."""
    found = Rows(source)
    lines: list[str] = []
    whole = True
    row = found.at(0)
    while row is not None and len(lines) < rows:
        text = found.text(row, characters + 1)
        whole = whole and len(text) <= characters
        lines.append(text[:characters])
        row = found.after(row)
    return tuple(lines), not (whole and row is None)


def safe_text(data: bytes) -> str:
    """Return bytes as one line of text that is safe to show."""
    return printable(data.decode("utf-8", "backslashreplace").expandtabs(_TAB))


def _continuation(data: bytes) -> bytes:
    """Return the bytes at the beginning that can only continue a character of the row before."""
    length = 0
    while length < min(len(data), _LONGEST_CHARACTER - 1) and data[length] & 0xC0 == 0x80:
        length += 1
    return data[:length]
