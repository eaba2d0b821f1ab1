"""The answer in sentences: what the scores say of the candidates, and how far that goes."""

from __future__ import annotations

from collections.abc import Sequence

from core.ranking import Level
from core.reports.sentence import Name, Sentence, name_list
from core.reports.wording import (
    coverage,
    difference,
    equals_p,
    interval,
    metric,
    percent,
    points,
    rule_beside,
    signed_points,
    some,
)
from core.scoring.comparison import coverage_gaps, is_sure_gain
from core.scoring.records import CandidateScore, Comparison, Difference, Measures, Scoreboard

_SAME = 1e-12  # what rounding in doubles may set apart two equal means


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


def headline(board: Scoreboard) -> tuple[Sentence, ...]:
    """Return the answer: one sentence that gives it, then those that complete it."""
    if board.cases == 0 or not board.candidates:
        return (("Nothing was planned, so nothing was measured.",),)
    if board.baseline is None or not board.comparisons:
        return _without_baseline(board)
    return _against_baseline(board, board.baseline)


def _against_baseline(board: Scoreboard, baseline: str) -> tuple[Sentence, ...]:
    comparisons = [board.comparisons[name] for name in standing(board) if name in board.comparisons]
    gained = [c for c in comparisons if c.decision == "quality_profile_candidate"]
    gained.sort(key=lambda c: c.support != "supported")
    rejected = [c for c in comparisons if c.decision == "rejected"]
    open_ones = [c for c in comparisons if c.decision == "needs_more_data"]
    told: list[Sentence] = []
    if gained:
        told.append(_gain(board, gained[0]))
        told += _power(gained[0])
        told += _list(board, "Material gains too: ", gained[1:])
        told += _list(board, "No material gain: ", rejected)
        told += _tie(gained)
    elif len(rejected) == 1:
        told.append(_no_gain(board, rejected[0]))
        told += _power(rejected[0])
    elif rejected:
        told.append(
            (
                f"None of the {len(rejected)} candidates gains materially on ",
                Name(baseline),
                f", which finds {_found(board, _at_5(board, baseline, rejected[0].level))}; the nearest is ",
                *_short(board, rejected[0]),
                ".",
            )
        )
        told += _list(board, "The others: ", rejected[1:])
    told += _open(board, open_ones)
    return tuple(told)


def _finds(board: Scoreboard, candidate: str, level: Level) -> Sentence:
    return (Name(candidate), f" finds {_found(board, _at_5(board, candidate, level))}")


def _at_5(board: Scoreboard, candidate: str, level: Level) -> Measures:
    return board.candidates[candidate].levels[level].macro[5]


def _found(board: Scoreboard, at_5: Measures) -> str:
    if abs(at_5.hit - at_5.recall) <= _SAME:
        share = f"the known target in the first five results for {percent(at_5.recall)} of queries"
    else:
        share = f"{percent(at_5.recall)} of the known targets in the first five results"
    repositories = len(board.repositories)
    return share if repositories < 2 else f"{share} (mean of {repositories:,} repositories)"


def _gain(board: Scoreboard, comparison: Comparison) -> Sentence:
    told = _telling(comparison)
    end = (
        ": a material and supported gain."
        if comparison.support == "supported"
        else ": a material gain, but not a supported one; chance could explain it."
    )
    if told.metric == "recall":
        return (
            *_finds(board, comparison.candidate, comparison.level),
            *_more_or_less(board, comparison),
            end,
        )
    own, other = metric(told.candidate), metric(told.baseline)
    recall = comparison.recall_at_5
    return (
        Name(comparison.candidate),
        f" ranks the known target higher, with MRR@10 {own} against {other} of ",
        Name(comparison.baseline),
        rule_beside(board, comparison),
        f" ({difference(told.difference)}, {_certainty(told, signed_metric=True)})",
        f"{end} Recall@5 is {metric(recall.candidate)} against {metric(recall.baseline)}.",
    )


def _telling(comparison: Comparison) -> Difference:
    """Return the difference that the decision rests on: a supported one before a merely material one."""
    both = (comparison.recall_at_5, comparison.mrr_at_10)
    material = [d for d in both if d.material] or list(both)
    borne_out = [d for d in material if is_sure_gain(d)]
    return (borne_out or material)[0]


def _no_gain(board: Scoreboard, comparison: Comparison) -> Sentence:
    end = (
        ": no material gain, and these cases rule one out."
        if comparison.support == "supported"
        else ": no material gain, though these cases are too few to rule one out."
    )
    return (
        *_finds(board, comparison.candidate, comparison.level),
        *_more_or_less(board, comparison),
        end,
    )


def _open(board: Scoreboard, comparisons: Sequence[Comparison]) -> list[Sentence]:
    if len(comparisons) < 2:
        return [_no_verdict(board, comparison) for comparison in comparisons]
    names = [comparison.candidate for comparison in comparisons]
    why = _unanswered(board, [*names, comparisons[0].baseline])
    return [
        ("No verdict yet on ", *name_list(names), f", because {why}."),
        *_list(board, "Counting that as misses: ", comparisons),
    ]


