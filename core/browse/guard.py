"""One writer an index: among the threads of this process by a lock, among processes by flock.

A rename must not come while another process writes in place: SQLite would take the rollback journal of the
file that was for one of the file that is.
"""

from __future__ import annotations

import fcntl
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

WRITING = threading.Lock()
PATIENCE_S = 1.0
_INTERVAL_S = 0.02


@contextmanager
def sole_writer(file: Path, gives_up: Callable[[float], bool]) -> Iterator[bool]:
    """Keep others from writing to an index or replacing it, and tell whether that could be had.

    `gives_up` is asked, with the seconds waited so far, whether to wait no longer. An index that is replaced
    meanwhile is not had; where there is none, or something else in its place, there is nothing to wait for.
    """
    started = time.monotonic()

    def waits() -> bool:
        if gives_up(time.monotonic() - started):
            return False
        time.sleep(_INTERVAL_S)
        return True

    with ExitStack() as stack:
        while not WRITING.acquire(blocking=False):
            if not waits():
                yield False
                return
        stack.callback(WRITING.release)
        descriptor = _opened(file)
        if descriptor is None:
            yield True
            return
        stack.callback(os.close, descriptor)
        while not _locked(descriptor):
            if not waits():
                yield False
                return
        yield _is_at(descriptor, file)


def _opened(file: Path) -> int | None:
    try:
        return os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None


def _locked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_at(descriptor: int, file: Path) -> bool:
    try:
        found, held = file.stat(), os.fstat(descriptor)
    except OSError:
        return False
    return (found.st_dev, found.st_ino) == (held.st_dev, held.st_ino)
