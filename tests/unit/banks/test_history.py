"""Cases from a repository's history, hostile histories among them."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import pytest

from core.banks.case import case_line, parse_bank
from core.banks.check import check_bank
from core.banks.derivation import Derivation
from core.banks.history import derive_history
from core.banks.history_rules import LEFT_OUT
from core.banks.stats import bank_stats
from core.errors import InputError
from core.git import GitRepository
from core.ranking import Target
from core.repositories import RepositoryEntry
from tests.support.history import History
from tests.support.repositories import bait, git

READ = "Read the journal back after a crash"
LOCK = "Take the lock before the journal is opened"


@pytest.fixture
def history(tmp_path: Path) -> History:
    found = History(tmp_path / "store")
    found.commit("Begin with a journal and a lock", {"journal.py": b"a\n", "lock.py": b"b\n"})
    return found


def derived(history: History | Path, commit: str | None = None) -> Derivation:
    folder = history.folder if isinstance(history, History) else history
    with GitRepository(folder) as repository:
        return derive_history(repository, RepositoryEntry(label="store", path=folder, commit=commit))


def asked(derivation: Derivation) -> dict[str, list[str]]:
    return {case.query: [target.path for target in case.targets] for case in derivation.cases}


def test_a_subject_asks_for_the_files_that_it_changed(history: History) -> None:
    oid = history.commit(f"{READ}\n\nMore words.\n", {"journal.py": b"c\n", "docs/j.md": b"# J\n"})
    derivation = derived(history)
    case = derivation.cases[0]
    assert asked(derivation) == {
        READ: ["docs/j.md", "journal.py"],
        "Begin with a journal and a lock": ["journal.py", "lock.py"],  # a root commit adds its files
    }
    assert case.targets == (Target("docs/j.md", 0, "file"), Target("journal.py", 0, "file"))
    assert (case.intent, case.channel, case.schema_version) == ("commit_lookup", "emb", "historical-v1")
    assert (case.commit, case.evidence.rule) == (oid, "commit_paths")
    raw = git(history.folder, "cat-file", "commit", oid)
    assert case.evidence.source_sha256 == hashlib.sha256(raw).hexdigest()
    assert derivation.files == {"commits": 2} and derivation.left_out == {}


def test_only_files_that_still_exist_are_asked_for(history: History) -> None:
    history.commit(READ, {"journal.py": b"c\n", "old.py": b"x\n"})
    history.commit(LOCK, {"old.py": None, "lock.py": b"d\n"})
    history.commit("Remove what nobody reads any more", {"journal.py": None})
    derivation = derived(history)
    assert asked(derivation) == {LOCK: ["lock.py"], "Begin with a journal and a lock": ["lock.py"]}
    assert derivation.left_out == {"deleted_file": 5, "none_left": 2}


def test_commits_after_the_pinned_one_do_not_count(history: History) -> None:
    pinned = history.commit(READ, {"journal.py": b"c\n"})
    history.commit(LOCK, {"lock.py": b"d\n"})
    assert LOCK not in asked(derived(history, pinned)) and READ in asked(derived(history, pinned))


def test_a_rename_is_not_followed(history: History) -> None:
    history.commit("Call the journal what it is, a log", {"journal.py": None, "log.py": b"a\n"})
    assert asked(derived(history)) == {
        "Call the journal what it is, a log": ["log.py"],
        "Begin with a journal and a lock": ["lock.py"],
    }


def test_empty_commits_merges_links_and_submodules_are_left_out_and_counted(history: History) -> None:
    base = str(history.head)
    history.commit(LOCK, {"lock.py": b"d\n"})
    history.commit("Nothing was changed by this commit", {})
    history.commit(
        "Join what was done on both sides", {"journal.py": b"m\n"}, parents=[str(history.head), base]
    )
    history.commit(
        READ,
        {"journal.py": b"c\n", "link.py": b"journal.py", "module": b"a" * 40, "CHANGELOG.md": b"x\n"},
        modes={"link.py": 0o120000, "module": 0o160000},
    )
    history.commit("Move the module to another commit", {"module": b"b" * 40}, modes={"module": 0o160000})
    derivation = derived(history)
    assert asked(derivation) == {
        READ: ["journal.py"],
        LOCK: ["lock.py"],
        "Begin with a journal and a lock": ["journal.py", "lock.py"],
    }
    assert derivation.left_out == {
        "housekeeping_file": 1,
        "merge": 1,
        "no_file": 1,
        "none_left": 1,
        "not_a_file": 3,
    }
    assert {*derivation.left_out} <= {*LEFT_OUT}


def test_files_that_are_no_text_are_not_asked_for(history: History) -> None:
    history.commit(READ, {"journal.py": b"c\n", "logo.png": b"\x89PNG\0\0", "empty.py": b""})
    history.commit("Draw the logo with thinner lines", {"logo.png": b"\x89PNG\0\1"})
    derivation = derived(history)
    assert asked(derivation)[READ] == ["empty.py", "journal.py"]
    assert derivation.left_out == {"binary_file": 2, "none_left": 1}


def test_over_eight_files_are_too_many(history: History) -> None:
    history.commit("Write eight files at the same time", {f"f{n}.py": b"x\n" for n in range(8)})
    history.commit("Write nine files at the same time", {f"g{n}.py": b"x\n" for n in range(9)})
    derivation = derived(history)
    assert "Write eight files at the same time" in asked(derivation)
    assert derivation.left_out == {"too_many_files": 1}


def test_of_equal_subjects_the_newest_stays(history: History) -> None:
    history.commit(READ, {"journal.py": b"c\n"})
    history.commit(READ, {"lock.py": b"d\n"})
    derivation = derived(history)
    assert asked(derivation)[READ] == ["lock.py"]
    assert derivation.left_out == {"repeated_subject": 1}


def test_subjects_are_read_in_the_encoding_that_their_commit_names(history: History) -> None:
    history.commit(
        "Öffne das Journal nach einem Absturz".encode("latin-1"),
        {"journal.py": b"1\n"},
        headers=b"encoding ISO-8859-1\n",
    )
    history.commit("Öffne das Schloss nach dem Absturz".encode("latin-1"), {"lock.py": b"2\n"})
    history.commit(b"Read the lock in a made-up code", {"lock.py": b"3\n"}, headers=b"encoding x-none\n")
    history.commit(b"Read the lock in another code", {"lock.py": b"4\n"}, headers=b"encoding rot13\n")
    history.commit(b"Read the lock by its punycode", {"lock.py": b"5\n"}, headers=b"encoding idna\n")
    derivation = derived(history)
    assert "Öffne das Journal nach einem Absturz" in asked(derivation)
    assert derivation.left_out == {"subject_undecodable": 4}


def test_hostile_messages_neither_raise_nor_reach_a_bank(history: History) -> None:
    for at, message in enumerate(
        [
            b"Read \x1b]52;c;aGk=\x07 the journal back",
            b"Read the journal\x00 back after a crash",
            b"Read the \xe2\x80\xaejournal back",
            b"x" * (10 * 2**20),
            b"\n\n\n",
            b"",
            b"\xff\xfe" * 100,
        ]
    ):
        history.commit(message, {"journal.py": str(at).encode()})
    derivation = derived(history)
    assert [*asked(derivation)] == ["Begin with a journal and a lock"]
    assert sum(derivation.left_out.values()) == 7


def test_a_subject_over_several_lines_is_joined_as_git_shows_it(history: History) -> None:
    message = b"\n\nRead the journal  \nback after\n a crash\n\nBody\n"
    oid = history.commit(message, {"journal.py": b"c\n"})
    shown = git(history.folder, "log", "-1", "--format=%s", oid).decode().strip()
    assert shown == "Read the journal back after  a crash"
    assert shown in asked(derived(history))


def test_headers_of_any_size_and_kind_are_passed_over(history: History) -> None:
    signature = b"gpgsig -----BEGIN-----\n" + b" parent " + b"a" * 40 + b"\n encoding rot13\n -----END-----\n"
    history.commit(READ, {"journal.py": b"c\n"}, headers=signature)
    history.commit(LOCK, {"lock.py": b"c\n"}, headers=b"gpgsig x\n" + b" y\n" * 50_000)
    derivation = derived(history)
    assert READ in asked(derivation)
    assert derivation.left_out == {"subject_undecodable": 1}


def test_paths_that_cannot_be_asked_for_are_left_out(history: History) -> None:
    history.commit(READ, {"journal.py": b"c\n", b"caf\xe9.py": b"x\n", 'a b/\n"x".py': b"y\n"})
    derivation = derived(history)
    assert asked(derivation)[READ] == ['a b/\n"x".py', "journal.py"]
    assert derivation.left_out == {"path_unusable": 1}


def test_a_shallow_clone_gives_the_same_cases_up_to_its_end(history: History, tmp_path: Path) -> None:
    history.commit(READ, {"journal.py": b"c\n"})
    history.commit(LOCK, {"lock.py": b"d\n"})
    whole = derived(history)
    clone = tmp_path / "shallow"
    git(tmp_path, "clone", "--quiet", "--depth=2", f"file://{history.folder}", str(clone))
    cut = derived(clone)
    assert asked(cut) == {LOCK: ["lock.py"]}
    assert cut.left_out == {"history_cut": 1}
    assert {*cut.cases} <= {*whole.cases}
    bank = parse_bank(b"".join(map(case_line, cut.cases)), "bank")
    assert check_bank(bank, [RepositoryEntry(label="store", path=history.folder)]).ok
    full = parse_bank(b"".join(map(case_line, whole.cases)), "bank")
    assert not check_bank(full, [RepositoryEntry(label="store", path=clone)]).ok


def test_a_partial_clone_is_refused_with_what_to_do(history: History, tmp_path: Path) -> None:
    history.commit(READ, {"docs/journal.md": b"c\n"})
    history.commit(LOCK, {"docs/journal.md": b"d\n"})
    git(history.folder, "config", "uploadpack.allowFilter", "true")
    clone = tmp_path / "partial"
    git(tmp_path, "clone", "--quiet", "--bare", "--filter=tree:0", f"file://{history.folder}", str(clone))
    with pytest.raises(InputError, match="clone again without --filter"):
        derived(clone)


def test_nothing_that_a_repository_configures_is_run_or_believed(history: History, tmp_path: Path) -> None:
    history.commit(READ, {"journal.py": b"c\n"}, headers=b"gpgsig -----BEGIN PGP SIGNATURE-----\n x\n")
    before = derived(history)
    marker = bait(tmp_path, "program")
    program = str(tmp_path / "program")
    (history.folder / ".git" / "info" / "attributes").write_text("* diff=evil\n")
    for key, value in {
        "log.showSignature": "true",
        "gpg.program": program,
        "diff.external": program,
        "diff.evil.command": program,
        "diff.evil.textconv": program,
        "core.pager": program,
        "diff.renames": "copies",
        "diff.noprefix": "true",
        "diff.orderFile": program,
        "diff.ignoreSubmodules": "all",
        "i18n.logOutputEncoding": "utf-16",
        "log.mailmap": "true",
        "core.fsmonitor": program,
        "core.hooksPath": str(tmp_path),
    }.items():
        git(history.folder, "config", key, value)
    git(
        history.folder,
        "replace",
        "-f",
        str(history.head),
        git(history.folder, "rev-parse", "HEAD~1").decode().strip(),
    )
    (history.folder / ".git" / "info" / "grafts").write_text(f"{history.head}\n")
    assert derived(history) == before
    assert not marker.exists()


def test_only_the_newest_commits_are_looked_at(history: History, monkeypatch: pytest.MonkeyPatch) -> None:
    history.commit(READ, {"journal.py": b"c\n"})
    history.commit(LOCK, {"lock.py": b"d\n"})
    monkeypatch.setattr("core.banks.history.MOST_COMMITS", 2)
    derivation = derived(history)
    assert [*asked(derivation)] == [LOCK, READ]
    assert derivation.left_out == {"beyond_limit": 1} and derivation.files == {"commits": 2}


def test_checking_finds_what_was_edited(history: History) -> None:
    history.commit(READ, {"journal.py": b"c\n"})
    history.commit(LOCK, {"lock.py": b"d\n"})
    entry = RepositoryEntry(label="store", path=history.folder)
    cases = derived(history).cases
    first = cases[0]
    for edited, reason in (
        (first, None),
        (replace(first, query="Take the lock before anything is opened"), "query_edited"),
        (replace(first, targets=(Target("journal.py", 0, "file"),)), "target_moved"),
        (replace(first, targets=(*first.targets, Target("journal.py", 0, "file"))), "target_moved"),
        (replace(first, evidence=first.evidence._replace(source_sha256="0" * 64)), "digest_differs"),
        (replace(first, id="store-commit_lookup-" + "0" * 20), "provenance_edited"),
    ):
        bank = parse_bank(b"".join(map(case_line, (edited, *cases[1:]))), "bank")
        found = check_bank(bank, [entry])
        assert list(found.reasons) == ([] if reason is None else [reason])
    private = entry.model_copy(update={"private": True})
    bank = parse_bank(case_line(replace(first, query="Take the lock before anything is opened")), "bank")
    (finding,) = check_bank(bank, [private]).findings
    assert "lock" not in finding.sentence


def test_stats_know_the_intent(history: History) -> None:
    entry = RepositoryEntry(label="store", path=history.folder)
    bank = parse_bank(b"".join(map(case_line, derived(history).cases)), "bank")
    (cell,) = bank_stats(bank, [entry]).cells
    assert (cell.intent, cell.cases, cell.ambiguous) == ("commit_lookup", 1, 0)
    assert cell.overlap_mean is not None and cell.beyond_witness_mean is None
