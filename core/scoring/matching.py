"""Which result answers which target, and at what rank.

Three rules, from fine to coarse; each accepts whatever the finer ones accept:

- *exact*: the paths are equal; the target's line is 0 or equals the result's; the target's kind is
  `file` or equals the result's. A result without kind fits any kind; one without line fits line 0 only.
- *span*: as exact, but the target's line may lie anywhere from the result's `line` to its `end_line`.
- *file*: the paths are equal. Ranks count files, each at its best place: a retriever that returns several
  places of a file must not fall behind one that returns the file once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice

from core.ranking import LEVELS, Level, Location, Target
from core.scoring.records import (
    LINES_CUTOFF,
    CandidatePlan,
    PlannedCase,
    QueryScore,
    Status,
    TargetRanks,
)


def matches(location: Location, target: Target, level: Level) -> bool:
    """Tell whether a result answers a target at a level (rules in the module's text)."""
    if location.path != target.path:
        return False
    if level == "file":
        return True
    if target.kind != "file" and location.kind is not None and location.kind != target.kind:
        return False
    if target.line == 0:
        return True
    if location.line is None:
        return False
    if level == "exact" or location.end_line is None:
        return location.line == target.line
    return location.line <= target.line <= max(location.line, location.end_line)


def target_ranks(ranking: Iterable[Location], targets: Sequence[Target], level: Level) -> TargetRanks:
    """Return for each target the 1-based rank of the first result (or file) that matches it, or None."""
    return target_ranks_by_level(ranking, targets)[level]


def target_ranks_by_level(
    ranking: Iterable[Location], targets: Sequence[Target]
) -> Mapping[Level, TargetRanks]:
    """Return `target_ranks` at every level, reading the ranking once and only as far as needed."""
    wanted: dict[str, list[int]] = {}
    for position, target in enumerate(targets):
        wanted.setdefault(target.path, []).append(position)
    found: dict[Level, list[int | None]] = {level: [None] * len(targets) for level in LEVELS}
    # `exact` implies the coarser levels, so once every target is found exactly nothing can change.
    unfound = len(targets)
    files: set[str] = set()
    for rank, location in enumerate(ranking, start=1):
        files.add(location.path)
        if location.path not in wanted:
            continue
        for position in wanted[location.path]:
            for level in LEVELS:
                if found[level][position] is None and matches(location, targets[position], level):
                    found[level][position] = len(files) if level == "file" else rank
                    unfound -= level == "exact"
        if unfound == 0:
            break
    return {level: tuple(ranks) for level, ranks in found.items()}


def lines_returned(ranking: Iterable[Location]) -> int | None:
    """Return how many source lines the first LINES_CUTOFF results span, None where one has no line.

    A result without `end_line` counts as one line; overlapping results count each time, since each
    is shown.
    """
    total = 0
    for location in islice(ranking, LINES_CUTOFF):
        if location.line is None:
            return None
        total += max((location.end_line or location.line) - location.line, 0) + 1
    return total


def comparison_level(candidates: Sequence[CandidatePlan]) -> tuple[Level, str]:
    """Return the finest level that all candidates support, and in words why it is that one.

    Raises ValueError without candidates.
    """
    if not candidates:
        raise ValueError("a comparison needs at least one candidate")
    coarsest = max(candidates, key=lambda plan: LEVELS.index(plan.level)).level
    if coarsest == LEVELS[0]:
        return coarsest, "all return the line and kind of what they find"
    holding_back = [plan.candidate for plan in candidates if plan.level == coarsest]
    verb = "supports" if len(holding_back) == 1 else "support"
    return coarsest, f"{', '.join(holding_back)} {verb} nothing finer"


def supported_levels(finest: Level) -> tuple[Level, ...]:
    """Return a candidate's finest level and every coarser one."""
    return LEVELS[LEVELS.index(finest) :]


def answered_query(
    candidate: str,
    case: PlannedCase,
    targets: Sequence[Target],
    ranking: Sequence[Location],
    *,
    elapsed_s: float | None = None,
    sampled_peak_rss_bytes: int | None = None,
) -> QueryScore:
    """Reduce one answer (duplicates already removed) to what scoring keeps of it."""
    return QueryScore(
        candidate=candidate,
        repository=case.repository,
        intent=case.intent,
        case_id=case.case_id,
        channel=case.channel,
        status="answered",
        error_class=None,
        returned=len(ranking),
        target_ranks=target_ranks_by_level(ranking, targets),
        relevant=len(targets),
        elapsed_s=elapsed_s,
        timed_out=False,
        lines_returned=lines_returned(ranking),
        sampled_peak_rss_bytes=sampled_peak_rss_bytes,
    )


def unanswered_query(
    candidate: str,
    case: PlannedCase,
    status: Status,
    *,
    error_class: str | None = None,
    elapsed_s: float | None = None,
    timed_out: bool = False,
    sampled_peak_rss_bytes: int | None = None,
) -> QueryScore:
    """Record a query that failed, is missing or is not supported: every target unfound.

    Raises ValueError for the status `answered`.
    """
    if status == "answered":
        raise ValueError("an answered query has a ranking: use answered_query")
    relevant = len(case.target_paths)
    return QueryScore(
        candidate=candidate,
        repository=case.repository,
        intent=case.intent,
        case_id=case.case_id,
        channel=case.channel,
        status=status,
        error_class=error_class,
        returned=0,
        target_ranks=dict.fromkeys(LEVELS, (None,) * relevant),
        relevant=relevant,
        elapsed_s=elapsed_s,
        timed_out=timed_out,
        lines_returned=None,
        sampled_peak_rss_bytes=sampled_peak_rss_bytes,
    )
