"""A retry gives chosen failures new attempts, and nothing else; a cell without its index stays whole."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from core import api
from core.run.events import NOT_CHOSEN
from core.run.layout import Operation, RunLayout
from tests.support.campaigns import Ran, Scene, campaign, execute_run, fake, make_scene, run_again, run_new

CASES = 4
OPERATIONS = 1 + 2 * CASES


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return make_scene(tmp_path, per_intent=1)


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def failing(scene: Scene, *, index: str | None = None) -> tuple[Ran, Path]:
    """Run two candidates: every query of `b` fails, or its index, until the returned file is made."""
    config: dict[str, Any] = {"faults": {"": "exit_3"}} if index is None else {"index": index}
    marker = scene.folder / "mended"
    asked = campaign(scene, fake("a"), fake("b", until=str(marker), **config))
    ran = run_new(asked, scene.folder / "run")
    assert ran.state == "failed"
    return ran, marker


def retry(run: Path, *operations: Operation) -> Ran:
    return execute_run(api.reopen_run(run, only=frozenset(operations)), resumed=True)


def test_only_the_chosen_failures_get_new_attempts(scene: Scene) -> None:
    ran, mended = failing(scene)
    mended.touch()
    failed = [each.operation for each in api.failures(ran.run)]
    assert len(failed) == 2 * CASES
    before = files(ran.run / "operations")

    again = retry(ran.run, failed[0], failed[3])

    assert again.state == "failed"
    assert again.outcomes() == {"reused": OPERATIONS + 1, "accepted": 2, "not_run": 2 * CASES - 2}
    assert again.errors() == {NOT_CHOSEN}
    layout = RunLayout(ran.run)
    assert layout.attempts(failed[0]) == layout.attempts(failed[3]) == (1, 2)
    assert all(layout.attempts(each) == (1,) for each in failed[1:3])
    after = files(ran.run / "operations")
    assert {path: after[path] for path in before} == before
    assert [each.operation for each in api.failures(ran.run)] == [*failed[1:3], *failed[4:]]


def test_a_chosen_failure_may_fail_again(scene: Scene) -> None:
    ran, _ = failing(scene)
    failed = api.failures(ran.run)[0].operation
    again = retry(ran.run, failed)
    assert again.state == "failed"
    assert again.errors() == {NOT_CHOSEN, "nonzero_exit"}
    assert RunLayout(ran.run).attempts(failed) == (1, 2)


def test_all_failures_chosen_and_mended_complete_the_run(scene: Scene) -> None:
    ran, mended = failing(scene)
    mended.touch()
    again = retry(ran.run, *(each.operation for each in api.failures(ran.run)))
    assert again.state == "complete"
    assert api.run_status(ran.run).state == "complete"


def test_queries_that_an_index_kept_from_running_run_after_it(scene: Scene) -> None:
    ran, mended = failing(scene, index="dies")
    mended.touch()
    assert [str(each.operation) for each in api.failures(ran.run)] == ["b/store/index"]
    again = retry(ran.run, Operation("b", "store", "index"))
    assert again.state == "complete"
    assert again.outcomes() == {"reused": OPERATIONS, "accepted": OPERATIONS}


def test_an_index_that_is_not_chosen_stays_failed(scene: Scene) -> None:
    marker = scene.folder / "mended"
    ran = run_new(
        campaign(
            scene,
            fake("a", index="dies", until=str(marker)),
            fake("b", faults={"load_records": "exit_3"}, until=str(marker)),
        ),
        scene.folder / "run",
    )
    marker.touch()
    chosen = [each.operation for each in api.failures(ran.run) if each.operation.candidate == "b"]
    again = retry(ran.run, *chosen)
    assert again.outcomes() == {"not_run": OPERATIONS, "reused": OPERATIONS - 2, "accepted": 2}
    assert RunLayout(ran.run).attempts(Operation("a", "store", "index")) == (1,)


def test_a_retry_whose_index_is_gone_builds_it_and_runs_all_of_its_cell(scene: Scene) -> None:
    ran, mended = failing(scene)
    mended.touch()
    shutil.rmtree(ran.run / "state/b/store")
    again = retry(ran.run, api.failures(ran.run)[0].operation)
    assert again.state == "complete"
    assert again.outcomes() == {"reused": OPERATIONS, "accepted": OPERATIONS}


def test_a_complete_run_without_its_indexes_stays_complete(scene: Scene) -> None:
    ran = run_new(campaign(scene, fake("a")), scene.folder / "run")
    shutil.rmtree(ran.run / "state/a/store")
    before = files(ran.run / "operations")
    assert api.rescore(ran.run).unaccepted == 0
    again = run_again(ran.run)
    assert again.outcomes() == {"reused": OPERATIONS}
    assert files(ran.run / "operations") == before


def test_a_part_of_a_cell_without_its_index_is_indexed_and_asked_again(scene: Scene) -> None:
    ran, mended = failing(scene)
    mended.touch()
    shutil.rmtree(ran.run / "state")
    again = run_again(ran.run)
    assert again.state == "complete"
    assert again.outcomes() == {"reused": OPERATIONS, "accepted": OPERATIONS}


def test_a_damaged_index_is_built_again_even_where_its_cell_is_whole(scene: Scene) -> None:
    ran = run_new(campaign(scene, fake("a")), scene.folder / "run")
    (ran.run / "state/a/store/index.json").write_text("{")
    assert run_again(ran.run).outcomes() == {"accepted": OPERATIONS}
