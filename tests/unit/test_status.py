"""The state of a run is told from its lock, its evidence and the age of its narration."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal

import pytest

from core import api
from core.browse.index import open_index
from core.rankings import RunReader
from core.run.events import CampaignFinished, Event, EventLog, Heartbeat, Paused, Progress
from core.run.evidence import (
    Acceptance,
    Validation,
    begin_attempt,
    publish_accepted,
    publish_attempt,
)
from core.run.layout import Operation, RunLayout
from core.run.lock import RunLock
from core.status import run_status
from tests.support.campaigns import campaign, fake, make_scene, run_new
from tests.support.finished import CASES, OPERATIONS, Finished, finished_run

INDEX = Operation("a", "store", "index")
LONG_AGO = datetime.now(UTC) - timedelta(hours=1)
COUNTS = Progress(completed=1, planned=2)


@pytest.fixture
def finished(tmp_path: Path) -> Finished:
    return finished_run(tmp_path)


@pytest.fixture
def held(finished: Finished) -> Iterator[RunLock]:
    lock = RunLock(finished.run / ".lock")
    lock.acquire()
    yield lock
    lock.release()


def narrate(run: Path, *events: Event) -> None:
    log = EventLog(run / "events.jsonl")
    for event in events:
        log.emit(event)
    log.close()


def lock_taken_long_ago(lock: RunLock) -> None:
    os.utime(lock.path, (LONG_AGO.timestamp(), LONG_AGO.timestamp()))


def operations(run: Path, kind: str) -> list[Operation]:
    return [item.operation for item in RunReader(run).plan if item.operation.kind == kind]


def leave(run: Path, operation: Operation, status: str) -> None:
    """Let the operation's last attempt end otherwise."""
    layout = RunLayout(run)
    layout.result(operation).unlink(missing_ok=True)
    attempt = begin_attempt(layout, operation, {})
    if status != "interrupted":
        publish_attempt(attempt, {"outcome": "exited"}, Validation(status))


def test_a_run_with_all_accepted_is_complete(finished: Finished) -> None:
    status = api.run_status(finished.run)
    assert (status.state, status.accepted, status.planned, status.failed) == (
        "complete",
        2 * OPERATIONS,
        2 * OPERATIONS,
        0,
    )
    assert (status.name, status.path, status.problem) == ("test", finished.run, None)
    assert status.updated_at is not None and status.updated_at.tzinfo is not None


def test_a_run_with_a_failure_and_nothing_left_to_try_is_failed(finished: Finished) -> None:
    leave(finished.run, operations(finished.run, "primary")[0], "failed")
    status = api.run_status(finished.run)
    assert (status.state, status.accepted, status.failed) == ("failed", 2 * OPERATIONS - 1, 1)


def test_a_failed_index_fails_what_depends_on_it(tmp_path: Path) -> None:
    scene = make_scene(tmp_path, per_intent=1)
    asked = campaign(scene, fake("a", index="dies"), fake("b", session=True))
    run = run_new(asked, tmp_path / "run").run
    status = api.run_status(run)
    assert (status.state, status.accepted, status.failed) == ("failed", OPERATIONS, OPERATIONS)
    assert status.unasked == OPERATIONS - 1
    open_index(run).close()
    assert run_status(run, brief=True).unasked == OPERATIONS - 1  # as its index knows
    told = [json.loads(line) for line in (run / "events.jsonl").read_text().splitlines()]
    assert told[-1]["progress"]["unasked"] == OPERATIONS - 1


@pytest.mark.parametrize("left", ["nothing", "interrupted", "stopped"])
def test_a_run_with_operations_left_is_interrupted(finished: Finished, left: str) -> None:
    operation = operations(finished.run, "primary")[-1]
    if left == "nothing":
        shutil.rmtree(RunLayout(finished.run).operation(operation))
    else:
        leave(finished.run, operation, left)
    status = api.run_status(finished.run)
    assert (status.state, status.accepted, status.failed) == ("interrupted", 2 * OPERATIONS - 1, 0)


def test_a_retry_that_was_interrupted_is_not_a_failure(finished: Finished) -> None:
    operation = operations(finished.run, "ctx")[0]
    leave(finished.run, operation, "failed")
    assert api.run_status(finished.run).state == "failed"
    leave(finished.run, operation, "interrupted")
    assert api.run_status(finished.run).state == "interrupted"


def test_a_run_that_was_only_created_is_interrupted(tmp_path: Path) -> None:
    opened = api.create_run(campaign(make_scene(tmp_path), fake("a")), tmp_path / "run")
    assert api.run_status(tmp_path / "run").state == "waiting"
    opened.lock.release()
    status = api.run_status(tmp_path / "run")
    assert (status.state, status.accepted, status.updated_at) == ("interrupted", 0, None)


def test_answers_of_an_index_that_was_replaced_do_not_count(finished: Finished) -> None:
    layout = RunLayout(finished.run)
    attempt = begin_attempt(layout, INDEX, {})
    bound = Acceptance(RunReader(finished.run).record.cell("a", "store"))
    publish_accepted(layout, attempt, {"outcome": "exited"}, Validation("accepted"), bound)
    status = api.run_status(finished.run)
    assert (status.state, status.accepted) == ("interrupted", OPERATIONS + 1)
    rescored = api.rescore(finished.run, write=False)
    assert rescored.unaccepted == status.planned - status.accepted == 2 * CASES


def test_a_held_lock_and_fresh_events_are_a_running_run(finished: Finished, held: RunLock) -> None:
    narrate(finished.run, Heartbeat(progress=COUNTS))
    assert api.run_status(finished.run).state == "running"


