"""A run directory appears whole or not at all, and is opened again only as it was frozen."""

from __future__ import annotations

import errno
import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core import api
from core.campaign import jobs
from core.campaign.sources import FrozenSource
from core.errors import BusyError, IdentityError, InputError
from core.repositories import RepositoryEntry
from core.run.layout import RunLayout
from core.run.lock import RunLock, is_executed, is_held
from core.run.record import read_run
from tests.support.campaigns import Scene, campaign, fake, make_scene
from tests.support.repositories import make_repository


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return make_scene(tmp_path, per_intent=1)


def listing(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def created(asked: api.Campaign, output: Path) -> Path:
    api.create_run(asked, output).lock.release()
    return output


def test_a_run_holds_all_that_it_needs_and_its_lock(scene: Scene) -> None:
    opened = api.create_run(campaign(scene, fake("a")), scene.folder / "run")
    run = scene.folder / "run"
    try:
        assert is_held(run / ".lock")
        assert {path.name for path in run.iterdir()} == {
            *(".gitignore", ".lock", "campaign.json", "plan.jsonl", "cases.jsonl"),
            *("repositories", "configs", "operations", "state"),
        }
        assert opened.layout.root == run
        assert opened.lock.path == run / ".lock"
        assert (run / "configs" / "a.json").is_file()
        assert (run / "cases.jsonl").read_bytes() == scene.cases.read_bytes()
        assert run.stat().st_mode & 0o077 == 0
    finally:
        opened.lock.release()


def test_sources_are_told_as_they_are_frozen(scene: Scene) -> None:
    told: list[FrozenSource] = []
    api.create_run(campaign(scene, fake("a")), scene.folder / "run", told.append).lock.release()
    assert [(source.label, source.commit) for source in told] == [("store", scene.repository.commit)]


def test_a_run_that_is_only_looked_at_is_executed_by_nobody(scene: Scene) -> None:
    run = created(campaign(scene, fake("a")), scene.folder / "run")
    with api.reopen_run(run, purpose="checking"):
        assert is_held(run / ".lock") and not is_executed(run / ".lock")
    with api.reopen_run(run):
        assert is_executed(run / ".lock")


def test_what_a_killed_creation_left_is_removed_by_the_next(scene: Scene) -> None:
    staging = scene.folder / ".run.creating"
    staging.mkdir(mode=0o700)
    (staging / "repositories" / "store").mkdir(parents=True)
    (staging / "repositories" / "store" / "half").write_text("half")
    (staging / "cases.jsonl").write_text("old")
    (staging / "link").symlink_to(scene.repository.path)
    (staging / ".lock").write_text('{"pid": 1}')

    run = created(campaign(scene, fake("a")), scene.folder / "run")

    assert not staging.exists()
    assert not (run / "link").exists()
    assert (run / "cases.jsonl").read_bytes() == scene.cases.read_bytes()
    assert (scene.repository.path / "README.md").is_file(), "a link is removed, not what it leads to"


def test_two_creations_of_one_run_are_refused(scene: Scene) -> None:
    staging = scene.folder / ".run.creating"
    staging.mkdir(mode=0o700)
    other = RunLock(staging / ".lock")
    other.acquire()
    (staging / "cases.jsonl").write_text("theirs")
    try:
        with pytest.raises(BusyError, match=str(os.getpid())):
            api.create_run(campaign(scene, fake("a")), scene.folder / "run")
        assert (staging / "cases.jsonl").read_text() == "theirs"
    finally:
        other.release()


def test_a_stranger_s_folder_in_the_place_of_creation_is_refused_and_left_alone(scene: Scene) -> None:
    precious = scene.folder / "precious"
    precious.mkdir(mode=0o700)
    (precious / "thesis.txt").write_text("precious")
    staging = scene.folder / ".run.creating"
    staging.symlink_to(precious)
    with pytest.raises(InputError, match="move it away"):
        api.create_run(campaign(scene, fake("a")), scene.folder / "run")
    staging.unlink()
    staging.mkdir(mode=0o777)
    staging.chmod(0o777)
    with pytest.raises(InputError, match="move it away"):
        api.create_run(campaign(scene, fake("a")), scene.folder / "run")
    assert (precious / "thesis.txt").read_text() == "precious"


@pytest.mark.parametrize("step", ["freeze", "write_durably", "publish_stage", "on_frozen"])
def test_a_creation_that_fails_leaves_nothing_not_even_folders(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    def full(*arguments: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    before = listing(scene.folder)
    output = scene.folder / "new" / "deep" / "run"
    on_frozen = full if step == "on_frozen" else lambda source: None
    with monkeypatch.context() as patch:
        if step != "on_frozen":
            patch.setattr(jobs, step, full)
        with pytest.raises(InputError, match="cannot be written: No space left on device") as refused:
            api.create_run(campaign(scene, fake("a")), output, on_frozen)
    assert "nothing was left behind" in str(refused.value)
    assert listing(scene.folder) == before
    created(campaign(scene, fake("a")), output)


def test_a_creation_that_is_stopped_leaves_nothing(scene: Scene) -> None:
    def stop(source: FrozenSource) -> None:
        raise KeyboardInterrupt

    before = listing(scene.folder)
    with pytest.raises(KeyboardInterrupt):
        api.create_run(campaign(scene, fake("a")), scene.folder / "run", stop)
    assert listing(scene.folder) == before


def test_a_failing_creation_keeps_the_folders_that_were_there(scene: Scene) -> None:
    (scene.folder / "kept").mkdir()

    def fail(source: FrozenSource) -> None:
        raise InputError("no")

    with pytest.raises(InputError, match="no"):
        api.create_run(campaign(scene, fake("a")), scene.folder / "kept" / "new" / "run", fail)
    assert list((scene.folder / "kept").iterdir()) == []


@pytest.mark.parametrize("kind", ["folder", "file", "dangling link", "a file above", "not UTF-8", "too long"])
def test_an_output_that_cannot_be_is_refused(scene: Scene, kind: str) -> None:
    output = scene.folder / "run"
    if kind == "folder":
        output.mkdir()
    elif kind == "file":
        output.touch()
    elif kind == "dangling link":
        output.symlink_to("nowhere")
    elif kind == "a file above":
        output.touch()
        output = output / "run"
    elif kind == "not UTF-8":
        output = scene.folder / os.fsdecode(b"run-\xff")
    else:
        output = scene.folder / ("x" * 300)
    before = listing(scene.folder)
    with pytest.raises(InputError):
        api.create_run(campaign(scene, fake("a")), output)
    assert listing(scene.folder) == before


def test_a_repository_that_the_manifest_lacks_is_named(scene: Scene) -> None:
    entry = scene.repository.model_copy(update={"label": "other"})
    with pytest.raises(InputError, match="store: cases ask about it, and the repository manifest does not"):
        api.create_run(campaign(scene._replace(repository=entry), fake("a")), scene.folder / "run")


def test_a_manifest_that_pins_another_commit_is_refused(scene: Scene) -> None:
    entry = scene.repository.model_copy(update={"commit": "1" * 40})
    with pytest.raises(
        InputError, match=f"derived at {str(scene.repository.commit)[:12]}, the manifest pins 1111"
    ):
        api.create_run(campaign(scene._replace(repository=entry), fake("a")), scene.folder / "run")
    assert not (scene.folder / "run").exists()


def test_without_a_pin_the_banks_commit_is_taken_not_head(scene: Scene) -> None:
    make_repository(scene.repository.path, {"later.py": b"def later():\n    pass\n"})
    entry = scene.repository.model_copy(update={"commit": None})
    run = created(campaign(scene._replace(repository=entry), fake("a")), scene.folder / "run")
    assert not (run / "repositories" / "store" / "later.py").exists()
    assert (run / "repositories" / "store" / "store" / "records.py").is_file()


def test_repositories_that_no_case_asks_about_are_left_out(scene: Scene) -> None:
    asked = campaign(scene, fake("a"))
    other = RepositoryEntry(label="other", path=Path("/nowhere"))
    more = api.Campaign("test", scene.cases, (other, scene.repository), asked.candidates)
    run = created(more, scene.folder / "run")
    assert [path.name for path in (run / "repositories").iterdir() if path.is_dir()] == ["store"]


def test_of_a_private_repository_only_its_label_is_kept(scene: Scene) -> None:
    url = "https://example.org/secret/store.git"
    shown = scene.repository.model_copy(update={"url": url})
    public = created(campaign(scene._replace(repository=shown), fake("a")), scene.folder / "public")
    private = created(
        campaign(scene._replace(repository=shown.model_copy(update={"private": True})), fake("a")),
        scene.folder / "private",
    )

    assert json.loads((public / "campaign.json").read_bytes())["about"]["urls"] == {"store": url}
    text = (private / "campaign.json").read_text()
    assert json.loads(text)["about"]["private"] == ["store"]
    assert "example.org" not in text
    assert str(scene.repository.path) not in text


def test_a_run_opens_again_by_itself_and_by_its_equal(scene: Scene) -> None:
    asked = campaign(scene, fake("a"), fake("b"))
    run = created(asked, scene.folder / "run")
    for given in (None, asked):
        opened = api.reopen_run(run, given)
        assert is_held(run / ".lock")
        assert opened.record.candidates == ("a", "b")
        assert len(opened.plan) == 18
        opened.lock.release()


def test_a_changed_campaign_is_refused_and_the_lock_given_back(scene: Scene) -> None:
    run = created(campaign(scene, fake("a"), limits=api.Limits(query_timeout=5.0)), scene.folder / "run")
    before = {path: (run / path).read_bytes() for path in ("campaign.json", "plan.jsonl", "cases.jsonl")}
    with pytest.raises(IdentityError, match=r"limits\.query_timeout: 5\.0 → 900\.0"):
        api.reopen_run(run, campaign(scene, fake("a")))
    assert not is_held(run / ".lock")
    assert {path: (run / path).read_bytes() for path in before} == before


@pytest.mark.parametrize(
    ("change", "error", "said"),
    [
        ({"commit": "1" * 40}, InputError, "the manifest pins 1111"),
        ({"label": "other"}, InputError, "store: cases ask about it"),
        ({"private": True}, IdentityError, r"repositories\.store\.private: False → True"),
    ],
)
def test_a_changed_repository_manifest_is_refused(
    scene: Scene, change: dict[str, Any], error: type[Exception], said: str
) -> None:
    run = created(campaign(scene, fake("a")), scene.folder / "run")
    entry = scene.repository.model_copy(update=change)
    with pytest.raises(error, match=said):
        api.reopen_run(run, campaign(scene._replace(repository=entry), fake("a")))
    assert not is_held(run / ".lock")


@pytest.mark.parametrize("name", ["plan.jsonl", "configs/a.json", "repositories/store.json"])
def test_a_missing_file_of_the_frozen_campaign_is_refused(scene: Scene, name: str) -> None:
    run = created(campaign(scene, fake("a")), scene.folder / "run")
    (run / name).unlink()
    with pytest.raises((IdentityError, InputError), match=Path(name).name):
        api.reopen_run(run)
    assert not is_held(run / ".lock")


def test_a_missing_frozen_tree_is_refused(scene: Scene) -> None:
    run = created(campaign(scene, fake("a")), scene.folder / "run")
    RunLayout(run).source("store").rename(scene.folder / "away")
    with pytest.raises(IdentityError, match="store: missing: the whole tree"):
        api.reopen_run(run)


def test_candidates_that_are_not_ready_are_all_named(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(entry: Any, retriever: Any) -> None:
        raise InputError(f"{entry['id']}: its model is not installed; run: pip install model")

    monkeypatch.setattr(jobs, "candidate_controls", absent)
    with pytest.raises(InputError) as refused:
        api.create_run(campaign(scene, fake("a"), fake("b")), scene.folder / "run")
    assert "a: its model is not installed; run: pip install model" in str(refused.value)
    assert "b: its model is not installed" in str(refused.value)
    assert not (scene.folder / "run").exists()


def test_a_run_records_how_ambiguous_its_cases_are(tmp_path: Path) -> None:
    twice = b"def alone():\n    pass\n\n\ndef twice():\n    pass\n"
    commit = make_repository(tmp_path / "twins", {"a.py": twice, "b.py": b"def twice():\n    pass\n"})
    entry = RepositoryEntry(label="twins", path=tmp_path / "twins", commit=commit)
    api.build_bank([entry], 2, ["symbol_lookup"], tmp_path / "cases.jsonl")
    scene = Scene(tmp_path, entry, tmp_path / "cases.jsonl")
    run = created(campaign(scene, fake("a")), tmp_path / "run")
    assert read_run(run).about["bank_notes"] == {"twins": {"ambiguous": 1, "cases": 2}}


def test_a_run_that_was_frozen_without_bank_notes_is_read(scene: Scene) -> None:
    run = created(campaign(scene, fake("a")), scene.folder / "run")
    record = read_run(run)
    assert record.about["bank_notes"] == {"store": {"ambiguous": 0, "cases": 4}}
    about = {name: value for name, value in record.about.items() if name != "bank_notes"}
    older = replace(record, about=about)
    record.layout.campaign.write_bytes(older.encode())
    assert read_run(run) == older
    api.reopen_run(run, campaign(scene, fake("a"))).close()
