"""Finds a run's index, believes it or not, and sees that it is up to date."""

from __future__ import annotations

import contextlib
import errno
import sqlite3
from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

from core.browse import places
from core.browse.build import build
from core.browse.filling import IsCancelled, OnProgress
from core.browse.freshness import key_of, stamp_of
from core.browse.guard import WRITING
from core.browse.schema import UNREADABLE, changes, connect, holds, is_plain_file, read_meta
from core.browse.update import update
from core.errors import BoresightError
from core.run.layout import Operation
from core.run.record import RunRecord

_NOT_HERE = {errno.EACCES, errno.EPERM, errno.EROFS, errno.EISDIR, errno.ENOTEMPTY, errno.EEXIST}
_damaged: set[Path] = set()  # files that turned out to be so, though their heads look whole


class Wish(NamedTuple):
    """How up to date an index is to be.

    `only` names the operations to read again; without `catch_up` an index that holds is taken as it is; with
    `thorough` everything is read again.
    """

    on_progress: OnProgress
    is_cancelled: IsCancelled
    only: Collection[Operation] | None = None
    catch_up: bool = True
    thorough: bool = False


def ready_index(record: RunRecord, wish: Wish) -> Path:
    """Return the file of a run's index, built or brought up to date where it was not.

    Raises IdentityError, StoppedError, and BoresightError where it can be written nowhere.
    """
    inside = places.inside(record)
    if not places.may_write(record):
        if not wish.thorough and is_sound(record, inside) and _is_enough(record, inside, wish):
            return inside
        return _ready_in_cache(record, wish)
    try:
        _make_ready(record, inside, wish)
    except (OSError, sqlite3.Error) as error:
        if getattr(error, "errno", None) not in _NOT_HERE:
            raise _unwritable(inside, error) from None
        return _ready_in_cache(record, wish)
    return inside


def is_sound(record: RunRecord, file: Path) -> bool:
    """Tell whether a file is this run's index, whole, and written by nothing but this program."""
    if file in _damaged or not is_plain_file(file):
        return False
    alone = WRITING.acquire(blocking=False)
    try:
        with contextlib.closing(connect(file)) as connection:
            connection.execute("BEGIN")  # no other process writes until the head was read
            if not holds(connection, key_of(record)):
                return False
            # Where a thread of this process writes to an index, it has believed it.
            return not alone or read_meta(connection)["written"] == changes(file)
    except UNREADABLE:
        return False
    finally:
        if alone:
            WRITING.release()


def is_current(record: RunRecord, file: Path) -> bool:
    """Tell whether the run is as it was when its index was last brought up to date."""
    stamp = stamp_of(record)
    try:
        with contextlib.closing(connect(file)) as connection:
            return stamp is not None and read_meta(connection).get("stamp") == stamp
    except UNREADABLE:
        return False


def distrust(file: Path) -> None:
    """Never believe a file again that turned out to be damaged; raises OSError where it must stay."""
    _damaged.add(file)
    file.unlink(missing_ok=True)


def _is_enough(record: RunRecord, file: Path, wish: Wish) -> bool:
    return wish.only is None and (not wish.catch_up or is_current(record, file))


def _ready_in_cache(record: RunRecord, wish: Wish) -> Path:
    file = places.cached(record)
    try:
        places.make_cache_folder(file)
        _make_ready(record, file, wish)
    except (OSError, sqlite3.Error) as error:
        raise _unwritable(file, error) from None
    return file


def _make_ready(record: RunRecord, file: Path, wish: Wish) -> None:
    if not wish.thorough and is_sound(record, file):
        if _is_enough(record, file, wish):
            return
        with contextlib.suppress(*UNREADABLE):  # damaged in a part that nothing had read yet
            update(record, file, wish.on_progress, wish.is_cancelled, wish.only)
            return
    build(record, file, wish.on_progress, wish.is_cancelled)
    _damaged.discard(file)


def _unwritable(file: Path, error: OSError | sqlite3.Error) -> BoresightError:
    reason = getattr(error, "strerror", None) or error
    return BoresightError(
        f"{file}: the index that screens need cannot be written: {reason}; "
        "make room, or let XDG_CACHE_HOME name a folder that can be written to. The run itself is whole."
    )
