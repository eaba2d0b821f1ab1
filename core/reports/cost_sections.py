"""The sections of the Markdown report that say what the candidates cost and what went wrong."""

from __future__ import annotations

from collections.abc import Iterator

from core.reports.facts import RunFacts
from core.reports.markup import code, table, text
from core.reports.standing import standing
from core.reports.wording import (
    DASH,
    RSS_CAVEAT,
    count,
    counted,
    disturbance,
    mebibytes,
    ratio,
    seconds,
)
from core.scoring.comparison import LATENCY_RATIO_LIMIT
from core.scoring.records import (
    LATENCY_KINDS,
    BudgetNote,
    IndexCost,
    Latency,
    LatencyRatio,
    OperationCounts,
    Scoreboard,
)

MAX_ERRORS = 5

Lines = Iterator[str]


def cost(board: Scoreboard, about: RunFacts) -> Lines:
    """Yield latencies by channel, indexing time and memory, then ratios to the baseline and budgets."""
    yield "## Cost"
    yield ""
    yield "Median latency of what answered; emb, docs and ctx are never mixed."
    yield ""
    rows = []
    for name in standing(board):
        score = board.candidates[name]
        rows.append(
            [
                text(name),
                *(_latency(score.latency.get(kind)) for kind in LATENCY_KINDS),
                _indexing(score.indexing),
                mebibytes(score.sampled_peak_rss_bytes),
            ]
        )
    yield from table(["Candidate", "emb", "docs", "ctx", "Full indexing", "Sampled peak RSS"], rows)
    yield ""
    disturbed = disturbance(*about.disturbed)
    if disturbed:
        yield f"**Caution:** {disturbed}"
        yield ""
    yield RSS_CAVEAT
    yield from _ratios(board)
    yield from _budgets(board)


def coverage(board: Scoreboard) -> Lines:
    """Yield failures, empty rankings and context failures, each with what it is out of."""
    yield "## Coverage"
    yield ""
    yield (
        "Failed, missing and unsupported queries score 0 and stay in every denominator; an empty ranking is "
        "a valid answer and a miss."
    )
    yield ""
    rows = []
    for name in standing(board):
        score = board.candidates[name]
        counts = score.counts
        rows.append(
            [
                text(name),
                count(counts.planned),
                count(counts.answered),
                count(counts.empty),
                f"{count(counts.failed)} ({count(counts.timed_out)})",
                count(counts.missing),
                count(counts.unsupported),
                _operations(score.indexing.counts),
                _operations(score.probes),
            ]
        )
    yield from table(
        [
            "Candidate",
            "Queries planned",
            "Answered",
            "of these empty",
            "Failed (timed out)",
            "Missing",
            "Unsupported",
            "Index failed / missing",
            "ctx failed / missing",
        ],
        rows,
    )
    yield from _errors(board)


def _latency(latency: Latency | None) -> str:
    if latency is None or (latency.median_s is None and not latency.timeouts):
        return DASH
    late = f", {counted(latency.timeouts, 'timeout')}" if latency.timeouts else ""
    return f"{seconds(latency.median_s)} (n = {count(latency.measured)}{late})"


def _indexing(indexing: IndexCost) -> str:
    if not indexing.counts.planned:
        return f"{DASH} (none planned)"
    if indexing.total_s is None:
        return f"{DASH} ({count(indexing.counts.answered)} of {count(indexing.counts.planned)} indexed)"
    return seconds(indexing.total_s)


def _operations(counts: OperationCounts) -> str:
    if not counts.planned:
        return f"{DASH} (none planned)"
    return f"{count(counts.failed)} / {count(counts.missing)} of {count(counts.planned)}"


def _ratios(board: Scoreboard) -> Lines:
    if not board.comparisons or board.baseline is None:
        return
    yield ""
    yield (
        f"Latency against {text(board.baseline)}, on the cases that both answered; the suggested limit is "
        f"{LATENCY_RATIO_LIMIT:g}×, reported and never deciding. Timeouts: candidate / baseline."
    )
    yield ""
    rows = [
        [text(name), *(_ratio(board.comparisons[name].latency.get(kind)) for kind in LATENCY_KINDS)]
        for name in standing(board)
        if name in board.comparisons
    ]
    yield from table(["Candidate", "emb", "docs", "ctx"], rows)


def _ratio(found: LatencyRatio | None) -> str:
    if found is None:
        return DASH
    timeouts = f"timeouts {count(found.candidate_timeouts)} / {count(found.baseline_timeouts)}"
    if found.ratio is None:
        return f"{DASH} ({text(found.reason or 'not measured')})"
    word = "within" if found.within_limit else "over"
    return f"{ratio(found.ratio)}, {word} (n = {count(found.cases)}, {timeouts})"


def _budgets(board: Scoreboard) -> Lines:
    notes = [(name, note) for name in standing(board) for note in board.candidates[name].budgets]
    if not notes:
        return
    yield ""
    yield "Budgets are reported, never enforced."
    yield ""
    yield from table(
        ["Candidate", "Budget", "Limit", "Observed", "Outcome"],
        [[text(name), code(note.budget), *_budget(note)] for name, note in notes],
        words=2,
    )


def _budget(note: BudgetNote) -> list[str]:
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
    return [limit, observed, word]


def _errors(board: Scoreboard) -> Lines:
    failing = [name for name in standing(board) if board.candidates[name].errors]
    if failing:
        yield ""
        yield "Why primary queries failed:"
        yield ""
    for name in failing:
        errors = list(board.candidates[name].errors.items())
        told = [f"{code(kind, 60)} {count(number)}" for kind, number in errors[:MAX_ERRORS]]
        more = len(errors) - MAX_ERRORS
        told += [f"and {counted(more, 'more class', 'more classes')}"] if more > 0 else []
        yield f"- {text(name)}: {', '.join(told)}"
