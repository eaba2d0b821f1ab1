"""All that a scoreboard holds of one candidate, or of one group of its cases, in lines of plain text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from core.ranking import Level
from core.reports.cost_wording import (
    BUDGET_NAMES,
    budget_words,
    indexing_words,
    latency_words,
    operations_words,
    query_counts_words,
    ratio_words,
)
from core.reports.standing import is_untold
from core.reports.wording import (
    DASH,
    DECISION_WORDS,
    METRIC_TITLES,
    count,
    counted,
    difference,
    equals_p,
    interval,
    lines_per_hit,
    mebibytes,
    metric,
    metric_name,
    rule_words,
    some,
    verdict_words,
    with_interval,
)
from core.scoring.records import (
    LATENCY_KINDS,
    METRIC_NAMES,
    ByCutoff,
    CandidateScore,
    Comparison,
    Difference,
    GroupScore,
    MetricName,
    Scoreboard,
)

Kind = Literal["intent", "repository"]
ALL = ""  # the group of all cases

SHOWN_OF_GROUPS: tuple[tuple[MetricName, int], ...] = (("hit", 1), ("recall", 5), ("mrr", 10))


def candidate_details(board: Scoreboard, name: str) -> tuple[str, ...]:
    """Return what a leaderboard has no room for: both tests, all shown metrics, and what was answered."""
    score = board.candidates[name]
    return (*_verdict(board, name), *_tests(board, name), *_metrics(score), *_coverage(board, score))


def group_details(board: Scoreboard, name: str, kind: Kind, key: str) -> tuple[str, ...]:
    """Return a candidate's metrics and counts on one intent or repository, and on each part of it.

    The first line stands for itself. Without a key the group is all cases.
    """
    score = board.candidates[name]
    group = group_of(score, kind, key)
    where = key or "all cases"
    if group is None:
        return (f"{name} on {where}: no case was planned",)
    told = [f"{name} on {where}: {_three(group.macro)} (macro, n = {count(group.counts.planned)})"]
    baseline = board.baseline
    theirs = None
    if baseline is not None and baseline != name:
        theirs = group_of(board.candidates[baseline], kind, key)
    if theirs is not None:
        told.append(f"less {baseline} (not tested by group): {_gains(group.macro, theirs.macro)}")
    told.append(query_counts_words(group.counts))
    told.append(f"micro: {_three(group.micro)}")
    return (*told, *_parts(score, kind, key))


def cost_details(board: Scoreboard, name: str) -> tuple[str, ...]:
    """Return what a candidate cost: latencies with what they are over, ratios, indexing, memory, budgets."""
    score = board.candidates[name]
    latencies = (f"{kind} {latency_words(score.latency.get(kind))}" for kind in LATENCY_KINDS)
    told = [f"{name}, median latency of what answered: {'; '.join(latencies)}"]
    comparison = board.comparisons.get(name)
    if comparison is not None:
        ratios = (f"{kind} {ratio_words(comparison.latency.get(kind))}" for kind in LATENCY_KINDS)
        told.append(f"against {comparison.baseline}, on the cases that both answered: {'; '.join(ratios)}")
    each = "; ".join(
        f"{label} {count(units)} units" for label, units in score.indexing.units.items() if units is not None
    )
    told.append(f"full indexing {indexing_words(score.indexing)}{f' ({each})' if each else ''}")
    told.append(f"sampled peak RSS {mebibytes(score.sampled_peak_rss_bytes)}")
    for note in score.budgets:
        limit, observed, word = budget_words(note)
        told.append(f"budget of {BUDGET_NAMES[note.budget]}: {limit}, observed {observed}: {word}")
    return tuple(told)


def curve_details(board: Scoreboard, name: str) -> tuple[str, ...]:
    """Return a candidate's metrics at every kept cutoff, by both means."""
    score = board.candidates[name]
    means: tuple[tuple[str, ByCutoff], ...] = (("macro", score.macro), ("micro", score.micro))
    told = [f"{name}: {query_counts_words(score.counts)}; {rule_words(board)}"]
    for mean, by_cutoff in means:
        for kind in METRIC_NAMES:
            values = (f"@{k} {metric(getattr(by_cutoff[k], kind))}" for k in board.cutoffs)
            told.append(f"{mean}  {METRIC_TITLES[kind]}  {'  '.join(values)}")
    return tuple(told)


