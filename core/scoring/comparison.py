"""What is to be concluded of a candidate against the baseline: thresholds, coverage, decision, support."""

from __future__ import annotations

from collections.abc import Sequence

from core.scoring.records import (
    CandidateScore,
    Decision,
    Difference,
    OperationCounts,
    QueryCounts,
    Support,
)
from core.scoring.significance import SMALLEST_UNITS_FOR_POWER

MATERIAL_GAIN = 0.05  # absolute, in macro Recall@5 or MRR@10
LATENCY_RATIO_LIMIT = 1.25  # candidate's median over baseline's: reported, never deciding
SIGNIFICANT_P = 0.05  # after Holm's correction
TRUSTED_FROM_UNITS = SMALLEST_UNITS_FOR_POWER  # units that differ, from which an interval rules out a gain
RULE_OF_THREE = 3  # n units without an event leave room for a rate of 3/n (Hanley & Lippman-Hand 1983)
NO_INTERVAL = "no interval, as a repository with a single unit of cases shows no variation"

_ROUNDING = 1e-9  # 0.45 − 0.40 in doubles falls short of 0.05 by rounding, and still reaches it

_COMPARED = {"recall": "Recall", "mrr": "MRR", "hit": "Hit"}


def is_material(gain: float) -> bool:
    """Tell whether a gain reaches MATERIAL_GAIN, forgiving 1e-9 of rounding."""
    return gain >= MATERIAL_GAIN - _ROUNDING


def coverage_gaps(score: CandidateScore) -> tuple[str, ...]:
    """Name every kind of planned operation of a candidate that failed or is missing, with counts.

    An unsupported channel is no gap: it scores 0 and was never going to be answered.
    """
    queries = score.counts
    primary = OperationCounts(
        queries.planned, queries.answered, queries.failed, queries.missing, queries.timed_out
    )
    kinds = (("index", score.indexing.counts), ("primary query", primary), ("ctx probe", score.probes))
    gaps = []
    for name, counts in kinds:
        for word, number in (("failed", counts.failed), ("missing", counts.missing)):
            if number:
                gaps.append(f"{score.candidate}: {name} {word}, {number} of {counts.planned}")
    return tuple(gaps)


def decide(gaps: Sequence[str], recall_gain: float, mrr_gain: float) -> Decision:
    """Return the decision on a candidate that is not the baseline.

    `gaps` are the coverage gaps of candidate and baseline: any makes it `needs_more_data`. Otherwise a
    material gain in macro Recall@5 or MRR@10 makes it `quality_profile_candidate`, and none `rejected`.
    Significance, latency and budgets take no part.
    """
    if gaps:
        return "needs_more_data"
    if is_material(recall_gain) or is_material(mrr_gain):
        return "quality_profile_candidate"
    return "rejected"


def hardly_answered(counts: QueryCounts) -> bool:
    """Tell whether under half of the planned queries were answered.

    The metrics then count mostly what never ran, and an interval around them would tell of nothing. A channel
    that the candidate does not answer is known to score 0, and counts as answered here.
    """
    return 2 * (counts.answered + counts.unsupported) < counts.planned


def support_for(decision: Decision, differences: Sequence[Difference]) -> Support:
    """Tell whether the cases are enough to bear the decision out.

    - `quality_profile_candidate` is supported if a metric with a material gain has a Holm-adjusted p
      below SIGNIFICANT_P and an interval that lies above 0. (That the gain differs from 0 is then
      established; that it is at least MATERIAL_GAIN is the estimate.)
    - `rejected` is supported if the intervals of both metrics end below MATERIAL_GAIN and can be trusted: see
      `rules_out_gain`. It also is whenever a metric shows a significant loss: see `is_sure_loss`.
    - `needs_more_data` never is, and nothing is that would need an interval which cannot be told.
    """
    if decision == "quality_profile_candidate":
        borne_out = any(d.material and is_sure_gain(d) for d in differences)
    elif decision == "rejected":
        borne_out = any(map(is_sure_loss, differences)) or all(map(rules_out_gain, differences))
    else:
        borne_out = False
    return "supported" if borne_out else "inconclusive"


def is_sure_gain(d: Difference) -> bool:
    """Tell whether a gain differs from 0 by both its adjusted p and its interval."""
    return d.interval is not None and d.p_holm < SIGNIFICANT_P and d.interval.low > 0


def is_sure_loss(d: Difference) -> bool:
    """Tell whether a loss differs from 0 by both its adjusted p and its interval."""
    return d.interval is not None and d.p_holm < SIGNIFICANT_P and d.interval.high < 0


def rules_out_gain(d: Difference) -> bool:
    """Tell whether a material gain is ruled out: by an interval that ends below it and can be trusted."""
    return d.interval is not None and d.interval.high < MATERIAL_GAIN and is_trusted(d)


def is_trusted(d: Difference) -> bool:
    """Tell whether enough is seen for the interval's upper end to mean what it says.

    A bootstrap cannot see what was not sampled: where hardly any unit differs, it is too narrow. So
    TRUSTED_FROM_UNITS units must differ or, where fewer do, the units be so many that the rule of three
    leaves less than MATERIAL_GAIN open: 3 / units < 0.05.
    """
    return d.interval is not None and (
        d.nonzero_units >= TRUSTED_FROM_UNITS or RULE_OF_THREE / d.units < MATERIAL_GAIN
    )


def reasons_for(gaps: Sequence[str], differences: Sequence[Difference]) -> tuple[str, ...]:
    """Say in words what decision and support rest on: the gaps if any, then each metric's difference."""
    without = "no interval" if gaps else NO_INTERVAL
    return (*gaps, *(_told(difference, without) for difference in differences))


def _told(d: Difference, without: str) -> str:
    reach = "reaches" if d.material else "does not reach"
    if d.interval is None:
        interval = without
    else:
        interval = f"{d.interval.level:.0%} interval {d.interval.low:+.4f} to {d.interval.high:+.4f}"
    return (
        f"macro {_COMPARED[d.metric]}@{d.cutoff} {d.difference:+.4f} {reach} +{MATERIAL_GAIN}; {interval}, "
        f"Holm-adjusted p {d.p_holm:.4f}, {d.nonzero_units} of {d.units} units differ"
    )
