"""How far would the numbers move on other cases? Bootstrap intervals and standard errors.

A sample is a list of strata, each a list of units; the statistic is the mean over strata of
(sum of the units' values / sum of the units' cases), which is the macro mean. With few repositories
each is a stratum and its units are resampled: the interval speaks for these repositories. With
CLUSTER_FROM_REPOSITORIES or more there is one stratum whose units are the repositories themselves.

The bootstrap's work grows with the units, and its gain over the normal approximation shrinks with them:
above BOOTSTRAP_UP_TO_UNITS the interval is the estimate ± z · standard error, the two being the same there
but for the draws' own error. The standard error is that of the same units, by the same strata.

Sources: Efron & Tibshirani 1993, "An introduction to the bootstrap", ch. 13 (percentile interval);
Cochran 1977, "Sampling techniques", 6.4 (variance of a ratio from cluster totals).
"""

from __future__ import annotations

import math
import random
import struct
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from core.scoring.records import Interval

BOOTSTRAP_UP_TO_UNITS = 2000
BOOTSTRAP_DRAWS = 1999  # the 2.5 % and 97.5 % points are then the 50th and the 1950th value, uninterpolated
CLUSTER_FROM_REPOSITORIES = 10
CONFIDENCE = 0.95
Z = 1.959963984540054  # the normal distribution's 97.5 % point

_FIELD_BYTES = 8
_FIELD = 8 * _FIELD_BYTES
_SCALE = 2**40  # leaves room for 2 ** 24 cases in one stratum


class Unit(NamedTuple):
    """Cases that stand or fall together: how many, and the sums of their values, each value in [0, 1]."""

    cases: int
    values: tuple[float, ...]


Strata = Sequence[Sequence[Unit]]


def strata_of(units_by_repository: Mapping[str, Sequence[Unit]]) -> Strata:
    """Arrange units for resampling; repositories without a unit are left out."""
    strata = [units for units in units_by_repository.values() if units]
    if len(strata) < CLUSTER_FROM_REPOSITORIES:
        return strata
    return [[Unit(1, _means(units)) for units in strata]]


def is_bootstrapped(strata: Strata) -> bool:
    """Tell whether there are few enough units to resample."""
    return sum(map(len, strata)) <= BOOTSTRAP_UP_TO_UNITS


def bootstrap(strata: Strata, seed: str) -> list[list[float]]:
    """Return the statistic of every column over BOOTSTRAP_DRAWS resamples: one list for each column.

    The same resample serves all columns, so that the difference of two columns, draw by draw, is the
    paired bootstrap of their difference. Sums are integers (multiples of 2^-40) and the draws use
    `random.Random(seed).random` alone, whose sequence Python guarantees: the same on every machine.
    """
    columns = len(strata[0][0].values) if strata else 0
    packed = [[_pack(unit) for unit in units] for units in strata]
    uniform = random.Random(seed).random  # noqa: S311 - reproducible, not secret
    reader = struct.Struct(f"<{columns + 1}Q")
    draws: list[list[float]] = [[] for _ in range(columns)]
    for _ in range(BOOTSTRAP_DRAWS):
        statistic = [0.0] * columns
        for units in packed:
            size = len(units)
            total = sum([units[int(uniform() * size)] for _ in range(size)])
            cases, *sums = reader.unpack(total.to_bytes(reader.size, "little"))
            for column, value in enumerate(sums):
                statistic[column] += value / cases
        for column, value in enumerate(statistic):
            draws[column].append(value / _SCALE / len(packed))
    return draws


def percentile_interval(draws: Sequence[float]) -> Interval:
    """Return the values between which the middle 95 % of the draws lie.

    The ends are the ⌊(n + 1)·2.5 %⌋-th smallest and largest. Where a stratum has one unit only,
    resampling it moves nothing, and the interval is too narrow: `standard_error` is None there, and no
    interval should be told.
    """
    ordered = sorted(draws)
    # The product is rounded first: 2000 · 0.025 comes out of doubles a little above 50.
    tail = max(math.floor(round((len(ordered) + 1) * (1 - CONFIDENCE) / 2, 6)), 1)
    return Interval(ordered[tail - 1], ordered[-tail], CONFIDENCE)


def normal_interval(estimate: float, error: float) -> Interval:
    """Return the estimate ± Z standard errors."""
    return Interval(estimate - Z * error, estimate + Z * error, CONFIDENCE)


def clipped(interval: Interval, lowest: float) -> Interval:
    """Cut an interval to what its quantity can be: from `lowest` (0 for metrics, −1 for differences) to 1."""
    low, high = (min(max(end, lowest), 1.0) for end in (interval.low, interval.high))
    return interval._replace(low=low, high=high)


def standard_error(strata: Strata, plus: int, minus: int | None = None) -> float | None:
    """Return the standard error of a column's statistic, or of the paired difference of two.

    With d_u = plus's sum − minus's and residuals e_u = d_u − cases_u · (Σd / Σcases): the variance of a
    stratum's mean is U/(U − 1) · Σe² / (Σcases)², that of the macro mean their sum / strata². Returns
    None where a stratum has a single unit, or there is none: one observation tells nothing of variation.
    """
    if not strata or any(len(units) < 2 for units in strata):
        return None
    variance = 0.0
    for units in strata:
        sums = [unit.values[plus] for unit in units]
        if minus is not None:
            sums = [d - unit.values[minus] for d, unit in zip(sums, units, strict=True)]
        cases = sum(unit.cases for unit in units)
        mean = math.fsum(sums) / cases
        squares = math.fsum((d - unit.cases * mean) ** 2 for unit, d in zip(units, sums, strict=True))
        variance += len(units) / (len(units) - 1) * squares / cases**2
    return math.sqrt(variance) / len(strata)


def _means(units: Sequence[Unit]) -> tuple[float, ...]:
    cases = sum(unit.cases for unit in units)
    return tuple(math.fsum(column) / cases for column in zip(*(unit.values for unit in units), strict=True))


def _pack(unit: Unit) -> int:
    """Put a unit's cases and scaled values side by side in one integer, so that one addition adds all."""
    packed = unit.cases
    for position, value in enumerate(unit.values, start=1):
        packed |= round(value * _SCALE) << (_FIELD * position)
    return packed
