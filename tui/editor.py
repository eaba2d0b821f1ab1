"""The person's own editor, for one file."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Mapping
from pathlib import Path

from core.errors import BoresightError, InputError
from core.text import printable


def editor_command(path: Path, environment: Mapping[str, str] = os.environ) -> list[str]:
    """Return the command that opens a file in `$VISUAL` or `$EDITOR`.

    Raises InputError, with what to do, where neither is set or usable, or there is no such file.
    """
    shown = printable(str(path))
    try:
        is_file = path.is_file()
    except (OSError, ValueError):
        is_file = False
    if not is_file:
        kind = "is a folder" if path.is_dir() else "is not there"
        raise InputError(f"{shown}: {kind}, so no editor can open it; look again with f5")
    for variable in ("VISUAL", "EDITOR"):
        value = environment.get(variable, "").strip()
        if not value:
            continue
        try:
            words = shlex.split(value)
        except ValueError as error:
            raise InputError(f"${variable}: found {value!r}: {error}; mend its quotes") from None
        # No `--` before the path: not every editor knows it, and an absolute path begins with a slash.
        return [*words, str(path.absolute())]
    raise InputError(
        f"No editor is chosen. Leave, set $VISUAL or $EDITOR (such as: export EDITOR=vim) and start again; "
        f"or open {shown} elsewhere."
    )


def run_editor(command: list[str]) -> int:
    """Run an editor in this terminal until it ends; return its exit status.

    Raises BoresightError where it cannot be started.
    """
    try:
        return subprocess.run(command, check=False).returncode
    except OSError as error:
        raise BoresightError(
            f"{printable(command[0])}: the editor cannot be started: {error.strerror or error}; "
            "set $VISUAL or $EDITOR to one that can"
        ) from None
