"""Every macro metric's interval, and every difference's interval, p-value and detectable size."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from core.ranking import Level
from core.scoring.comparison import is_material
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
)
from core.scoring.resampling import (
    BOOTSTRAP_DRAWS,
    CLUSTER_FROM_REPOSITORIES,
    Strata,
    Unit,
    bootstrap,
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
from core.scoring.units import group_units, repository_sizes

COMPARED: tuple[tuple[MetricName, int], ...] = (("recall", 5), ("mrr", 10))

_COLUMNS = tuple((cutoff, metric) for cutoff in ALWAYS_KEPT_CUTOFFS for metric in METRIC_NAMES)


class _Sample(NamedTuple):
    """Units of cases with a block of columns for each candidate, and their bootstrap."""

    units: list[tuple[str, Unit]]  # with the repository
    sizes: Mapping[str, int]
    strata: Strata
    draws: list[list[float]]
    blocks: Mapping[str, int]  # a candidate's first column

    def column(self, candidate: str, metric: MetricName, cutoff: int) -> int:
        return self.blocks[candidate] + _COLUMNS.index((cutoff, metric))


class Uncertainty:
    """The sampling error of a scoreboard at one level, computed from one set of resamples.

    `ledgers` are in the plan's order; everything depends on the plan's seed and on nothing else.
    """

    def __init__(self, plan: ScoringPlan, ledgers: Mapping[str, Ledger], level: Level) -> None:
        self._plan = plan
        self._sample = _draw(plan, ledgers, level)

    @property
    def method(self) -> Method:
        """How the numbers here were computed."""
        clustered = len(self._sample.sizes) >= CLUSTER_FROM_REPOSITORIES
        resampling: Literal["within repositories", "over repositories"] = (
            "over repositories" if clustered else "within repositories"
        )
        return Method(
            units=len(self._sample.units),
            resampling=resampling,
            bootstrap_draws=BOOTSTRAP_DRAWS,
            randomization_draws=RANDOMIZATION_DRAWS,
            exact_up_to_units=EXACT_UP_TO_UNITS,
            seed=self._plan.seed,
        )

    def intervals(self, candidate: str) -> dict[int, dict[MetricName, Interval]]:
        """Return the interval of each macro metric of a candidate at the cutoffs that are always kept."""
        draws = self._sample.draws
        return {
            cutoff: {
                metric: percentile_interval(draws[self._sample.column(candidate, metric, cutoff)])
                for metric in METRIC_NAMES
            }
            for cutoff in ALWAYS_KEPT_CUTOFFS
        }

    def differences(self, macros: Mapping[str, ByCutoff]) -> dict[str, tuple[Difference, ...]]:
        """Compare each candidate with the baseline on the COMPARED metrics, Holm-adjusted over all.

        `macros` holds the macro metrics of all candidates; without a baseline nothing is compared.
        """
        baseline = self._plan.baseline
        if baseline is None:
            return {}
        others = [plan.candidate for plan in self._plan.candidates if plan.candidate != baseline]
        tests = [
            self._test(candidate, baseline, metric, cutoff)
            for candidate in others
            for metric, cutoff in COMPARED
        ]
        adjusted = holm([test.p for test in tests])
        results = iter(zip(tests, adjusted, strict=True))
        return {
            candidate: tuple(
                self._difference(candidate, baseline, metric, cutoff, macros, *next(results))
                for metric, cutoff in COMPARED
            )
            for candidate in others
        }

    def _test(self, candidate: str, baseline: str, metric: MetricName, cutoff: int) -> Randomization:
        sample = self._sample
        plus = sample.column(candidate, metric, cutoff)
        minus = sample.column(baseline, metric, cutoff)
        contributions = [
            (unit.values[plus] - unit.values[minus]) / sample.sizes[repository] / len(sample.sizes)
            for repository, unit in sample.units
        ]
        return paired_randomization(contributions, f"{self._plan.seed}/signs/{metric}@{cutoff}/{candidate}")

    def _difference(
        self,
        candidate: str,
        baseline: str,
        metric: MetricName,
        cutoff: int,
        macros: Mapping[str, ByCutoff],
        test: Randomization,
        p_holm: float,
    ) -> Difference:
        sample = self._sample
        plus = sample.column(candidate, metric, cutoff)
        minus = sample.column(baseline, metric, cutoff)
        ours = getattr(macros[candidate][cutoff], metric)
        theirs = getattr(macros[baseline][cutoff], metric)
        error = standard_error(sample.strata, plus, minus)
        return Difference(
            metric=metric,
            cutoff=cutoff,
            candidate=ours,
            baseline=theirs,
            difference=ours - theirs,
            interval=percentile_interval(
                [a - b for a, b in zip(sample.draws[plus], sample.draws[minus], strict=True)]
            ),
            p=test.p,
            p_holm=p_holm,
            exact=test.exact,
            units=len(sample.units),
            nonzero_units=test.nonzero_units,
            standard_error=error,
            smallest_detectable=smallest_detectable(error, test.nonzero_units),
            material=is_material(ours - theirs),
        )


def _draw(plan: ScoringPlan, ledgers: Mapping[str, Ledger], level: Level) -> _Sample:
    units: list[tuple[str, Unit]] = []
    by_repository: dict[str, list[Unit]] = {repository: [] for repository in plan.repositories}
    for positions in group_units(plan.cases):
        cases = [plan.cases[position] for position in positions]
        unit = Unit(len(cases), _sums(cases, ledgers, level))
        units.append((cases[0].repository, unit))
        by_repository[cases[0].repository].append(unit)
    strata = strata_of(by_repository)
    return _Sample(
        units=units,
        sizes=repository_sizes(plan.cases),
        strata=strata,
        draws=bootstrap(strata, f"{plan.seed}/bootstrap"),
        blocks={candidate: position * len(_COLUMNS) for position, candidate in enumerate(ledgers)},
    )


def _sums(cases: Sequence[PlannedCase], ledgers: Mapping[str, Ledger], level: Level) -> tuple[float, ...]:
    """Sum a unit's metrics over its cases: for each candidate one value for each of _COLUMNS."""
    sums: list[float] = []
    for ledger in ledgers.values():
        rows = []
        for case in cases:
            ranks = ledger.ranks(case, level)
            rows.append([value for cutoff in ALWAYS_KEPT_CUTOFFS for value in measures_of(ranks, cutoff)])
        sums += [math.fsum(column) for column in zip(*rows, strict=True)]
    return tuple(sums)
