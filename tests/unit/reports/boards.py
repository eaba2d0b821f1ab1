"""Campaigns small enough to reason about: ranks in, the scoreboard and its facts out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from core.banks.case import Case, Evidence
from core.ranking import Level, Location, Target
from core.reports.examples import Example, disagreements
from core.reports.facts import CandidateFacts, RepositoryFacts, RunFacts
from core.scoring.aggregate import score
from core.scoring.matching import answered_query, unanswered_query
from core.scoring.records import (
    CandidatePlan,
    IndexOutcome,
    PlannedCase,
    ProbeOutcome,
    QueryScore,
    Scoreboard,
    ScoringPlan,
)

Rank = int | None | str
"""Where a case's target stands; None for a miss; `empty`, `failed`, `missing`, `unsupported`."""

INTENTS = ("symbol_lookup", "docs_lookup")
SECRET = "Xq7secret"  # stands in every query, path and id of a private repository


class Campaign(NamedTuple):
    board: Scoreboard
    about: RunFacts
    examples: tuple[Example, ...]
    queries: tuple[QueryScore, ...]
    cases: tuple[Case, ...]


def campaign(
    ranks: Mapping[str, Sequence[Rank]],
    *,
    baseline: str | None = None,
    repositories: Mapping[str, bool] | None = None,
    cutoffs: tuple[int, ...] = (1, 5, 10),
    error_class: str = "invalid_json",
    memory_budget_mib: float | None = None,
    max_index_seconds: float | None = None,
    levels: Mapping[str, Level] | None = None,
) -> Campaign:
    """Score candidates given as `{name: one rank for each case}`; repositories map to their private flag.

    `levels` says whose locations are coarser than `exact`; such a candidate's results have no lines.
    """
    coarse = levels or {}
    labels = repositories if repositories is not None else {"alpha": False}
    size = len(next(iter(ranks.values())))
    cases = tuple(_case(position, list(labels.items())) for position in range(size))
    planned = [
        PlannedCase(c.id, c.repo, c.intent, c.channel, tuple(t.path for t in c.targets)) for c in cases
    ]
    queries = tuple(
        _query(name, plan, case, rank, error_class, lines=name not in coarse)
        for name, own in ranks.items()
        for plan, case, rank in zip(planned, cases, own, strict=True)
        if rank != "missing"
    )
    plan = ScoringPlan(
        candidates=tuple(CandidatePlan(name, level=coarse.get(name, "exact")) for name in ranks),
        repositories=tuple(labels),
        cases=tuple(planned),
        cutoffs=cutoffs,
        baseline=baseline,
        memory_budget_mib=memory_budget_mib,
        max_index_seconds=max_index_seconds,
    )
    probes = [ProbeOutcome(name, c.repo, c.id, "answered", 0.2) for name in ranks for c in cases]
    indexes = [
        IndexOutcome(name, label, "answered", 4.0, 70, 300 * 1024 * 1024)
        for name in ranks
        for label in labels
    ]
    board = score(plan, queries, probes, indexes)
    about = _about(tuple(ranks), labels)
    return Campaign(board, about, disagreements(board, queries, cases, about.private), queries, cases)


def _case(position: int, labels: Sequence[tuple[str, bool]]) -> Case:
    label, private = labels[position % len(labels)]
    mark = f"{SECRET}_" if private else ""
    intent = INTENTS[position % 2]
    docs = intent == "docs_lookup"
    return Case(
        channel="docs" if docs else "emb",
        commit="c" * 40,
        evidence=Evidence("rule", "e" * 64),
        id=f"{label}-{intent}-{mark}{position:020x}",
        intent=intent,
        query=f"{mark}query_{position}",
        repo=label,
        schema_version="known-target-v1",
        targets=(
            Target(f"{mark}src/file_{position}.py", 10 + position, "documentation" if docs else "symbol"),
        ),
    )


def _query(
    name: str, plan: PlannedCase, case: Case, rank: Rank, error_class: str, *, lines: bool
) -> QueryScore:
    if rank == "failed":
        return unanswered_query(name, plan, "failed", error_class=error_class, elapsed_s=0.1)
    if rank == "unsupported":
        return unanswered_query(name, plan, "unsupported")
    ranking = ranking_of(case, rank)
    if not lines:
        ranking = tuple(Location(found.path) for found in ranking)
    return answered_query(name, plan, case.targets, ranking, elapsed_s=0.05)


def ranking_of(case: Case, rank: Rank) -> tuple[Location, ...]:
    if rank == "empty":
        return ()
    others = [Location(f"other_{at}.py", 1, 9, "symbol") for at in range(10)]
    if isinstance(rank, int):
        target = case.targets[0]
        others[rank - 1] = Location(target.path, target.line, target.line + 4, target.kind)
    return tuple(others)


def _about(names: Sequence[str], labels: Mapping[str, bool]) -> RunFacts:
    return RunFacts(
        name="demo",
        identity="1" * 64,
        bank_format="known-target-v1",
        bank_sha256="2" * 64,
        repositories=tuple(RepositoryFacts(label, "c" * 40, private) for label, private in labels.items()),
        candidates=tuple(
            CandidateFacts(name, "embedded", "all-MiniLM-L6-v2", "1.0", "session") for name in names
        ),
        boresight="0.1.0",
        python="3.11.9",
        platform="Linux x86_64",
        created_at="2026-01-02T03:04:05Z",
    )
