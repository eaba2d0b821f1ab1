"""Building banks of changed files, and running campaigns on them: labelled as not gold everywhere."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from core import api
from core.banks.case import parse_bank
from core.banks.historical import build_history_bank
from core.banks.meta import meta_path
from core.cli import main
from core.errors import Exit, InputError, ProblemsError
from core.outcomes import planned_cases
from core.repositories import RepositoryEntry
from core.run.layout import RunLayout
from core.scoring.units import group_units
from tests.support.campaigns import Scene, campaign, fake, run_new
from tests.support.history import History

SUBJECTS = (
    "Read the journal back after a crash",
    "Take the lock before the journal is opened",
    "Write what was read to another place",
    "Count the lines while they are read",
)
WORDS = ("Not gold", "not gold")


@pytest.fixture
def store(tmp_path: Path) -> RepositoryEntry:
    history = History(tmp_path / "store")
    for at, subject in enumerate(SUBJECTS):
        name = "journal.py" if at < 3 else "lock.py"
        history.commit(subject, {name: f"def work_{at}():\n    return {at}\n".encode()})
    history.commit("Merge branch 'none'", {"journal.py": b"def last():\n    return 1\n"})
    return RepositoryEntry(label="store", path=history.folder, commit=history.head)


def manifest(folder: Path, entry: RepositoryEntry) -> str:
    path = folder / "m.json"
    said: dict[str, Any] = {"label": entry.label, "path": str(entry.path), "private": entry.private}
    path.write_text(json.dumps({"schema_version": 1, "repositories": [said]}))
    return str(path)


def test_all_or_the_smallest_ids_are_chosen_and_everything_is_counted(
    store: RepositoryEntry, tmp_path: Path
) -> None:
    whole = build_history_bank([store], None, tmp_path / "all.jsonl")
    assert {case.query for case in whole.bank.cases} == {*SUBJECTS}
    ids = [case.id for case in whole.bank.cases]
    assert ids == sorted(ids)
    two = build_history_bank([store], 2, tmp_path / "two.jsonl")
    assert [case.id for case in two.bank.cases] == ids[:2]
    again = build_history_bank([store], 2, tmp_path / "again.jsonl")
    assert again.bank == two.bank
    meta = json.loads(meta_path(two.output).read_text())
    assert meta["bank"]["kind"] == "historical" and meta["bank"]["gold"] is False
    assert meta["repositories"][0]["left_out"] == {"merge": 1}
    assert meta["repositories"][0]["files"] == {"commits": 5}
    assert two.remarks == ("store: 4 cases from 5 commits; left out:", "  merges: 1")
    assert "(not gold)" in two.message


def test_a_short_repository_fails_the_build_and_says_what_is_possible(
    store: RepositoryEntry, tmp_path: Path
) -> None:
    with pytest.raises(ProblemsError) as caught:
        build_history_bank([store], 9, tmp_path / "cases.jsonl")
    told = str(caught.value)
    assert "store: have 4, need 9" in told and "possible: --per-repository 4" in told
    with pytest.raises(InputError, match="expected 1 or more"):
        build_history_bank([store], 0, tmp_path / "cases.jsonl")
    assert not (tmp_path / "cases.jsonl").exists() and not (tmp_path / "cases.jsonl.meta.json").exists()


def test_a_private_repository_leaves_only_counts_beside_the_bank(
    store: RepositoryEntry, tmp_path: Path
) -> None:
    private = store.model_copy(update={"private": True})
    built = build_history_bank([private], None, tmp_path / "cases.jsonl")
    text = meta_path(built.output).read_text() + "".join(built.remarks)
    assert "journal" not in text and "lock" not in text


def test_commits_of_the_same_files_are_one_unit(store: RepositoryEntry, tmp_path: Path) -> None:
    bank = build_history_bank([store], None, tmp_path / "cases.jsonl").bank
    assert sorted(map(len, group_units(planned_cases(bank)))) == [1, 3]


def test_the_command_builds_checks_and_describes(
    store: RepositoryEntry, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where, cases = manifest(tmp_path, store), str(tmp_path / "cases.jsonl")
    build = ["bank", "build", "--kind", "historical", "--repo-manifest", where, "--output", cases]
    assert main([*build, "--per-repository", "3"]) == Exit.DONE
    told = capsys.readouterr()
    assert told.out == f"Generated 3 historical cases (not gold): {cases}\n"
    assert "merges: 1" in told.err
    assert main(["bank", "check", cases, "--repo-manifest", where]) == Exit.DONE
    assert main(["bank", "stats", cases, "--repo-manifest", where]) == Exit.DONE
    told = capsys.readouterr()
    assert "commit_lookup" in told.out and "Not gold" in told.out
    edited = tmp_path / "edited.jsonl"
    edited.write_bytes(Path(cases).read_bytes().replace(b"journal.py", b"lock.py"))
    assert main(["bank", "check", str(edited), "--repo-manifest", where]) == Exit.NEGATIVE
    assert "target_moved" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (["--kind", "historical", "--per-intent", "3"], "historical banks take --per-repository"),
        (["--kind", "historical", "--intents", "symbol_lookup"], "historical banks take --per-repository"),
        (["--per-intent", "3", "--per-repository", "3"], "known targets take --per-intent"),
        ([], "--per-intent: found nothing"),
    ],
)
def test_flags_of_the_other_kind_are_refused(
    store: RepositoryEntry, tmp_path: Path, flags: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    where, cases = manifest(tmp_path, store), str(tmp_path / "cases.jsonl")
    words = ["bank", "build", "--repo-manifest", where, "--output", cases, *flags]
    assert main(words) == Exit.BAD_INPUT
    assert told in capsys.readouterr().err


def ran(store: RepositoryEntry, folder: Path) -> Path:
    cases = folder / "cases.jsonl"
    build_history_bank([store], None, cases)
    scene = Scene(folder, store, cases)
    done = run_new(campaign(scene, fake("a", session=True), fake("b", session=True)), folder / "run")
    assert done.state == "complete"
    return done.run


def test_a_campaign_runs_on_it_and_every_report_says_that_it_is_not_gold(
    store: RepositoryEntry, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = ran(store, tmp_path)
    rescored = api.rescore(run)
    assert rescored.board.sought == "changed file" and rescored.board.cases == 4
    assert rescored.graded is None
    for form in ("text", "md"):
        assert main(["report", str(run), "--format", form]) == Exit.DONE
        told = capsys.readouterr().out
        assert any(word in told for word in WORDS)
        assert "known target" not in told.replace("those of known targets", "").lower()
    assert main(["report", str(run), "--format", "json"]) == Exit.DONE
    told = json.loads(capsys.readouterr().out)
    assert told["run"]["bank"]["kind"] == "historical" and told["run"]["bank"]["gold"] is False
    assert told["headline"][0].startswith("Not gold:")
    assert main(["rescore", str(run)]) == Exit.DONE
    assert capsys.readouterr().out.splitlines()[-1] == f"Historical results (not gold): {run}"
    assert RunLayout(run).summary_text.read_text().startswith("# Historical results (not gold): ")
    assert main(["report", str(run), "--format", "trec"]) == Exit.DONE


def test_it_can_be_held_to_floors_by_its_own_intent(store: RepositoryEntry, tmp_path: Path) -> None:
    run, floors = ran(store, tmp_path), tmp_path / "floors.toml"
    floors.write_text('[[gate]]\nmetric = "recall@5"\nintent = "commit_lookup"\nmin = 0\n')
    assert main(["gate", str(run), "--floors", str(floors), "--candidate", "all"]) == Exit.DONE


def test_a_case_shows_that_its_witness_is_no_file(store: RepositoryEntry, tmp_path: Path) -> None:
    from core.detail.source_tree import SourceTree
    from core.detail.sources import witness_of

    run = ran(store, tmp_path)
    bank = parse_bank(RunLayout(run).cases.read_bytes(), "cases")
    witness = witness_of(bank.cases[0], SourceTree(RunLayout(run).source("store")))
    assert witness.check == "unknown" and "subject of a commit" in str(witness.problem)


def test_the_list_of_runs_shows_no_number_beside_those_of_known_targets(
    store: RepositoryEntry, tmp_path: Path
) -> None:
    from tui.runs import _best

    run = ran(store, tmp_path)
    api.rescore_run(run)
    assert _best(RunLayout(run)) == "historical, not gold"
