"""One writer a run: an flock that the supervisor inherits, so that a living child keeps it held."""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from core.errors import BusyError, InputError
from core.regular import read_regular
from core.text import printable

RETRY_SECONDS = 2.0
RUNNING = "running"
RETRY_INTERVAL_SECONDS = 0.05


class RunLock:
    """The exclusive lock on a run's `.lock`; released by `release`, or when its last holder dies.

    Held on an open file description rather than through a locking library, because the supervisor
    must inherit the very descriptor: a dead engine with a living child then never looks free.
    """

    def __init__(self, path: Path, purpose: str = RUNNING) -> None:
        self.path = path
        self.purpose = purpose  # told to whoever finds it held
        self.descriptor: int | None = None

    def acquire(self, retry_seconds: float = RETRY_SECONDS) -> None:
        """Take the lock, trying for `retry_seconds`.

        Raises BusyError naming the holder, and InputError where the file cannot be written.
        """
        deadline = time.monotonic() + retry_seconds
        while (descriptor := self._try(deadline)) is None:
            pass  # the file was replaced while this waited: what it locked is nobody's lock any more
        self.descriptor = descriptor

    def _try(self, deadline: float) -> int | None:
        try:
            descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise _unwritable(self.path, error) from None
        try:
            self._wait(descriptor, deadline)
            if not _is_at(descriptor, self.path):
                os.close(descriptor)
                return None
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, self._told(), 0)
        except BaseException as error:
            os.close(descriptor)
            if isinstance(error, OSError):
                raise _unwritable(self.path, error) from None
            raise
        return descriptor

    def _wait(self, descriptor: int, deadline: float) -> None:
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    raise BusyError(_busy(self.path.parent, os.pread(descriptor, 4096, 0))) from None
                time.sleep(RETRY_INTERVAL_SECONDS)
            else:
                return

    def adopt(self, descriptor: int) -> None:
        """Go on holding the lock by an inherited descriptor; raises OSError where it is none."""
        os.set_inheritable(descriptor, False)
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        self.descriptor = descriptor
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, self._told(), 0)

    def _told(self) -> bytes:
        return json.dumps({"pid": os.getpid(), "purpose": self.purpose}).encode()

    def release(self) -> None:
        """Give the lock back; safe to call twice."""
        if self.descriptor is not None:
            os.close(self.descriptor)
            self.descriptor = None


def _is_at(descriptor: int, path: Path) -> bool:
    try:
        found, held = path.stat(), os.fstat(descriptor)
    except FileNotFoundError:
        return False
    return (found.st_dev, found.st_ino) == (held.st_dev, held.st_ino)


def is_executed(path: Path) -> bool:
    """Tell whether the lock is held by a process that executes the run, not by one that only rescores it."""
    if not is_held(path):
        return False
    told = holder_of(path)
    return "purpose" not in told or bool(told["purpose"] == RUNNING)


def holder_of(path: Path) -> dict[str, Any]:
    """Return what a lock file tells of its holder, `pid` and `purpose`; nothing where it is unreadable."""
    try:
        return _parsed(read_regular(path))
    except (OSError, ValueError):
        return {}


def pid_of(told: Mapping[str, Any]) -> int | None:
    """Return the process that a lock file tells of."""
    pid = told.get("pid")
    return pid if type(pid) is int else None


def _parsed(raw: bytes) -> dict[str, Any]:
    try:
        told = json.loads(raw)
    except (ValueError, RecursionError):
        return {}
    return told if isinstance(told, dict) else {}


def is_held(path: Path) -> bool:
    """Tell whether some process holds the lock; takes it for an instant where it is free."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    else:
        return False
    finally:
        os.close(descriptor)


def _unwritable(path: Path, error: OSError) -> InputError:
    return InputError(
        f"{printable(str(path))}: the run cannot be locked: {error.strerror or error}; "
        "check that this user may write there and that the disk has room"
    )


def _busy(run: Path, holder: bytes) -> str:
    pid = pid_of(_parsed(holder))
    who = "" if pid is None else f" (process {pid})"
    return (
        f"{run}: another process{who} writes to this run. "
        "Wait until it ends, or stop it; reading, reports and `boresight runs` work meanwhile."
    )
