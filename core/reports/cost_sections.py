"""The sections of the Markdown report that say what the candidates cost and what went wrong."""

from __future__ import annotations

from collections.abc import Iterator

from core.reports.cost_wording import (
    budget_words,
    indexing_words,
    latency_words,
    operations_words,
    ratio_words,
)
from core.reports.facts import RunFacts
from core.reports.markup import code, table, text
from core.reports.standing import standing
from core.reports.wording import RSS_CAVEAT, count, counted, disturbance, mebibytes
from core.scoring.comparison import LATENCY_RATIO_LIMIT
from core.scoring.records import LATENCY_KINDS, Scoreboard

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
                *(latency_words(score.latency.get(kind)) for kind in LATENCY_KINDS),
                indexing_words(score.indexing),
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
                operations_words(score.indexing.counts),
                operations_words(score.probes),
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
        [
            text(name),
            *(text(ratio_words(board.comparisons[name].latency.get(kind))) for kind in LATENCY_KINDS),
        ]
        for name in standing(board)
        if name in board.comparisons
    ]
    yield from table(["Candidate", "emb", "docs", "ctx"], rows)


def _budgets(board: Scoreboard) -> Lines:
    notes = [(name, note) for name in standing(board) for note in board.candidates[name].budgets]
    if not notes:
        return
    yield ""
    yield "Budgets are reported, never enforced."
    yield ""
    yield from table(
        ["Candidate", "Budget", "Limit", "Observed", "Outcome"],
        [[text(name), code(note.budget), *budget_words(note)] for name, note in notes],
        words=2,
    )


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
