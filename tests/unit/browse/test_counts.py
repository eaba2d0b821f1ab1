"""Counts from an index are those of the evidence, or there are none."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from core import api
from core.browse.counts import Counts, known_counts
from core.browse.index import open_index
from core.run.evidence import Validation
from core.run.layout import RunLayout
from core.run.lock import RunLock
from core.run.record import read_run
from core.status import run_status
from tests.unit.browse.runs import add_attempt, primaries, varied_run


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return varied_run(tmp_path)


def build(run: Path) -> None:
    open_index(run).close()


def leave_nothing(run: Path) -> None:
    shutil.rmtree(RunLayout(run).operation(primaries(run, "a")[0]))


def fail_again(run: Path) -> None:
    operation = primaries(run, "a")[0]
    RunLayout(run).result(operation).unlink()
    add_attempt(run, operation, Validation("failed", "timeout"))


def stop_again(run: Path) -> None:
    operation = primaries(run, "a")[0]
    RunLayout(run).result(operation).unlink()
    add_attempt(run, operation, Validation("stopped"))


@pytest.mark.parametrize("change", [lambda run: None, leave_nothing, fail_again, stop_again])
def test_counts_are_those_that_reading_the_evidence_gives(run: Path, change: Callable[[Path], None]) -> None:
    change(run)
    build(run)
    found = api.run_status(run)
    counts = known_counts(read_run(run))
    left = found.planned - found.accepted - found.failed
    assert counts == Counts(found.accepted, found.failed, left, found.unasked)
    assert found.failed > 0 and run_status(run, brief=True) == found


def test_a_run_without_an_index_has_none(run: Path) -> None:
    assert known_counts(read_run(run)) is None
    assert run_status(run, brief=True) == api.run_status(run)


def test_an_index_of_a_run_that_went_on_since_tells_nothing(run: Path) -> None:
    build(run)
    leave_nothing(run)
    assert known_counts(read_run(run)) is None
    assert run_status(run, brief=True) == api.run_status(run)


def test_an_index_of_a_run_that_is_being_executed_tells_nothing(run: Path) -> None:
    build(run)
    lock = RunLock(run / ".lock")
    lock.acquire()
    try:
        assert known_counts(read_run(run)) is None
    finally:
        lock.release()


def test_changed_evidence_is_counted_by_reading_it(run: Path) -> None:
    layout = RunLayout(run)
    (layout.attempt(primaries(run, "a")[0], 1) / "stdout").write_bytes(b"{}")
    build(run)
    assert known_counts(read_run(run)) is None


def test_a_failure_whose_retry_was_stopped_is_counted_by_reading(run: Path) -> None:
    fail_again(run)
    add_attempt(run, primaries(run, "a")[0], Validation("stopped"))
    build(run)
    assert known_counts(read_run(run)) is None


def test_a_damaged_index_tells_nothing(run: Path) -> None:
    build(run)
    (run / "index.sqlite").write_bytes(b"SQLite format 3\0" + b"\xff" * 8000)
    assert known_counts(read_run(run)) is None
