"""What a run takes on disk, and giving back what its indexes take of it."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from core.run.layout import RunLayout

_BLOCK_BYTES = 512  # the unit of st_blocks, whatever the file system's own
_GOING = ".removing-"


class DiskUse(NamedTuple):
    """Bytes that a run takes on disk: all together, and of these its indexes."""

    total: int
    state: int


class CellState(NamedTuple):
    """The bytes that one cell's index takes on disk."""

    candidate: str
    repository: str
    bytes: int


def disk_use(root: Path) -> DiskUse:
    """Return what a run directory takes; follows no link, and passes over what cannot be looked into."""
    return DiskUse(bytes_on_disk(root), bytes_on_disk(root / "state"))


def bytes_on_disk(path: Path) -> int:
    """Return the bytes that the file system gives to a folder and all in it, each file once."""
    total = 0
    counted: set[tuple[int, int]] = set()
    for status in _statuses(path):
        if status.st_nlink > 1 and not stat.S_ISDIR(status.st_mode):
            if (status.st_dev, status.st_ino) in counted:
                continue
            counted.add((status.st_dev, status.st_ino))
        total += status.st_blocks * _BLOCK_BYTES
    return total


def cell_states(layout: RunLayout) -> tuple[CellState, ...]:
    """Return what each index takes, in name order; none for cells whose index was freed or never built."""
    return tuple(
        CellState(folder.parent.name, folder.name, bytes_on_disk(folder))
        for folder in _state_folders(layout)
        if not folder.name.startswith(_GOING)
    )


def free_states(layout: RunLayout) -> None:
    """Remove every index of a run whose lock the caller holds. Raises OSError.

    Each is first given another name, so that whoever comes after a kill finds it whole or not at all: a
    cell without its index needs none as long as all its results stand, a damaged index would be built again.
    """
    for folder in _state_folders(layout):
        going = folder
        if not folder.name.startswith(_GOING):
            going = folder.with_name(f"{_GOING}{folder.name}")
            folder.rename(going)
        if going.is_symlink() or not going.is_dir():
            going.unlink()
        else:
            shutil.rmtree(going)


def _state_folders(layout: RunLayout) -> Iterator[Path]:
    state = layout.root / "state"
    for candidate in _children(state):
        if candidate.is_dir() and not candidate.is_symlink():
            yield from _children(candidate)


def _children(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def _statuses(path: Path) -> Iterator[os.stat_result]:
    """Yield the status of a path and of all below it, by a walk that no depth can exhaust."""
    try:
        yield path.lstat()
    except OSError:
        return
    folders = [os.fsencode(path)]
    while folders:
        folder = folders.pop()
        if os.path.islink(folder):  # noqa: PTH114 - names need not be text
            continue
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    with contextlib.suppress(OSError):  # gone since it was listed
                        yield entry.stat(follow_symlinks=False)
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
        except OSError:
            continue
