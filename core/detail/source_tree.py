"""Reads files of a frozen tree: never outside it, never through a link, never without bound."""

from __future__ import annotations

import errno
import os
import stat
from collections import OrderedDict
from pathlib import Path

from core.banks.markdown import markdown_lines
from core.canonical import sha256
from core.detail.decoding import decoded, encoding_of

LARGEST_SOURCE = 16 * 1024 * 1024  # bytes of a file that is read whole
_KEPT_FILES = 64
_KEPT_BYTES = 32 * 1024 * 1024
_FOLDER = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_DIRECTORY
_FILE = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK


class SourceError(Exception):
    """A file of a frozen tree cannot be shown; the message says why, in words that follow its path."""


class SourceFile:
    """The bytes of one file, and its lines as the rules of banks count them."""

    def __init__(self, path: str, data: bytes) -> None:
        self.path = path
        self.data = data
        self._is_markdown = path.endswith(".md")
        # Bytes are cut where Python counts lines; text has more line ends, such as form feeds.
        self._lines: list[str] | list[bytes] = (
            markdown_lines(data) if self._is_markdown else data.splitlines()
        )
        self._encoding = encoding_of(data) if path.endswith(".py") else "utf-8"

    @property
    def sha256(self) -> str:
        """The hexadecimal SHA-256 of its bytes."""
        return sha256(self.data)

    @property
    def line_count(self) -> int:
        """How many lines it has."""
        return len(self._lines)

    def lines(self, first: int, count: int, width: int) -> tuple[str, ...]:
        """Return lines from `first`, counted from 1, each cut to `width` characters; none beyond the end.

        Undecodable bytes are replaced.
        """
        wanted = self._lines[first - 1 : first - 1 + count]
        return tuple(
            line[:width] if isinstance(line, str) else decoded(line[: width * 4], self._encoding)[:width]
            for line in wanted
        )


class SourceTree:
    """The frozen tree of one repository; keeps the files that it read last."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._kept: OrderedDict[str, SourceFile] = OrderedDict()

    def file(self, path: str) -> SourceFile:
        """Return a file; raises SourceError."""
        if path in self._kept:
            self._kept.move_to_end(path)
            return self._kept[path]
        file = SourceFile(path, read_source(self.root, path))
        self._kept[path] = file
        while len(self._kept) > 1 and self._is_too_much():
            self._kept.popitem(last=False)
        return file

    def _is_too_much(self) -> bool:
        held = sum(len(file.data) for file in self._kept.values())
        return len(self._kept) > _KEPT_FILES or held > _KEPT_BYTES


def read_source(root: Path, path: str) -> bytes:
    """Return the bytes of a file of a tree; raises SourceError."""
    try:
        descriptor = _opened(root, path)
    except OSError as error:
        raise SourceError(_reason(error)) from None
    with open(descriptor, "rb") as stream:
        size = os.fstat(descriptor).st_size
        if size > LARGEST_SOURCE:
            raise SourceError(f"larger than {LARGEST_SOURCE // 2**20} MiB, too large to show")
        try:
            return stream.read(LARGEST_SOURCE)
        except OSError as error:
            raise SourceError(_reason(error)) from None


def source_path(root: Path, path: str) -> Path:
    """Return where a file of a tree lies, for a program that opens it; raises SourceError."""
    try:
        os.close(_opened(root, path))
    except OSError as error:
        raise SourceError(_reason(error)) from None
    return root / path


def _opened(root: Path, path: str) -> int:
    """Open a regular file, walking down from the root one folder at a time; raises OSError, SourceError."""
    parts = path.split("/")
    if any(part in {"", ".", "..", ".git"} or "\0" in part for part in parts):
        raise SourceError("no path of the frozen tree")
    try:
        folder = os.open(root, _FOLDER)
        try:
            for part in parts[:-1]:
                deeper = os.open(part, _FOLDER, dir_fd=folder)
                os.close(folder)
                folder = deeper
            descriptor = os.open(parts[-1], _FILE, dir_fd=folder)
        finally:
            os.close(folder)
    except ValueError:  # half of a character, which no file's name holds
        raise SourceError("not in the frozen tree") from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise SourceError("no file")
    return descriptor


def _reason(error: OSError) -> str:
    if error.errno == errno.ELOOP:
        return "a link, which is not followed"
    if error.errno in {errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG}:
        return "not in the frozen tree"
    return f"cannot be read: {error.strerror or error}"
