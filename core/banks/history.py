"""What `historical-v1` derives from a repository's history: commit subjects, and the files that they changed.

A changed file is no judgment: it was touched when the work was done, which says neither that it answers the
subject nor that no other file does. These cases are not gold, and never stand beside known targets.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from core.banks.case import Case, Evidence
from core.banks.derivation import Derivation, case_id
from core.banks.fields import COMMIT_INTENT, HISTORICAL, path_fault
from core.banks.history_rules import MOST_FILES, fault_of, is_housekeeping
from core.git import GitRepository
from core.git_history import Ancestor, Change, ancestors, changes, commit_text, count_ancestors
from core.ranking import Target
from core.repositories import RepositoryEntry

RULE = "commit_paths"
MOST_COMMITS = 20_000  # the newest that are looked at
_TEXT_BYTES = 8000  # that Git looks at for a NUL


class _Said(NamedTuple):
    subject: str
    sha256: str


def derive_history(repository: GitRepository, entry: RepositoryEntry) -> Derivation:
    """Derive a case from each commit that the entry's commit, or HEAD, is reachable from.

    `files` of the result counts the commits looked at. Raises InputError where the history or one of its
    objects is not here.
    """
    commit = repository.resolve(entry.commit) if entry.commit is not None else repository.head()
    left_out: Counter[str] = Counter()
    looked_at = ancestors(repository, commit, MOST_COMMITS)
    if len(looked_at) == MOST_COMMITS:
        left_out["beyond_limit"] = count_ancestors(repository, commit) - MOST_COMMITS
    said = dict(_said(repository, looked_at, left_out))
    files = _Files(repository, commit)
    cases = tuple(_cases(repository, said, files, left_out, entry.label, commit))
    return Derivation(
        label=entry.label,
        commit=commit,
        cases=cases,
        files={"commits": len(looked_at)},
        left_out=dict(sorted((+left_out).items())),
        unparsable={},
    )


def _said(
    repository: GitRepository, found: Iterable[Ancestor], left_out: Counter[str]
) -> Iterator[tuple[str, _Said]]:
    """Yield the commits whose subject is a question, the newest first."""
    for ancestor in found:
        text = commit_text(repository, ancestor.oid)
        fault = fault_of(text)
        if fault is None and len(text.parents) != len(ancestor.parents):
            fault = "history_cut"
        if fault is not None:
            left_out[fault] += 1
        elif text.subject is not None:
            yield ancestor.oid, _Said(text.subject, text.sha256)


def _cases(
    repository: GitRepository,
    said: dict[str, _Said],
    files: _Files,
    left_out: Counter[str],
    label: str,
    commit: str,
) -> Iterator[Case]:
    asked: set[str] = set()
    for oid, changed in changes(repository, list(said)):
        targets = _targets(changed, files, left_out)
        subject, digest = said[oid]
        if targets and subject in asked:
            left_out["repeated_subject"] += 1
        elif targets:
            asked.add(subject)
            yield Case(
                channel="emb",
                commit=commit,
                evidence=Evidence(RULE, digest),
                id=case_id(label, commit, COMMIT_INTENT, subject, targets[0].path, 0, RULE),
                intent=COMMIT_INTENT,
                query=subject,
                repo=label,
                schema_version=HISTORICAL,
                targets=targets,
            )


def _targets(changed: Sequence[Change], files: _Files, left_out: Counter[str]) -> tuple[Target, ...]:
    """Return the files to ask for, by path; none where the commit yields no case, which is counted."""
    if not changed or len(changed) > MOST_FILES:
        left_out["too_many_files" if changed else "no_file"] += 1
        return ()
    paths = []
    for change in changed:
        reason, path = files.usable(change)
        if reason is None:
            paths.append(path)
        else:
            left_out[reason] += 1
    if not paths:
        left_out["none_left"] += 1
    return tuple(Target(path, 0, "file") for path in sorted(paths))


class _Files:
    """The regular files of the pinned commit."""

    def __init__(self, repository: GitRepository, commit: str) -> None:
        self._repository = repository
        self._oids = {item.path: item.oid for item in repository.entries(commit) if item.is_file}
        self._binary: dict[str, bool] = {}

    def usable(self, change: Change) -> tuple[str | None, str]:
        """Return why a changed path is not asked for, if it is not, and the path as text."""
        if change.mode and not change.is_file:
            return "not_a_file", ""
        if not change.mode or change.path not in self._oids:
            return "deleted_file", ""
        try:
            path = change.path.decode("utf-8")
        except UnicodeDecodeError:
            return "path_unusable", ""
        if path_fault(path) is not None:
            return "path_unusable", path
        if is_housekeeping(path):
            return "housekeeping_file", path
        return ("binary_file" if self._is_binary(self._oids[change.path]) else None), path

    def _is_binary(self, oid: str) -> bool:
        """Tell whether a NUL stands among a blob's first bytes, which is Git's own rule."""
        if oid not in self._binary:
            first = b""
            for chunk in self._repository.blob_chunks(
                oid
            ):  # to its end, as a broken-off read costs a process
                first = first or chunk[:_TEXT_BYTES]
            self._binary[oid] = b"\0" in first
        return self._binary[oid]
