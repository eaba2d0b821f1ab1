"""Whole campaigns over the fake retriever: what is kept, reused, refused and counted."""

from __future__ import annotations

import asyncio
import json
import os
import threading
from pathlib import Path

import pytest

from core import api
from core.engine.cell import WARM_UP_QUERY, Cell
from core.engine.executor import prepare_state
from core.errors import BusyError, IdentityError, InputError
from core.run.control import ask
from core.run.evidence import read_measurement
from core.run.layout import Operation, RunLayout
from tests.support.campaigns import Scene, campaign, fake, make_scene, run_again, run_new

CASES = 8
OPERATIONS = 1 + 2 * CASES


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return make_scene(tmp_path)


def evidence(run: Path) -> dict[str, bytes]:
    folder = run / "operations"
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("session", [False, True])
def test_a_campaign_is_accepted_whole_and_scored(scene: Scene, session: bool) -> None:
    ran = run_new(campaign(scene, fake("a", session=session), fake("b")), scene.folder / "run")

    assert ran.state == "complete"
    assert ran.outcomes() == {"accepted": 2 * OPERATIONS}
    board = api.rescore(ran.run).board
    assert board.candidates["a"].intents["symbol_lookup"].micro[1].hit == 1.0
    assert board.candidates["a"].counts.answered == CASES
    assert (ran.run / "quality-summary.json").is_file()
    assert board.comparisons["b"].decision == "rejected"


@pytest.mark.parametrize("session", [False, True])
@pytest.mark.parametrize(
    ("fault", "error_class"),
    [
        ("exit_3", {"nonzero_exit", "session_ended"}),
        ("killed", {"killed_by_signal", "session_ended"}),
        ("bad_utf8", {"invalid_utf8"}),
        ("truncated", {"invalid_json"}),
        ("empty", {"empty_output"}),
        ("wrong_shape", {"wrong_shape"}),
        ("duplicate_key", {"invalid_json"}),
        ("outside", {"outside_repository"}),
        ("absolute", {"outside_repository"}),
        ("nan", {"invalid_json"}),
        ("flood", {"output_limit"}),
        ("hang", {"timeout"}),
        ("orphan", {"timeout"}),
    ],
)
def test_a_bad_answer_fails_its_operation_and_nothing_else(
    scene: Scene, session: bool, fault: str, error_class: set[str]
) -> None:
    limits = api.Limits(query_timeout=1.0, max_output_bytes=100_000)
    ran = run_new(
        campaign(scene, fake("a", session=session, faults={"load_records": fault}), limits=limits),
        scene.folder / "run",
    )

    assert ran.state == "failed"
    assert ran.outcomes() == {"accepted": OPERATIONS - 2, "failed": 2}
    assert ran.errors() <= error_class and ran.errors()
    score = api.rescore(ran.run).board.candidates["a"]
    assert (score.counts.failed, score.probes.failed, score.counts.planned) == (1, 1, CASES)
    assert score.intents["symbol_lookup"].micro[1].hit == 0.5


def test_a_session_that_prints_two_lines_fails_that_operation_and_is_started_again(scene: Scene) -> None:
    ran = run_new(
        campaign(scene, fake("a", session=True, faults={"load_records": "two_lines"})), scene.folder / "run"
    )
    assert ran.errors() == {"surplus_output"}
    assert ran.outcomes()["accepted"] == OPERATIONS - 2


def test_a_session_with_a_banner_never_shifts_answers_to_the_next_query(scene: Scene) -> None:
    ran = run_new(campaign(scene, fake("a", session=True, banner=True, slowness=0.1)), scene.folder / "run")
    assert ran.state == "failed"
    assert "accepted" not in {
        event.outcome
        for event in ran.events
        if event.type == "operation_finished" and event.phase != "indexing"
    }
    assert ran.errors() == {"invalid_json"}


def test_an_index_that_litters_the_repository_fails_and_the_tree_is_as_before(scene: Scene) -> None:
    ran = run_new(campaign(scene, fake("a", index="litters"), fake("b")), scene.folder / "run")
    assert "repository_changed" in ran.errors()
    assert ran.outcomes()["accepted"] == OPERATIONS
    assert not (ran.run / "repositories/store/cache").exists()
    assert run_again(ran.run).outcomes()["reused"] == OPERATIONS


def test_an_index_that_edits_the_repository_ends_the_run(scene: Scene) -> None:
    opened = api.create_run(campaign(scene, fake("a", index="edits")), scene.folder / "run")
    (scene.folder / "run/repositories/store/store/records.py").chmod(0o644)  # read-only stops all but root
    with pytest.raises(IdentityError, match=r"a changed the frozen sources .*store/records\.py"):
        asyncio.run(api.execute(opened))


