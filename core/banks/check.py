"""Checking that a bank's source bears it out: every case is derived anew and compared as a whole."""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from core.banks.case import Bank, Case
from core.banks.derivation import Derivation, case_id
from core.banks.deriving import derive_as
from core.banks.fields import HISTORICAL
from core.banks.findings import Finding, Reason
from core.banks.graded_check import graded_findings
from core.git import GitRepository
from core.ranking import Target
from core.repositories import RepositoryEntry
from core.text import printable

OnDerived = Callable[[Derivation], None]
_SHOWN = 100


@dataclass(frozen=True)
class CheckResult:
    """What a check found; `python` is the version of the Python that checked."""

    checked: int
    findings: tuple[Finding, ...]
    python: str

    @property
    def ok(self) -> bool:
        """Whether the source bears out every case."""
        return not self.findings

    @cached_property
    def reasons(self) -> dict[str, int]:
        """How many cases each reason concerns."""
        return dict(sorted(Counter(finding.reason for finding in self.findings).items()))

    @property
    def only_unparsable(self) -> bool:
        """Whether it fails, and only because this Python cannot parse what another could."""
        return set(self.reasons) == {"unparsable_by_this_python"}


def check_bank(
    bank: Bank,
    entries: Sequence[RepositoryEntry],
    built_with: str | None = None,
    on_derived: OnDerived = lambda derivation: None,
) -> CheckResult:
    """Compare a bank with what its repositories yield at the bank's own commits.

    `built_with` is the version of the Python that built the bank, where its meta file tells. `on_derived`
    is given each repository's derivation in turn, which can be large and is not kept. Raises InputError
    where a repository or one of its objects cannot be read.
    """
    if bank.graded is not None:
        return checked(len(bank.cases), list(graded_findings(bank.graded, entries[0])))
    places = {entry.label: entry for entry in entries}
    findings: list[Finding] = []
    for label, commit in bank.commits.items():
        cases = bank.of_repository(label)
        entry = places.get(label)
        findings += (
            _without_entry(cases)
            if entry is None
            else _of_repository(bank.format, cases, entry, commit, built_with, on_derived)
        )
    return checked(len(bank.cases), findings)


def checked(cases: int, findings: Sequence[Finding]) -> CheckResult:
    """Return the outcome of a check that this Python made."""
    return CheckResult(cases, tuple(findings), platform.python_version())


def _without_entry(cases: Sequence[Case]) -> Iterator[Finding]:
    for case in cases:
        yield Finding(
            case.id,
            case.repo,
            "unknown_repository",
            f"the repository manifest names no {case.repo}; add it with its path",
        )


def _of_repository(
    bank_format: str,
    cases: Sequence[Case],
    entry: RepositoryEntry,
    commit: str,
    built_with: str | None,
    on_derived: OnDerived,
) -> Iterator[Finding]:
    with GitRepository(entry.path) as repository:
        if not repository.has_commit(commit):
            for case in cases:
                yield Finding(
                    case.id,
                    case.repo,
                    "unknown_commit",
                    f"commit {commit} is not in the repository; fetch it there, or correct the bank",
                )
            return
        derivation = derive_as(bank_format, repository, entry.model_copy(update={"commit": commit}))
    on_derived(derivation)
    witness = _Comparison(derivation, entry.private, built_with)
    for case in cases:
        finding = witness.finding(case)
        if finding is not None:
            yield finding


