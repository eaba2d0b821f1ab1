"""The place where a run is made: beside its own, so that it appears whole under its name or not at all."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from core.durable import sync_directory
from core.errors import InputError
from core.run.layout import STAGING_SUFFIX, RunLayout
from core.run.lock import RunLock
from core.text import printable


class Stage(NamedTuple):
    """A folder that a run is being made in, with its lock held, and the folders made to hold it."""

    output: Path
    folder: Path
    lock: RunLock
    made: tuple[Path, ...]  # innermost first


def demand_new(output: Path) -> None:
    """Raise InputError where something is already at a run's path."""
    if os.path.lexists(output):
        raise InputError(
            f"{output}: already exists and is never overwritten; "
            "add --resume to go on with that run, or name a new directory"
        )


def demand_possible(output: Path) -> None:
    """Raise InputError for a path that no run can lie at, as its own records could not name it."""
    try:
        str(output).encode()
    except UnicodeEncodeError:
        raise InputError(
            f"{printable(str(output))}: holds bytes that are not UTF-8, which no file of a run could name; "
            "choose another directory"
        ) from None
    if output.name in {"", ".."}:
        raise InputError(f"{output}: names no new directory; give the run a name of its own")


def open_stage(output: Path) -> Stage:
    """Make the folder that a run is made in and take its lock; what a killed creation left is removed.

    Raises InputError where that cannot be written, and BusyError while another process creates this run.
    """
    folder = output.with_name(f".{output.name}{STAGING_SUFFIX}")
    lock = RunLock(RunLayout(folder).lock)
    made: tuple[Path, ...] = ()
    try:
        made = tuple(each for each in output.parents if not each.exists())
        folder.parent.mkdir(parents=True, exist_ok=True)
        if not folder.is_symlink() and not folder.exists():
            folder.mkdir(mode=0o700)
        _demand_own(folder)
        lock.acquire()
        for leftover in folder.iterdir():
            if leftover != lock.path:
                _remove(leftover)
    except OSError as error:
        lock.release()
        _remove_empty(made)
        raise InputError(
            f"{printable(str(output))}: cannot be written: {error.strerror or error}; "
            "name a directory that this user may write to"
        ) from None
    return Stage(output, folder, lock, made)


def _demand_own(folder: Path) -> None:
    """Refuse what is no private folder of this user's: everything in it would be removed."""
    status = folder.lstat()
    private = status.st_uid == os.geteuid() and stat.S_IMODE(status.st_mode) == 0o700
    if not (stat.S_ISDIR(status.st_mode) and private):
        raise InputError(
            f"{printable(str(folder))}: stands where a new run is made, and is no unfinished run of this "
            "user's; move it away, or give the run another name"
        )


def publish_stage(stage: Stage) -> None:
    """Give the finished run its name; raises InputError where it was taken meanwhile, and OSError."""
    demand_new(stage.output)
    stage.folder.rename(stage.output)
    sync_directory(stage.output.parent)
    stage.lock.path = RunLayout(stage.output).lock


def discard_stage(stage: Stage) -> None:
    """Leave nothing of an unfinished run; its lock goes last, as another creation may wait for it."""
    shutil.rmtree(stage.folder, ignore_errors=True)
    _remove_empty(stage.made)
    stage.lock.release()


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


def _remove_empty(folders: Sequence[Path]) -> None:
    for folder in folders:
        with contextlib.suppress(OSError):
            folder.rmdir()
