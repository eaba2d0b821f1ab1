"""Copies of campaigns, from a file, from a run and from a bank."""

from __future__ import annotations

from pathlib import Path

import pytest

from core import api
from core.campaign.duplicate import draft_for_bank, duplicate_campaign, duplicate_frozen
from core.errors import InputError
from tests.support.campaigns import Scene, make_scene
from tests.support.finished import finished_run
from tests.support.graded import graded_scene
from tests.support.inputs import write_inputs


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return make_scene(tmp_path, per_intent=1)


def test_a_copy_keeps_comments_and_gets_a_name_of_its_own(scene: Scene) -> None:
    file = write_inputs(scene).campaign
    file.write_text("# mine\n" + file.read_text())
    copy = duplicate_campaign(file)
    assert copy == scene.folder / "campaign-2.toml"
    assert copy.read_text() == file.read_text().replace('name = "test"', 'name = "test-2"')
    assert api.read_campaign(copy).name == "test-2"
    assert api.read_campaign(duplicate_campaign(copy)).name == "test-3"


def test_a_file_that_is_no_toml_is_copied_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "campaign.toml"
    file.write_text("name = \n# half")
    assert duplicate_campaign(file).read_text() == file.read_text()


def test_a_file_that_is_gone_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        duplicate_campaign(tmp_path / "campaign.toml")
    assert list(tmp_path.iterdir()) == []


def test_what_a_run_was_frozen_with_becomes_a_campaign_of_the_same_identity(scene: Scene) -> None:
    file = write_inputs(scene).campaign
    with api.create_run(api.read_campaign(file), scene.folder / "run") as opened:
        identity = opened.record.identity
    target = scene.folder / "new"
    target.mkdir()
    copy = duplicate_frozen(scene.folder / "run", target, [file])
    assert copy == target / "campaign.toml"
    campaign = api.read_campaign(copy)
    assert campaign.name == "test" and campaign.baseline == "a"
    assert campaign.repositories[0].path == scene.folder / "store"
    with api.create_run(campaign, scene.folder / "again") as opened:
        assert opened.record.identity == identity


def test_where_nothing_tells_of_a_repository_its_place_is_left_to_fill_in(tmp_path: Path) -> None:
    run = finished_run(tmp_path, private=True).run
    copy = duplicate_frozen(run, tmp_path)
    assert 'path = "WHERE-IS/store"' in copy.read_text() and "private = true" in copy.read_text()
    assert duplicate_frozen(run, tmp_path) == tmp_path / "campaign-2.toml"


def test_a_bank_becomes_a_campaign_with_the_candidates_that_ship(scene: Scene) -> None:
    target = scene.folder / "new"
    target.mkdir()
    campaign = api.read_campaign(draft_for_bank(scene.cases, target))
    assert campaign.cases == scene.cases and campaign.name == "store"
    assert [candidate.id for candidate in campaign.candidates] == ["lexical", "minilm", "hybrid"]
    assert campaign.repositories[0].commit == scene.repository.commit
    with pytest.raises(InputError):
        draft_for_bank(scene.folder / "gone.jsonl", target)


def test_a_graded_bank_becomes_a_campaign_on_a_repository_to_fill_in(tmp_path: Path) -> None:
    campaign = api.read_campaign(draft_for_bank(graded_scene(tmp_path).cases, tmp_path))
    (repository,) = campaign.repositories
    assert (repository.label, repository.commit) == ("repository", None)
    assert repository.path == tmp_path / "WHERE-IS" / "repository"
