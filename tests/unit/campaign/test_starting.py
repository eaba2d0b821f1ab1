"""From a repository to a campaign file and its bank: sensible choices, clear refusals, nothing half made."""

from __future__ import annotations

from pathlib import Path

import pytest

from core import api
from core.banks.reading import read_bank
from core.campaign import starting
from core.campaign.checking import Checker
from core.campaign.document import CampaignDocument
from core.campaign.starting import (
    NewCampaign,
    create_campaign,
    entries_for,
    free_name,
    name_fault,
    presets,
)
from core.campaign.yields import Yields, find_yields, head_line, short_cells, suggest, yield_lines
from core.errors import InputError, StoppedError
from tests.support.campaigns import README, SOURCE, Scene, make_scene
from tests.support.graded import graded_scene
from tests.support.repositories import git, make_repository

LEXICAL = {"id": "lexical", "retriever": "embedded", "engine": "lexical"}


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return make_scene(tmp_path)


def asked(yields: Yields, name: str = "store", **changes: object) -> NewCampaign:
    found = NewCampaign(name, (yields.entry,), (LEXICAL,), None, yields, ("symbol_lookup", "docs_lookup"), 2)
    return found._replace(**changes)  # type: ignore[arg-type]


def test_a_repositorys_yields_are_those_of_the_bank_rules(scene: Scene) -> None:
    inside = scene.repository.path / "store"
    found = find_yields(inside)
    assert found.entry.path == scene.repository.path and found.entry.label == "store"
    assert found.head.commit == scene.repository.commit and found.head.branch == "main"
    assert head_line(found.head).startswith(f"main {str(scene.repository.commit)[:12]} “A commit”")
    assert found.count("symbol_lookup") == 4
    assert yield_lines(found.derivation)[0].split()[:2] == ["4", "symbol_lookup"]


def test_progress_is_told_and_can_end_the_work(scene: Scene) -> None:
    seen: list[tuple[int, int]] = []
    find_yields(scene.repository.path, on_file=lambda done, total: seen.append((done, total)))
    assert seen == [(0, 2), (1, 2)]

    def stop(done: int, total: int) -> None:
        raise StoppedError("enough")

    with pytest.raises(StoppedError):
        find_yields(scene.repository.path, on_file=stop)


def test_suggestions_make_the_most_cases(tmp_path: Path) -> None:
    functions = b"".join(b"def function_%d():\n    pass\n" % n for n in range(30))
    make_repository(
        tmp_path / "r",
        {"a.py": b'"""Many small functions here."""\n' + functions, "b.md": b"# One heading\n"},
    )
    derivation = find_yields(tmp_path / "r").derivation
    assert suggest(derivation) == (("symbol_lookup",), 20)  # more than one of each of three
    make_repository(tmp_path / "small", {"a.py": SOURCE, "b.md": README})
    small = find_yields(tmp_path / "small").derivation
    assert suggest(small) == (("symbol_lookup", "task_lookup", "docs_lookup", "error_or_trace_lookup"), 3)
    short = short_cells(small, ("symbol_lookup", "docs_lookup"), 4)
    assert [(cell.intent, cell.have) for cell in short] == [("docs_lookup", 3)]


