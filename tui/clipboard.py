"""The person's clipboard beyond what the terminal's own escape sequence reaches."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from typing import NamedTuple

TIMEOUT_SECONDS = 2.0
TERMINAL_LIMIT = (
    74_994  # bytes that the escape sequence (OSC 52) carries through terminals that cut at 100,000
)


class Program(NamedTuple):
    """A program that puts its standard input on a clipboard, and the name that messages call it by."""

    name: str
    command: tuple[str, ...]


def program_for(environment: Mapping[str, str] = os.environ) -> Program | None:
    """Return the program that reaches the person's clipboard from here, or None where none does.

    Inside tmux that is tmux itself: many terminals hear the escape sequence only through it.
    """
    known = (
        ("TMUX", Program("tmux", ("tmux", "load-buffer", "-w", "-"))),
        ("WAYLAND_DISPLAY", Program("wl-copy", ("wl-copy",))),
        ("DISPLAY", Program("xclip", ("xclip", "-selection", "clipboard"))),
        ("DISPLAY", Program("xsel", ("xsel", "--clipboard", "--input"))),
        ("", Program("pbcopy", ("pbcopy",))),
    )
    for variable, program in known:
        if (not variable or environment.get(variable)) and shutil.which(program.command[0]):
            return program
    return None


def put(text: str, program: Program, timeout_s: float = TIMEOUT_SECONDS) -> str | None:
    """Hand text to a program; return why that failed, or None. Waits, so call it from a thread."""
    try:
        done = subprocess.run(
            program.command,
            input=text.encode("utf-8", "replace"),
            stdout=subprocess.DEVNULL,  # xclip goes on as a process that holds the text, with our pipes open
            stderr=subprocess.DEVNULL,
            timeout=timeout_s,
            start_new_session=True,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"{program.name} did not answer within {timeout_s:g} s"
    except OSError as error:
        return f"{program.name}: {error.strerror or error}"
    return None if done.returncode == 0 else f"{program.name} ended with status {done.returncode}"