class _Comparison:
    """Looks a repository's cases up in what was derived from it."""

    def __init__(self, derivation: Derivation, private: bool, built_with: str | None) -> None:
        self._derivation = derivation
        self._private = private
        self._built_with = built_with
        self._by_query: dict[tuple[str, str], list[Case]] = {}
        self._by_target: dict[tuple[str, tuple[Target, ...]], list[Case]] = {}
        for case in derivation.cases:
            self._by_query.setdefault((case.intent, case.query), []).append(case)
            self._by_target.setdefault((case.intent, case.targets), []).append(case)

    def finding(self, case: Case) -> Finding | None:
        """Return what is wrong with a case, or None where its source bears it out."""
        derived = self._derivation.by_id.get(case.id)
        if derived == case:
            return None
        if derived is not None:
            return self._edited(case, derived)
        unparsable = self._unparsable(case)
        if unparsable is not None:
            return unparsable
        if _has_own_id(case):
            return self._tell(
                case, "not_derived", "no rule derives this case from the commit", self._hint(case)
            )
        return self._nearest(case)

    def _edited(self, case: Case, derived: Case) -> Finding:
        """Compare a case with the one that its id belongs to."""
        if case.query != derived.query:
            return self._query_edited(case, derived)
        if case.targets != derived.targets:
            return self._target_moved(case, derived)
        return self._provenance(case, derived)

    def _nearest(self, case: Case) -> Finding:
        """Find what a case was before its id, and perhaps more, was edited."""
        same_query = self._by_query.get((case.intent, case.query), [])
        for derived in same_query:
            if derived.targets == case.targets:
                return self._provenance(case, derived)
        if same_query:
            return self._target_moved(case, same_query[0])
        same_target = self._by_target.get((case.intent, case.targets), [])
        if same_target:
            return self._query_edited(case, same_target[0])
        return self._tell(case, "not_derived", "no rule derives this case from the commit", "")

    def _query_edited(self, case: Case, derived: Case) -> Finding:
        return self._tell(
            case,
            "query_edited",
            "the query is not the one that its target yields",
            f'found "{printable(case.query, _SHOWN)}", the source says "{printable(derived.query, _SHOWN)}"',
        )

    def _target_moved(self, case: Case, derived: Case) -> Finding:
        return self._tell(
            case,
            "target_moved",
            "the target is not where the query comes from",
            f"found {_places(case)}, the source says {_places(derived)}",
        )

    def _provenance(self, case: Case, derived: Case) -> Finding:
        if case.evidence.source_sha256 != derived.evidence.source_sha256:
            return self._tell(
                case,
                "digest_differs",
                f"source_sha256 is not the digest of {_source(case)}",
                f"found {case.evidence.source_sha256}, expected {derived.evidence.source_sha256}",
            )
        fields = {
            "rule": (case.evidence.rule, derived.evidence.rule),
            "channel": (case.channel, derived.channel),
            "intent": (case.intent, derived.intent),
            "id": (case.id, derived.id),
        }
        edits = [
            f"{name} {was} instead of {should}" for name, (was, should) in fields.items() if was != should
        ]
        return Finding(
            case.id,
            case.repo,
            "provenance_edited",
            "the case says otherwise than its source: " + ", ".join(edits),
        )

    def _unparsable(self, case: Case) -> Finding | None:
        """Tell that a case's file cannot be parsed, so that nothing can be said about it."""
        path = next((t.path for t in case.targets if t.path in self._derivation.unparsable), None)
        if path is None:
            return None
        mine = f"this Python ({platform.python_version()}) cannot parse the target's file"
        remedy = (
            f"the bank was built with Python {self._built_with}: check it with that version"
            if self._built_with is not None
            else "check the bank with the version of Python that built it"
        )
        return self._tell(
            case,
            "unparsable_by_this_python",
            f"{mine}; {remedy}",
            f"{printable(path, _SHOWN)}: {self._derivation.unparsable[path]}",
        )

    def _hint(self, case: Case) -> str:
        same_query = self._by_query.get((case.intent, case.query), [])
        if same_query:
            return f"the same query comes from {_places(same_query[0])}"
        same_target = self._by_target.get((case.intent, case.targets), [])
        return f'its target yields "{printable(same_target[0].query, _SHOWN)}"' if same_target else ""

    def _tell(self, case: Case, reason: Reason, sentence: str, details: str) -> Finding:
        if details and not self._private:
            sentence += f" ({details})"
        return Finding(case.id, case.repo, reason, sentence)


def _has_own_id(case: Case) -> bool:
    """Tell whether a case's id is the one that its contents determine: then the whole was made up."""
    return any(
        case.id
        == case_id(
            case.repo, case.commit, case.intent, case.query, target.path, target.line, case.evidence.rule
        )
        for target in case.targets
    )


def _source(case: Case) -> str:
    return "the commit with this subject" if case.schema_version == HISTORICAL else "the file at the commit"


def _places(case: Case) -> str:
    first, *others = case.targets
    more = f" and {len(others)} more" if others else ""
    return f"{printable(first.path, _SHOWN)}, line {first.line}{more}"
