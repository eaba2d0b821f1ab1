"""The app in a terminal of its own (a pty): keys go in, and waits are for what its screen shows."""

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
from base64 import b64decode
from collections.abc import Callable, Mapping
from pathlib import Path

import pyte

from core.engine import machine

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_S = 60.0
_LOOK_S = 0.1
_BITE = 4096  # bytes
_FRAMES = re.compile(r"[\s█▌▐▊▎│┃]+")
_COPIED = re.compile(rb"\x1b]52;c;([^\x07]*)\x07")
_CONTROLS = re.compile(rb"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[@-Z\\^_]")
# Makes the pty the controlling terminal, as a terminal's first program has it, and becomes the program.
_BEGIN = (
    "import fcntl, os, sys, termios; os.setsid(); fcntl.ioctl(0, termios.TIOCSCTTY, 0); "
    "os.execv(sys.argv[1], sys.argv[1:])"
)


class TerminalApp:
    """`boresight WORDS …` under a pty; use it in a `with`, which ends it by force where it still runs.

    `output` holds every byte that it wrote. Texts that are waited for read the same wherever they wrap.
    """

    def __init__(
        self,
        words: tuple[str, ...],
        size: tuple[int, int],
        environment: Mapping[str, str],
        *,
        command: tuple[str, ...] = (sys.executable, "-m", "core.cli"),
        cwd: Path = ROOT,
    ) -> None:
        columns, rows = size
        self.output = bytearray()
        self._screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self._screen)
        self._master, slave = pty.openpty()
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
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

    # Keys

    def press(self, keys: str, wanted: str) -> None:
        """Press keys, and wait until the screen shows a text that it did not show before."""
        self._take_all()
        if self.shows(wanted):
            raise AssertionError(f"{wanted!r} tells nothing of {keys!r}: it stood before\n{self.screen()}")
        self._write(keys)
        self.wait_for(wanted)

    def press_away(self, keys: str, unwanted: str) -> None:
        """Press keys, and wait until the screen no longer shows a text that it showed before."""
        self.wait_for(unwanted)
        self._write(keys)
        self._wait(lambda: not self.shows(unwanted), f"{unwanted!r} never went")

    def copy(self, keys: str) -> str:
        """Press keys that copy, and return what they put on the terminal's clipboard."""
        self._take_all()
        before = len(_COPIED.findall(self.output))
        self._write(keys)
        self._wait(lambda: len(_COPIED.findall(self.output)) > before, "nothing was copied")
        return b64decode(_COPIED.findall(self.output)[before]).decode()

    def leave(self, keys: str = "q") -> int:
        """Press keys that leave, read to the end, and return the exit code."""
        self._write(keys)
        return self.ended()

    # The screen

    def screen(self) -> str:
        """Return what the screen shows, row by row."""
        # Not by pyte's `display`, which fails where half of a wide character was written over.
        rows = (self._screen.buffer[row] for row in range(self._screen.lines))
        columns = range(self._screen.columns)
        return "\n".join("".join(row[column].data for column in columns).rstrip() for row in rows)

    def shows(self, wanted: str) -> bool:
        """Tell whether the screen shows text, wherever that wraps."""
        return _words(wanted) in _words(self.screen())

    def wait_for(self, wanted: str) -> None:
        """Wait until the screen shows text; raises AssertionError with what it shows instead."""
        self._wait(lambda: self.shows(wanted), f"{wanted!r} never came")

    def text(self) -> str:
        """Return all text that ever came, without what moves and colours it."""
        return _CONTROLS.sub(b"", bytes(self.output)).decode("utf-8", "replace")

    def tail(self) -> str:
        """Return the end of all text, for messages."""
        return self.text()[-3000:]

    def ended(self) -> int:
        """Read to the end, and return the exit code."""
        deadline = time.monotonic() + PATIENCE_S
        while self.process.poll() is None:
            self._take(_LOOK_S)
            if time.monotonic() > deadline:
                raise AssertionError(f"it does not end; the screen shows:\n{self.screen()}")
        self._take_all()
        return int(self.process.returncode)

    # The pty

    def _write(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    def _wait(self, condition: Callable[[], bool], failure: str) -> None:
        deadline = time.monotonic() + PATIENCE_S
        has_news = True
        while not (has_news and condition()):
            if time.monotonic() > deadline:
                raise AssertionError(f"{failure}; the screen shows:\n{self.screen()}")
            has_ended = self.process.poll() is not None
            has_news = self._take(_LOOK_S)
            if has_ended and not has_news:
                raise AssertionError(f"{failure}: it ended ({self.process.returncode})\n{self.tail()}")

    def _take(self, seconds: float = 0.0) -> bool:
        """Take some of what came, waiting a while for it; tells whether anything did.

        A little at a time, so that nothing that stood for a moment only goes unseen.
        """
        data = b""
        if select.select([self._master], [], [], seconds)[0]:
            with contextlib.suppress(OSError):  # nobody holds the other end any more
                data = os.read(self._master, _BITE)
        self.output += data
        self._stream.feed(data)
        return bool(data)

    def _take_all(self) -> None:
        while self._take():
            pass


def _words(text: str) -> str:
    return _FRAMES.sub(" ", text).strip()
