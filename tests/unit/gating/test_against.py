"""Comparing a run with an older one of the same bank."""

from __future__ import annotations

from pathlib import Path

import pytest

from core import api
from core.errors import IdentityError, InputError
from core.gating.against import against
from core.run.layout import RunLayout
from tests.support.campaigns import Scene, campaign, fake, make_scene, run_new
from tests.support.finished import finished_run
from tests.support.graded import graded_run, graded_scene


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return make_scene(tmp_path)


def ran(scene: Scene, name: str, *candidates: api.Candidate) -> Path:
    return run_new(campaign(scene, *candidates), scene.folder / name).run


def test_a_run_that_finds_less_falls_and_one_that_finds_as_much_does_not(scene: Scene) -> None:
    older = ran(scene, "older", fake("a", session=True))
    same = against(api.rescore(ran(scene, "same", fake("a", session=True, speed=2))), older, ["a"])
    assert same.held and {found.difference for found in same.differences} == {0.0}
    assert [found.metric for found in same.differences] == ["recall@5", "mrr@10"]
    assert same.left_out == {"a": 0} and same.notes == {}
    newer = ran(scene, "newer", fake("a", session=True, faults={"": "nothing"}))
    compared = against(api.rescore(newer), older, ["a"])
    recall = compared.differences[0]
    assert recall.new == 0.0 and recall.old > 0 and recall.difference == pytest.approx(-recall.old)
    assert recall.cases == 8
    # All cases share two files: two units cannot show significance, and the gate says so by not falling.
    assert recall.nonzero_units <= 2 and compared.held


def test_only_cases_that_both_answered_are_compared(scene: Scene) -> None:
    older = ran(scene, "older", fake("a", session=True))
    newer = ran(scene, "newer", fake("a", session=True, faults={"load_records": "truncated"}))
    rescored = api.rescore(newer)
    failed = sum(query.status != "answered" for query in rescored.queries)
    compared = against(rescored, older, ["a"])
    assert failed > 0
    assert compared.left_out == {"a": failed}
    assert {found.cases for found in compared.differences} == {8 - failed}


def test_without_a_common_answer_nothing_holds(scene: Scene) -> None:
    older = ran(scene, "older", fake("a", session=True))
    newer = ran(scene, "newer", fake("a", session=True, faults={"": "truncated"}))
    compared = against(api.rescore(newer), older, ["a"])
    assert compared.unanswered == ("a",) and not compared.held and compared.differences == ()


def test_graded_runs_compare_graded_metrics(tmp_path: Path) -> None:
    scene = graded_scene(tmp_path)
    older = run_new(campaign(scene, fake("a", session=True)), tmp_path / "older").run
    newer = run_new(campaign(scene, fake("a", session=True, speed=1)), tmp_path / "newer").run
    compared = against(api.rescore(newer), older, ["a"])
    assert [found.metric for found in compared.differences] == ["recall@5", "mrr", "ndcg@5", "faithfulness"]
    assert compared.held


def test_runs_that_ask_something_else_are_refused_with_what_to_do(scene: Scene, tmp_path: Path) -> None:
    newer = api.rescore(ran(scene, "newer", fake("a", session=True)))
    other_bank = finished_run(tmp_path / "other").run
    with pytest.raises(InputError, match=r"asked other questions .*run both on one bank"):
        against(newer, other_bank, ["a"])
    with pytest.raises(InputError, match="is the run itself"):
        against(newer, newer.reader.layout.root, ["a"])
    renamed = ran(scene, "renamed", fake("b", session=True))
    with pytest.raises(InputError, match=r"has no candidate a \(it has b\)"):
        against(newer, renamed, ["a"])
    with pytest.raises(InputError, match="no run directory"):
        against(newer, tmp_path, ["a"])


def test_a_graded_bank_at_another_commit_is_refused(tmp_path: Path) -> None:
    from tests.support.repositories import make_repository

    older = graded_run(tmp_path)
    scene = graded_scene(tmp_path / "new")
    files = {"shop/prices.py": b"x = 1\n", "shop/orders.py": b"y = 2\n", "shop/stock.py": b"z = 3\n"}
    commit = make_repository(scene.repository.path, files)
    moved = scene._replace(repository=scene.repository.model_copy(update={"commit": commit}))
    newer = run_new(campaign(moved, fake("a", session=True)), tmp_path / "newer").run
    with pytest.raises(InputError, match=r"shop was at .* would be of the sources; pin the same commit"):
        against(api.rescore(newer), older, ["a"])


def test_changed_evidence_of_the_older_run_is_refused(scene: Scene) -> None:
    older = ran(scene, "older", fake("a", session=True))
    newer = api.rescore(ran(scene, "newer", fake("a", session=True)))
    stdout = next(RunLayout(older).operations.rglob("stdout"))
    stdout.chmod(0o600)
    stdout.write_bytes(b"{}")
    with pytest.raises(IdentityError, match="stdout"):
        against(newer, older, ["a"])