@pytest.mark.parametrize("session", [False, True])
def test_a_candidate_that_writes_into_the_repository_at_its_warm_up_ends_the_run_before_anything_counts(
    scene: Scene, session: bool
) -> None:
    writes = fake("b", session=session, faults={WARM_UP_QUERY: "litters"})
    opened = api.create_run(campaign(scene, fake("a"), writes), scene.folder / "run")
    with pytest.raises(IdentityError, match=r"b, or a candidate asked before it, changed .*leak\.py"):
        asyncio.run(api.execute(opened))


def test_a_run_whose_sources_a_query_changed_is_neither_scored_nor_called_complete(scene: Scene) -> None:
    writes = fake("a", faults={"load_records": "litters"})
    opened = api.create_run(campaign(scene, writes, fake("b")), scene.folder / "run")
    with pytest.raises(IdentityError, match=r"changed the frozen sources while it answered .*leak\.py"):
        asyncio.run(api.execute(opened))
    assert not (scene.folder / "run" / "quality-summary.json").exists()


def test_what_changed_in_a_private_repository_is_counted_and_not_named(scene: Scene) -> None:
    private = scene._replace(repository=scene.repository.model_copy(update={"private": True}))
    writes = fake("a", faults={"load_records": "litters"})
    opened = api.create_run(campaign(private, writes), scene.folder / "run")
    with pytest.raises(IdentityError, match="1 files differ") as caught:
        asyncio.run(api.execute(opened))
    assert "leak" not in str(caught.value)


def test_a_candidate_that_writes_into_a_copy_of_its_own_disturbs_nobody(scene: Scene) -> None:
    writes = fake("a", writes_repository=True, faults={"": "litters"})
    assert run_new(campaign(scene, writes, fake("b")), scene.folder / "run").state == "complete"


