"""Small plans and outcomes for scoring tests."""

from __future__ import annotations

from collections.abc import Sequence

from core.ranking import LEVELS, Channel
from core.scoring.records import (
    CandidatePlan,
    IndexOutcome,
    PlannedCase,
    ProbeOutcome,
    QueryScore,
    ScoringPlan,
    Status,
    TargetRanks,
)


def case(
    case_id: str,
    repository: str = "r",
    *,
    intent: str = "symbol_lookup",
    channel: Channel = "emb",
    paths: Sequence[str] = (),
) -> PlannedCase:
    """One case with one target file of its own, unless paths are given."""
    return PlannedCase(case_id, repository, intent, channel, tuple(paths) or (f"{case_id}.py",))


def outcome(
    candidate: str,
    planned: PlannedCase,
    *ranks: int | None,
    status: Status = "answered",
    returned: int = 10,
    elapsed_s: float | None = 1.0,
    timed_out: bool = False,
    error_class: str | None = None,
    lines_returned: int | None = 10,
    sampled_peak_rss_bytes: int | None = None,
) -> QueryScore:
    """One query whose targets were found at `ranks` at every level; without ranks nothing was found."""
    found: TargetRanks = ranks or (None,) * len(planned.target_paths)
    return QueryScore(
        candidate=candidate,
        repository=planned.repository,
        intent=planned.intent,
        case_id=planned.case_id,
        channel=planned.channel,
        status=status,
        error_class=error_class,
        returned=returned,
        target_ranks=dict.fromkeys(LEVELS, found),
        relevant=len(found),
        elapsed_s=elapsed_s,
        timed_out=timed_out,
        lines_returned=lines_returned,
        sampled_peak_rss_bytes=sampled_peak_rss_bytes,
    )


def plan(
    cases: Sequence[PlannedCase],
    candidates: Sequence[str | CandidatePlan] = ("base", "cand"),
    *,
    baseline: str | None = "base",
    cutoffs: tuple[int, ...] = (1, 5, 10),
    costs: bool = False,
    memory_budget_mib: float | None = None,
    max_index_seconds: float | None = None,
) -> ScoringPlan:
    """A plan over the cases' repositories; without `costs` its candidates plan no probe and no index."""
    return ScoringPlan(
        candidates=tuple(
            CandidatePlan(name, probes=costs, indexes=costs) if isinstance(name, str) else name
            for name in candidates
        ),
        repositories=tuple(dict.fromkeys(planned.repository for planned in cases)),
        cases=tuple(cases),
        cutoffs=cutoffs,
        baseline=baseline,
        memory_budget_mib=memory_budget_mib,
        max_index_seconds=max_index_seconds,
    )


def probe(
    candidate: str, planned: PlannedCase, status: Status = "answered", elapsed_s: float | None = 2.0
) -> ProbeOutcome:
    """One ctx probe."""
    return ProbeOutcome(candidate, planned.repository, planned.case_id, status, elapsed_s)


def index(
    candidate: str, repository: str, status: Status = "answered", elapsed_s: float | None = 3.0
) -> IndexOutcome:
    """One index of ten units."""
    return IndexOutcome(candidate, repository, status, elapsed_s, 10)
