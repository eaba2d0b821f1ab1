"""Fix and continue: what a new run takes over from an earlier one, what it runs anew, and what it refuses."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from core import api
from core.errors import BusyError, IdentityError, InputError
from core.run.evidence import read_result, verify_result
from core.run.layout import Operation, RunLayout
from core.run.lock import RunLock
from core.run.record import read_run
from tests.support.campaigns import INTENTS, Ran, Scene, campaign, execute_run, fake, make_scene, run_new
from tests.support.retrievers import fake as fake_retriever

CASES = 4
OPERATIONS = 1 + 2 * CASES


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return make_scene(tmp_path, per_intent=1)


def created(asked: api.Campaign, output: Path, old: Path) -> api.OpenRun:
    return api.create_run(asked, output, reuse=old)


def counts(opened: api.OpenRun) -> dict[str, tuple[int, int]]:
    assert opened.taken_over is not None
    return {cell.candidate: (cell.taken, cell.planned) for cell in opened.taken_over.cells}


def reason(opened: api.OpenRun, candidate: str) -> str:
    assert opened.taken_over is not None
    return str(next(cell.reason for cell in opened.taken_over.cells if cell.candidate == candidate))


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_repaired_candidate_runs_and_the_others_are_taken_over(scene: Scene) -> None:
    old = run_new(campaign(scene, fake("a"), fake("b", faults={"load": "exit_3"})), scene.folder / "old")
    assert old.state == "failed"
    before = files(old.run)

    opened = created(campaign(scene, fake("a"), fake("b")), scene.folder / "new", old.run)
    assert counts(opened) == {"a": (OPERATIONS, OPERATIONS), "b": (0, OPERATIONS)}
    assert "candidates.b.configuration.sha256" in reason(opened, "b")
    ran = execute_run(opened)

    assert ran.state == "complete"
    assert ran.outcomes() == {"reused": OPERATIONS, "accepted": OPERATIONS}
    assert files(old.run) == before
    assert api.rescore(ran.run, write=False).unaccepted == 0


def test_a_result_says_where_it_came_from_and_its_attempt_is_the_same_bytes_in_files_of_its_own(
    scene: Scene,
) -> None:
    marker = scene.folder / "happened"
    asked = campaign(scene, fake("a", faults={"load_records": "exit_3"}, once=str(marker)))
    old = run_new(asked, scene.folder / "old")
    again = execute_run(api.reopen_run(old.run), resumed=True)
    assert again.state == "complete"

    opened = created(asked, scene.folder / "new", old.run)
    opened.lock.release()

    before, after = RunLayout(old.run), RunLayout(scene.folder / "new")
    origin = read_run(old.run)
    numbers = set()
    for planned in opened.plan:
        operation = planned.operation
        was, now = read_result(before, operation), read_result(after, operation)
        assert was is not None and now is not None and now.origin is not None
        assert now.origin == (origin.identity, "old", was.cell, was.attempt)
        assert now.cell == opened.record.cell("a", "store")
        assert (now.attempt, now.root) == (was.attempt, str(old.run))
        assert verify_result(after, operation, now).changed == ()
        numbers.add(now.attempt)
        for path in before.attempt(operation, was.attempt).iterdir():
            copy = after.attempt(operation, was.attempt) / path.name
            assert copy.read_bytes() == path.read_bytes()
            assert copy.stat().st_ino != path.stat().st_ino
    assert numbers == {1, 2}


def test_an_origin_survives_a_second_taking_over(scene: Scene) -> None:
    asked = campaign(scene, fake("a"))
    first = run_new(asked, scene.folder / "first")
    created(asked, scene.folder / "second", first.run).lock.release()
    opened = created(asked, scene.folder / "third", scene.folder / "second")
    opened.lock.release()
    result = read_result(opened.layout, Operation("a", "store", "index"))
    assert result is not None and result.origin is not None
    assert result.origin.name == "first"


def test_queries_that_are_missing_run_against_the_index_that_came_along(scene: Scene) -> None:
    marker = scene.folder / "happened"
    asked = campaign(scene, fake("a", faults={"load_records": "exit_3"}, once=str(marker)))
    old = run_new(asked, scene.folder / "old")
    assert old.outcomes()["failed"] == 1

    opened = created(asked, scene.folder / "new", old.run)
    assert counts(opened) == {"a": (OPERATIONS - 1, OPERATIONS)}
    ran = execute_run(opened)

    assert ran.state == "complete"
    assert ran.outcomes() == {"reused": OPERATIONS - 1, "accepted": 1}
    assert (ran.run / "state/a/store/index.json").is_file()


def test_a_whole_cell_whose_index_cannot_be_moved_is_taken_over_without_it(scene: Scene) -> None:
    asked = campaign(scene, fake("a", relocatable=False))
    old = run_new(asked, scene.folder / "old")
    opened = created(asked, scene.folder / "new", old.run)
    assert counts(opened) == {"a": (OPERATIONS, OPERATIONS)}
    ran = execute_run(opened)
    assert ran.state == "complete"
    assert ran.outcomes() == {"reused": OPERATIONS}
    assert not (ran.run / "state/a/store").exists()


def test_a_part_of_a_cell_whose_index_cannot_be_moved_is_run_anew(scene: Scene) -> None:
    marker = scene.folder / "happened"
    config: dict[str, Any] = {"faults": {"load_records": "exit_3"}, "once": str(marker)}
    asked = campaign(scene, fake("a", relocatable=False, **config))
    old = run_new(asked, scene.folder / "old")
    opened = created(asked, scene.folder / "new", old.run)
    assert counts(opened) == {"a": (0, OPERATIONS)}
    assert "cannot be moved" in reason(opened, "a")
    assert execute_run(opened).outcomes() == {"accepted": OPERATIONS}


def test_a_part_of_a_cell_whose_index_was_freed_is_run_anew(scene: Scene) -> None:
    marker = scene.folder / "happened"
    asked = campaign(scene, fake("a", faults={"load_records": "exit_3"}, once=str(marker)))
    old = run_new(asked, scene.folder / "old")
    (old.run / "state/a/store/index.json").unlink()
    opened = created(asked, scene.folder / "new", old.run)
    opened.lock.release()
    assert counts(opened) == {"a": (0, OPERATIONS)}
    assert "gone or incomplete" in reason(opened, "a")


def test_a_cell_whose_command_would_be_another_now_is_run_anew(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = campaign(scene, fake("a"))
    old = run_new(asked, scene.folder / "old")
    program = scene.folder / "tool.py"
    program.symlink_to(fake_retriever.PROGRAM)
    monkeypatch.setattr("core.retrievers.fake.PROGRAM", program)
    opened = created(asked, scene.folder / "new", old.run)
    opened.lock.release()
    assert counts(opened) == {"a": (0, OPERATIONS)}
    assert reason(opened, "a") == "its index would be built by another command now"


def test_the_interpreter_may_be_called_by_another_name(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = campaign(scene, fake("a"))
    old = run_new(asked, scene.folder / "old")
    interpreter = scene.folder / "python"
    interpreter.symlink_to(sys.executable)
    monkeypatch.setattr(sys, "executable", str(interpreter))
    opened = created(asked, scene.folder / "new", old.run)
    opened.lock.release()
    assert counts(opened) == {"a": (OPERATIONS, OPERATIONS)}


def test_a_cell_whose_index_failed_gives_nothing(scene: Scene) -> None:
    asked = campaign(scene, fake("a", index="dies"))
    old = run_new(asked, scene.folder / "old")
    opened = created(asked, scene.folder / "new", old.run)
    opened.lock.release()
    assert reason(opened, "a") == "its index was not accepted"


@pytest.mark.parametrize(("timeout", "taken"), [(1000.0, OPERATIONS), (800.0, 0)])
def test_limits_may_be_raised_and_not_lowered(scene: Scene, timeout: float, taken: int) -> None:
    old = run_new(campaign(scene, fake("a")), scene.folder / "old")
    asked = campaign(scene, fake("a"), limits=api.Limits(query_timeout=timeout))
    opened = created(asked, scene.folder / "new", old.run)
    opened.lock.release()
    assert counts(opened) == {"a": (taken, OPERATIONS)}
    assert opened.record.cells != read_run(old.run).cells
    if not taken:
        assert reason(opened, "a") == "limits.query_timeout: lowered: 900.0 → 800.0"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"cutoffs": (1, 5, 10, 20)}, "depth: 10 → 20; probe_depth: 10 → 20"),
        ({"seed": 3}, None),
        ({"cutoffs": (1, 3, 10)}, None),
    ],
)
def test_what_does_not_reach_the_retriever_may_change(
    scene: Scene, options: dict[str, Any], said: str | None
) -> None:
    old = run_new(campaign(scene, fake("a")), scene.folder / "old")
    opened = created(campaign(scene, fake("a"), **options), scene.folder / "new", old.run)
    opened.lock.release()
    assert counts(opened) == {"a": (0 if said else OPERATIONS, OPERATIONS)}
    if said:
        assert reason(opened, "a") == said


def test_a_larger_bank_takes_over_the_cases_that_both_hold(scene: Scene) -> None:
    old = run_new(campaign(scene, fake("a")), scene.folder / "old")
    larger = scene.folder / "larger.jsonl"
    api.build_bank([scene.repository], 2, INTENTS, larger)
    opened = created(campaign(scene._replace(cases=larger), fake("a")), scene.folder / "new", old.run)
    assert counts(opened) == {"a": (OPERATIONS, 1 + 4 * CASES)}
    assert execute_run(opened).outcomes() == {"reused": OPERATIONS, "accepted": 2 * CASES}


def test_a_smaller_bank_takes_over_a_cell_whose_other_cases_failed(scene: Scene) -> None:
    larger = scene.folder / "larger.jsonl"
    api.build_bank([scene.repository], 2, INTENTS, larger)
    small = {case.query for case in api.read_bank(scene.cases).cases}
    extra = next(case.query for case in api.read_bank(larger).cases if case.query not in small)
    failing = fake("a", relocatable=False, faults={extra: "exit_3"})
    old = run_new(campaign(scene._replace(cases=larger), failing), scene.folder / "old")
    assert old.state == "failed"
    opened = created(campaign(scene, failing), scene.folder / "new", old.run)
    opened.lock.release()
    assert counts(opened) == {"a": (OPERATIONS, OPERATIONS)}


def test_a_candidate_or_repository_may_be_added(scene: Scene) -> None:
    old = run_new(campaign(scene, fake("a")), scene.folder / "old")
    opened = created(campaign(scene, fake("a"), fake("b")), scene.folder / "new", old.run)
    assert counts(opened) == {"a": (OPERATIONS, OPERATIONS), "b": (0, OPERATIONS)}
    assert reason(opened, "b") == "the earlier run has no such cell"
    assert execute_run(opened).state == "complete"


@pytest.mark.parametrize("name", ["stdout", "stderr", "measurement.json", "command.json"])
def test_changed_evidence_is_refused_by_name_and_nothing_is_made(scene: Scene, name: str) -> None:
    asked = campaign(scene, fake("a"))
    old = run_new(asked, scene.folder / "old")
    folder = next((old.run / "operations/a/store").glob("primary-*"))
    with open(folder / "attempt-0001" / name, "ab") as stream:
        stream.write(b" ")
    with pytest.raises(IdentityError, match=rf"{folder.name}/attempt-0001/{name}: changed"):
        created(asked, scene.folder / "new", old.run)
    assert not (scene.folder / "new").exists()
    assert not list(scene.folder.glob(".new*"))


def test_changed_evidence_of_a_cell_that_is_not_taken_is_no_obstacle(scene: Scene) -> None:
    old = run_new(campaign(scene, fake("a"), fake("b")), scene.folder / "old")
    (old.run / "operations/b/store/index/attempt-0001/stdout").write_text("edited")
    opened = created(campaign(scene, fake("a"), fake("b", note="new")), scene.folder / "new", old.run)
    opened.lock.release()
    assert counts(opened) == {"a": (OPERATIONS, OPERATIONS), "b": (0, OPERATIONS)}


def test_a_run_that_is_being_written_is_refused(scene: Scene) -> None:
    asked = campaign(scene, fake("a"))
    old = run_new(asked, scene.folder / "old")
    lock = RunLock(old.run / ".lock")
    lock.acquire()
    try:
        with pytest.raises(BusyError, match=r"nothing can be taken over from it yet.*boresight stop"):
            created(asked, scene.folder / "new", old.run)
    finally:
        lock.release()
    assert not (scene.folder / "new").exists()


def test_a_folder_that_is_no_run_is_refused_before_anything_is_written(scene: Scene) -> None:
    with pytest.raises(InputError, match="no run directory"):
        created(campaign(scene, fake("a")), scene.folder / "new", scene.folder)
    assert not (scene.folder / "new").exists()


def test_a_moved_run_gives_what_it_has(scene: Scene) -> None:
    asked = campaign(scene, fake("a"), fake("b", relocatable=False))
    old = run_new(asked, scene.folder / "old")
    moved = scene.folder / "moved"
    old.run.rename(moved)
    opened = created(asked, scene.folder / "new", moved)
    assert counts(opened) == {"a": (OPERATIONS, OPERATIONS), "b": (OPERATIONS, OPERATIONS)}
    assert execute_run(opened).outcomes() == {"reused": 2 * OPERATIONS}


def test_reports_say_what_was_taken_over(scene: Scene) -> None:
    asked = campaign(scene, fake("a"))
    old = run_new(asked, scene.folder / "old")
    ran = execute_run(created(asked, scene.folder / "new", old.run))
    identity = read_run(old.run).identity
    assert (
        f"{OPERATIONS} operations measured by the run `old`, identity `{identity}`"
        in (ran.run / "quality-summary.md").read_text()
    )
    told = json.loads((ran.run / "quality-summary.json").read_bytes())["run"]["taken_over"]
    assert told == [{"run": "old", "identity": identity, "operations": OPERATIONS}]


KILLED = """
import os, signal, sys
from pathlib import Path
import core.retrievers
from core import api
from core.campaign import jobs
from tests.support.retrievers import fake as fake_retriever
from tests.support.campaigns import Scene, campaign, fake
from core.repositories import RepositoryEntry
core.retrievers.__path__.append(sys.argv[1])
folder = Path(sys.argv[2])
entry = RepositoryEntry(label="store", path=folder / "store", commit=sys.argv[3])
scene = Scene(folder, entry, folder / "store.jsonl")
jobs.publish_stage = lambda stage: os.kill(os.getpid(), signal.SIGKILL)
api.create_run(campaign(scene, fake("a")), folder / "new", reuse=folder / "old")
"""


def test_killed_between_copying_and_naming_there_is_no_new_run(scene: Scene) -> None:
    asked = campaign(scene, fake("a"))
    old = run_new(asked, scene.folder / "old")
    retrievers = Path(__file__).parents[2] / "support" / "retrievers"
    words = [str(retrievers), str(scene.folder), str(scene.repository.commit)]
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(KILLED), *words],
        cwd=Path(__file__).parents[3],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])},
        check=False,
    )
    assert done.returncode == -signal.SIGKILL
    assert not (scene.folder / "new").exists()
    assert list(scene.folder.glob(".new.creating/operations/a/store/index/result.json"))
    assert list(api.list_runs(scene.folder)) == [api.run_status(old.run)]

    ran: Ran = execute_run(created(asked, scene.folder / "new", old.run))
    assert ran.outcomes() == {"reused": OPERATIONS}
    assert not list(scene.folder.glob(".new*"))
