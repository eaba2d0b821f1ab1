"""Files that survive a power loss: written beside their place, made durable, then named."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from pathlib import Path

_TOGETHER = 4  # syncs that wait at the same time; a journal commits them in one go


def write_durably(
    path: Path, data: bytes, *, with_files: Sequence[Path] = (), then: Sequence[Path] = ()
) -> None:
    """Write a file so that it is either absent (or as before) or whole, also after a power loss.

    `with_files` are made durable before the file gets its name: those that it speaks of. `then` are folders
    whose entries are made durable together with its own folder's. Raises OSError.
    """
    temporary = path.with_name(f".{path.name}.partial-{os.getpid()}")
    try:
        with open(temporary, "wb") as stream:
            stream.write(data)
        sync_all([temporary, *with_files])
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync_all([path.parent, *then])


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
