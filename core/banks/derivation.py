"""Everything that the rules of `known-target-v1` derive from one repository at one commit."""

from __future__ import annotations

import contextlib
import gc
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from core.banks.case import FORMAT, Case, Evidence
from core.banks.fields import path_fault
from core.banks.markdown import markdown_cases
from core.banks.python_source import python_cases
from core.banks.rules import FileWitnesses, UnparsableError, Witness
from core.canonical import canonical_json, sha256
from core.git import GitRepository, TreeEntry
from core.ranking import Target
from core.repositories import RepositoryEntry

EXCLUDED_FOLDERS = frozenset({b"tests", b"fixtures", b"benchmarks", b"_archive", b"node_modules", b"vendor"})
_ID_DIGITS = 20
_LFS_POINTER = b"version https://git-lfs.github.com/spec/v1\n"

# Why a file or a text yields no case; the words that `left_out` counts by. A pointer of Git LFS is read like
# any file, as the format has no rule about it: it is counted since its true contents are elsewhere.
LEFT_OUT: Mapping[str, str] = {
    "excluded_folder": "files in a folder named " + ", ".join(sorted(map(bytes.decode, EXCLUDED_FOLDERS))),
    "lfs_pointer": "files that only point to contents kept by Git LFS",
    "link": "symbolic links",
    "path_not_canonical": "paths that lead out of the repository or have empty parts",
    "path_not_utf8": "paths that are not UTF-8",
    "short_text": "texts too short for their rule",
    "submodule": "submodules",
    "unencodable_text": "texts that UTF-8 cannot hold",
    "unparsable": "Python files that this Python cannot parse",
}


@dataclass(frozen=True)
class Derivation:
    """All cases of a repository at a commit, before any are chosen.

    `files` counts the files read, by `python` and `markdown`; `left_out` counts by the words of `LEFT_OUT`;
    `unparsable` gives the reason by path.
    """

    label: str
    commit: str
    cases: tuple[Case, ...]
    files: Mapping[str, int]
    left_out: Mapping[str, int]
    unparsable: Mapping[str, str]

    @cached_property
    def rules(self) -> dict[str, int]:
        """How many cases each rule yielded."""
        return dict(sorted(Counter(case.evidence.rule for case in self.cases).items()))

    @cached_property
    def by_id(self) -> dict[str, Case]:
        """The cases by their ids."""
        return {case.id: case for case in self.cases}

    @cached_property
    def _pools(self) -> dict[str, tuple[Case, ...]]:
        pools: dict[str, dict[str, Case]] = {}
        for case in sorted(self.cases, key=lambda case: case.id):
            pools.setdefault(case.intent, {}).setdefault(case.query, case)
        return {intent: tuple(pool.values()) for intent, pool in pools.items()}

    def pool(self, intent: str) -> tuple[Case, ...]:
        """Return an intent's cases that can be chosen: by id, and of one query only the first."""
        return self._pools.get(intent, ())


class _Source(NamedTuple):
    path: str
    data: bytes


OnFile = Callable[[int, int], None]
"""Told the files passed and all there are; what it raises ends the derivation."""


def derive(repository: GitRepository, entry: RepositoryEntry, on_file: OnFile | None = None) -> Derivation:
    """Derive every case of a repository at the entry's commit, or at HEAD where the entry names none.

    Raises InputError where the commit or one of its objects is not here.
    """
    commit = repository.resolve(entry.commit) if entry.commit is not None else repository.head()
    collector = _Collector(entry.label, commit)
    entries = repository.entries(commit)
    if on_file is not None:
        entries = _watched(list(entries), on_file)
    with _cycles_left_alone():
        for item in entries:
            path = collector.candidate(item)
            if path is not None:
                collector.read(_Source(path, repository.blob(item.oid)))
    return collector.derivation()


def _watched(entries: Sequence[TreeEntry], on_file: OnFile) -> Iterator[TreeEntry]:
    for passed, item in enumerate(entries):
        on_file(passed, len(entries))
        yield item


@contextlib.contextmanager
def _cycles_left_alone() -> Iterator[None]:
    """Pause the search for reference cycles: syntax trees hold none, and are searched again and again."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


class _Collector:
    """Turns one file after the other into cases and counts what it leaves out."""

    def __init__(self, label: str, commit: str) -> None:
        self._label = label
        self._commit = commit
        self._cases: list[Case] = []
        self._files = {"markdown": 0, "python": 0}
        self._left_out: Counter[str] = Counter()
        self._unparsable: dict[str, str] = {}

    def candidate(self, item: TreeEntry) -> str | None:
        """Return the path of an entry that can yield cases; count any other that looks like one."""
        if item.is_submodule:
            self._left_out["submodule"] += 1
            return None
        if not item.path.endswith((b".py", b".md")):
            return None
        reason, path = _path_of(item)
        if reason is not None:
            self._left_out[reason] += 1
            return None
        return path

    def read(self, source: _Source) -> None:
        """Add the cases of one file."""
        if source.data.startswith(_LFS_POINTER):
            self._left_out["lfs_pointer"] += 1
        kind = "python" if source.path.endswith(".py") else "markdown"
        self._files[kind] += 1
        try:
            witnesses = python_cases(source.data) if kind == "python" else markdown_cases(source.data)
        except UnparsableError as error:
            self._unparsable[source.path] = str(error)
            return
        self._add(source, witnesses)

    def derivation(self) -> Derivation:
        """Return what was collected."""
        counts = +(self._left_out + Counter(unparsable=len(self._unparsable)))
        return Derivation(
            label=self._label,
            commit=self._commit,
            cases=tuple(self._cases),
            files=self._files,
            left_out=dict(sorted(counts.items())),
            unparsable=self._unparsable,
        )

    def _add(self, source: _Source, witnesses: FileWitnesses) -> None:
        self._left_out["short_text"] += witnesses.short
        if not witnesses.found:
            return
        digest = sha256(source.data)
        for witness in witnesses.found:
            try:
                self._cases.append(self._case(witness, source.path, digest))
            except UnicodeEncodeError:
                self._left_out["unencodable_text"] += 1

    def _case(self, witness: Witness, path: str, digest: str) -> Case:
        rule, query = witness.rule, witness.query
        return Case(
            channel=rule.channel,
            commit=self._commit,
            evidence=Evidence(rule.name, digest),
            id=case_id(self._label, self._commit, rule.intent, query, path, witness.line, rule.name),
            intent=rule.intent,
            query=query,
            repo=self._label,
            schema_version=FORMAT,
            targets=(Target(path, witness.line, rule.kind),),
        )


def case_id(repo: str, commit: str, intent: str, query: str, path: str, line: int, rule: str) -> str:
    """Return the id of a case, which its contents determine.

    Raises UnicodeEncodeError for text that UTF-8 cannot hold.
    """
    digest = sha256(canonical_json([repo, commit, intent, query, path, line, rule]))
    return f"{repo}-{intent}-{digest[:_ID_DIGITS]}"


def _path_of(item: TreeEntry) -> tuple[str | None, str]:
    """Return why an entry is left out, if it is, and its path as text."""
    try:
        path = item.path.decode("utf-8")
    except UnicodeDecodeError:
        return "path_not_utf8", ""
    if not EXCLUDED_FOLDERS.isdisjoint(item.path.split(b"/")):
        return "excluded_folder", path
    if path_fault(path) is not None:
        return "path_not_canonical", path
    return ("link" if item.is_link else None), path
