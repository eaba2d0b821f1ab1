"""Every macro metric's interval, and every difference's interval, p-value and detectable size."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from core.ranking import Level
from core.scoring.comparison import hardly_answered, is_material
from core.scoring.outcomes import Ledger
from core.scoring.profile import measures_of
from core.scoring.records import (
    ALWAYS_KEPT_CUTOFFS,
    METRIC_NAMES,
    ByCutoff,
    Difference,
    Interval,
    Method,
    MetricName,
    PlannedCase,
    ScoringPlan,
    TargetRanks,
)
from core.scoring.resampling import (
    BOOTSTRAP_DRAWS,
    BOOTSTRAP_UP_TO_UNITS,
    CLUSTER_FROM_REPOSITORIES,
    Strata,
    Unit,
    bootstrap,
    clipped,
    is_bootstrapped,
    normal_interval,
    percentile_interval,
    standard_error,
    strata_of,
)
from core.scoring.significance import (
    EXACT_UP_TO_UNITS,
    RANDOMIZATION_DRAWS,
    Randomization,
    holm,
    paired_randomization,
    smallest_detectable,
)
from core.scoring.tallies import count_queries
from core.scoring.units import group_units, repository_sizes

COMPARED: tuple[tuple[MetricName, int], ...] = (("recall", 5), ("mrr", 10))

_COLUMNS = tuple((cutoff, metric) for cutoff in ALWAYS_KEPT_CUTOFFS for metric in METRIC_NAMES)

Macros = Mapping[Level, ByCutoff]
"""One candidate's macro metrics by every level that it supports."""


class _Sample(NamedTuple):
    """Units of cases with a block of columns for each candidate and level in use, and their bootstrap."""

    units: Mapping[str, Sequence[Unit]]  # by repository
    sizes: Mapping[str, int]
    strata: Strata
    draws: list[list[float]] | None  # None above BOOTSTRAP_UP_TO_UNITS
    blocks: Mapping[tuple[str, Level], int]  # the first column

    def column(self, candidate: str, level: Level, metric: MetricName, cutoff: int) -> int:
        return self.blocks[candidate, level] + _COLUMNS.index((cutoff, metric))


