"""What a repository could supply to a bank: its commit, and how many cases of each intent."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from core.banks.case import INTENTS
from core.banks.derivation import Derivation, OnFile, derive
from core.banks.known_target import Shortage
from core.errors import InputError
from core.git import GitRepository, top_level
from core.git_command import run_git
from core.repositories import RepositoryEntry
from core.text import printable

DEFAULT_PER_INTENT = 20

ASKS: dict[str, str] = {
    "symbol_lookup": "find a definition by its name",
    "architecture_lookup": "find a module by its docstring",
    "task_lookup": "find a definition by its docstring",
    "docs_lookup": "find a section by its heading",
    "error_or_trace_lookup": "find where a message is raised",
}
"""What the queries of each intent ask for, in words for a person."""

_UNSAFE = re.compile(r"[^A-Za-z0-9_-]+")


class Head(NamedTuple):
    """A commit as a person knows it; `branch` is None where none is checked out, or HEAD is not meant."""

    commit: str
    branch: str | None
    subject: str
    shallow: bool


class Yields(NamedTuple):
    """A repository at a commit, with every case that could be asked about it."""

    entry: RepositoryEntry
    head: Head
    derivation: Derivation

    def count(self, intent: str) -> int:
        """Return how many cases of an intent could be chosen."""
        return len(self.derivation.pool(intent))


class Suggestion(NamedTuple):
    """Which intents to ask, and how many cases of each."""

    intents: tuple[str, ...]
    per_intent: int


def find_yields(
    folder: Path, *, label: str | None = None, commit: str | None = None, on_file: OnFile | None = None
) -> Yields:
    """Derive all that the repository around a folder could supply; takes seconds, so call it from a thread.

    `on_file` is told the files passed and all there are; what it raises ends the work. Raises InputError with
    a remedy where there is no repository, no commit, or nothing to derive from.
    """
    path = top_level(folder)
    head = read_head(path, commit)
    entry = RepositoryEntry(label=label or label_for(path), path=path, commit=head.commit)
    with GitRepository(path) as repository:
        derivation = derive(repository, entry, on_file)
    if not derivation.cases:
        raise InputError(_nothing(path, derivation))
    return Yields(entry, head, derivation)


def read_head(path: Path, commit: str | None = None) -> Head:
    """Return a commit of a repository, HEAD where none is named; raises InputError."""
    with GitRepository(path) as repository:
        at_head = repository.head() if commit is None else None
        found = at_head or repository.resolve(str(commit))
    branch = _line(path, "rev-parse", "--abbrev-ref", "HEAD") if at_head else ""
    return Head(
        commit=found,
        branch=branch if branch not in {"", "HEAD"} else None,
        subject=_line(path, "log", "-1", "--no-show-signature", "--format=%s", found),
        shallow=_line(path, "rev-parse", "--is-shallow-repository") == "true",
    )


def suggest(derivation: Derivation) -> Suggestion:
    """Return the choice that makes the most cases with at most DEFAULT_PER_INTENT of each intent."""
    counts = {intent: len(derivation.pool(intent)) for intent in INTENTS}
    possible = [
        Suggestion(tuple(intent for intent in INTENTS if counts[intent] >= each), each)
        for each in sorted({min(count, DEFAULT_PER_INTENT) for count in counts.values() if count})
    ]
    return max(
        possible, key=lambda choice: len(choice.intents) * choice.per_intent, default=Suggestion((), 0)
    )


def short_cells(derivation: Derivation, intents: Sequence[str], per_intent: int) -> tuple[Shortage, ...]:
    """Return the intents that cannot supply so many cases."""
    return tuple(
        Shortage(derivation.label, intent, have, per_intent)
        for intent in intents
        if (have := len(derivation.pool(intent))) < per_intent
    )


def label_for(path: Path) -> str:
    """Return a label for a repository from its folder's name."""
    return _UNSAFE.sub("-", path.name).strip("-")[:64] or "repository"


def _line(path: Path, *arguments: str) -> str:
    status, output, _ = run_git(*arguments, directory=path)
    return "" if status else output.decode("utf-8", "replace").partition("\n")[0]


def _nothing(path: Path, derivation: Derivation) -> str:
    shown, files = printable(str(path)), derivation.files
    read = f"{files['python']} Python and {files['markdown']} Markdown files"
    left_out = sum(derivation.left_out.values())
    return (
        f"{shown}: no case can be derived from its {read} at commit {derivation.commit[:12]} ({left_out} "
        "files or texts were left out, such as tests and vendored ones); choose a repository with Python "
        "definitions or Markdown headings, or open a bank that exists"
    )


def head_line(head: Head) -> str:
    """Return a commit in a line: branch, digits, subject; not yet safe to show."""
    where = f"{head.branch} " if head.branch else ""
    shallow = " (a shallow clone, which is enough)" if head.shallow else ""
    return f"{where}{head.commit[:12]} “{head.subject[:80]}”{shallow}"


def yield_lines(derivation: Derivation) -> tuple[str, ...]:
    """Return how many cases each intent could yield, a line each."""
    return tuple(f"{len(derivation.pool(intent)):>7,}  {intent:<21}  {ASKS[intent]}" for intent in INTENTS)