def test_a_stop_between_operations_starts_nothing_more(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = api.create_run(campaign(scene, fake("a", index="slow")), scene.folder / "run")
    preparing, stopped = threading.Event(), threading.Event()

    def prepare_while_stopped(cell: Cell) -> None:
        preparing.set()
        stopped.wait()
        prepare_state(cell)

    async def main() -> api.Ended:
        executing = asyncio.create_task(api.execute(opened))
        await asyncio.to_thread(preparing.wait)
        await asyncio.to_thread(ask, opened.layout.root, "stop")
        stopped.set()
        return await executing

    monkeypatch.setattr("core.engine.engine.prepare_state", prepare_while_stopped)
    assert asyncio.run(main()).state == "interrupted"
    record = read_measurement(opened.layout.attempt(Operation("a", "store", "index"), 1))
    assert record["measurement"] == {"outcome": "not_started"}
    assert record["validation"]["status"] == "stopped"


def test_rows_beyond_the_limit_and_duplicates_are_dropped_and_counted(scene: Scene) -> None:
    ran = run_new(
        campaign(scene, fake("a", faults={"load_records": "surplus", "save_records": "twice"})),
        scene.folder / "run",
    )
    assert ran.state == "complete"
    layout = RunLayout(ran.run)
    seen = {}
    for case in api.read_bank(scene.cases).cases:
        operation = Operation("a", "store", "primary", case.id)
        record = read_measurement(layout.attempt(operation, 1))
        seen[case.query] = record["validation"]
    assert seen["load_records"]["surplus"] > 0 and seen["load_records"]["returned"] == 10
    assert seen["save_records"]["duplicates"] == 2


def test_an_empty_ranking_is_a_miss_and_counted_apart(scene: Scene) -> None:
    ran = run_new(campaign(scene, fake("a", faults={"load_records": "nothing"})), scene.folder / "run")
    assert ran.state == "complete"
    counts = api.rescore(ran.run).board.candidates["a"].counts
    assert (counts.empty, counts.failed, counts.answered) == (1, 0, CASES)


@pytest.mark.parametrize(
    ("fault", "error_class"),
    [
        ("empty", "empty_index"),
        ("incomplete", "incomplete_index"),
        ("dies", "nonzero_exit"),
        ("slow", "timeout"),
    ],
)
def test_a_failed_or_incomplete_index_stops_its_cell_before_any_query(
    scene: Scene, fault: str, error_class: str
) -> None:
    limits = api.Limits(index_timeout=1.0)
    ran = run_new(campaign(scene, fake("a", index=fault), fake("b"), limits=limits), scene.folder / "run")

    assert ran.state == "failed"
    assert ran.outcomes() == {"accepted": OPERATIONS, "failed": 1, "not_run": OPERATIONS - 1}
    assert error_class in ran.errors()
    assert not list((ran.run / "operations" / "a" / "store").glob("primary-*"))
    board = api.rescore(ran.run).board
    assert board.comparisons["b"].decision == "needs_more_data"
    assert board.candidates["a"].counts.missing == CASES


def test_resume_gives_failures_new_attempts_and_reuses_the_rest(scene: Scene) -> None:
    marker = scene.folder / "happened"
    asked = campaign(scene, fake("a", faults={"load_records": "exit_3"}, once=str(marker)))
    first = run_new(asked, scene.folder / "run")
    assert first.outcomes()["failed"] == 1
    before = evidence(first.run)

    second = run_again(first.run, asked)

    assert second.state == "complete"
    assert second.outcomes() == {"reused": OPERATIONS - 1, "accepted": 1}
    after = evidence(first.run)
    assert {path: after[path] for path in before} == before
    assert any("attempt-0002/measurement.json" in path for path in set(after) - set(before))


def test_resume_of_a_complete_run_runs_nothing(scene: Scene) -> None:
    first = run_new(campaign(scene, fake("a")), scene.folder / "run")
    before = evidence(first.run)
    second = run_again(first.run)
    assert second.outcomes() == {"reused": OPERATIONS}
    assert evidence(first.run) == before


def test_a_new_index_attempt_voids_the_queries_of_its_cell(scene: Scene) -> None:
    first = run_new(campaign(scene, fake("a"), fake("b")), scene.folder / "run")
    (first.run / "state" / "a" / "store" / "index.json").unlink()

    second = run_again(first.run)

    assert second.state == "complete"
    assert second.outcomes() == {"accepted": OPERATIONS, "reused": OPERATIONS}
    assert RunLayout(first.run).attempts(Operation("a", "store", "index")) == (1, 2)


@pytest.mark.parametrize("name", ["stdout", "stderr", "measurement.json", "command.json"])
def test_edited_evidence_is_refused_by_name(scene: Scene, name: str) -> None:
    first = run_new(campaign(scene, fake("a")), scene.folder / "run")
    folder = next((first.run / "operations" / "a" / "store").glob("primary-*"))
    with open(folder / "attempt-0001" / name, "ab") as stream:
        stream.write(b" ")

    expected = rf"{folder.name}/attempt-0001/{name}: changed since it was recorded"
    with pytest.raises(IdentityError, match=expected):
        run_again(first.run)
    with pytest.raises(IdentityError, match=expected):
        api.rescore(first.run)


def test_a_result_of_another_cell_is_refused(scene: Scene) -> None:
    first = run_new(campaign(scene, fake("a"), fake("b")), scene.folder / "run")
    operations = first.run / "operations"
    (operations / "a/store/index/result.json").write_bytes(
        (operations / "b/store/index/result.json").read_bytes()
    )
    with pytest.raises(IdentityError, match="index"):
        run_again(first.run)


def test_state_that_a_later_attempt_began_to_replace_is_not_trusted(scene: Scene) -> None:
    first = run_new(campaign(scene, fake("a")), scene.folder / "run")
    (first.run / "state/a/store/.attempt").write_text("2\n")
    assert run_again(first.run).outcomes() == {"accepted": OPERATIONS}


def test_a_link_inside_a_run_is_refused_before_anything_is_written(scene: Scene) -> None:
    first = run_new(campaign(scene, fake("a")), scene.folder / "run")
    outside = scene.folder / "outside"
    outside.write_text("precious")
    (first.run / ".lock").unlink()
    (first.run / ".lock").symlink_to(outside)
    for act in (lambda: run_again(first.run), lambda: api.rescore_run(first.run)):
        with pytest.raises(IdentityError, match="links stand in the run"):
            act()
    assert outside.read_text() == "precious"


@pytest.mark.parametrize("path", ["cases.jsonl", "plan.jsonl", "campaign.json", "configs/a.json"])
def test_edited_files_of_the_frozen_campaign_are_refused(scene: Scene, path: str) -> None:
    first = run_new(campaign(scene, fake("a", note="a")), scene.folder / "run")
    text = (first.run / path).read_text()
    (first.run / path).write_text(text.replace("a", "b", 1))
    with pytest.raises(IdentityError):
        run_again(first.run)


def test_an_edited_frozen_source_is_refused_by_name(scene: Scene) -> None:
    first = run_new(campaign(scene, fake("a")), scene.folder / "run")
    with open(first.run / "repositories/store/store/records.py", "ab") as stream:
        stream.write(b"# edited\n")
    with pytest.raises(IdentityError, match=r"store/records\.py"):
        run_again(first.run)


def test_changed_controls_are_listed_field_by_field(scene: Scene) -> None:
    first = run_new(campaign(scene, fake("a", fingerprint="1")), scene.folder / "run")
    changed = campaign(scene, fake("a", fingerprint="2"), cutoffs=(1, 5, 10, 20))
    with pytest.raises(IdentityError) as refused:
        run_again(first.run, changed)
    assert "candidates.a.fingerprint.version: 1 → 2" in str(refused.value)
    assert "cutoffs: [1, 5, 10] → [1, 5, 10, 20]" in str(refused.value)


def test_the_source_repository_may_be_gone_at_resume(scene: Scene) -> None:
    marker = scene.folder / "happened"
    asked = campaign(scene, fake("a", faults={"load_records": "exit_3"}, once=str(marker)))
    first = run_new(asked, scene.folder / "run")
    scene.repository.path.rename(scene.folder / "moved-away")
    assert run_again(first.run).state == "complete"


def test_an_existing_output_is_refused_and_left_alone(scene: Scene) -> None:
    (scene.folder / "run").mkdir()
    with pytest.raises(InputError, match="already exists"):
        run_new(campaign(scene, fake("a")), scene.folder / "run")
    assert list((scene.folder / "run").iterdir()) == []


def test_a_bank_that_its_source_does_not_bear_out_is_refused_and_nothing_is_written(scene: Scene) -> None:
    text = scene.cases.read_text()
    scene.cases.write_text(text.replace('"query":"load_records"', '"query":"load_recordz"'))
    with pytest.raises(InputError, match="bear out"):
        run_new(campaign(scene, fake("a")), scene.folder / "run")
    assert not (scene.folder / "run").exists()
    assert not list(scene.folder.glob(".run*"))


def test_two_writers_are_refused(scene: Scene) -> None:
    opened = api.create_run(campaign(scene, fake("a")), scene.folder / "run")
    try:
        with pytest.raises(BusyError, match=str(os.getpid())):
            api.reopen_run(opened.layout.root)
    finally:
        opened.lock.release()


def test_an_unsupported_channel_scores_zero_and_is_not_planned(scene: Scene) -> None:
    ran = run_new(campaign(scene, fake("a", channels=["emb"])), scene.folder / "run")
    assert ran.state == "complete"
    score = api.rescore(ran.run).board.candidates["a"]
    assert score.counts.unsupported == 2
    assert score.intents["docs_lookup"].micro[10].hit == 0.0


def test_a_retriever_without_a_probe_plans_none(scene: Scene) -> None:
    ran = run_new(campaign(scene, fake("a", probe=False)), scene.folder / "run")
    assert ran.outcomes() == {"accepted": 1 + CASES}


def test_a_retriever_that_writes_works_on_a_copy_of_the_frozen_tree(scene: Scene) -> None:
    ran = run_new(campaign(scene, fake("a", writes_repository=True)), scene.folder / "run")
    assert ran.state == "complete"
    assert (ran.run / "state/a/store/repository/store/records.py").is_file()


def test_home_is_isolated(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    home = scene.folder / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    ran = run_new(campaign(scene, fake("a", index="writes_home")), scene.folder / "run")
    assert ran.state == "complete"
    assert list(home.iterdir()) == []


def test_commands_are_kept_with_placeholders_and_events_without_queries(scene: Scene) -> None:
    ran = run_new(campaign(scene, fake("a")), scene.folder / "run")
    path = next(ran.run.glob("operations/a/store/primary-*/attempt-0001/command.json"))
    command = json.loads(path.read_bytes())
    argv = command["command"]["steps"][0]["argv"]
    assert "{repository}" in argv and "{state}" in argv
    assert not any(str(ran.run) in word for word in argv)
    narration = (ran.run / "events.jsonl").read_text()
    for case in api.read_bank(scene.cases).cases:
        assert case.query not in narration


def test_the_candidates_take_turns_and_the_plan_is_the_same_everywhere(scene: Scene) -> None:
    asked = campaign(scene, fake("a"), fake("b"), fake("c"))
    first = run_new(asked, scene.folder / "one")
    second = run_new(asked, scene.folder / "two")
    plan = (first.run / "plan.jsonl").read_bytes()
    assert plan == (second.run / "plan.jsonl").read_bytes()
    leaders = [
        json.loads(line)["candidate"] for line in plan.splitlines() if json.loads(line)["kind"] == "primary"
    ][::3]
    assert set(leaders) == {"a", "b", "c"}


def test_run_folders_are_private(scene: Scene) -> None:
    ran = run_new(campaign(scene, fake("a")), scene.folder / "run")
    assert ran.run.stat().st_mode & 0o077 == 0


def test_a_moved_run_rescores_and_resumes(scene: Scene) -> None:
    first = run_new(campaign(scene, fake("a"), fake("b", relocatable=False)), scene.folder / "run")
    moved = scene.folder / "elsewhere" / "run"
    moved.parent.mkdir()
    first.run.rename(moved)
    assert api.rescore(moved).unaccepted == 0
    assert run_again(moved).outcomes() == {"reused": OPERATIONS, "accepted": OPERATIONS}
