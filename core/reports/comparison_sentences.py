"""What is said of a candidate against the baseline: what it gains or loses, and how sure that is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from core.ranking import Level
from core.reports.sentence import Name, Sentence, name_list
from core.reports.standing import is_untold
from core.reports.wording import (
    coverage,
    difference,
    equals_p,
    interval,
    metric,
    metric_name,
    percent,
    points,
    rule_beside,
    signed_points,
    some,
)
from core.scoring.comparison import (
    MATERIAL_GAIN,
    coverage_gaps,
    is_sure_gain,
    is_sure_loss,
    rules_out_gain,
)
from core.scoring.records import Comparison, Difference, Measures, Scoreboard

SAME = 1e-12  # what rounding in doubles may set apart two equal means

Story = Literal["gain", "loss", "material", "none", "open"]


def finds(board: Scoreboard, candidate: str, level: Level) -> Sentence:
    """Say what a candidate finds in its first five results; no full stop."""
    return (Name(candidate), f" finds {found(board, at_5(board, candidate, level))}")


def at_5(board: Scoreboard, candidate: str, level: Level) -> Measures:
    """Return a candidate's macro metrics at 5 by a matching rule."""
    return board.candidates[candidate].levels[level].macro[5]


def found(board: Scoreboard, measures: Measures) -> str:
    """Say in words what share of targets is found, and over how many repositories that is the mean."""
    if abs(measures.hit - measures.recall) <= SAME:
        share = f"the {board.sought} in the first five results for {percent(measures.recall)} of queries"
    else:
        share = f"{percent(measures.recall)} of the {board.sought}s in the first five results"
    repositories = len(board.repositories)
    return share if repositories < 2 else f"{share} (mean of {repositories:,} repositories)"


def gain(board: Scoreboard, comparison: Comparison) -> Sentence:
    """Say how large a material gain is, whether it is supported, and what it costs on the other metric."""
    told, other = _telling(comparison)
    if told.metric == "recall":
        return (
            *finds(board, comparison.candidate, comparison.level),
            *_more_or_less(board, comparison),
            _beside(told, other),
            _end_of_gain(comparison, told, other),
        )
    return (
        Name(comparison.candidate),
        f" ranks the {board.sought} higher, with MRR@10 {metric(told.candidate)} against "
        f"{metric(told.baseline)} of ",
        Name(comparison.baseline),
        rule_beside(board, comparison),
        f" ({difference(told.difference)}, {_certainty(told, signed_metric=True)})",
        _beside(told, other) if is_sure_loss(other) else "",
        f"{_end_of_gain(comparison, told, other)} "
        f"Recall@5 is {metric(other.candidate)} against {metric(other.baseline)}.",
    )


def no_gain(board: Scoreboard, comparison: Comparison) -> Sentence:
    """Say that a candidate gains nothing material, whether that is sure, and what it loses."""
    recall, mrr = comparison.recall_at_5, comparison.mrr_at_10
    return (
        *finds(board, comparison.candidate, comparison.level),
        *_more_or_less(board, comparison),
        _beside(recall, mrr),
        _end_of_rejection(recall, mrr),
    )


def no_verdicts(board: Scoreboard, comparisons: Sequence[Comparison]) -> list[Sentence]:
    """Say on whom there is no verdict and why, and what the numbers are where enough was answered."""
    if len(comparisons) < 2:
        return [_no_verdict(board, comparison) for comparison in comparisons]
    names = [comparison.candidate for comparison in comparisons]
    why = _unanswered(board, [*names, comparisons[0].baseline])
    told = [comparison for comparison in comparisons if not is_untold(board, comparison)]
    return [
        ("No verdict yet on ", *name_list(names), f", because {why}."),
        *listed(board, "Counting that as misses: ", told),
    ]


def power(comparison: Comparison) -> list[Sentence]:
    """Say what the bank could have shown, where it showed too little."""
    smallest = comparison.recall_at_5.smallest_detectable
    if comparison.support == "supported" or smallest is None:
        return []
    return [
        (
            f"With these cases, a difference of {points(smallest)} or more would be seen four times in five "
            "by an unadjusted 5 % test.",
        )
    ]


def short(board: Scoreboard, comparison: Comparison) -> Sentence:
    """Say a candidate's Recall@5 with its difference and support, for a list."""
    recall, mrr = comparison.recall_at_5, comparison.mrr_at_10
    rule = rule_beside(board, comparison)
    decided = comparison.decision != "needs_more_data"
    words = [f"{signed_points(recall.difference)} points"]
    if decided and is_sure_loss(recall):
        words = [f"a significant loss of {points(recall.difference)}"]
    if decided and story(mrr) != story(recall) and not is_sure_loss(mrr):
        words.append(f"MRR@10 {difference(mrr.difference)}")
    if decided and (comparison.decision != "rejected" or not _losses(recall, mrr)):
        rejected = comparison.decision == "rejected"
        words.append(comparison.support + (_why_open((recall, mrr)) if rejected else ""))
    lost = decided and is_sure_loss(mrr) and not is_sure_loss(recall)
    return (
        Name(comparison.candidate),
        f" at {percent(recall.candidate)}{rule} ({', '.join(words)})",
        f", which {_loses(mrr)}" if lost else "",
    )


