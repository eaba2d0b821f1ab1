"""An index keeps up with its run and reads only what changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.browse.index import open_index
from core.browse.update import update
from core.errors import StoppedError
from core.outcomes import read_outcomes
from core.run.evidence import Validation, begin_attempt, publish_attempt
from core.run.layout import Operation, RunLayout
from core.run.lock import RunLock
from core.run.record import read_run
from tests.support.campaigns import run_again
from tests.unit.browse.runs import (
    EMPTY_RANKING,
    MEASURED,
    Readings,
    add_attempt,
    narrate,
    primaries,
    settle,
    varied_run,
)
from tests.unit.browse.test_contents import assert_holds


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    settle(monkeypatch)
    return varied_run(tmp_path)


@pytest.fixture
def readings(monkeypatch: pytest.MonkeyPatch) -> Readings:
    return Readings(monkeypatch)


def test_a_run_that_stands_still_is_read_once(run: Path, readings: Readings) -> None:
    with open_index(run) as index:
        assert sorted(readings.take()) == sorted(item.operation for item in read_outcomes(run).reader.plan)
        index.refresh()
    open_index(run).close()
    assert readings.take() == []


def test_only_operations_that_changed_are_read_again(run: Path, readings: Readings) -> None:
    with open_index(run) as index:
        readings.take()
        operation = primaries(run, "a")[0]
        add_attempt(run, operation, Validation("accepted"), EMPTY_RANKING, accept=True)
        narrate(run)
        index.refresh()
        assert readings.take() == [operation]
        assert index.case(str(operation.case)).primaries["a"].status == "empty"
        assert_holds(index, read_outcomes(run))
    open_index(run).close()
    assert readings.take() == []


def test_an_attempt_that_ends_without_being_accepted_is_seen(run: Path, readings: Readings) -> None:
    operation = primaries(run, "a")[0]
    attempt = begin_attempt(RunLayout(run), operation, {})
    with open_index(run) as index:
        assert index.attempts(operation)[-1].status == "interrupted"
        readings.take()
        publish_attempt(attempt, MEASURED, Validation("failed", "exit"))
        narrate(run)
        index.refresh()
        assert readings.take() == [operation]
        assert index.attempts(operation)[-1].status == "failed"


def test_a_fresh_operation_is_looked_at_again_as_clocks_tick_slowly(
    tmp_path: Path, readings: Readings
) -> None:
    run = varied_run(tmp_path)  # its folders are younger than a clock's tick may be
    with open_index(run) as index:
        first = readings.take()
        narrate(run)
        index.refresh()
        assert {operation for operation in first if RunLayout(run).operation(operation).exists()} == {
            *readings.take()
        }


def test_after_a_resume_the_index_is_that_of_the_evidence(run: Path, readings: Readings) -> None:
    open_index(run).close()
    readings.take()
    layout = RunLayout(run)
    operation = primaries(run, "a")[0]
    layout.result(operation).unlink()
    run_again(run)
    with open_index(run) as index:
        again = readings.take()
        assert operation in again
        assert not any(each.candidate == "c" for each in again)
        assert_holds(index, read_outcomes(run))
        assert index.count_problems() == 0


def test_a_new_index_attempt_voids_what_the_old_one_answered(run: Path, readings: Readings) -> None:
    with open_index(run) as index:
        readings.take()
        built = Operation("a", "store", "index")
        add_attempt(run, built, Validation("accepted", units=9), b"{}", accept=True)
        narrate(run)
        index.refresh()
        read = readings.take()
        assert read[0] == built
        assert {each.candidate for each in read} == {"a"}
        assert len(read) == len(set(read)) == 1 + 2 * index.count()
        assert_holds(index, read_outcomes(run))


def test_what_events_name_is_read_without_a_look_at_the_rest(run: Path, readings: Readings) -> None:
    first, second = primaries(run, "a")[:2]
    with open_index(run) as index:
        readings.take()
        for operation in (first, second):
            add_attempt(run, operation, Validation("accepted"), EMPTY_RANKING, accept=True)
        narrate(run)
        wrong = (
            Operation("nobody", "store", "primary", first.case),
            Operation("a", "store", "primary", "no-case"),
            Operation("a", "nowhere", "index"),
            Operation("a", "store", "warmup"),
            Operation("c", "store", "ctx", first.case),  # c has no probe
        )
        index.refresh(only=[first, *wrong])
        assert readings.take() == [first]
        assert index.case(str(second.case)).primaries["a"].status == "answered"
        index.refresh()  # and nothing is forgotten
        assert readings.take() == [second]


def test_while_a_run_is_executed_each_refresh_looks(run: Path, readings: Readings) -> None:
    lock = RunLock(RunLayout(run).lock)
    lock.acquire()
    try:
        with open_index(run) as index:
            readings.take()
            operation = primaries(run, "a")[0]
            add_attempt(run, operation, Validation("accepted"), EMPTY_RANKING, accept=True)
            index.refresh()  # no event told of it
            assert readings.take() == [operation]
    finally:
        lock.release()


def test_an_index_can_be_opened_as_it_is(run: Path, readings: Readings) -> None:
    open_index(run).close()
    readings.take()
    operation = primaries(run, "a")[0]
    add_attempt(run, operation, Validation("accepted"), EMPTY_RANKING, accept=True)
    narrate(run)
    with open_index(run, catch_up=False) as index:
        assert readings.take() == []
        assert index.case(str(operation.case)).primaries["a"].status == "answered"


def test_a_thorough_look_finds_bytes_that_were_edited_in_place(run: Path) -> None:
    open_index(run).close()
    operation = primaries(run, "a")[0]
    stdout = RunLayout(run).attempt(operation, 1) / "stdout"
    stdout.write_bytes(stdout.read_bytes() + b" ")
    with open_index(run, thorough=True) as index:
        assert index.case(str(operation.case)).primaries["a"].status == "changed"


def test_evidence_that_was_mended_is_no_longer_a_problem(run: Path) -> None:
    operation = primaries(run, "a")[0]
    path = RunLayout(run).attempt(operation, 1) / "stdout"
    before = path.read_bytes()
    path.write_bytes(b"edited")
    with open_index(run) as index:
        assert index.count_problems() == 1
        path.write_bytes(before)
        index.refresh(only=[operation])
        assert index.count_problems() == 0
        assert_holds(index, read_outcomes(run))


def test_progress_counts_operations_and_a_cancelled_update_changes_nothing(run: Path) -> None:
    told: list[tuple[int, int]] = []
    with open_index(run, lambda done, total: told.append((done, total))) as index:
        planned = len(read_outcomes(run).reader.plan)
        assert told[-1] == (planned, planned)
        assert [done for done, _ in told] == sorted(done for done, _ in told)
        operation = primaries(run, "a")[0]
        add_attempt(run, operation, Validation("accepted"), EMPTY_RANKING, accept=True)
        narrate(run)
        with pytest.raises(StoppedError):
            index.refresh(is_cancelled=lambda: True)
        assert index.case(str(operation.case)).primaries["a"].status == "answered"
        index.refresh()
        assert index.case(str(operation.case)).primaries["a"].status == "empty"


def test_a_second_updater_leaves_it_to_the_first(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.browse.update.PATIENCE_S", 0.05)
    with open_index(run) as index:
        record, nobody = read_run(run), lambda done, total: None
        seen: list[bool] = []

        def meanwhile() -> bool:
            seen.append(update(record, index.file, nobody, lambda: False, only=()))
            seen.append(index.count() > 0)  # readers go on
            return False

        assert update(record, index.file, nobody, meanwhile, only=primaries(run, "a")[:1])
    assert seen[:2] == [False, True]
