"""Which commits are meant: a bank's own, whatever has happened to its repositories since."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from core.banks.case import Bank
from core.banks.graded import bound
from core.errors import InputError, ProblemsError
from core.git import GitRepository
from core.repositories import RepositoryEntry, pinned
from core.text import printable

_DIGITS = 12  # of a commit, as told to a person


def pinned_to_bank(bank: Bank, entries: Sequence[RepositoryEntry], name: str) -> tuple[RepositoryEntry, ...]:
    """Return the manifest's entries for the bank's repositories, at the bank's commits; `name` is the bank's.

    Raises ProblemsError naming repositories that the manifest lacks or pins elsewhere.
    """
    places = {entry.label: entry for entry in entries}
    problems = []
    for label, commit in bank.commits.items():
        entry = places.get(label)
        if entry is None:
            problems.append(f"{label}: cases ask about it, and the repository manifest does not name it")
        elif entry.commit not in (None, commit):
            problems.append(
                f"{label}: the bank was derived at {commit[:_DIGITS]}, the manifest pins "
                f"{str(entry.commit)[:_DIGITS]}; pin the bank's commit, or build a bank at this one"
            )
    if problems:
        raise ProblemsError(f"{printable(name)} does not fit the repositories:", problems)
    return tuple(
        entry.model_copy(update={"commit": bank.commits[label]})
        for label, entry in places.items()
        if label in bank.commits
    )


class Fitted(NamedTuple):
    """A bank whose cases name their repositories, and the entries of those, at the bank's commits."""

    bank: Bank
    entries: tuple[RepositoryEntry, ...]


def fitted(bank: Bank, entries: Sequence[RepositoryEntry], name: str) -> Fitted:
    """Fit a bank to a manifest: a graded bank to its one repository; raises InputError."""
    if bank.graded is None:
        return Fitted(bank, pinned_to_bank(bank, entries, name))
    entry = only_entry(entries, name)
    return Fitted(bound(bank, entry.label, str(entry.commit)), (entry,))


def only_entry(entries: Sequence[RepositoryEntry], name: str) -> RepositoryEntry:
    """Return the one repository of a graded bank's manifest, at a commit; raises InputError."""
    if len(entries) != 1:
        raise InputError(
            f"{printable(name)}: a graded bank asks about one repository, the manifest names {len(entries)}; "
            "leave the one that the questions are about"
        )
    return pinned(entries[0])


def moved_heads(bank: Bank, entries: Sequence[RepositoryEntry]) -> list[str]:
    """Return a sentence for each repository whose HEAD has left the bank's commit.

    Only where the manifest names no commit, so that somebody may expect HEAD to be measured. A HEAD that
    cannot be read is passed over: it is not what is measured.
    """
    sentences = []
    for entry in entries:
        measured = bank.commits.get(entry.label)
        if entry.commit is not None or measured is None:
            continue
        head = _head(entry)
        if head not in (None, measured):
            sentences.append(
                f"{entry.label}: measuring the bank's commit {measured[:_DIGITS]}; HEAD is "
                f"{str(head)[:_DIGITS]} now (build a new bank to measure that)"
            )
    return sentences


def _head(entry: RepositoryEntry) -> str | None:
    try:
        with GitRepository(entry.path) as repository:
            return repository.head()
    except (InputError, OSError):
        return None
