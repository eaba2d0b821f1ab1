"""The leaderboard: each candidate's metrics, its difference to the baseline, and what that decides."""

from __future__ import annotations

from collections.abc import Iterator

from core.browse.behind import Number, behind, lost
from core.browse.filters import OutcomeWord
from core.reports.standing import is_unanswered, is_untold
from core.reports.wording import (
    DASH,
    DECISION_WORDS,
    METRIC_TITLES,
    count,
    counted,
    decision_words,
    difference,
    interval,
    macro_words,
    metric,
    p_value,
    rule_words,
    support_word,
    with_interval,
)
from core.scoring.records import CandidateScore, Difference, MetricName, Scoreboard
from tui.results.grid import Column, Figure, Grid, Row
from tui.results.view import MEAN_TITLES, View

_METRICS: tuple[tuple[MetricName, int], ...] = (("hit", 1), ("recall", 5), ("mrr", 5), ("mrr", 10))
_TESTED: tuple[tuple[MetricName, int], ...] = (("recall", 5), ("mrr", 10))
_SHORT: dict[MetricName, str] = {"hit": "Hit", "recall": "R", "mrr": "MRR"}
_UNANSWERED: tuple[OutcomeWord, ...] = ("failed", "missing", "unsupported", "changed")
_LATER = 4  # what a rank falls by where its metric is not in the foreground
_LAST = 2 * _LATER


def leaderboard(view: View) -> Grid:
    """Return a row for each candidate, best first; the metric in the foreground is shown at any width."""
    rows = tuple(Row(name, tuple(_figures(view, name))) for name in view.candidates)
    return Grid(caption(view), tuple(_columns(view)), rows)


def caption(view: View) -> str:
    """Say what the numbers are means of, by which rule, and how many queries have no answer."""
    board = view.board
    if view.mean == "macro":
        mean = f"{macro_words(board)}; in brackets the 95 % interval"
    else:
        mean = f"the mean over {counted(board.cases, 'query', 'queries')}; intervals and tests are of macro"
    return f"{MEAN_TITLES[view.mean]}: {mean}; {rule_words(board)}; {answered_words(board)}"


def answered_words(board: Scoreboard) -> str:
    """Say how many of all candidates' primary queries were answered."""
    planned = sum(score.counts.planned for score in board.candidates.values())
    answered = sum(score.counts.answered for score in board.candidates.values())
    if planned == answered:
        return f"all {count(planned)} queries answered"
    return f"{count(answered)} of {count(planned)} queries answered, the rest count as misses"


def _columns(view: View) -> Iterator[Column]:
    yield Column("CANDIDATE", numeric=False)
    for shown in _METRICS:
        name, cutoff = shown
        rank = 0 if shown == view.metric else _LATER + (shown == ("mrr", 5))
        yield Column(f"{METRIC_TITLES[name]}@{cutoff}", rank)
    if view.board.comparisons:
        foreground = view.metric if view.metric in _TESTED else _TESTED[0]
        for tested in _TESTED:
            yield from _difference_columns(view, tested, 0 if tested == foreground else _LATER)
        yield Column("DECISION", 1, numeric=False)
        yield Column("SUPPORT", 1, numeric=False)
    yield from _counts_columns(view)


def _difference_columns(view: View, tested: tuple[MetricName, int], later: int) -> Iterator[Column]:
    name, cutoff = tested
    title = f"{_SHORT[name]}@{cutoff}"
    yield Column(f"Δ {title}", later)
    if view.mean == "macro":
        yield Column(f"Δ {title} 95 %", later + 3)
        yield Column(f"adj. p {title}", later + 2)
        yield Column(f"detects {title}", _LAST)


def _counts_columns(view: View) -> Iterator[Column]:
    counts = [score.counts for score in view.board.candidates.values()]
    gaps = any(found.answered < found.planned for found in counts)
    yield Column("ANSWERED", 1 if gaps else _LATER)
    yield Column("FAILED", 2 if gaps else _LATER + 2)
    yield Column("EMPTY", 3 if any(found.empty for found in counts) else _LATER + 2)


def _figures(view: View, name: str) -> Iterator[Figure]:
    board = view.board
    score = board.candidates[name]
    yield _figure(view, Number(name, cutoff=view.metric[1]), name, name)
    for metric_name, cutoff in _METRICS:
        value = None if is_unanswered(score.counts) else getattr(view.means_of(score)[cutoff], metric_name)
        text = metric(value)
        if view.mean == "macro":
            text = with_interval(value, score.intervals[cutoff][metric_name])
        yield _figure(view, Number(name, cutoff=cutoff), text, value)
    if board.comparisons:
        yield from _difference_figures(view, name)
        yield from _decision_figures(view, name)
    yield from _counts_figures(view, score)


def _difference_figures(view: View, name: str) -> Iterator[Figure]:
    board = view.board
    comparison = board.comparisons.get(name)
    if comparison is None:
        for _ in _TESTED * (4 if view.mean == "macro" else 1):
            yield Figure(DASH, candidate=name)
        return
    untold = is_untold(board, comparison)
    unknown = any(is_unanswered(board.candidates[each].counts) for each in (name, comparison.baseline))
    for found in (comparison.recall_at_5, comparison.mrr_at_10):
        number = Number(name, cutoff=found.cutoff, level=comparison.level)
        gain = found.difference if view.mean == "macro" else _micro_difference(board, name, found)
        value = None if unknown else gain
        yield _figure(view, number, difference(value), value)
        if view.mean == "macro":
            p = None if untold else found.p_holm
            low = found.interval.low if found.interval else None
            yield _figure(view, number, interval(found.interval, signed=True), low)
            yield _figure(view, number, p_value(p), p)
            yield _figure(view, number, metric(found.smallest_detectable), found.smallest_detectable)


def _micro_difference(board: Scoreboard, name: str, found: Difference) -> float:
    level = board.comparisons[name].level
    ours, theirs = (
        getattr(board.candidates[each].levels[level].micro[found.cutoff], found.metric)
        for each in (name, board.comparisons[name].baseline)
    )
    return float(ours - theirs)


def _decision_figures(view: View, name: str) -> Iterator[Figure]:
    comparison = view.board.comparisons.get(name)
    number = Number(name, cutoff=5)
    if comparison is None:
        decision = view.board.candidates[name].decision
        yield _figure(view, number, DECISION_WORDS[decision] if decision else DASH, decision)
        yield Figure(DASH, candidate=name)
        return
    words, support = decision_words(comparison), support_word(comparison)
    yield _figure(view, number, words, words)
    yield _figure(view, number, support or DASH, support or None)


def _counts_figures(view: View, score: CandidateScore) -> Iterator[Figure]:
    counts = score.counts
    name = score.candidate
    share = f"{count(counts.answered)}/{count(counts.planned)}"
    yield _counted(view, name, share, counts.answered, _UNANSWERED, counts.planned - counts.answered)
    yield _counted(view, name, count(counts.failed), counts.failed, ("failed",), counts.failed)
    yield _counted(view, name, count(counts.empty), counts.empty, ("empty",), counts.empty)


def _counted(
    view: View, name: str, text: str, value: int, outcomes: tuple[OutcomeWord, ...], cases: int
) -> Figure:
    """Return a count of queries, with the cases that it counts behind it where there are any."""
    if not cases:
        return Figure(text, float(value), name)
    return Figure(text, float(value), name, behind(view.board, Number(name, outcomes=outcomes)))


def _figure(view: View, number: Number, text: str, value: float | str | None) -> Figure:
    return Figure(text, value, number.candidate, behind(view.board, number), lost(view.board, number))
