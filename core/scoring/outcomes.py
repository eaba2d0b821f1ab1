"""The plan checked, and every outcome put in its place: what a campaign planned against what happened."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from core.errors import InputError
from core.ranking import Level
from core.scoring.costs import Timing
from core.scoring.matching import unanswered_query
from core.scoring.records import (
    ALWAYS_KEPT_CUTOFFS,
    LARGEST_CUTOFF,
    CandidatePlan,
    IndexOutcome,
    LatencyKind,
    PlannedCase,
    ProbeOutcome,
    QueryScore,
    ScoringPlan,
    TargetRanks,
)


def kept_cutoffs(requested: Iterable[int]) -> tuple[int, ...]:
    """Return the requested cutoffs with 1, 5 and 10, rising, each once.

    Raises InputError for one that is not an integer from 1 to LARGEST_CUTOFF.
    """
    cutoffs = list(requested)
    for cutoff in cutoffs:
        if isinstance(cutoff, bool) or not isinstance(cutoff, int) or not 1 <= cutoff <= LARGEST_CUTOFF:
            raise InputError(
                f"cutoff: found {cutoff!r}, expected an integer from 1 to {LARGEST_CUTOFF}; "
                f"{', '.join(map(str, ALWAYS_KEPT_CUTOFFS))} are always kept and need not be given"
            )
    return tuple(sorted({*cutoffs, *ALWAYS_KEPT_CUTOFFS}))


def check_plan(plan: ScoringPlan) -> None:
    """Raise ValueError where the plan contradicts itself; scoring would only hide it."""
    names = [candidate.candidate for candidate in plan.candidates]
    _refuse_repeats("candidate", names)
    _refuse_repeats("repository", plan.repositories)
    _refuse_repeats("case", [case.case_id for case in plan.cases])
    if not names:
        raise ValueError("the plan has no candidate")
    if not plan.cases:
        raise ValueError("the plan has no case")
    if plan.baseline is not None and plan.baseline not in names:
        raise ValueError(f"the baseline {plan.baseline!r} is none of the candidates {names}")
    repositories = set(plan.repositories)
    for case in plan.cases:
        if case.repository not in repositories:
            raise ValueError(f"case {case.case_id!r} is of {case.repository!r}, which the plan does not hold")
        if not case.target_paths:
            raise ValueError(f"case {case.case_id!r} has no target")


class Ledger:
    """One candidate's outcomes, keyed by what they answer; nothing in it is larger than a few numbers."""

    def __init__(self, candidate: CandidatePlan, plan: ScoringPlan) -> None:
        self.candidate = candidate
        self._cases = {case.case_id: case for case in plan.cases}
        self._repositories = frozenset(plan.repositories)
        self._queries: dict[str, QueryScore] = {}
        self.probes: dict[str, ProbeOutcome] = {}
        self.indexes: dict[str, IndexOutcome] = {}

    def add_query(self, query: QueryScore) -> None:
        """Take a primary query's outcome; raises ValueError if it is not planned, taken or inconsistent."""
        case = self._planned(query.case_id, query.repository, taken=query.case_id in self._queries)
        relevant = len(case.target_paths)
        if query.relevant != relevant or any(len(ranks) != relevant for ranks in query.target_ranks.values()):
            raise ValueError(
                f"case {query.case_id!r} has {relevant} targets, its score speaks of another number"
            )
        self._queries[query.case_id] = query

    def add_probe(self, probe: ProbeOutcome) -> None:
        """Take a ctx probe's outcome; raises ValueError if it is not planned or already taken."""
        if not self.candidate.probes:
            raise ValueError(f"{self.candidate.candidate!r} plans no ctx probes")
        self._planned(probe.case_id, probe.repository, taken=probe.case_id in self.probes)
        self.probes[probe.case_id] = probe

    def add_index(self, index: IndexOutcome) -> None:
        """Take an index's outcome; raises ValueError if it is not planned or already taken."""
        if not self.candidate.indexes or index.repository not in self._repositories:
            raise ValueError(f"{self.candidate.candidate!r} plans no index of {index.repository!r}")
        if index.repository in self.indexes:
            raise ValueError(f"{self.candidate.candidate!r} has two indexes of {index.repository!r}")
        self.indexes[index.repository] = index

    def query(self, case: PlannedCase) -> QueryScore:
        """Return a planned case's outcome; what never arrived is missing."""
        return self._queries.get(case.case_id) or unanswered_query(self.candidate.candidate, case, "missing")

    def ranks(self, case: PlannedCase, level: Level) -> TargetRanks:
        """Return the ranks of a case's targets at a level; an unanswered query found none."""
        query = self._queries.get(case.case_id)
        if query is None or query.status != "answered":
            return (None,) * len(case.target_paths)
        return query.target_ranks[level]

    def timings(self, kind: LatencyKind) -> list[Timing]:
        """Return what is known of the time of one kind of operation, in the plan's order of cases."""
        outcomes: Sequence[QueryScore | ProbeOutcome | None]
        if kind == "ctx":
            outcomes = [self.probes.get(case_id) for case_id in self._cases]
        else:
            outcomes = [
                self._queries.get(case_id) for case_id, case in self._cases.items() if case.channel == kind
            ]
        return [
            Timing(outcome.case_id, outcome.status, outcome.elapsed_s, outcome.timed_out)
            for outcome in outcomes
            if outcome is not None
        ]

    def peaks(self) -> list[int | None]:
        """Return the sampled memory peaks of all operations, in bytes."""
        return [
            *(index.sampled_peak_rss_bytes for index in self.indexes.values()),
            *(query.sampled_peak_rss_bytes for query in self._queries.values()),
            *(probe.sampled_peak_rss_bytes for probe in self.probes.values()),
        ]

    def _planned(self, case_id: str, repository: str, *, taken: bool) -> PlannedCase:
        case = self._cases.get(case_id)
        if case is None or case.repository != repository:
            raise ValueError(f"the plan holds no case {case_id!r} of {repository!r}")
        if taken:
            raise ValueError(f"{self.candidate.candidate!r} has two outcomes for case {case_id!r}")
        return case


def open_ledgers(
    plan: ScoringPlan,
    queries: Iterable[QueryScore],
    probes: Iterable[ProbeOutcome],
    indexes: Iterable[IndexOutcome],
) -> dict[str, Ledger]:
    """Sort outcomes into one ledger for each candidate, in the plan's order, reading each iterable once.

    Raises ValueError for an outcome that the plan does not hold, or that comes twice.
    """
    ledgers = {candidate.candidate: Ledger(candidate, plan) for candidate in plan.candidates}
    for query in queries:
        _ledger(ledgers, query.candidate).add_query(query)
    for probe in probes:
        _ledger(ledgers, probe.candidate).add_probe(probe)
    for index in indexes:
        _ledger(ledgers, index.candidate).add_index(index)
    return ledgers


def _ledger(ledgers: dict[str, Ledger], candidate: str) -> Ledger:
    if candidate not in ledgers:
        raise ValueError(f"the plan holds no candidate {candidate!r}")
    return ledgers[candidate]


def _refuse_repeats(what: str, names: Sequence[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise ValueError(f"the plan holds the {what} {name!r} twice")
        seen.add(name)
