"""What candidates cost and what of the plan was answered, in words that every report and screen shares."""

from __future__ import annotations

from core.reports.wording import DASH, count, counted, ratio, seconds
from core.scoring.records import BudgetNote, IndexCost, Latency, LatencyRatio, OperationCounts, QueryCounts

BUDGET_NAMES = {"memory_budget_mib": "memory", "max_index_seconds": "indexing"}


def latency_words(latency: Latency | None) -> str:
    """Write a median with what it is over: `12.3 ms (n = 60, 2 timeouts)`."""
    if latency is None or (latency.median_s is None and not latency.timeouts):
        return DASH
    late = f", {counted(latency.timeouts, 'timeout')}" if latency.timeouts else ""
    return f"{seconds(latency.median_s)} (n = {count(latency.measured)}{late})"


def indexing_words(indexing: IndexCost) -> str:
    """Write the time of full indexing, or how many indexes there are where some are missing."""
    if not indexing.counts.planned:
        return f"{DASH} (none planned)"
    if indexing.total_s is None:
        return f"{DASH} ({count(indexing.counts.answered)} of {count(indexing.counts.planned)} indexed)"
    return seconds(indexing.total_s)


def operations_words(counts: OperationCounts) -> str:
    """Write failures and gaps with what they are out of: `1 / 0 of 60`."""
    if not counts.planned:
        return f"{DASH} (none planned)"
    return f"{count(counts.failed)} / {count(counts.missing)} of {count(counts.planned)}"


def ratio_words(found: LatencyRatio | None) -> str:
    """Write a ratio of latencies with its cases and timeouts, or why there is none."""
    if found is None:
        return DASH
    timeouts = f"timeouts {count(found.candidate_timeouts)} / {count(found.baseline_timeouts)}"
    if found.ratio is None:
        return f"{DASH} ({found.reason or 'not measured'})"
    word = "within" if found.within_limit else "over"
    return f"{ratio(found.ratio)}, {word} (n = {count(found.cases)}, {timeouts})"


def budget_words(note: BudgetNote) -> tuple[str, str, str]:
    """Return a budget's limit, what was observed, and what that says."""
    memory = note.budget == "memory_budget_mib"
    limit, observed = (
        DASH if value is None else f"{value:,.0f} MiB" if memory else seconds(value)
        for value in (note.limit, note.observed)
    )
    if note.within is None:
        word = "not observed"
    elif memory:
        word = "not seen to exceed it (sampled)" if note.within else "exceeded"
    else:
        word = "within" if note.within else "exceeded"
    return limit, observed, word


def query_counts_words(counts: QueryCounts) -> str:
    """Write primary queries by outcome; every one that is planned is in exactly one of them."""
    return (
        f"{counted(counts.planned, 'query', 'queries')} planned: {count(counts.answered)} answered "
        f"({count(counts.empty)} empty), {count(counts.failed)} failed "
        f"({count(counts.timed_out)} timed out), {count(counts.missing)} missing, "
        f"{count(counts.unsupported)} unsupported"
    )
