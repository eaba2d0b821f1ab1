"""The app in a terminal of its own (a pty): keys go in, bytes come out, and both are kept."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Mapping
from pathlib import Path

from core.engine import machine

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_S = 20.0
_CONTROLS = re.compile(rb"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[@-Z\\^_]")
# Makes the pty the controlling terminal, without which no resize is told, and becomes the program.
_BEGIN = (
    "import fcntl, os, sys, termios; os.setsid(); fcntl.ioctl(0, termios.TIOCSCTTY, 0); "
    "os.execv(sys.argv[1], sys.argv[1:])"
)


class TerminalApp:
    """`boresight WORDS …` under a pty; use it in a `with`, which ends it by force where it still runs."""

    def __init__(
        self,
        words: tuple[str, ...],
        size: tuple[int, int],
        environment: Mapping[str, str],
        *,
        command: tuple[str, ...] = (sys.executable, "-m", "core.cli"),
        cwd: Path = ROOT,
    ) -> None:
        self.output = bytearray()
        self._read_from = 0  # where the bytes begin that came since the last key
        self._master, slave = pty.openpty()
        self.resize(*size)
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _BEGIN, *command, *words],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            cwd=cwd,
            env={
                "TERM": "xterm-256color",
                "COLORTERM": "truecolor",
                machine.VARIABLE: os.environ.get(machine.VARIABLE, machine.MARK),
                **environment,
            },
        )
        os.close(slave)

    def __enter__(self) -> TerminalApp:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait(PATIENCE_S)
        os.close(self._master)

    def resize(self, columns: int, rows: int) -> None:
        """Give the terminal another size, as dragging its window does."""
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def press(self, keys: str, wanted: str | None = None, seconds: float = PATIENCE_S) -> None:
        """Press keys, and wait until text came that they bring."""
        self._pump(0)
        self._read_from = len(self.output)
        os.write(self._master, keys.encode())
        if wanted is not None:
            self.wait_for(wanted, seconds)

    def press_until(self, keys: str, wanted: str) -> None:
        """Press keys that do no harm twice until text comes: the first may come before what takes them."""
        for _ in range(4):
            try:
                self.press(keys, wanted, PATIENCE_S / 4)
            except AssertionError:
                continue
            return
        self.press(keys, wanted)

    def wait_for(self, wanted: str, seconds: float = PATIENCE_S) -> None:
        """Wait until text came since the last key; raises AssertionError with what came instead."""
        deadline = time.monotonic() + seconds
        while wanted not in self.since():
            if not self._pump(0.1) and self.process.poll() is not None and not self._pump(0.1):
                raise AssertionError(
                    f"it ended ({self.process.returncode}) before {wanted!r}:\n{self.tail()}"
                )
            if time.monotonic() > deadline:
                raise AssertionError(f"{wanted!r} never came; this did:\n{self.tail()}")

    def settle(self) -> None:
        """Read until nothing more comes for a moment: some keys change nothing that could be waited for."""
        while self._pump(0.4):
            pass

    def since(self) -> str:
        """Return the text that came since the last key, without what moves and colours it."""
        return _CONTROLS.sub(b"", bytes(self.output[self._read_from :])).decode("utf-8", "replace")

    def text(self) -> str:
        """Return all text that came, without what moves and colours it."""
        return _CONTROLS.sub(b"", bytes(self.output)).decode("utf-8", "replace")

    def tail(self) -> str:
        """Return the end of all text, for messages."""
        return self.text()[-3000:]

    def leave(self, keys: str = "q") -> int:
        """Press keys that leave, read to the end, and return the exit code."""
        self.press(keys)
        return self.ended()

    def ended(self, seconds: float = PATIENCE_S) -> int:
        """Read to the end, and return the exit code."""
        deadline = time.monotonic() + seconds
        while self.process.poll() is None:
            self._pump(0.1)
            if time.monotonic() > deadline:
                raise AssertionError(f"it does not end:\n{self.tail()}")
        while self._pump(0.1):
            pass
        return int(self.process.returncode)

    def _pump(self, seconds: float) -> bool:
        """Take what came, waiting a while for it; tells whether anything did."""
        ready, _, _ = select.select([self._master], [], [], seconds)
        data = b""
        if ready:
            with contextlib.suppress(OSError):  # nobody holds the other end any more
                data = os.read(self._master, 1024 * 1024)
        self.output += data
        return bool(data)
