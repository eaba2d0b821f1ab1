"""One window of a tmux server of its own: keys go in, and waits are for what its screen shows."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import psutil
import pytest

PATIENCE_S = 60.0
_LOOK_S = 0.1
_STYLED = re.compile(r"(?:\x1b\[([\d;:]*)m)?([^\x1b]*)")
_ENDED = re.compile(r"ended with (\d+)\.")


def demand_tmux() -> None:
    """Skip the test where there is no tmux."""
    if shutil.which("tmux") is None:
        pytest.skip("tmux is not installed; install it to try the app in a real terminal")


class Tmux:
    """A window in which a shell runs one command, and tells how that ended; `with` ends the server.

    Texts are compared by their words, as lines may wrap between them.
    """

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        cwd: Path,
        size: tuple[int, int] = (100, 30),
    ) -> None:
        self._socket = f"boresight-test-{uuid.uuid4().hex[:12]}"
        settings = [f"{name}={value}" for name, value in environment.items()]
        # The shell tells the exit code, as tmux itself may miss that what it started has ended.
        line = f'env -i TMUX="$TMUX" {shlex.join([*settings, *command])}'
        line += "; printf '\\nended with %s.\\n' $?; exec cat"
        width, height = map(str, size)
        self._run(
            *("-f", "/dev/null", "start-server", ";", "set-option", "-g", "default-shell", "/bin/sh", ";"),
            *("new-session", "-d", "-x", width, "-y", height, "-c", str(cwd), line),
        )
        self._shell = psutil.Process(int(self._tell("pane_pid")))

    def __enter__(self) -> Tmux:
        return self

    def __exit__(self, *_: object) -> None:
        self._run("kill-server", check=False)

    @property
    def pid(self) -> int:
        """The command's process; it must be there already."""
        (process,) = self._shell.children()
        return process.pid

    def keys(self, *names: str) -> None:
        """Press keys by tmux's names for them."""
        self._run("send-keys", *names)

    def type(self, text: str) -> None:
        """Type text as it is."""
        self._run("send-keys", "-l", text)

    def press(self, key: str, *wanted: str) -> None:
        """Press a key, and wait until the screen shows what it did not show before: all of some texts.

        Texts that stand there already would not tell that the key was taken; asking for them is an error.
        """
        before = self.screen()
        if _holds(before, wanted):
            raise AssertionError(f"{wanted!r} say nothing of {key}: they stand there already:\n{before}")
        self.keys(key)
        self.wait_for(*wanted)

    def wait_for(self, *wanted: str, seconds: float = PATIENCE_S) -> None:
        """Wait until the screen shows all of some texts; raises AssertionError with what it shows instead."""
        self.wait_until(lambda screen: _holds(screen, wanted), f"{wanted!r}", seconds)

    def wait_until_gone(self, unwanted: str) -> None:
        """Wait until the screen shows a text no more."""
        self.wait_until(lambda screen: not _holds(screen, (unwanted,)), f"a screen without {unwanted!r}")

    def wait_for_mark(self, wanted: str) -> None:
        """Wait until a text is drawn bold, as what is chosen of a list or a table that has the keys is."""

        def is_marked(_: str) -> bool:
            return _holds(_bold(self._run("capture-pane", "-p", "-e")), (wanted,))

        self.wait_until(is_marked, f"a mark on {wanted!r}")

    def wait_for_cursor_at(self, wanted: str) -> None:
        """Wait until the cursor stands on a row that begins with a word, such as a line's number."""

        def is_there(screen: str) -> bool:
            row = int(self._tell("cursor_y"))
            return [line.split()[:1] for line in screen.splitlines()[row : row + 1]] == [[wanted]]

        self.wait_until(is_there, f"the cursor at {wanted!r}")

    def wait_for_end(self) -> int:
        """Wait until the command has ended; return its exit code, as the shell tells it."""
        screen = self.wait_until(lambda screen: bool(_ENDED.search(screen)), "the end of the command")
        return int(_ENDED.findall(screen)[-1])

    def wait_until(self, condition: Callable[[str], bool], what: str, seconds: float = PATIENCE_S) -> str:
        """Wait until the screen fulfils a condition, and return it.

        Raises AssertionError with `what` never came, and with what the screen shows instead.
        """
        deadline = time.monotonic() + seconds
        while not condition(screen := self.screen()):
            if time.monotonic() > deadline or _ENDED.search(screen):
                raise AssertionError(f"{what} never came; the screen shows:\n{screen}")
            time.sleep(_LOOK_S)
        return screen

    def resize(self, columns: int, rows: int) -> None:
        """Give the window another size."""
        self._run("resize-window", "-x", str(columns), "-y", str(rows))

    def close(self) -> None:
        """Close the window under its command, as closing a terminal does."""
        self._run("kill-window")

    def screen(self) -> str:
        """Return what the window shows."""
        return self._run("capture-pane", "-p")

    def _tell(self, name: str) -> str:
        return self._run("display-message", "-p", f"#{{{name}}}").strip()

    def _run(self, *words: str, check: bool = True) -> str:
        command = ["tmux", "-u", "-L", self._socket, *words]  # -u: whatever the locale, text is UTF-8
        done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
        if check and done.returncode:
            raise AssertionError(f"tmux {words[0]} failed: {done.stderr.strip()}")
        return done.stdout


def _holds(screen: str, wanted: Sequence[str]) -> bool:
    words = _words(screen)
    return all(_words(text) in words for text in wanted)


def _words(text: str) -> str:
    return " ".join(text.split())


def _bold(drawn: str) -> str:
    """Return what is bold of a screen that was captured with its styles."""
    is_bold, kept = False, []
    for codes, text in _STYLED.findall(drawn):
        numbers = codes.split(";")
        if numbers[0] not in {"38", "48"}:  # a colour, whose numbers mean something else
            is_bold = "1" in numbers or (is_bold and "0" not in numbers)
        kept.append(text if is_bold else " ")
    return "".join(kept)
