"""Could the difference be chance? A paired randomization test, and Holm's correction for several.

Sources: Smucker, Allan & Carterette 2007, "A comparison of statistical significance tests for
information retrieval evaluation", CIKM; Phipson & Smyth 2010, "Permutation p-values should never be
zero" (the +1 correction); Holm 1979, "A simple sequentially rejective multiple test procedure".
"""

from __future__ import annotations

import math
import random
import struct
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

EXACT_UP_TO_UNITS = 16
RANDOMIZATION_DRAWS = 10_000
SMALLEST_UNITS_FOR_POWER = 6  # non-zero units below which no smallest detectable difference is told
POWER_FACTOR = 2.80  # z(0.975) + z(0.80): two-sided at 5 %, detected four times in five

_ZERO = 1e-12  # a unit's contribution below this is rounding, not a difference
_WIDTH = 64  # bits of one draw's field; sums stay below 2 ** (_WIDTH - 1)
_SCALE = 2**56
_TOSSED_TOGETHER = 16  # equal units from which one binomial number is cheaper than a coin for each
_TIE = 2**16  # about 1e-12 of the sum: sums that close are equal but for rounding


class Randomization(NamedTuple):
    """The outcome of a paired randomization test; `exact` where all sign patterns were counted."""

    p: float
    exact: bool
    nonzero_units: int


def paired_randomization(contributions: Sequence[float], seed: str) -> Randomization:
    """Return the two-sided p-value of Σ contributions under random signs.

    Each contribution is what one unit adds to the statistic shown (for a macro difference: the sum of
    its cases' differences, each divided by its repository's cases and by the number of repositories).
    Under the null hypothesis the two systems are exchangeable within a unit, so that every pattern
    of signs is equally likely; p is the share of patterns whose sum is at least as far from 0 as the
    one seen. With at most EXACT_UP_TO_UNITS non-zero units all patterns are counted. With more,
    p = (1 + extreme) / (1 + draws) over RANDOMIZATION_DRAWS draws. No non-zero unit gives p = 1.

    Everything past the scaling is integer arithmetic, and the random bits are
    `random.Random(seed).getrandbits`: Mersenne Twister words seeded from the text, so that the same
    input gives the same p on every machine.
    """
    nonzero = [value for value in contributions if abs(value) > _ZERO]
    if not nonzero:
        return Randomization(1.0, True, 0)
    total = math.fsum(abs(value) for value in nonzero)
    magnitudes = [round(abs(value) / total * _SCALE) for value in nonzero]
    observed = abs(sum(m if v > 0 else -m for m, v in zip(magnitudes, nonzero, strict=True)))
    exact = len(magnitudes) <= EXACT_UP_TO_UNITS
    positive_sums = _every_positive_sum(magnitudes) if exact else _drawn_positive_sums(magnitudes, seed)
    # A pattern whose positive part sums to s has the statistic 2s − Σ.
    whole = sum(magnitudes)
    extreme = sum(abs(2 * part - whole) >= observed - _TIE for part in positive_sums)
    p = extreme / len(positive_sums) if exact else (1 + extreme) / (1 + len(positive_sums))
    return Randomization(p, exact, len(nonzero))


def _every_positive_sum(magnitudes: Sequence[int]) -> list[int]:
    sums = [0]
    for magnitude in magnitudes:
        sums += [part + magnitude for part in sums]
    return sums


def _drawn_positive_sums(magnitudes: Sequence[int], seed: str) -> Sequence[int]:
    """Return each draw's sum of the magnitudes that it made positive.

    All draws are added at once: one long integer holds a field of _WIDTH bits for each draw, one random
    integer of that length holds _WIDTH coins for each draw, and a shift and a mask leave one coin a
    field. Multiplying by the magnitude and adding then does the work of all draws together.

    Of m equal units a draw makes Binomial(m, ½) positive: the number of ones among m random bits. From
    _TOSSED_TOGETHER of them on that number is drawn instead of their coins, first of all and in the order
    of their first appearance; it has the same distribution.
    """
    source = random.Random(seed)  # noqa: S311 - reproducible, not secret
    fields = struct.Struct(f"<{RANDOMIZATION_DRAWS}Q")
    ones = int.from_bytes(fields.pack(*[1] * RANDOMIZATION_DRAWS), "little")
    equal = {value: count for value, count in Counter(magnitudes).items() if count >= _TOSSED_TOGETHER}
    sums = 0
    for magnitude, count in equal.items():
        positive = [source.getrandbits(count).bit_count() for _ in range(RANDOMIZATION_DRAWS)]
        sums += int.from_bytes(fields.pack(*positive), "little") * magnitude
    single = [magnitude for magnitude in magnitudes if magnitude not in equal]
    for start in range(0, len(single), _WIDTH):
        coins = source.getrandbits(_WIDTH * RANDOMIZATION_DRAWS)
        for shift, magnitude in enumerate(single[start : start + _WIDTH]):
            sums += ((coins >> shift) & ones) * magnitude
    return fields.unpack(sums.to_bytes(fields.size, "little"))


def holm(p_values: Sequence[float]) -> list[float]:
    """Return Holm-adjusted p-values, in the order given.

    Sorted p(1) ≤ … ≤ p(m): adjusted(i) = max over j ≤ i of min(1, (m − j + 1) · p(j)). Rejecting those
    at most α keeps the chance of any false rejection at α, whatever the dependence between tests.
    """
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    adjusted = [1.0] * len(p_values)
    largest = 0.0
    for rank, position in enumerate(order):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[position]))
        adjusted[position] = largest
    return adjusted


def smallest_detectable(standard_error: float | None, nonzero_units: int) -> float | None:
    """Return the difference that a two-sided 5 % test would find with 80 % power: 2.80 × standard error.

    None where it cannot be estimated: no standard error, or under SMALLEST_UNITS_FOR_POWER non-zero units.
    """
    if standard_error is None or nonzero_units < SMALLEST_UNITS_FOR_POWER:
        return None
    return POWER_FACTOR * standard_error
