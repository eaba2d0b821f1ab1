"""What running retrievers needs of the system, and the last resort against what a lost supervisor left."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from collections.abc import Iterable
from pathlib import Path

from core.engine.process_tree import MARKER
from core.errors import InputError

OLDEST_LINUX = (5, 4)
PATIENCE_S = 10.0


def refuse_unfit_system() -> None:
    """Raise InputError unless this system can run retrievers: Linux 5.4 or newer with its /proc."""
    if sys.platform != "linux":
        raise InputError(
            f"running retrievers needs Linux 5.4 or newer, and this is {sys.platform}: run on a "
            "Linux machine (on Windows, in WSL); finished runs can be read, rescored and reported here"
        )
    release = os.uname().release
    numbers = [part for part in release.replace("-", ".").split(".")[:2] if part.isdigit()]
    if tuple(map(int, numbers)) < OLDEST_LINUX:
        raise InputError(f"running retrievers needs Linux 5.4 or newer, and this is {release}")
    if not Path(f"/proc/self/task/{os.getpid()}/children").exists():
        raise InputError(
            "running retrievers needs /proc with the lists of children (CONFIG_PROC_CHILDREN), "
            "and /proc/self/task/PID/children is missing: mount /proc, or use another kernel"
        )


def kill_marked(token: str) -> int:
    """Kill what a lost supervisor with this token left; returns how many processes were found.

    Its children die with it; their descendants are known by the marker in their environment, so one that
    was started with a cleaned environment is not found.
    """
    needle = f"\0{MARKER}={token}:".encode()
    found: set[int] = set()
    until = time.monotonic() + PATIENCE_S
    while (marked := list(_marked(needle))) and time.monotonic() < until:
        for number in (signal.SIGSTOP, signal.SIGKILL):  # what is stopped forks no more
            for pid in marked:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, number)
        found.update(marked)
        time.sleep(0.001)
    return len(found)


def _marked(needle: bytes) -> Iterable[int]:
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(OSError):  # gone, or another user's
                if needle in b"\0" + (folder / "environ").read_bytes():
                    yield int(folder.name)
