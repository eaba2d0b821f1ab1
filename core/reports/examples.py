"""Single cases worth looking at: those on which candidates disagree most."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from core.banks.case import Case
from core.ranking import Level, Target
from core.reports.standing import standing
from core.scoring.records import QueryScore, Scoreboard

Outcome = int | str
"""The rank of the first known target, or a word: `miss`, `empty`, `failed`, `missing`, `unsupported`."""

DEPTH = 10
DEFAULT_EXAMPLES = 6


class Example(NamedTuple):
    """A case of a public repository, and what became of it with each candidate."""

    case_id: str
    repository: str
    intent: str
    query: str
    targets: tuple[Target, ...]
    outcomes: Mapping[str, Outcome]


def first_rank(query: QueryScore, level: Level) -> int | None:
    """Return the 1-based rank of the first result that matches any known target, or None."""
    return min((rank for rank in query.target_ranks[level] if rank is not None), default=None)


def outcome(query: QueryScore, level: Level) -> Outcome:
    """Return what became of a primary query: a rank, or the word for why there is none."""
    if query.status != "answered":
        return query.status
    rank = first_rank(query, level)
    if rank is not None:
        return rank
    return "miss" if query.returned else "empty"


def disagreements(
    board: Scoreboard,
    queries: Iterable[QueryScore],
    cases: Iterable[Case],
    private: Collection[str],
    limit: int = DEFAULT_EXAMPLES,
) -> tuple[Example, ...]:
    """Return the cases with the widest spread of reciprocal rank at 10, private repositories' left out.

    Only answered queries make a disagreement. Among equal spreads those come first that the leading
    candidate wins, then those of another intent or winner than the ones chosen before, then the bank's
    order. The same scores give the same examples.
    """
    names = tuple(board.candidates)
    found: dict[str, dict[str, Outcome]] = {}
    for query in queries:
        if query.repository not in private:
            found.setdefault(query.case_id, {})[query.candidate] = outcome(query, board.level)
    leader = standing(board)[0] if names else ""
    split = [
        _Split(case, -_spread(found[case.id]), _winners(found[case.id], names))
        for case in cases
        if case.repo not in private and case.id in found and _spread(found[case.id]) > 0
    ]
    split.sort(key=lambda item: (item.rank, leader not in item.winners))
    return tuple(_example(item.case, found[item.case.id], names) for item in _varied(split, limit))


def place(example: Example) -> str:
    """Return an example's first target as `path:line`, with the number of others."""
    target = example.targets[0]
    where = f"{target.path}:{target.line}" if target.line else target.path
    more = len(example.targets) - 1
    return f"{where} (and {more} more)" if more else where


class _Split(NamedTuple):
    case: Case
    rank: float
    winners: tuple[str, ...]


def _value(outcome_: Outcome) -> float | None:
    if isinstance(outcome_, int):
        return 1.0 / outcome_ if outcome_ <= DEPTH else 0.0
    return 0.0 if outcome_ in ("miss", "empty") else None


def _values(outcomes: Mapping[str, Outcome]) -> dict[str, float]:
    return {name: value for name, found in outcomes.items() if (value := _value(found)) is not None}


def _spread(outcomes: Mapping[str, Outcome]) -> float:
    values = _values(outcomes).values()
    return max(values) - min(values) if values else 0.0


def _winners(outcomes: Mapping[str, Outcome], names: Iterable[str]) -> tuple[str, ...]:
    values = _values(outcomes)
    best = max(values.values(), default=0.0)
    return tuple(name for name in names if values.get(name) == best)


def _varied(split: Collection[_Split], limit: int) -> list[_Split]:
    chosen: list[_Split] = []
    seen: set[tuple[str, tuple[str, ...]]] = set()
    for item in split:
        kind = (item.case.intent, item.winners)
        if kind not in seen and len(chosen) < limit:
            seen.add(kind)
            chosen.append(item)
    taken = {item.case.id for item in chosen}
    chosen += [item for item in split if item.case.id not in taken][: limit - len(chosen)]
    return chosen


def _example(case: Case, outcomes: Mapping[str, Outcome], names: Iterable[str]) -> Example:
    ordered = {name: outcomes[name] for name in names if name in outcomes}
    return Example(case.id, case.repo, case.intent, case.query, case.targets, ordered)
