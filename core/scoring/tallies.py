"""Counts and metrics of one candidate by repository, intent and both."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from core.ranking import Level
from core.scoring.matching import supported_levels
from core.scoring.outcomes import Ledger
from core.scoring.profile import RankProfile, mean_of
from core.scoring.records import (
    LINES_CUTOFF,
    GroupScore,
    LevelScore,
    LinesPerHit,
    PlannedCase,
    QueryCounts,
    QueryScore,
)


class CellTally(NamedTuple):
    """One candidate's cases of one repository and intent."""

    repository: str
    intent: str
    counts: QueryCounts
    profile: RankProfile


def tally_cells(ledger: Ledger, cases: Sequence[PlannedCase], level: Level) -> list[CellTally]:
    """Count a candidate's outcomes at one level, cell by cell in order of first appearance."""
    members: dict[tuple[str, str], list[PlannedCase]] = {}
    for case in cases:
        members.setdefault((case.repository, case.intent), []).append(case)
    tallies = []
    for (repository, intent), inside in members.items():
        profile = RankProfile()
        for case in inside:
            profile.add(ledger.ranks(case, level))
        counts = count_queries([ledger.query(case) for case in inside])
        tallies.append(CellTally(repository, intent, counts, profile))
    return tallies


def group_score(cells: Sequence[CellTally], cutoffs: Sequence[int]) -> GroupScore:
    """Score a group of cells: macro over the repositories that it touches, micro over its cases."""
    whole = RankProfile()
    repositories: dict[str, RankProfile] = {}
    for cell in cells:
        whole.merge(cell.profile)
        repositories.setdefault(cell.repository, RankProfile()).merge(cell.profile)
    macro = mean_of((profile.means(cutoffs) for profile in repositories.values()), cutoffs)
    counts = QueryCounts(*map(sum, zip(*(cell.counts for cell in cells), strict=True)))
    return GroupScore(counts, macro, whole.means(cutoffs))


def tally_levels(ledger: Ledger, cases: Sequence[PlannedCase]) -> dict[Level, list[CellTally]]:
    """Count the same outcomes by every level that the candidate's locations support, finest first."""
    return {level: tally_cells(ledger, cases, level) for level in supported_levels(ledger.candidate.level)}


def level_scores(
    tallies: Mapping[Level, Sequence[CellTally]], cutoffs: Sequence[int]
) -> dict[Level, LevelScore]:
    """Score each level's tallies of all cells."""
    groups = {level: group_score(cells, cutoffs) for level, cells in tallies.items()}
    return {level: LevelScore(group.macro, group.micro) for level, group in groups.items()}


def lines_per_hit(ledger: Ledger, cases: Sequence[PlannedCase], level: Level) -> LinesPerHit:
    """Return how many lines the first LINES_CUTOFF results spanned for each case found among them."""
    lines = hits = unknown = 0
    for case in cases:
        query = ledger.query(case)
        if query.status != "answered":
            continue
        if query.lines_returned is None:
            unknown += 1
            continue
        lines += query.lines_returned
        hits += any(rank is not None and rank <= LINES_CUTOFF for rank in query.target_ranks[level])
    return LinesPerHit(lines / hits if hits else None, lines, hits, unknown)


def error_classes(ledger: Ledger, cases: Sequence[PlannedCase]) -> dict[str, int]:
    """Count the error classes of failed primary queries, most frequent first, then by name."""
    found: Counter[str] = Counter()
    for case in cases:
        query = ledger.query(case)
        if query.status == "failed":
            found[query.error_class or "unknown"] += 1
    return dict(sorted(found.items(), key=lambda entry: (-entry[1], entry[0])))


def count_queries(queries: Sequence[QueryScore]) -> QueryCounts:
    """Count primary queries by outcome."""
    statuses = Counter(query.status for query in queries)
    return QueryCounts(
        planned=len(queries),
        answered=statuses["answered"],
        failed=statuses["failed"],
        missing=statuses["missing"],
        unsupported=statuses["unsupported"],
        empty=sum(query.status == "answered" and query.returned == 0 for query in queries),
        timed_out=sum(query.timed_out for query in queries),
    )
