"""The values that scoring takes in and hands out; reports and screens speak in these.

Times are wall-clock seconds, memory is bytes unless a name says MiB, metric values lie in [0, 1] and
ranks count from 1. Mappings keep the plan's order of candidates, repositories and intents.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from core.ranking import Channel, Level

Status = Literal["answered", "failed", "missing", "unsupported"]
Form = Literal["one-shot", "session"]
LatencyKind = Literal["emb", "docs", "ctx"]
MetricName = Literal["hit", "recall", "mrr"]
Decision = Literal["reference", "quality_profile_candidate", "rejected", "needs_more_data"]
Support = Literal["supported", "inconclusive"]
TargetRanks = tuple[int | None, ...]

LATENCY_KINDS: tuple[LatencyKind, ...] = ("emb", "docs", "ctx")
METRIC_NAMES: tuple[MetricName, ...] = ("hit", "recall", "mrr")
ALWAYS_KEPT_CUTOFFS = (1, 5, 10)

Sought = Literal["known target", "relevant module", "changed file"]
"""What a bank's cases ask for, in the words of reports."""
LARGEST_CUTOFF = 100
LINES_CUTOFF = 10  # results that count for "lines returned per hit"


# What was planned


class CandidatePlan(NamedTuple):
    """What scoring must know of a candidate: the finest level of its locations and what it plans."""

    candidate: str
    level: Level = "exact"
    form: Form | None = "one-shot"  # None where nothing was timed, as in a replayed run file
    probes: bool = True  # plans one ctx probe for each case
    indexes: bool = True  # plans one index for each repository


class PlannedCase(NamedTuple):
    """What scoring must know of a case; `target_paths` has one for each target.

    Cases that share one of `unit_paths`, or of `target_paths` where there are none, are one unit.
    """

    case_id: str
    repository: str
    intent: str
    channel: Channel
    target_paths: tuple[str, ...]
    unit_paths: tuple[str, ...] = ()


class ScoringPlan(NamedTuple):
    """The facts that every outcome is measured against: what is absent from the outcomes is missing."""

    candidates: tuple[CandidatePlan, ...]
    repositories: tuple[str, ...]
    cases: tuple[PlannedCase, ...]
    cutoffs: tuple[int, ...] = ALWAYS_KEPT_CUTOFFS
    baseline: str | None = None
    seed: int = 0
    memory_budget_mib: float | None = None
    max_index_seconds: float | None = None
    sought: Sought = "known target"


# What happened


class QueryScore(NamedTuple):
    """One primary query's outcome: where each known target first appeared, never the ranking itself.

    `target_ranks` has, for each level, one entry per target: the 1-based rank of the first result that
    matches it, or None. `returned` counts the ranking's rows after duplicates were removed.
    `lines_returned` is the number of source lines that the first ten results (LINES_CUTOFF) span, a
    result without `end_line` counting as one; it is None where one of them has no line at all.
    """

    candidate: str
    repository: str
    intent: str
    case_id: str
    channel: Channel
    status: Status
    error_class: str | None
    returned: int
    target_ranks: Mapping[Level, TargetRanks]
    relevant: int
    elapsed_s: float | None
    timed_out: bool
    lines_returned: int | None
    sampled_peak_rss_bytes: int | None = None


class ProbeOutcome(NamedTuple):
    """One ctx probe's outcome."""

    candidate: str
    repository: str
    case_id: str
    status: Status
    elapsed_s: float | None = None
    timed_out: bool = False
    error_class: str | None = None
    sampled_peak_rss_bytes: int | None = None


class IndexOutcome(NamedTuple):
    """One cell's index: its accepted attempt, or the last one that failed."""

    candidate: str
    repository: str
    status: Status
    elapsed_s: float | None = None
    units: int | None = None
    sampled_peak_rss_bytes: int | None = None
    timed_out: bool = False
    error_class: str | None = None


# What it is worth


class Measures(NamedTuple):
    """The three known-target metrics at one cutoff."""

    hit: float
    recall: float
    mrr: float


ByCutoff = Mapping[int, Measures]


class Interval(NamedTuple):
    """A confidence interval; `level` is its nominal coverage."""

    low: float
    high: float
    level: float = 0.95


class QueryCounts(NamedTuple):
    """Primary queries by outcome; planned = answered + failed + missing + unsupported.

    `empty` are those answered without any result, `timed_out` those failed by their time limit.
    """

    planned: int
    answered: int
    failed: int
    missing: int
    unsupported: int
    empty: int
    timed_out: int


class OperationCounts(NamedTuple):
    """Indexes or ctx probes by outcome; planned = answered + failed + missing."""

    planned: int
    answered: int
    failed: int
    missing: int
    timed_out: int


class GroupScore(NamedTuple):
    """Scores of a part of the cases; `macro` weighs the repositories that it touches equally."""

    counts: QueryCounts
    macro: ByCutoff
    micro: ByCutoff


class LevelScore(NamedTuple):
    """The same rankings judged by another matching level."""

    macro: ByCutoff
    micro: ByCutoff


class Latency(NamedTuple):
    """Median seconds over the operations that answered; `timeouts` are not part of it."""

    median_s: float | None
    measured: int
    timeouts: int