def group_of(score: CandidateScore, kind: Kind, key: str) -> GroupScore | None:
    """Return a candidate's scores on one intent or repository, or on ALL; None where it has no case."""
    if key == ALL:
        return GroupScore(score.counts, score.macro, score.micro)
    return (score.intents if kind == "intent" else score.repositories).get(key)


def _verdict(board: Scoreboard, name: str) -> Iterator[str]:
    score, comparison = board.candidates[name], board.comparisons.get(name)
    if comparison is not None:
        decided = f"{verdict_words(comparison)} (decision: {comparison.decision})"
        yield f"{name}: {decided}; {_rule(board, comparison.level, comparison.level_reason)}"
    elif score.decision is not None:
        yield f"{name}: {DECISION_WORDS[score.decision]}; {_rule(board, board.level, board.level_reason)}"
    else:
        yield f"{name}: no baseline was named; {_rule(board, board.level, board.level_reason)}"


def _rule(board: Scoreboard, level: Level, reason: str) -> str:
    if board.sought == "relevant module":
        return rule_words(board)
    answered = any(score.counts.answered for score in board.candidates.values())
    return f"{level} rule, {reason}" if answered else f"{level} rule"


def _tests(board: Scoreboard, name: str) -> Iterator[str]:
    comparison = board.comparisons.get(name)
    if comparison is not None:
        for found in (comparison.recall_at_5, comparison.mrr_at_10):
            yield _test(comparison, found, untold=is_untold(board, comparison))


def _test(comparison: Comparison, found: Difference, *, untold: bool) -> str:
    p = DASH if untold else f"{equals_p(found.p)}, adjusted {equals_p(found.p_holm)}"
    smallest = found.smallest_detectable
    power = "not estimable" if smallest is None else metric(smallest)
    return (
        f"{metric_name(found)} {metric(found.candidate)}, {difference(found.difference)} to "
        f"{comparison.baseline} ({interval(found.interval, signed=True)}), {p}; smallest detectable "
        f"{power}; {count(found.nonzero_units)} of {counted(found.units, 'unit')} differ"
    )


def _metrics(score: CandidateScore) -> Iterator[str]:
    shown: tuple[tuple[MetricName, int], ...] = (("hit", 1), ("recall", 5), ("mrr", 5), ("mrr", 10))
    macro = (
        f"{METRIC_TITLES[name]}@{k} {with_interval(getattr(score.macro[k], name), score.intervals[k][name])}"
        for name, k in shown
    )
    yield f"macro  {', '.join(macro)}"
    micro = (f"{METRIC_TITLES[name]}@{k} {metric(getattr(score.micro[k], name))}" for name, k in shown)
    yield f"micro  {', '.join(micro)}"


def _coverage(board: Scoreboard, score: CandidateScore) -> Iterator[str]:
    yield query_counts_words(score.counts)
    yield (
        f"index failed / missing: {operations_words(score.indexing.counts)}; "
        f"ctx failed / missing: {operations_words(score.probes)}"
    )
    if score.errors:
        classes = [f"{kind} {count(number)}" for kind, number in score.errors.items()]
        yield f"why primary queries failed: {some(classes, 'class', 'classes')}"
    if board.sought == "relevant module":  # which has neither lines nor other rules
        return
    yield f"lines per hit, {board.level} rule: {lines_per_hit(score.lines_per_hit)}"
    other = [
        f"{level} Recall@5 {metric(found.macro[5].recall)}, MRR@10 {metric(found.macro[10].mrr)}"
        for level, found in score.levels.items()
        if level != board.level
    ]
    if other:
        yield f"by other rules (macro): {'; '.join(other)}"


def _parts(score: CandidateScore, kind: Kind, key: str) -> Iterator[str]:
    if key == ALL:
        return
    if kind == "intent":
        parts = {label: by_intent.get(key) for label, by_intent in score.cells.items()}
    else:
        parts = dict(score.cells.get(key, {}))
    for part, group in parts.items():
        if group is not None and len(parts) > 1:
            yield f"  {part}  {_three(group.micro)}  (n = {count(group.counts.planned)})"


def _three(found: ByCutoff) -> str:
    return ", ".join(
        f"{METRIC_TITLES[name]}@{k} {metric(getattr(found[k], name))}" for name, k in SHOWN_OF_GROUPS
    )


def _gains(ours: ByCutoff, theirs: ByCutoff) -> str:
    return ", ".join(
        f"{METRIC_TITLES[name]}@{k} {difference(getattr(ours[k], name) - getattr(theirs[k], name))}"
        for name, k in SHOWN_OF_GROUPS
    )
