"""The same cases answered twice: did a metric fall, and could chance explain it?

The statistic is the macro mean's difference, new less old; cases that share a target file are one unit. Test,
interval and detectable size are those of the comparisons with a baseline (`core.scoring.significance`,
`core.scoring.resampling`), Holm-adjusted over all pairs that are looked at together.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from core.scoring.comparison import SIGNIFICANT_P
from core.scoring.records import Interval, PlannedCase
from core.scoring.resampling import (
    Unit,
    bootstrap,
    clipped,
    is_bootstrapped,
    normal_interval,
    percentile_interval,
    standard_error,
    strata_of,
)
from core.scoring.significance import holm, paired_randomization, smallest_detectable
from core.scoring.units import group_units, repository_sizes


class Pair(NamedTuple):
    """A metric of one candidate on the same cases in two runs: a value in [0, 1] for each case, by id."""

    candidate: str
    metric: str
    cases: tuple[PlannedCase, ...]
    new: Mapping[str, float]
    old: Mapping[str, float]


class PairedDifference(NamedTuple):
    """Macro means of the two runs, and how sure their difference is.

    `p` is two-sided, `p_holm` adjusted over all pairs. `interval` and `smallest_detectable` are None where
    they cannot be estimated.
    """

    candidate: str
    metric: str
    cases: int
    new: float
    old: float
    difference: float
    interval: Interval | None
    p: float
    p_holm: float
    exact: bool
    units: int
    nonzero_units: int
    smallest_detectable: float | None

    @property
    def fell(self) -> bool:
        """Whether there is a loss that differs from 0 by its adjusted p and its interval, if it has one."""
        sure = self.interval is None or self.interval.high < 0
        return self.difference < 0 and self.p_holm < SIGNIFICANT_P and sure


def paired_differences(pairs: Sequence[Pair], seed: int) -> tuple[PairedDifference, ...]:
    """Compare each pair's two runs. Raises ValueError for a pair without a case or without a case's value."""
    found = [_difference(pair, seed) for pair in pairs]
    adjusted = holm([each.p for each in found])
    return tuple(each._replace(p_holm=p) for each, p in zip(found, adjusted, strict=True))


def _difference(pair: Pair, seed: int) -> PairedDifference:
    ids = {case.case_id for case in pair.cases}
    if not ids or not (ids <= pair.new.keys() and ids <= pair.old.keys()):
        raise ValueError(f"{pair.candidate}, {pair.metric}: every case needs a value of both runs")
    units = _units(pair)
    sizes = repository_sizes(pair.cases)
    contributions = [
        (unit.values[0] - unit.values[1]) / sizes[repository] / len(sizes)
        for repository, inside in units.items()
        for unit in inside
    ]
    test = paired_randomization(contributions, f"{seed}/signs/{pair.metric}/{pair.candidate}")
    strata = strata_of(units)
    error = standard_error(strata, 0, 1)
    new, old = (_macro(units, sizes, column) for column in (0, 1))
    interval = None
    if error is not None and is_bootstrapped(strata):
        draws = bootstrap(strata, f"{seed}/bootstrap")
        interval = percentile_interval([ours - theirs for ours, theirs in zip(*draws, strict=True)])
    elif error is not None:
        interval = normal_interval(new - old, error)
    return PairedDifference(
        candidate=pair.candidate,
        metric=pair.metric,
        cases=len(pair.cases),
        new=new,
        old=old,
        difference=math.fsum(contributions),
        interval=None if interval is None else clipped(interval, -1.0),
        p=test.p,
        p_holm=test.p,
        exact=test.exact,
        units=sum(map(len, units.values())),
        nonzero_units=test.nonzero_units,
        smallest_detectable=smallest_detectable(error, test.nonzero_units),
    )


def _units(pair: Pair) -> dict[str, list[Unit]]:
    units: dict[str, list[Unit]] = {}
    for positions in group_units(pair.cases):
        inside = [pair.cases[position] for position in positions]
        sums = tuple(math.fsum(values[case.case_id] for case in inside) for values in (pair.new, pair.old))
        units.setdefault(inside[0].repository, []).append(Unit(len(inside), sums))
    return units


def _macro(units: Mapping[str, Sequence[Unit]], sizes: Mapping[str, int], column: int) -> float:
    means = [
        math.fsum(unit.values[column] for unit in inside) / sizes[repository]
        for repository, inside in units.items()
    ]
    return math.fsum(means) / len(means)
