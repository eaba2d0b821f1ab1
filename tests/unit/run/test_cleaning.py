"""Freeing indexes: under the lock, and never more than them."""

from __future__ import annotations

from pathlib import Path

import pytest

from core import api
from core.errors import BusyError, IdentityError, InputError
from core.run import lock as locks
from core.run.cleaning import clean_state
from core.run.lock import RunLock
from tests.support.finished import finished_run


def test_indexes_go_and_the_run_stays_complete(tmp_path: Path) -> None:
    run = finished_run(tmp_path).run
    assert clean_state(run) > 0
    assert not any((run / "state").glob("*/*"))
    assert api.run_status(run).state == "complete"
    assert clean_state(run) == 0


def test_a_run_that_is_written_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = finished_run(tmp_path).run
    monkeypatch.setattr(locks.RunLock.acquire, "__defaults__", (0.0,))
    lock = RunLock(run / ".lock")
    lock.acquire()
    with pytest.raises(BusyError):
        clean_state(run)
    lock.release()
    assert any((run / "state").glob("*/*"))


def test_links_and_folders_that_are_no_runs_are_refused(tmp_path: Path) -> None:
    run = finished_run(tmp_path).run
    (run / "state" / "link").symlink_to(tmp_path)
    with pytest.raises(IdentityError, match="links stand in the run"):
        clean_state(run)
    with pytest.raises(InputError, match="no run directory"):
        clean_state(tmp_path)
