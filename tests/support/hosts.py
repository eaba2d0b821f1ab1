"""Hosting processes that tests started and that outlive them, ended by what they inherited."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

from core.engine import machine

HOST = b"core.engine.detached"
PATIENCE_S = 5.0


def hosts_of(mark: str) -> Iterator[int]:
    """Yield the ids of hosting processes of this user that measure under a mark of a test's own."""
    wanted = f"{machine.VARIABLE}={mark}".encode()
    for process in Path("/proc").iterdir():
        if not process.name.isdecimal():
            continue
        with contextlib.suppress(OSError):  # it ended meanwhile, or is another user's
            words = (process / "cmdline").read_bytes().split(b"\0")
            if HOST in words and wanted in (process / "environ").read_bytes().split(b"\0"):
                yield int(process.name)


def end_hosts(mark: str) -> None:
    """End the hosting processes that measure under a mark: as a person would, then by force."""
    if not mark:
        raise ValueError("real campaigns have no mark of their own; these are never ended")
    for number in (signal.SIGTERM, signal.SIGKILL):
        left = list(hosts_of(mark))
        for process in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, number)
        deadline = time.monotonic() + PATIENCE_S
        while left and time.monotonic() < deadline:
            time.sleep(0.02)
            left = list(hosts_of(mark))
        if not left:
            return
