"""Saving a text that a person edits: whole or not at all, and never over what somebody else wrote."""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
from pathlib import Path
from typing import NamedTuple

from core.durable import sync_directory
from core.errors import InputError
from core.regular import open_regular
from core.text import printable


class Stamp(NamedTuple):
    """What a file was when it was looked at: the SHA-256 of its bytes."""

    digest: str


class ChangedFileError(InputError):
    """A file on disk is not the one that was read: somebody else has written it, or removed it."""


def stamp_of(path: Path) -> Stamp | None:
    """Return a file's stamp, None where there is no file or it cannot be read."""
    try:
        with open_regular(path) as stream:
            return Stamp(hashlib.file_digest(stream, "sha256").hexdigest())
    except (OSError, ValueError):
        return None


def save_text(path: Path, text: str, known: Stamp | None, *, overwrite: bool = False) -> Stamp:
    """Write a text to a file, durably and whole or not at all, under the mode that the file has.

    `known` is the file as it was read, None where there was none. A link's file is written, and the link
    kept. Raises ChangedFileError where the file is another now, unless `overwrite`; InputError where it is
    not writable, or the text cannot be encoded. Nothing partial is left behind.
    """
    shown = printable(str(path))
    try:
        data = text.encode("utf-8")
    except UnicodeEncodeError:
        raise InputError(
            f"{shown}: the text holds a lone surrogate, which UTF-8 cannot encode; remove it"
        ) from None
    try:
        target = path.resolve()
        mode = _mode(target)
        _demand_writable(target, mode, shown)
        if not overwrite:
            _demand_known(path, known, shown)
        target.parent.mkdir(parents=True, exist_ok=True)
        _replace(target, data, mode)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(
            f"{shown}: cannot be saved: {reason}; nothing was changed; save it elsewhere"
        ) from None
    return Stamp(hashlib.sha256(data).hexdigest())


def _mode(path: Path) -> int | None:
    try:
        return path.stat().st_mode
    except FileNotFoundError:
        return None


def _demand_writable(path: Path, mode: int | None, shown: str) -> None:
    if mode is None:
        return
    if not stat.S_ISREG(mode):
        raise InputError(f"{shown}: not a file that can be saved to; save it elsewhere")
    if not mode & 0o222 or not os.access(path, os.W_OK):
        # The folder may allow a replacement all the same: whoever took the right away meant it.
        raise InputError(f"{shown}: read-only; run `chmod u+w` on it, or save it elsewhere")


def _demand_known(path: Path, known: Stamp | None, shown: str) -> None:
    if stamp_of(path) == known:
        return
    if known is None:
        raise ChangedFileError(f"{shown}: exists already; overwrite it, or save under another name")
    what = "was changed on disk since it was read" if path.exists() else "was removed since it was read"
    raise ChangedFileError(f"{shown}: {what}; reload it and lose your changes, or overwrite it")


def _replace(path: Path, data: bytes, mode: int | None) -> None:
    temporary = path.with_name(f".{path.name}.partial-{os.getpid()}")
    try:
        with open(temporary, "wb") as stream:
            if mode is not None:
                os.fchmod(stream.fileno(), stat.S_IMODE(mode))
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
    sync_directory(path.parent)
