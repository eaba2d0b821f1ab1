"""A bank's commits are what is measured; whoever pins or expects others is told."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from core.banks.case import Bank, case_line, parse_bank
from core.banks.pinning import moved_heads, pinned_to_bank
from core.errors import InputError
from core.repositories import RepositoryEntry
from tests.support.repositories import make_repository
from tests.unit.banks.builders import sample_case, shop


def bank_at(**commits: str) -> Bank:
    cases = [replace(sample_case(), id=label, repo=label, commit=commit) for label, commit in commits.items()]
    return parse_bank(b"".join(map(case_line, cases)), "cases.jsonl")


def entry(label: str, commit: str | None = None) -> RepositoryEntry:
    return RepositoryEntry(label=label, path=Path("/nowhere") / label, commit=commit)


def test_entries_take_the_banks_commits_in_the_order_of_the_manifest() -> None:
    bank = bank_at(shop="a" * 40, zoo="b" * 40)
    entries = [entry("zoo"), entry("other", "c" * 40), entry("shop", "a" * 40)]
    pinned = pinned_to_bank(bank, entries, "cases.jsonl")
    assert [(one.label, one.commit) for one in pinned] == [("zoo", "b" * 40), ("shop", "a" * 40)]


def test_other_pins_and_missing_repositories_are_all_named() -> None:
    bank = bank_at(shop="a" * 40, zoo="b" * 40)
    with pytest.raises(InputError) as refused:
        pinned_to_bank(bank, [entry("shop", "c" * 40)], "cases\x1b.jsonl")
    heading, *lines = str(refused.value).splitlines()
    assert heading.endswith(".jsonl does not fit the repositories:") and heading.isprintable()
    assert lines == [
        "  - shop: the bank was derived at aaaaaaaaaaaa, the manifest pins cccccccccccc; pin the bank's "
        "commit, or build a bank at this one",
        "  - zoo: cases ask about it, and the repository manifest does not name it",
    ]


def test_a_head_that_has_moved_on_is_told(tmp_path: Path) -> None:
    at_bank = shop(tmp_path / "r")
    unpinned = at_bank.model_copy(update={"commit": None})
    bank = bank_at(shop=str(at_bank.commit))
    assert moved_heads(bank, [unpinned]) == []

    newer = make_repository(tmp_path / "r", {"new.md": b"# Something else\n"})
    assert moved_heads(bank, [unpinned]) == [
        f"shop: measuring the bank's commit {str(at_bank.commit)[:12]}; HEAD is {newer[:12]} now "
        "(build a new bank to measure that)"
    ]
    assert moved_heads(bank, [at_bank]) == [], "who pins a commit does not expect HEAD"
    assert moved_heads(bank, [unpinned.model_copy(update={"label": "other"})]) == []


def test_a_head_that_cannot_be_read_is_passed_over(tmp_path: Path) -> None:
    at_bank = shop(tmp_path / "r")
    unpinned = at_bank.model_copy(update={"commit": None})
    bank = bank_at(shop=str(at_bank.commit))
    (tmp_path / "r" / ".git" / "HEAD").write_text("ref: refs/heads/unborn\n")
    assert moved_heads(bank, [unpinned]) == []
    shutil.rmtree(tmp_path / "r")
    assert moved_heads(bank, [unpinned]) == []
