"""Whether a campaign file's repositories are those that its bank asks about."""

from __future__ import annotations

from pathlib import Path

from core.campaign.bank_fit import GRADED, Banks, bank_problems
from tests.support.campaigns import make_scene
from tests.support.graded import graded_scene


def test_a_graded_bank_asks_about_any_one_repository(tmp_path: Path) -> None:
    commits = Banks().look(graded_scene(tmp_path).cases)
    assert commits == GRADED
    entry = {"label": "any", "commit": "1" * 40}
    assert list(bank_problems(GRADED, [(0, entry)])) == []
    assert list(bank_problems(GRADED, [(0, None)])) == []
    (found,) = bank_problems(GRADED, [(0, entry), (1, {**entry, "label": "other"})])
    assert "asks about one repository, found 2" in found.message


def test_another_bank_says_which_repositories_it_asks_about(tmp_path: Path) -> None:
    scene = make_scene(tmp_path, per_intent=1)
    commits = Banks().look(scene.cases)
    assert commits == {"store": scene.repository.commit}
    assert isinstance(commits, dict)
    (missing, surplus) = bank_problems(commits, [(0, {"label": "other"})])
    assert "asks about store" in missing.message
    assert surplus.severity == "warning"