def test_a_run_that_was_just_opened_again_has_not_begun_whatever_was_told_before(
    finished: Finished, held: RunLock
) -> None:
    narrate(finished.run, CampaignFinished(state="complete", progress=COUNTS, at=LONG_AGO))
    status = api.run_status(finished.run)
    assert (status.state, status.waits_for) == ("waiting", None)


def test_a_run_that_waits_says_so_even_where_it_does_not_know_for_which(
    finished: Finished, held: RunLock
) -> None:
    narrate(finished.run, Heartbeat(state="waiting", progress=COUNTS))
    assert api.run_status(finished.run).waits_for == "another campaign on this machine"


def test_operations_have_ended_whether_they_were_accepted_or_failed(finished: Finished) -> None:
    leave(finished.run, operations(finished.run, "primary")[0], "failed")
    status = api.run_status(finished.run)
    assert (status.ended, status.accepted) == (2 * OPERATIONS, 2 * OPERATIONS - 1)


def test_a_held_lock_and_no_news_is_stalled(finished: Finished, held: RunLock) -> None:
    narrate(finished.run, Heartbeat(progress=COUNTS, at=LONG_AGO))
    lock_taken_long_ago(held)
    assert api.run_status(finished.run).state == "stalled"


def test_a_run_stays_paused_through_its_heartbeats(finished: Finished, held: RunLock) -> None:
    beats = [Heartbeat(progress=COUNTS) for _ in range(1000)]
    narrate(finished.run, Paused(paused=True, progress=COUNTS), *beats)
    assert (finished.run / "events.jsonl").stat().st_size > 64 * 1024
    assert api.run_status(finished.run).state == "paused"
    narrate(finished.run, Paused(paused=False, progress=COUNTS), *beats)
    assert api.run_status(finished.run).state == "running"


@pytest.mark.parametrize(
    "tail",
    [
        b'{"type":"paused","paused":true,"at":"2030',
        b"no JSON\n",
        b'{"type":"heartbeat","at":"yesterday"}\n',
        b'{"type":"heartbeat","at":"2030-01-01T00:00:00"}\n',
        b"[]\n\n",
    ],
)
def test_lines_that_are_no_events_are_passed_over(finished: Finished, held: RunLock, tail: bytes) -> None:
    before = api.run_status(finished.run).updated_at
    with open(finished.run / "events.jsonl", "ab") as stream:
        stream.write(tail)
    status = api.run_status(finished.run)
    assert (status.state, status.updated_at) == ("waiting", before)


def test_events_decide_nothing_about_a_run_that_nobody_holds(finished: Finished) -> None:
    narrate(
        finished.run, Paused(paused=True, progress=COUNTS), CampaignFinished(state="failed", progress=COUNTS)
    )
    assert api.run_status(finished.run).state == "complete"
    (finished.run / "events.jsonl").unlink()
    assert api.run_status(finished.run).state == "complete"


def test_runs_are_listed_also_those_that_cannot_be_read(finished: Finished) -> None:
    for name in ("edited", "newer", "planless"):
        shutil.copytree(finished.run, finished.folder / name)
    path = finished.folder / "edited" / "campaign.json"
    path.write_text(path.read_text().replace('"seed": 0', '"seed": 1'))
    path = finished.folder / "newer" / "campaign.json"
    path.write_text(json.dumps({**json.loads(path.read_bytes()), "format": "boresight-run@9"}))
    (finished.folder / "planless" / "plan.jsonl").unlink()

    found = {status.path.name: status for status in api.list_runs(finished.folder)}

    assert list(found) == ["edited", "newer", "planless", "run"]
    assert found["run"].problem is None
    for name, said in (("edited", "edited since"), ("newer", "newer version"), ("planless", "plan.jsonl")):
        assert found[name].state is None
        assert said in str(found[name].problem)


@pytest.mark.parametrize("name", ["result.json", "measurement.json"])
@pytest.mark.parametrize("raw", [b"{", b"{}", b'{"format": "boresight-measurement@1"}'])
def test_broken_evidence_does_not_break_the_listing(finished: Finished, name: str, raw: bytes) -> None:
    layout = RunLayout(finished.run)
    operation = operations(finished.run, "primary")[0]
    if name == "result.json":
        layout.result(operation).write_bytes(raw)
    else:
        layout.result(operation).unlink()
        (layout.attempt(operation, 1) / name).write_bytes(raw)
    assert api.run_status(finished.run).accepted == 2 * OPERATIONS - 1


@pytest.mark.parametrize("state", ["waiting", "stopping", "running"])
def test_a_fresh_heartbeat_tells_what_the_engine_does(
    finished: Finished, held: RunLock, state: Literal["waiting", "stopping", "running"]
) -> None:
    narrate(finished.run, Heartbeat(state=state, progress=COUNTS))
    assert api.run_status(finished.run).state == state


def test_brief_takes_the_counts_of_a_run_that_is_executed_from_its_latest_event(
    finished: Finished, held: RunLock
) -> None:
    planned = 2 * OPERATIONS
    narrate(finished.run, Heartbeat(progress=Progress(completed=5, planned=planned, failed=2)))
    brief = run_status(finished.run, brief=True)
    assert (brief.accepted, brief.failed, brief.planned) == (3, 2, planned)
    held.release()
    assert run_status(finished.run, brief=True).accepted == planned


@pytest.mark.parametrize(
    "progress",
    [Progress(completed=1, planned=2), Progress(completed=-1, planned=2 * OPERATIONS)],
    ids=["of_another_plan", "impossible"],
)
def test_brief_counts_evidence_where_the_latest_event_tells_nonsense(
    finished: Finished, held: RunLock, progress: Progress
) -> None:
    narrate(finished.run, Heartbeat(progress=progress))
    assert run_status(finished.run, brief=True).accepted == 2 * OPERATIONS
