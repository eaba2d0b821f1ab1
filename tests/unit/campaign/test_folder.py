"""Campaign files of a folder, and the names that new runs and copies get."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from core.campaign.folder import campaign_found, find_campaign_files, next_copy, next_run
from core.errors import InputError
from tests.support.campaigns import make_scene
from tests.support.inputs import write_inputs


def put(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("")
    return path


def test_files_are_found_to_depth_4_and_never_in_runs(tmp_path: Path) -> None:
    found = [
        put(tmp_path / "campaign.toml"),
        put(tmp_path / "a/My-Campaign-2.toml"),
        put(tmp_path / "a/b/c/d/campaign.toml"),
    ]
    for hidden in ("a/b/c/d/e/campaign.toml", "pyproject.toml", ".campaign.toml", ".git/campaign.toml"):
        put(tmp_path / hidden)
    put(tmp_path / "run/campaign.json")
    put(tmp_path / "run/repositories/x/campaign.toml")
    put(tmp_path / ".new.creating/campaign.toml")
    (tmp_path / "link-campaign.toml").symlink_to("campaign.toml")
    (tmp_path / "linked").symlink_to("a")
    assert sorted(find_campaign_files(tmp_path)) == sorted(found)
    assert list(find_campaign_files(tmp_path / "run")) == []
    assert list(find_campaign_files(tmp_path / "gone")) == []


def test_a_campaign_is_told_with_its_parts_and_one_that_is_none_with_its_problem(tmp_path: Path) -> None:
    inputs = write_inputs(make_scene(tmp_path, per_intent=1))
    found = campaign_found(inputs.campaign)
    assert (found.name, found.candidates, found.repositories) == ("test", ("a", "b"), ("store",))
    assert found.problem is None and found.modified_at is not None
    inputs.campaign.write_text("name = 1")
    assert "is not valid" in str(campaign_found(inputs.campaign).problem)
    assert "campaign" in str(campaign_found(tmp_path / "gone-campaign.toml").problem)


def test_runs_are_numbered_after_the_highest_and_kept_out_of_git(tmp_path: Path) -> None:
    assert next_run(tmp_path, "demo") == tmp_path / "runs/demo/001"
    (tmp_path / "runs/demo/009").mkdir()
    (tmp_path / "runs/demo/notes").mkdir()
    assert next_run(tmp_path, "demo") == tmp_path / "runs/demo/010"
    assert not (tmp_path / "runs/demo/010").exists()
    assert (tmp_path / "runs/.gitignore").read_text().endswith("*\n")
    (tmp_path / "runs/.gitignore").write_text("mine")
    next_run(tmp_path, "other")
    assert (tmp_path / "runs/.gitignore").read_text() == "mine"


def test_what_a_full_disk_left_empty_is_written_again(tmp_path: Path) -> None:
    next_run(tmp_path, "demo")
    (tmp_path / "runs/.gitignore").write_text("")
    next_run(tmp_path, "demo")
    assert (tmp_path / "runs/.gitignore").read_text().endswith("*\n")


def test_a_pipe_in_the_place_of_a_campaign_is_told_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "campaign.toml")
    assert "no regular file" in str(campaign_found(tmp_path / "campaign.toml").problem)


def test_a_place_that_cannot_hold_runs_is_told(tmp_path: Path) -> None:
    put(tmp_path / "runs")
    with pytest.raises(InputError, match="new runs go here, but it cannot be written"):
        next_run(tmp_path, "demo")


def test_copies_count_on(tmp_path: Path) -> None:
    first = put(tmp_path / "campaign.toml")
    second = put(next_copy(first))
    third = put(next_copy(second))
    assert [second.name, third.name] == ["campaign-2.toml", "campaign-3.toml"]
    assert next_copy(first).name == "campaign-4.toml"
    assert next_copy(tmp_path / "campaign-2024010112.toml").name == "campaign-2024010112-2.toml"
