"""From outcomes to the scoreboard: the one entry point that reports, screens and notebooks call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from core.ranking import Level
from core.scoring.comparison import coverage_gaps, decide, reasons_for, support_for
from core.scoring.costs import budget_notes, index_cost, largest, latency, latency_ratio, operation_counts
from core.scoring.matching import comparison_level
from core.scoring.outcomes import Ledger, check_plan, kept_cutoffs, open_ledgers
from core.scoring.records import (
    LATENCY_KINDS,
    CandidateScore,
    Comparison,
    Difference,
    GroupScore,
    IndexOutcome,
    ProbeOutcome,
    QueryScore,
    Scoreboard,
    ScoringPlan,
)
from core.scoring.tallies import (
    CellTally,
    error_classes,
    group_score,
    level_scores,
    lines_per_hit,
    tally_levels,
)
from core.scoring.uncertainty import Uncertainty


def score(
    plan: ScoringPlan,
    queries: Iterable[QueryScore],
    probes: Iterable[ProbeOutcome] = (),
    indexes: Iterable[IndexOutcome] = (),
) -> Scoreboard:
    """Score a campaign: each iterable is read once, and no ranking is held.

    Failed, missing and unsupported queries score 0 and stay in every denominator; macro is the mean of
    the repositories' means, micro the mean over queries. Candidates are scored at the finest level that all
    of them support, each comparison with the baseline at the finest that its two do, so that no third
    candidate changes it. The same plan and outcomes give the same scoreboard, in whatever order the
    outcomes come. Raises ValueError for a plan that contradicts
    itself or an outcome that it does not hold, and InputError for a cutoff outside 1 to 100.
    """
    check_plan(plan)
    cutoffs = kept_cutoffs(plan.cutoffs)
    plan = plan._replace(cutoffs=cutoffs)
    level, level_reason = comparison_level(plan.candidates)
    ledgers = open_ledgers(plan, queries, probes, indexes)
    compared = _compared_levels(plan)
    uncertainty = Uncertainty(plan, ledgers, level, {name: own for name, (own, _) in compared.items()})
    candidates = {
        name: _candidate_score(plan, ledger, level, uncertainty) for name, ledger in ledgers.items()
    }
    differences = uncertainty.differences(
        {
            name: {own: scored.macro for own, scored in found.levels.items()}
            for name, found in candidates.items()
        }
    )
    comparisons = {
        name: _comparison(plan, ledgers, candidates, name, compared[name], found)
        for name, found in differences.items()
    }
    return Scoreboard(
        level=level,
        level_reason=level_reason,
        cutoffs=cutoffs,
        cases=len(plan.cases),
        repositories=plan.repositories,
        intents=_intents(plan),
        baseline=plan.baseline,
        candidates=_with_decisions(plan, candidates, comparisons),
        comparisons=comparisons,
        method=uncertainty.method,
        sought=plan.sought,
    )


def _candidate_score(
    plan: ScoringPlan, ledger: Ledger, level: Level, uncertainty: Uncertainty
) -> CandidateScore:
    tallies = tally_levels(ledger, plan.cases)
    cells = tallies[level]
    whole = group_score(cells, plan.cutoffs)
    probes = ledger.probes.values()
    indexing = index_cost(plan.repositories if ledger.candidate.indexes else (), ledger.indexes)
    peak = largest(ledger.peaks())
    return CandidateScore(
        candidate=ledger.candidate.candidate,
        decision=None,
        counts=whole.counts,
        macro=whole.macro,
        micro=whole.micro,
        intervals=uncertainty.intervals(ledger.candidate.candidate, whole.macro),
        repositories=_groups(plan, [(cell.repository, cell) for cell in cells], plan.repositories),
        intents=_groups(plan, [(cell.intent, cell) for cell in cells], _intents(plan)),
        cells={
            repository: _groups(
                plan, [(cell.intent, cell) for cell in cells if cell.repository == repository], _intents(plan)
            )
            for repository in plan.repositories
        },
        levels=level_scores(tallies, plan.cutoffs),
        lines_per_hit=lines_per_hit(ledger, plan.cases, level),
        errors=error_classes(ledger, plan.cases),
        probes=operation_counts(
            len(plan.cases) if ledger.candidate.probes else 0,
            [(probe.status, probe.timed_out) for probe in probes],
        ),
        indexing=indexing,
        latency={kind: latency(ledger.timings(kind)) for kind in LATENCY_KINDS},
        sampled_peak_rss_bytes=peak,
        budgets=budget_notes(plan, peak, indexing.total_s),
    )


def _groups(
    plan: ScoringPlan, keyed: Iterable[tuple[str, CellTally]], order: Iterable[str]
) -> dict[str, GroupScore]:
    """Score the cells under each key, in the given order, leaving out keys without any case."""
    members: dict[str, list[CellTally]] = {key: [] for key in order}
    for key, cell in keyed:
        members[key].append(cell)
    return {key: group_score(inside, plan.cutoffs) for key, inside in members.items() if inside}


def _compared_levels(plan: ScoringPlan) -> dict[str, tuple[Level, str]]:
    """Return, for each candidate but the baseline, the finest level that both support, and why that one."""
    baseline = next((item for item in plan.candidates if item.candidate == plan.baseline), None)
    if baseline is None:
        return {}
    return {
        item.candidate: comparison_level((baseline, item)) for item in plan.candidates if item is not baseline
    }


def _comparison(
    plan: ScoringPlan,
    ledgers: Mapping[str, Ledger],
    candidates: Mapping[str, CandidateScore],
    name: str,
    compared_at: tuple[Level, str],
    differences: tuple[Difference, ...],
) -> Comparison:
    baseline = plan.baseline
    if baseline is None:
        raise ValueError("a comparison needs a baseline")
    ours, theirs = ledgers[name], ledgers[baseline]
    level, level_reason = compared_at
    recall, mrr = differences
    gaps = (*coverage_gaps(candidates[name]), *coverage_gaps(candidates[baseline]))
    decision = decide(gaps, recall.difference, mrr.difference)
    return Comparison(
        candidate=name,
        baseline=baseline,
        level=level,
        level_reason=level_reason,
        recall_at_5=recall,
        mrr_at_10=mrr,
        lines_per_hit=lines_per_hit(ours, plan.cases, level),
        baseline_lines_per_hit=lines_per_hit(theirs, plan.cases, level),
        latency={
            kind: latency_ratio(
                ours.timings(kind), theirs.timings(kind), (ours.candidate.form, theirs.candidate.form)
            )
            for kind in LATENCY_KINDS
        },
        decision=decision,
        support=support_for(decision, differences),
        reasons=reasons_for(gaps, differences),
    )


def _with_decisions(
    plan: ScoringPlan, candidates: Mapping[str, CandidateScore], comparisons: Mapping[str, Comparison]
) -> dict[str, CandidateScore]:
    if plan.baseline is None:
        return dict(candidates)
    return {
        name: found._replace(decision="reference" if name == plan.baseline else comparisons[name].decision)
        for name, found in candidates.items()
    }


def _intents(plan: ScoringPlan) -> tuple[str, ...]:
    return tuple(dict.fromkeys(case.intent for case in plan.cases))