def test_what_is_no_source_of_cases_is_refused_with_a_remedy(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such folder"):
        find_yields(tmp_path / "gone")
    (tmp_path / "plain").mkdir()
    with pytest.raises(InputError, match="git init"):
        find_yields(tmp_path / "plain")
    git(tmp_path / "plain", "init", "--quiet")
    with pytest.raises(InputError, match="commit something"):
        find_yields(tmp_path / "plain")
    make_repository(tmp_path / "c", {"main.c": b"int main;\n", "tests/test_a.py": b"def test(): ...\n"})
    with pytest.raises(InputError, match="choose a repository with Python"):
        find_yields(tmp_path / "c")


def test_a_shallow_clone_is_enough_and_is_told(scene: Scene, tmp_path: Path) -> None:
    make_repository(scene.repository.path, {"store/records.py": SOURCE, "x.md": README})
    git(
        tmp_path,
        "clone",
        "--quiet",
        "--depth=1",
        f"file://{scene.repository.path}",
        str(tmp_path / "shallow"),
    )
    found = find_yields(tmp_path / "shallow")
    assert found.head.shallow and "shallow" in head_line(found.head)


def test_a_new_campaign_is_whole_commented_and_sound(scene: Scene, tmp_path: Path) -> None:
    yields = find_yields(scene.repository.path)
    candidates = (LEXICAL, {**LEXICAL, "id": "b", "config": {"text_limit": 100}})
    path = create_campaign(asked(yields, candidates=candidates, baseline="lexical"), tmp_path)
    assert path == tmp_path / "campaigns" / "store" / "campaign.toml"
    assert sorted(each.name for each in path.parent.iterdir()) == [
        "campaign.toml",
        "cases.jsonl",
        "cases.jsonl.meta.json",
    ]
    text = path.read_text()
    assert 'path = "../../store"' in text and text.count("#") >= 6
    assert Checker(path.parent).thorough(CampaignDocument.read(path).snapshot) == ()
    campaign = api.read_campaign(path)
    assert campaign.baseline == "lexical" and [each.id for each in campaign.candidates] == ["lexical", "b"]
    assert len(api.read_bank(campaign.cases).cases) == 4
    assert [each.name for each in (tmp_path / "campaigns").iterdir()] == ["store"]


def test_private_is_written_and_kept_out_of_the_meta_file(scene: Scene, tmp_path: Path) -> None:
    yields = find_yields(scene.repository.path)
    private = yields.entry.model_copy(update={"private": True})
    path = create_campaign(asked(yields, repositories=(private,)), tmp_path)
    assert api.read_campaign(path).repositories[0].private
    assert "unparsable" not in (path.parent / "cases.jsonl.meta.json").read_text()


def test_names_that_exist_or_are_none(scene: Scene, tmp_path: Path) -> None:
    yields = find_yields(scene.repository.path)
    create_campaign(asked(yields), tmp_path)
    assert "exists" in str(name_fault(tmp_path, "store")) and "store-2" in str(name_fault(tmp_path, "store"))
    assert free_name(tmp_path, "store") == "store-2"
    assert "1 to 64" in str(name_fault(tmp_path, "../x"))
    assert name_fault(tmp_path, "store-2") is None
    with pytest.raises(InputError, match="nothing is overwritten"):
        create_campaign(asked(yields), tmp_path)


def test_a_short_cell_leaves_nothing_behind(scene: Scene, tmp_path: Path) -> None:
    yields = find_yields(scene.repository.path)
    with pytest.raises(InputError, match="too few"):
        create_campaign(asked(yields, per_intent=50), tmp_path)
    assert not (tmp_path / "campaigns").exists()


def test_a_full_disk_leaves_nothing_behind(
    scene: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, data: bytes) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(starting, "write_durably", full)
    with pytest.raises(InputError, match="No space left on device; nothing was left behind"):
        create_campaign(asked(find_yields(scene.repository.path)), tmp_path)
    assert not (tmp_path / "campaigns").exists()


def test_a_campaign_about_a_bank_that_exists(scene: Scene, tmp_path: Path) -> None:
    bank = api.read_bank(scene.cases)
    entries = entries_for(bank, scene.repository.path)
    path = create_campaign(NewCampaign("again", entries, (LEXICAL,), None, bank=scene.cases), tmp_path)
    assert Checker(path.parent).thorough(CampaignDocument.read(path).snapshot) == ()
    make_repository(tmp_path / "other", {"a.py": b"x = 1\n"})
    assert "WHERE-IS" in str(entries_for(bank, tmp_path / "other")[0].path)


def test_presets_that_are_ready_come_first_and_others_say_what_they_lack() -> None:
    found = presets()
    assert found[0].id == "lexical" and found[0].missing is None
    ready = [preset.missing is None for preset in found]
    assert ready == sorted(ready, reverse=True)
    assert all(preset.entry["id"] == preset.id for preset in found)


DENSE = {"id": "dense", "retriever": "embedded", "engine": "onnx", "config": {"max_tokens": 256}}


@pytest.mark.parametrize(("units", "max_tokens"), [(100, 256), (2000, 128), (90_000, 32)])
def test_dense_candidates_read_what_a_first_run_has_time_for(
    scene: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, units: int, max_tokens: int
) -> None:
    monkeypatch.setattr(starting, "estimated_units", lambda entries: units)
    yields = find_yields(scene.repository.path)
    path = create_campaign(asked(yields, candidates=(LEXICAL, DENSE)), tmp_path)
    lexical, dense = (candidate.entry for candidate in api.read_campaign(path).candidates)
    assert dense["config"]["max_tokens"] == max_tokens and "max_tokens" not in lexical.get("config", {})
    comments = " ".join(line for line in path.read_text().splitlines() if line.startswith("#"))
    assert ("With 256 they read more" in comments) == (max_tokens < 256)
    if units == 2000:
        assert "about 31 s on two idle cores" in comments and "take about 45 s" in comments


def test_the_depth_of_a_repository_that_is_still_to_be_named_stays(scene: Scene, tmp_path: Path) -> None:
    bank = read_bank(scene.cases)
    asked_of = NewCampaign("later", entries_for(bank, None), (DENSE,), None, bank=scene.cases)
    text = create_campaign(asked_of, tmp_path).read_text()
    assert "max_tokens = 256" in text and "With 256" not in text


def test_a_graded_bank_asks_about_the_repository_that_is_named(tmp_path: Path) -> None:
    scene = graded_scene(tmp_path)
    bank = read_bank(scene.cases)
    (entry,) = entries_for(bank, scene.repository.path)
    assert (entry.label, entry.path, entry.commit) == ("shop", scene.repository.path, None)
    (entry,) = entries_for(bank, None)
    assert (entry.label, entry.path) == ("repository", Path("WHERE-IS", "repository"))
