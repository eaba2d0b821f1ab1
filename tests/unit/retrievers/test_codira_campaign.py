"""Campaigns that ask an executable which plays Codira: what a run keeps, resumes and refuses of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from core import api
from core.errors import IdentityError
from core.rescoring import rescore
from core.retrievers import codira_probe
from core.run.layout import INDEX, Operation, RunLayout
from core.verification import verify_run
from tests.support.campaigns import Scene, campaign, make_scene, run_again, run_new
from tests.support.codira import codira_candidate, make_assets, make_codira


@pytest.fixture(autouse=True)
def _own_python_will_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the playing executable run with this Python, whose SQLite may not load extensions."""
    monkeypatch.setattr(codira_probe, "_LOADS_EXTENSIONS", "")


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    make_assets(tmp_path / "models")
    return make_scene(tmp_path, per_intent=1)


def candidate(folder: Path, models: str = "models") -> api.Candidate:
    return codira_candidate(folder / "bin" / "codira", folder / models)


def test_a_campaign_is_run_scored_and_read_without_the_executable(scene: Scene) -> None:
    executable = make_codira(scene.folder / "bin")
    ran = run_new(campaign(scene, candidate(scene.folder)), scene.folder / "run")
    assert ran.outcomes() == {"accepted": 1 + 2 * 4}
    executable.unlink()
    scored = rescore(ran.run)
    assert scored.board.candidates["minilm"].macro[5].recall > 0
    index = json.loads(
        (RunLayout(ran.run).operations / "minilm/store/index/attempt-0001/measurement.json").read_bytes()
    )
    assert index["validation"]["details"]["symbol_embeddings"] == 4
    assert index["validation"]["state_digest"]


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        ("unbound", "incomplete_index"),
        ("unpaid", "incomplete_index"),
        ("two_sets", "two_vector_sets"),
        ("empty", "empty_index"),
        ("unreadable", "unreadable_index"),
    ],
)
def test_a_broken_index_fails_before_any_query(scene: Scene, fault: str, kind: str) -> None:
    make_codira(scene.folder / "bin", index=fault)
    ran = run_new(campaign(scene, candidate(scene.folder)), scene.folder / "run")
    assert ran.outcomes() == {"failed": 1, "not_run": 8}
    assert kind in ran.errors()


@pytest.mark.parametrize(
    ("behaviour", "kind"),
    [
        ({"print": {"docs": '{"error": "no index"}'}}, "error_answer"),
        ({"before": {"docs": "[codira] Index ready\n"}}, "invalid_json"),
        ({"print": {"docs": '{"command": "sym", "status": "ok", "results": []}'}}, "wrong_command"),
    ],
)
def test_an_answer_that_is_none_fails_its_query_alone(
    scene: Scene, behaviour: dict[str, Any], kind: str
) -> None:
    make_codira(scene.folder / "bin", stderr="a warning\n", **behaviour)
    ran = run_new(campaign(scene, candidate(scene.folder)), scene.folder / "run")
    assert ran.outcomes() == {"accepted": 8, "failed": 1}
    assert ran.errors() == {kind}


def test_an_index_that_lost_its_vectors_is_built_again_on_resume(scene: Scene) -> None:
    make_codira(scene.folder / "bin")
    ran = run_new(campaign(scene, candidate(scene.folder)), scene.folder / "run")
    layout = RunLayout(ran.run)
    (layout.state("minilm", "store") / ".codira" / "embeddings.db").write_bytes(b"")
    again = run_again(ran.run)
    assert again.outcomes() == {"accepted": 1 + 2 * 4}
    assert layout.attempts(Operation("minilm", "store", INDEX)) == (1, 2)


def test_a_moved_model_resumes_with_its_new_place_in_the_configuration(scene: Scene) -> None:
    make_codira(scene.folder / "bin")
    ran = run_new(campaign(scene, candidate(scene.folder)), scene.folder / "run")
    (scene.folder / "models").rename(scene.folder / "moved")
    again = run_again(ran.run, campaign(scene, candidate(scene.folder, "moved")))
    assert again.outcomes() == {"reused": 9}
    written = (RunLayout(ran.run).configurations / "minilm.toml").read_text()
    assert str(scene.folder / "moved" / "model.onnx") in written
    assert verify_run(ran.run).problems == ()
    assert run_again(ran.run).outcomes() == {"reused": 9}


def test_other_weights_at_the_same_place_are_another_campaign(scene: Scene) -> None:
    make_codira(scene.folder / "bin")
    ran = run_new(campaign(scene, candidate(scene.folder)), scene.folder / "run")
    (scene.folder / "models" / "model.onnx").write_bytes(b"other weights")
    with pytest.raises(IdentityError, match=r"candidates\.minilm\.fingerprint\.model_sha256"):
        run_again(ran.run)


def test_an_edited_configuration_is_refused(scene: Scene) -> None:
    make_codira(scene.folder / "bin")
    ran = run_new(campaign(scene, candidate(scene.folder)), scene.folder / "run")
    file = RunLayout(ran.run).configurations / "minilm.toml"
    file.write_text(file.read_text().replace("4000", "400"))
    with pytest.raises(IdentityError, match=r"minilm\.toml: changed since the run was frozen"):
        run_again(ran.run)


def test_a_newer_codira_is_another_campaign(scene: Scene) -> None:
    make_codira(scene.folder / "bin")
    ran = run_new(campaign(scene, candidate(scene.folder)), scene.folder / "run")
    make_codira(scene.folder / "bin", version="1.63.1", daemons=True)
    with pytest.raises(IdentityError, match=r"fingerprint\.version: 1\.55\.0 → 1\.63\.1"):
        run_again(ran.run)
