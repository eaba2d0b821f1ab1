"""In which order candidates are told, and how much of a run there is to tell of."""

from __future__ import annotations

from typing import NamedTuple

from core.scoring.comparison import hardly_answered
from core.scoring.records import Comparison, QueryCounts, Scoreboard


def standing(board: Scoreboard) -> tuple[str, ...]:
    """Return the candidates by falling macro Recall@5, then MRR@10, then the plan's order."""
    return tuple(
        sorted(
            board.candidates,
            key=lambda name: (-recall_at_5(board, name), -board.candidates[name].macro[10].mrr),
        )
    )


def recall_at_5(board: Scoreboard, candidate: str) -> float:
    """Return a candidate's macro Recall@5."""
    return board.candidates[candidate].macro[5].recall


class Progress(NamedTuple):
    """A run's operations: planned, those with an accepted result, and those never run."""

    planned: int
    accepted: int
    missing: int


def progress(board: Scoreboard) -> Progress:
    """Count all candidates' indexes, primary queries and ctx probes; an unsupported query is none."""
    planned = accepted = missing = 0
    for score in board.candidates.values():
        planned += score.counts.planned - score.counts.unsupported
        accepted += score.counts.answered
        missing += score.counts.missing
        for counts in (score.indexing.counts, score.probes):
            planned += counts.planned
            accepted += counts.answered
            missing += counts.missing
    return Progress(planned, accepted, missing)


def is_barely_run(board: Scoreboard) -> bool:
    """Tell whether so little was answered, without any verdict, that nothing should be ranked."""
    if any(found.decision != "needs_more_data" for found in board.comparisons.values()):
        return False
    counts = [score.counts for score in board.candidates.values()]
    return hardly_answered(QueryCounts(*map(sum, zip(*counts, strict=True))))


def is_unanswered(counts: QueryCounts) -> bool:
    """Tell whether a candidate answered nothing yet, so that its metrics would be zeros that nobody measured.

    Where everything failed and nothing is left to ask, the zero is the result.
    """
    return counts.answered == 0 and counts.missing > 0


def is_untold(board: Scoreboard, found: Comparison) -> bool:
    """Tell whether one of a comparison's two candidates answered under half of its queries."""
    return any(hardly_answered(board.candidates[name].counts) for name in (found.candidate, found.baseline))