def listed(board: Scoreboard, start: str, comparisons: Sequence[Comparison]) -> list[Sentence]:
    """Say several candidates in one sentence; none where there are none."""
    if not comparisons:
        return []
    parts: list[str] = [start]
    for position, comparison in enumerate(comparisons):
        parts += ["; "] if position else []
        parts += short(board, comparison)
    return [(*parts, ".")]


def story(d: Difference) -> Story:
    """Return what a metric's difference tells, in one word.

    `gain` and `loss` are significant, `material` is a material gain that is not, `none` rules a material gain
    out and `open` does not.
    """
    if is_sure_loss(d):
        return "loss"
    if is_sure_gain(d):
        return "gain"
    if d.material:
        return "material"
    return "none" if rules_out_gain(d) else "open"


def _telling(comparison: Comparison) -> tuple[Difference, Difference]:
    """Return the difference that the decision rests on, a supported one before a merely material one."""
    recall, mrr = comparison.recall_at_5, comparison.mrr_at_10
    mrr_leads = (mrr.material and is_sure_gain(mrr), mrr.material) > (
        recall.material and is_sure_gain(recall),
        recall.material,
    )
    return (mrr, recall) if mrr_leads else (recall, mrr)


def _beside(told: Difference, other: Difference) -> str:
    """Name the other metric where it tells another story than the one told."""
    own, its = story(told), story(other)
    if own == its:
        return ""
    name = metric_name(other)
    if its == "loss":
        return f", {'and' if told.difference < -SAME else 'but'} {_loses(other)}"
    if its == "gain":
        joined = "but" if own == "loss" else "and"
        return f", {joined} gains {points(other.difference)} of {name} ({_certainty(other)})"
    size = difference(other.difference)
    return f", while {name} differs by {size} ({_certainty(other, signed_metric=True)})"


def _loses(d: Difference) -> str:
    return f"loses {points(d.difference)} of {metric_name(d)} ({_certainty(d)})"


def _end_of_gain(comparison: Comparison, told: Difference, other: Difference) -> str:
    supported = comparison.support == "supported"
    if is_sure_loss(other):
        sure = "a material and supported gain" if supported else "a material but unsupported gain"
        return f": {sure} in {metric_name(told)}, and a significant loss in {metric_name(other)}."
    if supported:
        return ": a material and supported gain."
    return ": a material gain, but not a supported one; chance could explain it."


def _end_of_rejection(recall: Difference, mrr: Difference) -> str:
    if _losses(recall, mrr):
        return ": a significant loss, and no material gain."
    open_ones = [d for d in (recall, mrr) if not rules_out_gain(d)]
    if not open_ones:
        return ": no material gain, and these cases rule one out."
    if any(d.interval is None for d in open_ones):
        return ": no material gain, though without an interval none can be ruled out."
    if any(d.interval is not None and d.interval.high >= MATERIAL_GAIN for d in open_ones):
        return ": no material gain, though these cases are too few to rule one out."
    return f": no material gain, though one cannot be ruled out where {_few(open_ones)}."


def _few(differences: Sequence[Difference]) -> str:
    least = min(differences, key=lambda d: d.nonzero_units)
    few = f"only {least.nonzero_units}" if least.nonzero_units else "none"
    return f"{few} of {least.units} units of cases {'differ' if least.nonzero_units > 1 else 'differs'}"


def _why_open(differences: Sequence[Difference]) -> str:
    """Say why intervals that end below a material gain leave it open; nothing where one does not."""
    open_ones = [d for d in differences if not rules_out_gain(d)]
    if any(d.interval is None or d.interval.high >= MATERIAL_GAIN for d in open_ones):
        return ""
    return f", as {_few(open_ones)}" if open_ones else ""


def _losses(*differences: Difference) -> bool:
    return any(map(is_sure_loss, differences))


def _no_verdict(board: Scoreboard, comparison: Comparison) -> Sentence:
    name = comparison.candidate
    start = ("No verdict yet on ", Name(name))
    why = _unanswered(board, [name, comparison.baseline])
    if is_untold(board, comparison):
        return (*start, f", because {why}.")
    finds_ = found(board, at_5(board, name, comparison.level))
    return (
        *start,
        f", because {why}; counting that as misses, it finds {finds_}",
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
    if abs(d.difference) <= SAME:
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
