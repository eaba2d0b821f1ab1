"""Putting several files on disk together: all of them or none, and never over another."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Mapping
from pathlib import Path

from core.durable import sync_directory
from core.errors import InputError
from core.text import printable

_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK)


def demand_absent(*paths: Path) -> None:
    """Refuse to go on where one of the paths exists, or where its folder cannot be written to.

    Raises InputError.
    """
    for path in paths:
        if os.path.lexists(path):
            raise InputError(
                f"{_shown(path)} exists, and evidence is never overwritten; "
                "give a new --output or move it away"
            )
        folder = next(parent for parent in path.absolute().parents if os.path.lexists(parent))
        if not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
            raise InputError(
                f"{_shown(folder)} is not a folder that can be written to, so {_shown(path)} cannot be "
                "made; give another --output"
            )


def publish_together(files: Mapping[Path, bytes]) -> None:
    """Write new files in one folder, made where it is missing: all, durably and whole, or none.

    They appear in their order, so that whoever sees the last one sees them all. Raises InputError where
    one exists or cannot be written.
    """
    folder = next(iter(files)).absolute().parent
    made = [parent for parent in (folder, *folder.parents) if not os.path.lexists(parent)]
    published: list[Path] = []
    temporaries = {path: path.with_name(f".{path.name}.partial-{os.getpid()}") for path in files}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path, data in files.items():
            _write(temporaries[path], data)
        for path, temporary in temporaries.items():
            _move_to_new(temporary, path)
            published.append(path)
        sync_directory(folder)
    except BaseException as error:
        for path in (*published, *temporaries.values()):
            with contextlib.suppress(OSError):
                path.unlink()
        for parent in made:
            with contextlib.suppress(OSError):
                parent.rmdir()
        if isinstance(error, OSError):
            raise InputError(_refusal(error, list(files)[-1])) from None
        raise


def _write(path: Path, data: bytes) -> None:
    with open(path, "wb") as stream:
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())


def _move_to_new(temporary: Path, path: Path) -> None:
    """Give a file its name without ever replacing another, which a plain rename would."""
    try:
        os.link(temporary, path)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        path.touch(exist_ok=False)  # a file system without hard links: take the name, then fill it
        try:
            temporary.replace(path)
        except BaseException:
            path.unlink()
            raise
    else:
        temporary.unlink()


def _refusal(error: OSError, path: Path) -> str:
    if isinstance(error, FileExistsError):
        return f"{_shown(path)} or a file beside it appeared meanwhile; give a new --output"
    return f"cannot write {_shown(path)}: {error.strerror or error}; nothing was left behind"


def _shown(path: Path) -> str:
    return printable(str(path))
