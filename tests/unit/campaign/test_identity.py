"""What freezes a campaign, what does not enter, and how a difference is told."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from core import api
from core.campaign.identity import cell_identity, differences, harness, require_same, runtime
from core.errors import Exit, IdentityError
from core.run.record import RunRecord
from tests.support.campaigns import Scene, campaign, fake, make_scene


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return make_scene(tmp_path / "here", per_intent=1)


def frozen(asked: api.Campaign, output: Path) -> RunRecord:
    opened = api.create_run(asked, output)
    opened.lock.release()
    return opened.record


def record_of(scene: Scene, *candidates: api.Candidate, **options: Any) -> RunRecord:
    chosen = candidates or (fake("a"), fake("b"))
    return frozen(
        campaign(scene, *chosen, **options), scene.folder / f"run-{len(list(scene.folder.iterdir()))}"
    )


def test_where_things_lie_is_no_part_of_it(scene: Scene, tmp_path: Path) -> None:
    first = record_of(scene)
    there = tmp_path / "there"
    shutil.copytree(scene.repository.path, there / "under-another-name")
    shutil.copy(scene.cases, there / "bank.jsonl")
    moved = Scene(
        there,
        scene.repository.model_copy(update={"path": there / "under-another-name"}),
        there / "bank.jsonl",
    )
    second = record_of(moved)
    assert second.identity == first.identity
    assert second.cells == first.cells
    assert str(tmp_path) not in repr(first.controls)


def test_the_candidates_base_folder_and_the_campaigns_name_are_no_part_of_it(scene: Scene) -> None:
    first = record_of(scene, fake("a"))
    other = api.Candidate("a", fake("a").entry, scene.folder, "elsewhere")
    asked = api.Campaign("another name", scene.cases, (scene.repository,), (other,), baseline="a")
    assert frozen(asked, scene.folder / "other").identity == first.identity


def test_code_that_only_scores_or_shows_is_no_part_of_it() -> None:
    files = harness()
    assert {"engine/supervisor.py", "engine/engine.py", "git.py", "run/evidence.py"} <= files.keys()
    shown = ("scoring/", "reports/", "commands/", "banks/")
    assert not [name for name in files if name.startswith(shown)]
    assert not {"cli.py", "progress.py", "status.py", "rescoring.py", "rankings.py"} & files.keys()


def test_the_runtime_names_what_measurements_depend_on() -> None:
    found = runtime()
    assert {"python", "system", "machine", "cpu", "environment", "harness"} <= found.keys()
    assert found["cpu"]["logical"] >= 1


@pytest.mark.parametrize(
    ("options", "cells_differ"),
    [
        ({"limits": api.Limits(query_timeout=5.0)}, True),
        ({"limits": api.Limits(max_output_bytes=2048)}, True),
        ({"cutoffs": (1, 5, 10, 20)}, True),  # asks for more results
        ({"cutoffs": (1, 3, 5, 10)}, False),  # asks for the same ones
        ({"budgets": api.Budgets(memory_budget_mib=1.0)}, False),
        ({"baseline": "b"}, False),
        ({"seed": 1}, False),
    ],
)
def test_controls_change_the_campaign_and_limits_also_its_cells(
    scene: Scene, options: dict[str, Any], cells_differ: bool
) -> None:
    first, second = record_of(scene), record_of(scene, **options)
    assert second.identity != first.identity
    assert (second.cells != first.cells) is cells_differ


def test_a_candidate_changes_its_own_cells_alone(scene: Scene) -> None:
    first = record_of(scene, fake("a"), fake("b", fingerprint="1"))
    second = record_of(scene, fake("a"), fake("b", fingerprint="2"))
    assert second.cell("a", "store") == first.cell("a", "store")
    assert second.cell("b", "store") != first.cell("b", "store")


def test_another_commit_is_another_cell(scene: Scene) -> None:
    controls = record_of(scene, fake("a")).controls
    other = {**controls, "repositories": {"store": {"commit": "0" * 40, "tree_digest": "0" * 64}}}
    assert cell_identity(controls, "a", "store") != cell_identity(other, "a", "store")


def test_differences_are_told_field_by_field() -> None:
    was = {"cutoffs": [1, 5], "candidates": {"a": {"max_tokens": 256, "gone": None}, "b": "x"}, "seed": 0}
    now = {"candidates": {"b": "y", "a": {"max_tokens": 512}}, "cutoffs": [1, 5, 10], "seed": 0, "new": True}
    assert list(differences(was, now)) == [
        "cutoffs: [1, 5] → [1, 5, 10]",
        "candidates.a.max_tokens: 256 → 512",
        "candidates.a.gone: None → absent",
        "candidates.b: x → y",
        "new: absent → True",
    ]
    assert list(differences(was, was)) == []


def test_a_difference_is_safe_to_show_and_short() -> None:
    (line,) = differences({"a": "\x1b[2J" + "x" * 500}, {"a": 1})
    assert "\x1b" not in line
    assert len(line) < 120


def test_a_mapping_where_a_value_was_is_a_difference() -> None:
    assert list(differences({"a": {"b": 1}}, {"a": None})) == ["a: {'b': 1} → None"]


def test_other_controls_are_refused_naming_run_field_and_remedy(tmp_path: Path) -> None:
    require_same({"seed": 1}, {"seed": 1}, tmp_path)
    with pytest.raises(IdentityError) as refused:
        require_same({"seed": 1, "baseline": "a"}, {"seed": 2, "baseline": "a"}, tmp_path)
    assert refused.value.exit_code == Exit.IDENTITY
    assert str(tmp_path) in str(refused.value)
    assert "  - seed: 1 → 2" in str(refused.value)
    assert "run the changed campaign into a new directory" in str(refused.value)
