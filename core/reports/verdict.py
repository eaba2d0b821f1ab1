"""The answer in sentences: what the scores say of the candidates, and how far that goes."""

from __future__ import annotations

from collections.abc import Sequence

from core.reports.comparison_sentences import (
    SAME,
    at_5,
    finds,
    found,
    gain,
    listed,
    no_gain,
    no_verdicts,
    power,
    short,
)
from core.reports.sentence import Name, Sentence, name_list, plain
from core.reports.standing import is_barely_run, progress, recall_at_5, standing
from core.reports.wording import NOT_GOLD, count, counted, coverage, metric, percent, some
from core.scoring.comparison import coverage_gaps
from core.scoring.records import CandidateScore, Comparison, Scoreboard
from core.text import printable


def headline(board: Scoreboard, run: str = "RUN") -> tuple[Sentence, ...]:
    """Return the answer: one sentence that gives it, then those that complete it.

    A run of which hardly anything was answered has no answer: then only that is said, and how to go on with
    `run`, its path.
    """
    not_gold: tuple[Sentence, ...] = ((NOT_GOLD,),) if board.sought == "changed file" else ()
    return (*not_gold, *_answer(board, run))


def _answer(board: Scoreboard, run: str) -> tuple[Sentence, ...]:
    if board.cases == 0 or not board.candidates:
        return (("Nothing was planned, so nothing was measured.",),)
    if is_barely_run(board):
        return _barely_run(board, run)
    if board.baseline is None or not board.comparisons:
        return (*_incomplete(board), *_without_baseline(board))
    return _against_baseline(board, board.baseline)


def headline_text(board: Scoreboard) -> str:
    """Return the headline as plain text that is safe to print: a sentence on each line, wrapped nowhere."""
    return "\n".join(printable(plain(sentence)) for sentence in headline(board))


def _barely_run(board: Scoreboard, run: str) -> tuple[Sentence, ...]:
    told: list[Sentence] = [(f"{_accepted(board)}; there is no verdict before more is answered.",)]
    if board.comparisons:  # without any, the cautions name what is missing
        gaps = [gap for score in board.candidates.values() for gap in coverage_gaps(score)]
        told.append((f"Needs more data: {some(gaps, 'gap')}.",))
    if progress(board).missing:
        told.append((f"To run what is missing: boresight resume {run}",))
    return tuple(told)


def _incomplete(board: Scoreboard) -> list[Sentence]:
    return [(f"{_accepted(board)}.",)] if progress(board).missing else []


def _accepted(board: Scoreboard) -> str:
    run = progress(board)
    operations = counted(run.planned, "planned operation")
    have = "has" if run.accepted == 1 else "have"
    start = "The run is incomplete" if run.missing else "Too much failed"
    return f"{start}: {count(run.accepted)} of {operations} {have} an accepted result"


def _against_baseline(board: Scoreboard, baseline: str) -> tuple[Sentence, ...]:
    comparisons = [board.comparisons[name] for name in standing(board) if name in board.comparisons]
    gained = [c for c in comparisons if c.decision == "quality_profile_candidate"]
    gained.sort(key=lambda c: c.support != "supported")
    rejected = [c for c in comparisons if c.decision == "rejected"]
    open_ones = [c for c in comparisons if c.decision == "needs_more_data"]
    told: list[Sentence] = []
    if gained:
        told.append(gain(board, gained[0]))
        told += power(gained[0])
        told += listed(board, "Material gains too: ", gained[1:])
        told += listed(board, "No material gain: ", rejected)
        told += _tie(gained)
    elif len(rejected) == 1:
        told.append(no_gain(board, rejected[0]))
        told += power(rejected[0])
    elif rejected:
        told.append(_none_gains(board, baseline, rejected))
        told += listed(board, "The others: ", rejected[1:])
    else:
        told += _incomplete(board)
    told += no_verdicts(board, open_ones)
    return tuple(told)


def _none_gains(board: Scoreboard, baseline: str, rejected: Sequence[Comparison]) -> Sentence:
    nearest = rejected[0]
    return (
        f"None of the {len(rejected)} candidates gains materially on ",
        Name(baseline),
        f", which finds {found(board, at_5(board, baseline, nearest.level))}; the nearest is ",
        *short(board, nearest),
        ".",
    )


def _tie(gained: Sequence[Comparison]) -> list[Sentence]:
    first = gained[0]
    equal = [
        c.candidate
        for c in gained
        if c.level == first.level and abs(c.recall_at_5.candidate - first.recall_at_5.candidate) <= SAME
    ]
    return [(*name_list(equal), " find equally much in their first five results.")] if len(equal) > 1 else []


def _without_baseline(board: Scoreboard) -> tuple[Sentence, ...]:
    order = standing(board)
    first = order[0]
    top = [name for name in order if _level_with(board, name, first)]
    best = board.candidates[first].macro[5]
    if len(order) == 1:
        return (
            (*finds(board, first, board.level), *_own_interval(board.candidates[first]), "."),
            ("There is nothing to compare it with: run a second candidate and name a baseline.",),
        )
    untested = ("No baseline was named, so no difference was tested.",)
    if len(top) == len(order) and best.recall <= SAME:
        return ((f"No candidate found a {board.sought} in its first five results.",), untested)
    if len(top) > 1:
        equally = f" find equally much: {found(board, best)}"
        return ((*name_list(top), equally, *_by_rank(board, top), "."), untested)
    runner_up = order[1]
    return (
        (
            *finds(board, first, board.level),
            f", the most of {len(order)} candidates; next is ",
            Name(runner_up),
            f" at {percent(recall_at_5(board, runner_up))}.",
        ),
        untested,
    )


def _by_rank(board: Scoreboard, top: Sequence[str]) -> Sentence:
    first, second = (board.candidates[name].macro[10].mrr for name in top[:2])
    if abs(first - second) <= SAME:
        return ()
    return ("; ", Name(top[0]), f" ranks it higher (MRR@10 {metric(first)}, next {metric(second)})")


def _own_interval(score: CandidateScore) -> Sentence:
    own = score.intervals.get(5, {}).get("recall")
    if own is None:
        return ()
    return (f" ({coverage(own)} interval {percent(own.low)} to {percent(own.high)})",)


def _level_with(board: Scoreboard, one: str, other: str) -> bool:
    return abs(recall_at_5(board, one) - recall_at_5(board, other)) <= SAME
