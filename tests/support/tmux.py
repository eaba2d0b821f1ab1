"""One window of a tmux server of its own: keys go in, and waits are for what its screen shows."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import time
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

PATIENCE_S = 30.0
_LOOK_S = 0.1


def demand_tmux() -> None:
    """Skip the test where there is no tmux."""
    if shutil.which("tmux") is None:
        pytest.skip("tmux is not installed; install it to try the app in a real terminal")


class Tmux:
    """A window of 100 × 30 that runs one command; use it in a `with`, which ends the server."""

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        cwd: Path,
        size: tuple[int, int] = (100, 30),
    ) -> None:
        self._socket = f"boresight-test-{uuid.uuid4().hex[:12]}"
        settings = [f"{name}={value}" for name, value in environment.items()]
        line = f'env -i TERM="$TERM" TMUX="$TMUX" {shlex.join([*settings, *command])}'
        width, height = map(str, size)
        self._run("-f", "/dev/null", "new-session", "-d", "-x", width, "-y", height, "-c", str(cwd), "sh")
        self._run("set-option", "-g", "history-limit", "1000")
        self.type(f"stty -echo; clear; {line}; echo ended with $?")
        self.keys("Enter")

    def __enter__(self) -> Tmux:
        return self

    def __exit__(self, *_: object) -> None:
        self._run("kill-server", check=False)

    def keys(self, *names: str) -> None:
        """Press keys by tmux's names for them."""
        self._run("send-keys", *names)

    def type(self, text: str) -> None:
        """Type text as it is."""
        self._run("send-keys", "-l", text)

    def press(self, key: str, wanted: str) -> None:
        """Press a key, and wait until the screen shows text."""
        self.keys(key)
        self.wait_for(wanted)

    def press_until(self, key: str, wanted: str) -> None:
        """Press a key that does no harm twice until the screen shows text."""
        for _ in range(int(PATIENCE_S)):
            self.keys(key)
            try:
                self.wait_for(wanted, seconds=1.0)
            except AssertionError:
                continue
            return
        self.wait_for(wanted, seconds=0.0)

    def wait_for(self, *wanted: str, seconds: float = PATIENCE_S) -> str:
        """Wait until the screen shows all of some texts; returns it, raises AssertionError with it."""
        deadline = time.monotonic() + seconds
        while True:
            screen = self.screen()
            words = " ".join(screen.split())
            if all(" ".join(text.split()) in words for text in wanted):
                return screen
            if time.monotonic() > deadline:
                raise AssertionError(f"{wanted!r} never came; the screen shows:\n{screen}")
            time.sleep(_LOOK_S)

    def wait_for_cursor_at(self, wanted: str) -> None:
        """Wait until the cursor stands on a row that begins with a word, such as a line's number."""
        deadline = time.monotonic() + PATIENCE_S
        while True:
            row = int(self._run("display-message", "-p", "#{cursor_y}"))
            words = self.screen().splitlines()[row : row + 1]
            if words and words[0].split()[:1] == [wanted]:
                return
            if time.monotonic() > deadline:
                raise AssertionError(
                    f"the cursor never came to {wanted!r}; the screen shows:\n{self.screen()}"
                )
            time.sleep(_LOOK_S)

    def resize(self, columns: int, rows: int) -> None:
        """Give the window another size."""
        self._run("resize-window", "-x", str(columns), "-y", str(rows))

    def screen(self) -> str:
        """Return what the window shows."""
        return self._run("capture-pane", "-p")

    def _run(self, *words: str, check: bool = True) -> str:
        command = ["tmux", "-L", self._socket, *words]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if check and done.returncode:
            raise AssertionError(f"tmux {words[0]} failed: {done.stderr.strip()}")
        return done.stdout
