"""`boresight` without a command, and `boresight watch`: opens the terminal app, a package of its own."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from pathlib import Path

from core.errors import InputError
from core.run.record import read_run
from core.text import printable


def home(arguments: argparse.Namespace) -> int:
    """Open the app on a folder."""
    if not arguments.folder.is_dir():
        found = "a file" if arguments.folder.exists() else "nothing"
        raise InputError(
            f"{printable(str(arguments.folder))}: found {found} there; name a folder that exists"
        )
    return _open(arguments.folder)


def watch(arguments: argparse.Namespace) -> int:
    """Open the app on a run."""
    root = read_run(arguments.run).layout.root
    return _open(root.parent, root)


def _open(folder: Path, run: Path | None = None) -> int:
    if not (sys.stdin.isatty() and sys.stdout.isatty()) or os.environ.get("TERM", "") in {"", "dumb"}:
        raise InputError(
            "the app needs a terminal that can be drawn on; here use `boresight runs`, "
            "`boresight follow RUN` and `boresight report RUN`"
        )
    # Named here only: nothing of core depends on the app.
    return int(importlib.import_module("tui.app").open_app(folder, run))
