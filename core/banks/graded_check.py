"""Checking a graded bank against its repository: every module graded, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from core.banks.case import GradedPart
from core.banks.findings import Finding
from core.banks.graded import examine
from core.banks.modules import ModuleRules
from core.errors import InputError
from core.git import GitRepository
from core.repositories import RepositoryEntry
from core.text import printable

_NAMED = 10  # paths that one sentence names


def graded_findings(graded: GradedPart, entry: RepositoryEntry) -> Iterator[Finding]:
    """Compare a graded bank with its repository's modules at the entry's commit; raises InputError."""
    paths = {case_id: frozenset(question.grades) for case_id, question in graded.questions.items()}
    yield from coverage(paths, graded.modules, entry)


def coverage(
    graded: Mapping[str, frozenset[str]], rules: ModuleRules, entry: RepositoryEntry
) -> Iterator[Finding]:
    """Compare the paths that each question grades with a repository's modules; raises InputError."""
    modules = modules_at(entry, rules)
    if not modules:
        raise InputError(
            f"{printable(entry.label)}: no file at {str(entry.commit)[:12]} counts as a module; say which do "
            'with "modules": {"include": […]} in the bank'
        )
    for question, paths in graded.items():
        yield from _of_question(question, paths, frozenset(modules), entry)


class FileCheck(NamedTuple):
    """All that is wrong with a graded file: by itself, and as its repository shows.

    `problems` tell nothing of a private repository.
    """

    questions: int
    problems: tuple[str, ...]
    findings: tuple[Finding, ...]


def check_file(raw: bytes, name: str, entry: RepositoryEntry) -> FileCheck:
    """Check a graded file's form and its coverage at once; raises InputError where it is no JSON."""
    found = examine(raw, name)
    problems = [each.private if entry.private else each.text for each in found.violations]
    findings: tuple[Finding, ...] = ()
    if found.modules is None:
        problems.append("modules: as these rules do not read, the grades were compared with no file")
    else:
        findings = tuple(coverage(found.graded, found.modules, entry))
    return FileCheck(len(found.graded), tuple(problems), findings)


def modules_at(entry: RepositoryEntry, rules: ModuleRules) -> tuple[str, ...]:
    """Return the paths of a repository's modules at the entry's commit, sorted; raises InputError.

    Links and submodules are none, and neither are paths that are not UTF-8.
    """
    if entry.commit is None:
        raise InputError(f"{printable(entry.label)}: no commit is named; pin one")
    with GitRepository(entry.path) as repository:
        return tuple(sorted(_modules(repository, entry.commit, rules)))


def _modules(repository: GitRepository, commit: str, rules: ModuleRules) -> Iterator[str]:
    for found in repository.entries(commit):
        if not found.is_file:
            continue
        try:
            path = found.path.decode("utf-8")
        except UnicodeDecodeError:
            continue
        if rules.admits(path) and repository.blob(found.oid).strip():
            yield path


def _of_question(
    case_id: str, paths: frozenset[str], modules: frozenset[str], entry: RepositoryEntry
) -> Iterator[Finding]:
    ungraded, unknown = sorted(modules - paths), sorted(paths - modules)
    if ungraded:
        yield Finding(
            case_id,
            entry.label,
            "module_ungraded",
            f"{len(ungraded)} of {len(modules)} modules have no grade{_named(ungraded, entry)}; "
            "grade every one (0 where it does not help)",
        )
    if unknown:
        yield Finding(
            case_id,
            entry.label,
            "not_a_module",
            f"{len(unknown)} graded paths are no modules at {str(entry.commit)[:12]}"
            f"{_named(unknown, entry)}; correct or remove them",
        )


def _named(paths: list[str], entry: RepositoryEntry) -> str:
    if entry.private:
        return ""
    more = f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else ""
    return f" ({', '.join(printable(path, 100) for path in paths[:_NAMED])}{more})"
