"""Files that survive a power loss: written beside their place, made durable, then named.

`write_durably` does this for one file. Where several belong together, `Unnamed` holds each until its turn, so
that their contents are made durable at the same time: a journal commits them in one go.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Self

_TOGETHER = 4  # syncs that wait at the same time, beside the caller's own


class Unnamed:
    """A file's content, written beside its place; it is gone on leaving unless it was given its name.

    Make `temporary` durable before `take_name`, and the folder after it. Raises OSError.
    """

    def __init__(self, path: Path, data: bytes) -> None:
        self.path = path
        self.temporary = path.with_name(f".{path.name}.partial-{os.getpid()}")
        try:
            self.temporary.write_bytes(data)
        except BaseException:
            self.temporary.unlink(missing_ok=True)
            raise

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Remove what was given no name."""
        self.temporary.unlink(missing_ok=True)

    def take_name(self) -> None:
        """Put the content in its place, at once and whole."""
        self.temporary.replace(self.path)


def write_durably(path: Path, data: bytes) -> None:
    """Write a file so that it is either absent (or as before) or whole, also after a power loss."""
    with Unnamed(path, data) as file:
        sync_all([file.temporary])
        file.take_name()
    sync_directory(path.parent)


def sync_directory(path: Path) -> None:
    """Make a directory's entries survive a power loss."""
    _sync(path)


def sync_all(paths: Sequence[Path]) -> None:
    """Make files and directories durable, all at once; raises the first OSError after all have ended."""
    others: list[Future[None]] = []
    left = list(paths[1:])
    try:
        while left:
            others.append(_pool().submit(_sync, left[-1]))
            left.pop()
    except RuntimeError:  # no thread may be started: one after the other, then
        pass
    try:
        for path in (*paths[:1], *left):
            _sync(path)
    finally:
        errors = [other.exception() for other in others]
    for error in errors:
        if error is not None:
            raise error


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_TOGETHER, thread_name_prefix="sync")