class IndexCost(NamedTuple):
    """Wall-clock seconds of full indexing; `total_s` is None unless every planned index succeeded."""

    counts: OperationCounts
    total_s: float | None
    by_repository: Mapping[str, float | None]
    units: Mapping[str, int | None]


class LinesPerHit(NamedTuple):
    """How much text the first ten results cost for each case found in them, at the level used.

    `value` = `lines` / `hits`, over the answered cases whose results all have lines; `unknown` counts
    the answered cases left out because some result had none.
    """

    value: float | None
    lines: int
    hits: int
    unknown: int


class BudgetNote(NamedTuple):
    """A budget beside what was observed: reported, never deciding.

    `within` is None where nothing was observed. Sampled memory is a lower bound: `within` true does not
    establish that the peak kept to the budget.
    """

    budget: Literal["memory_budget_mib", "max_index_seconds"]
    limit: float
    observed: float | None
    within: bool | None


class CandidateScore(NamedTuple):
    """Everything told of one candidate on its own, at the scoreboard's level.

    `intervals` belongs to `macro`, keyed like it for the cutoffs 1, 5 and 10 and then by metric name; None
    is one that cannot be estimated (`Method.lone_units` says why) or would tell of nothing, as under half of
    the queries were answered (`comparison.hardly_answered`).
    `levels` holds every level that the candidate's locations support, the one used included.
    """

    candidate: str
    decision: Decision | None
    counts: QueryCounts
    macro: ByCutoff
    micro: ByCutoff
    intervals: Mapping[int, Mapping[MetricName, Interval | None]]
    repositories: Mapping[str, GroupScore]
    intents: Mapping[str, GroupScore]
    cells: Mapping[str, Mapping[str, GroupScore]]  # repository, then intent
    levels: Mapping[Level, LevelScore]
    lines_per_hit: LinesPerHit
    errors: Mapping[str, int]  # error class of failed primary queries, most frequent first
    probes: OperationCounts
    indexing: IndexCost
    latency: Mapping[LatencyKind, Latency]
    sampled_peak_rss_bytes: int | None  # largest over all operations
    budgets: tuple[BudgetNote, ...]


class Difference(NamedTuple):
    """A macro metric of the candidate less the baseline's, and how sure that is.

    `units` are groups of cases that share a target file, `nonzero_units` those on which the two differ.
    `p` is two-sided, by enumeration where `exact`; `p_holm` is adjusted over all candidates and both
    metrics. `interval`, `standard_error` and `smallest_detectable` are None where they cannot be estimated,
    or where under half of either's queries were answered.
    """

    metric: MetricName
    cutoff: int
    candidate: float
    baseline: float
    difference: float
    interval: Interval | None
    p: float
    p_holm: float
    exact: bool
    units: int
    nonzero_units: int
    standard_error: float | None
    smallest_detectable: float | None
    material: bool  # the gain reaches MATERIAL_GAIN


class LatencyRatio(NamedTuple):
    """Candidate's median over baseline's, on the cases that both answered; never deciding.

    `ratio` is None where `reason` says why: no common case, nothing timed, or two process forms.
    """

    ratio: float | None
    candidate_median_s: float | None
    baseline_median_s: float | None
    cases: int
    candidate_timeouts: int
    baseline_timeouts: int
    within_limit: bool | None
    reason: str | None


class Comparison(NamedTuple):
    """A candidate against the baseline, at the finest level that these two support.

    The scoreboard's level may be coarser, where another candidate supports nothing finer. `reasons` says in
    words what the decision and support rest on.
    """

    candidate: str
    baseline: str
    level: Level
    level_reason: str
    recall_at_5: Difference
    mrr_at_10: Difference
    lines_per_hit: LinesPerHit  # the candidate's, at this comparison's level
    baseline_lines_per_hit: LinesPerHit
    latency: Mapping[LatencyKind, LatencyRatio]
    decision: Decision
    support: Support
    reasons: tuple[str, ...]


class Method(NamedTuple):
    """How the uncertainty was computed, so that a report can say so.

    `lone_units` are the repositories with one unit: where units are resampled within repositories, a single
    one shows no variation, so that no interval, standard error or detectable difference can be told.
    """

    units: int  # groups of cases that share a target file
    resampling: Literal["within repositories", "over repositories"]
    intervals: Literal["percentile bootstrap", "normal approximation"]
    bootstrap_draws: int
    bootstrap_up_to_units: int  # normal approximation above
    lone_units: tuple[str, ...]
    randomization_draws: int
    exact_up_to_units: int
    seed: int


class Scoreboard(NamedTuple):
    """The outcome of a campaign: candidates in the plan's order, comparisons of all but the baseline.

    `level` is the finest that all candidates support, so that their own scores compare; each comparison has
    its own.
    """

    level: Level
    level_reason: str
    cutoffs: tuple[int, ...]
    cases: int
    repositories: tuple[str, ...]
    intents: tuple[str, ...]
    baseline: str | None
    candidates: Mapping[str, CandidateScore]
    comparisons: Mapping[str, Comparison]
    method: Method
    sought: Sought = "known target"
