"""Gives back what a run's indexes take, under the run's lock."""

from __future__ import annotations

from pathlib import Path

from core.errors import BoresightError
from core.run.disk import cell_states, free_states
from core.run.lock import RunLock
from core.run.record import read_run, refuse_links
from core.text import printable


def clean_state(run: Path) -> int:
    """Remove every index of a run; return the bytes that they took. Evidence always stays.

    Raises InputError and IdentityError where the run cannot be trusted, BusyError while a process writes to
    it, BoresightError where something cannot be removed.
    """
    layout = read_run(run).layout
    refuse_links(layout)
    lock = RunLock(layout.lock, purpose="cleaning")
    lock.acquire()
    try:
        freed = sum(state.bytes for state in cell_states(layout))
        free_states(layout)
    except OSError as error:
        raise BoresightError(
            f"{printable(str(error.filename or layout.root))}: cannot be removed: {error.strerror or error}; "
            "give the rights back and clean again; all evidence is whole"
        ) from None
    finally:
        lock.release()
    return freed