def _no_verdict(board: Scoreboard, comparison: Comparison) -> Sentence:
    name = comparison.candidate
    why = _unanswered(board, [name, comparison.baseline])
    found = _found(board, _at_5(board, name, comparison.level))
    return (
        "No verdict yet on ",
        Name(name),
        f", because {why}; counting that as misses, it finds {found}",
        *_more_or_less(board, comparison),
        ".",
    )


def _unanswered(board: Scoreboard, names: Sequence[str]) -> str:
    gaps = [gap for name in names for gap in coverage_gaps(board.candidates[name])]
    return f"not everything planned was answered ({some(gaps, 'gap')})"


def _more_or_less(board: Scoreboard, comparison: Comparison) -> Sentence:
    d = comparison.recall_at_5
    baseline = Name(comparison.baseline)
    certainty = f"{rule_beside(board, comparison)} ({_certainty(d)})"
    if abs(d.difference) <= _SAME:
        return (", as much as ", baseline, certainty)
    word = "more" if d.difference > 0 else "less"
    return (f", {points(d.difference)} {word} than ", baseline, certainty)


def _certainty(d: Difference, *, signed_metric: bool = False) -> str:
    if d.interval is None:
        return f"no interval can be told, adjusted {equals_p(d.p_holm)}"
    if signed_metric:
        ends = interval(d.interval, signed=True)
    else:
        ends = f"{signed_points(d.interval.low)} to {signed_points(d.interval.high)}"
    return f"{coverage(d.interval)} interval {ends}, adjusted {equals_p(d.p_holm)}"


def _power(comparison: Comparison) -> list[Sentence]:
    """Tell what the bank could have shown, where it showed too little."""
    smallest = comparison.recall_at_5.smallest_detectable
    if comparison.support == "supported" or smallest is None:
        return []
    return [
        (f"With these cases, a difference of {points(smallest)} or more would be seen four times in five.",)
    ]


def _short(board: Scoreboard, comparison: Comparison) -> Sentence:
    d = comparison.recall_at_5
    rule = rule_beside(board, comparison)
    return (
        Name(comparison.candidate),
        f" at {percent(d.candidate)}{rule} ({signed_points(d.difference)} points, {comparison.support})",
    )


def _list(board: Scoreboard, start: str, comparisons: Sequence[Comparison]) -> list[Sentence]:
    if not comparisons:
        return []
    parts: list[str] = [start]
    for position, comparison in enumerate(comparisons):
        parts += ["; "] if position else []
        parts += _short(board, comparison)
    return [(*parts, ".")]


def _tie(gained: Sequence[Comparison]) -> list[Sentence]:
    first = gained[0]
    equal = [
        c.candidate
        for c in gained
        if c.level == first.level and abs(c.recall_at_5.candidate - first.recall_at_5.candidate) <= _SAME
    ]
    return [(*name_list(equal), " find equally much in their first five results.")] if len(equal) > 1 else []


def _without_baseline(board: Scoreboard) -> tuple[Sentence, ...]:
    order = standing(board)
    first = order[0]
    top = [name for name in order if _level_with(board, name, first)]
    at_5 = board.candidates[first].macro[5]
    if len(order) == 1:
        return (
            (*_finds(board, first, board.level), *_own_interval(board.candidates[first]), "."),
            ("There is nothing to compare it with: run a second candidate and name a baseline.",),
        )
    untested = ("No baseline was named, so no difference was tested.",)
    if len(top) == len(order) and at_5.recall <= _SAME:
        return (("No candidate found a known target in its first five results.",), untested)
    if len(top) > 1:
        found = f" find equally much: {_found(board, at_5)}"
        return ((*name_list(top), found, *_by_rank(board, top), "."), untested)
    runner_up = order[1]
    return (
        (
            *_finds(board, first, board.level),
            f", the most of {len(order)} candidates; next is ",
            Name(runner_up),
            f" at {percent(recall_at_5(board, runner_up))}.",
        ),
        untested,
    )


def _by_rank(board: Scoreboard, top: Sequence[str]) -> Sentence:
    first, second = (board.candidates[name].macro[10].mrr for name in top[:2])
    if abs(first - second) <= _SAME:
        return ()
    return ("; ", Name(top[0]), f" ranks it higher (MRR@10 {metric(first)}, next {metric(second)})")


def _own_interval(score: CandidateScore) -> Sentence:
    found = score.intervals.get(5, {}).get("recall")
    if found is None:
        return ()
    return (f" ({coverage(found)} interval {percent(found.low)} to {percent(found.high)})",)


def _level_with(board: Scoreboard, one: str, other: str) -> bool:
    return abs(recall_at_5(board, one) - recall_at_5(board, other)) <= _SAME
