"""What the answers cost: medians, ratios on common ground, index time, sampled memory, budgets."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from core.scoring.comparison import LATENCY_RATIO_LIMIT
from core.scoring.records import (
    BudgetNote,
    Form,
    IndexCost,
    IndexOutcome,
    Latency,
    LatencyRatio,
    OperationCounts,
    ScoringPlan,
    Status,
)

_MIB = 2**20


class Timing(NamedTuple):
    """One operation's outcome as far as its cost is concerned."""

    case_id: str
    status: Status
    elapsed_s: float | None
    timed_out: bool


def latency(timings: Sequence[Timing]) -> Latency:
    """Return the median over the operations that answered and were timed, with timeouts beside it."""
    answered = list(_answered(timings).values())
    return Latency(_median(answered), len(answered), sum(timing.timed_out for timing in timings))


def latency_ratio(
    candidate: Sequence[Timing],
    baseline: Sequence[Timing],
    forms: tuple[Form | None, Form | None],
) -> LatencyRatio:
    """Return the ratio of medians over the cases that both answered, or why there is none.

    Latencies of the one-shot and the session form are never put in one ratio: the former hold the start
    of a process.
    """
    ours, theirs = _answered(candidate), _answered(baseline)
    common = [case_id for case_id in ours if case_id in theirs]
    our_median = _median([ours[case_id] for case_id in common])
    their_median = _median([theirs[case_id] for case_id in common])
    ratio: float | None = None
    reason: str | None = None
    if None in forms:
        reason = "nothing was timed"
    elif forms[0] != forms[1]:
        reason = f"candidate runs as {forms[0]}, baseline as {forms[1]}"
    elif our_median is None or their_median is None:
        reason = "no case that both answered"
    elif their_median <= 0:
        reason = "the baseline's median is 0 s"
    else:
        ratio = our_median / their_median
    return LatencyRatio(
        ratio=ratio,
        candidate_median_s=our_median,
        baseline_median_s=their_median,
        cases=len(common),
        candidate_timeouts=sum(timing.timed_out for timing in candidate),
        baseline_timeouts=sum(timing.timed_out for timing in baseline),
        within_limit=None if ratio is None else ratio <= LATENCY_RATIO_LIMIT,
        reason=reason,
    )


def operation_counts(planned: int, outcomes: Iterable[tuple[Status, bool]]) -> OperationCounts:
    """Count (status, timed out) of the outcomes that exist; what was planned beyond them is missing."""
    statuses = list(outcomes)
    answered = sum(status == "answered" for status, _ in statuses)
    failed = sum(status == "failed" for status, _ in statuses)
    timed_out = sum(late for _, late in statuses)
    return OperationCounts(planned, answered, failed, planned - answered - failed, timed_out)


def index_cost(repositories: Sequence[str], outcomes: Mapping[str, IndexOutcome]) -> IndexCost:
    """Sum up the indexes of one candidate over its planned repositories."""
    counts = operation_counts(
        len(repositories), ((outcome.status, outcome.timed_out) for outcome in outcomes.values())
    )
    seconds: dict[str, float | None] = dict.fromkeys(repositories)
    units: dict[str, int | None] = dict.fromkeys(repositories)
    for repository, outcome in outcomes.items():
        units[repository] = outcome.units
        if outcome.status == "answered":
            seconds[repository] = outcome.elapsed_s
    known = [value for value in seconds.values() if value is not None]
    whole = bool(known) and len(known) == len(repositories)
    return IndexCost(counts, math.fsum(known) if whole else None, seconds, units)


def budget_notes(plan: ScoringPlan, peak_bytes: int | None, index_s: float | None) -> tuple[BudgetNote, ...]:
    """Set what was observed beside each budget of the plan."""
    notes = []
    if plan.memory_budget_mib is not None:
        observed = None if peak_bytes is None else peak_bytes / _MIB
        within = None if observed is None else observed <= plan.memory_budget_mib
        notes.append(BudgetNote("memory_budget_mib", plan.memory_budget_mib, observed, within))
    if plan.max_index_seconds is not None:
        within = None if index_s is None else index_s <= plan.max_index_seconds
        notes.append(BudgetNote("max_index_seconds", plan.max_index_seconds, index_s, within))
    return tuple(notes)


def largest(values: Iterable[int | None]) -> int | None:
    """Return the largest value observed, None where none was."""
    return max((value for value in values if value is not None), default=None)


def _answered(timings: Iterable[Timing]) -> dict[str, float]:
    return {
        timing.case_id: timing.elapsed_s
        for timing in timings
        if timing.status == "answered" and timing.elapsed_s is not None
    }


def _median(values: Sequence[float]) -> float | None:
    return statistics.median(values) if values else None