class Uncertainty:
    """The sampling error of a scoreboard, computed from one set of units.

    `ledgers` are in the plan's order. Candidates are judged at `level`, each comparison with the baseline at
    its own level in `compared`. Nothing is told around a candidate that answered under half of its queries.
    Everything depends on the plan's seed and on nothing else.
    """

    def __init__(
        self, plan: ScoringPlan, ledgers: Mapping[str, Ledger], level: Level, compared: Mapping[str, Level]
    ) -> None:
        self._plan = plan
        self._level = level
        self._compared = compared
        self._sample = _draw(plan, ledgers, _blocks(plan, level, compared))
        self._unanswered = frozenset(
            name
            for name, ledger in ledgers.items()
            if hardly_answered(count_queries([ledger.query(case) for case in plan.cases]))
        )

    @property
    def method(self) -> Method:
        """How the numbers here were computed."""
        sample = self._sample
        clustered = len(sample.sizes) >= CLUSTER_FROM_REPOSITORIES
        resampling: Literal["within repositories", "over repositories"] = (
            "over repositories" if clustered else "within repositories"
        )
        lone = () if clustered else tuple(name for name, units in sample.units.items() if len(units) == 1)
        return Method(
            units=sum(map(len, sample.units.values())),
            resampling=resampling,
            intervals="normal approximation" if sample.draws is None else "percentile bootstrap",
            bootstrap_draws=BOOTSTRAP_DRAWS,
            bootstrap_up_to_units=BOOTSTRAP_UP_TO_UNITS,
            lone_units=lone,
            randomization_draws=RANDOMIZATION_DRAWS,
            exact_up_to_units=EXACT_UP_TO_UNITS,
            seed=self._plan.seed,
        )

    def intervals(self, candidate: str, macro: ByCutoff) -> dict[int, dict[MetricName, Interval | None]]:
        """Return the interval of each macro metric of a candidate at the cutoffs that are always kept."""
        found: dict[int, dict[MetricName, Interval | None]] = {}
        for cutoff, metric in _COLUMNS:
            column = self._sample.column(candidate, self._level, metric, cutoff)
            error = self._error([candidate], column)
            interval = self._interval(getattr(macro[cutoff], metric), error, column)
            found.setdefault(cutoff, {})[metric] = interval
        return found

    def differences(self, macros: Mapping[str, Macros]) -> dict[str, tuple[Difference, ...]]:
        """Compare each candidate with the baseline on the COMPARED metrics, Holm-adjusted over all."""
        tests = [
            self._test(candidate, metric, cutoff)
            for candidate in self._compared
            for metric, cutoff in COMPARED
        ]
        adjusted = holm([test.p for test in tests])
        results = iter(zip(tests, adjusted, strict=True))
        return {
            candidate: tuple(
                self._difference(candidate, metric, cutoff, macros, *next(results))
                for metric, cutoff in COMPARED
            )
            for candidate in self._compared
        }

    def _test(self, candidate: str, metric: MetricName, cutoff: int) -> Randomization:
        sample = self._sample
        plus, minus = self._columns(candidate, metric, cutoff)
        contributions = [
            (unit.values[plus] - unit.values[minus]) / sample.sizes[repository] / len(sample.sizes)
            for repository, units in sample.units.items()
            for unit in units
        ]
        return paired_randomization(contributions, f"{self._plan.seed}/signs/{metric}@{cutoff}/{candidate}")

    def _difference(
        self,
        candidate: str,
        metric: MetricName,
        cutoff: int,
        macros: Mapping[str, Macros],
        test: Randomization,
        p_holm: float,
    ) -> Difference:
        level = self._compared[candidate]
        plus, minus = self._columns(candidate, metric, cutoff)
        ours = getattr(macros[candidate][level][cutoff], metric)
        theirs = getattr(macros[self._baseline][level][cutoff], metric)
        error = self._error([candidate, self._baseline], plus, minus)
        return Difference(
            metric=metric,
            cutoff=cutoff,
            candidate=ours,
            baseline=theirs,
            difference=ours - theirs,
            interval=self._interval(ours - theirs, error, plus, minus),
            p=test.p,
            p_holm=p_holm,
            exact=test.exact,
            units=sum(map(len, self._sample.units.values())),
            nonzero_units=test.nonzero_units,
            standard_error=error,
            smallest_detectable=smallest_detectable(error, test.nonzero_units),
            material=is_material(ours - theirs),
        )

    def _error(self, candidates: Sequence[str], plus: int, minus: int | None = None) -> float | None:
        """Return the standard error, or None where one of the candidates was hardly asked at all."""
        if not self._unanswered.isdisjoint(candidates):
            return None
        return standard_error(self._sample.strata, plus, minus)

    def _interval(
        self, estimate: float, error: float | None, plus: int, minus: int | None = None
    ) -> Interval | None:
        """Return the interval of a column, or of the difference of two, from one set of draws."""
        if error is None:
            return None
        lowest = 0.0 if minus is None else -1.0
        draws = self._sample.draws
        if draws is None:
            return clipped(normal_interval(estimate, error), lowest)
        values = draws[plus]
        if minus is not None:
            values = [ours - theirs for ours, theirs in zip(values, draws[minus], strict=True)]
        return clipped(percentile_interval(values), lowest)

    def _columns(self, candidate: str, metric: MetricName, cutoff: int) -> tuple[int, int]:
        level = self._compared[candidate]
        return (
            self._sample.column(candidate, level, metric, cutoff),
            self._sample.column(self._baseline, level, metric, cutoff),
        )

    @property
    def _baseline(self) -> str:
        if self._plan.baseline is None:
            raise ValueError("a comparison needs a baseline")
        return self._plan.baseline


def _blocks(plan: ScoringPlan, level: Level, compared: Mapping[str, Level]) -> list[tuple[str, Level]]:
    """Return every candidate at every level that something is computed at, each once."""
    blocks = [(candidate.candidate, level) for candidate in plan.candidates]
    for candidate, own in compared.items():
        blocks += [(candidate, own), (str(plan.baseline), own)]
    return list(dict.fromkeys(blocks))


def _draw(plan: ScoringPlan, ledgers: Mapping[str, Ledger], blocks: Sequence[tuple[str, Level]]) -> _Sample:
    units: dict[str, list[Unit]] = {repository: [] for repository in plan.repositories}
    for positions in group_units(plan.cases):
        cases = [plan.cases[position] for position in positions]
        units[cases[0].repository].append(Unit(len(cases), _sums(cases, ledgers, blocks)))
    strata = strata_of(units)
    return _Sample(
        units=units,
        sizes=repository_sizes(plan.cases),
        strata=strata,
        draws=bootstrap(strata, f"{plan.seed}/bootstrap") if is_bootstrapped(strata) else None,
        blocks={block: position * len(_COLUMNS) for position, block in enumerate(blocks)},
    )


def _sums(
    cases: Sequence[PlannedCase], ledgers: Mapping[str, Ledger], blocks: Sequence[tuple[str, Level]]
) -> tuple[float, ...]:
    """Sum a unit's metrics over its cases: for each block one value for each of _COLUMNS."""
    sums: list[float] = []
    for candidate, level in blocks:
        rows = [_row(ledgers[candidate].ranks(case, level)) for case in cases]
        sums += rows[0] if len(rows) == 1 else map(math.fsum, zip(*rows, strict=True))
    return tuple(sums)


@lru_cache(maxsize=4096)
def _row(ranks: TargetRanks) -> tuple[float, ...]:
    return tuple(value for cutoff in ALWAYS_KEPT_CUTOFFS for value in measures_of(ranks, cutoff))
