"""What a reader must know before believing the answer, in sentences."""

from __future__ import annotations

from collections.abc import Iterator

from core.ranking import LEVELS
from core.reports.facts import RunFacts
from core.reports.sentence import Name, Sentence, name_list
from core.reports.wording import NO_WIDTH, UNIT_OF, counted, has_no_width, some
from core.scoring.comparison import coverage_gaps, hardly_answered
from core.scoring.records import MetricName, Scoreboard

SHOWN: tuple[tuple[str, int, MetricName], ...] = (
    ("Hit@1", 1, "hit"),
    ("Recall@5", 5, "recall"),
    ("MRR@5", 5, "mrr"),
    ("MRR@10", 10, "mrr"),
)
"""The metrics that a leaderboard shows with their intervals."""


def cautions(board: Scoreboard, about: RunFacts) -> tuple[Sentence, ...]:
    """Return what a reader must know before believing the answer, where the answer does not say it.

    Without a comparison these are the coverage gaps; always, the channels that a candidate does not answer,
    models without a digest of their weights, queries with further answers that do not count, comparisons by
    another rule than the leaderboard's, and intervals that are missing or without width.
    """
    told: list[Sentence] = []
    for name, score in board.candidates.items():
        gaps = () if board.comparisons else coverage_gaps(score)
        if gaps:
            own = [gap.removeprefix(f"{name}: ") for gap in gaps]
            told.append((Name(name), f": {some(own, 'gap')}. What was not answered counts as a miss."))
        if score.counts.unsupported:
            queries = f"{score.counts.unsupported:,} of {counted(score.counts.planned, 'query', 'queries')}"
            told.append((Name(name), f" does not answer the channel of {queries}; they count as misses."))
    return (
        *told,
        *_undigested(about),
        *_ambiguous(board, about),
        *_other_rules(board),
        *_weak_intervals(board),
    )


def _undigested(about: RunFacts) -> Iterator[Sentence]:
    """Tell whose weights this run does not pin: a resume or a repetition may meet others."""
    for facts in about.candidates:
        if facts.undigested:
            yield (
                Name(facts.candidate),
                " finds its model by name: no digest of its weights is part of this run. Keep its model cache"
                " apart before claiming that exactly these weights were measured.",
            )


def _ambiguous(board: Scoreboard, about: RunFacts) -> Iterator[Sentence]:
    """Tell of queries that other places would answer as well as the known target."""
    if about.ambiguous:
        have = "has" if about.ambiguous == 1 else "have"
        yield (
            f"{about.ambiguous:,} of {counted(board.cases, 'query', 'queries')} {have} further answers in "
            "their repository that do not count (the same name or summary stands elsewhere), so scores "
            "understate what is found; this affects all candidates alike.",
        )


def _other_rules(board: Scoreboard) -> Iterator[Sentence]:
    """Tell which comparisons use a finer rule than the leaderboard, where every candidate must fit."""
    for level in LEVELS:
        names = [name for name, found in board.comparisons.items() if found.level == level]
        if names and level != board.level and board.sought != "relevant module":
            yield (
                f"The leaderboard counts by the {board.level} rule, as {board.level_reason}; ",
                *name_list(names),
                " against ",
                Name(str(board.baseline)),
                f" by the {level} rule, the finest that both support.",
            )


def _weak_intervals(board: Scoreboard) -> Iterator[Sentence]:
    """Tell where intervals cannot be told, and where they have no width."""
    lone = board.method.lone_units
    unanswered = [name for name, score in board.candidates.items() if hardly_answered(score.counts)]
    if unanswered and not lone:
        parts: list[str] = []
        for name in unanswered:
            counts = board.candidates[name].counts
            parts += [", " if parts else "", Name(name), f" {counts.answered:,} of {counts.planned:,}"]
        yield ("No interval is told where under half of the queries were answered: ", *parts, ".")
    if lone:
        holds = "holds a single unit" if len(lone) == 1 else "hold a single unit each"
        yield (
            f"{some(lone, 'repository', 'repositories')} {holds} of {UNIT_OF[board.sought]}, which shows no "
            "variation: no interval can be told.",
        )
    flat: list[str] = []
    for name, score in board.candidates.items():
        own = [title for title, k, key in SHOWN if has_no_width(score.intervals.get(k, {}).get(key))]
        if name in board.comparisons and has_no_width(board.comparisons[name].recall_at_5.interval):
            own.append("difference in Recall@5")
        flat += [f"{'; ' if flat else ''}", Name(name), f" {', '.join(own)}"] if own else []
    if flat:
        yield (f"{NO_WIDTH} Here: ", *flat, ".")
