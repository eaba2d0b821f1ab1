from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from core.scoring.significance import (
    EXACT_UP_TO_UNITS,
    RANDOMIZATION_DRAWS,
    holm,
    paired_randomization,
    smallest_detectable,
)

sixtieths = st.integers(-60, 60).map(lambda n: Fraction(n, 60))


def enumerated(contributions: list[Fraction]) -> Fraction:
    """The exact p-value by exact arithmetic over every pattern of signs."""
    observed = abs(sum(contributions, Fraction()))
    patterns = list(product((1, -1), repeat=len(contributions)))
    extreme = sum(
        abs(sum((s * c for s, c in zip(signs, contributions, strict=True)), Fraction())) >= observed
        for signs in patterns
    )
    return Fraction(extreme, len(patterns))


@settings(deadline=None)
@given(st.lists(sixtieths, max_size=8))
def test_small_samples_are_enumerated_exactly(contributions: list[Fraction]) -> None:
    found = paired_randomization([float(c) for c in contributions], "seed")
    assert found.p == float(enumerated(contributions))
    assert found.exact
    assert found.nonzero_units == sum(c != 0 for c in contributions)


def test_ties_are_counted_though_doubles_miss_them() -> None:
    # 0.1 + 0.2 and 0.3 differ in doubles; exactly they tie, and so do half of all patterns.
    contributions = [Fraction(1, 10), Fraction(2, 10), Fraction(-3, 10), Fraction(6, 10)]
    assert paired_randomization([0.1, 0.2, -0.3, 0.6], "").p == float(enumerated(contributions))


@settings(deadline=None, max_examples=25)
@given(st.lists(st.floats(-1, 1).filter(lambda d: abs(d) > 1e-3), min_size=2, max_size=10))
def test_small_samples_agree_with_scipy(contributions: list[float]) -> None:
    theirs = stats.permutation_test(
        (np.array(contributions), np.zeros(len(contributions))),
        lambda x, y, axis: np.sum(x - y, axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=np.inf,
        alternative="two-sided",
    )
    # scipy doubles the smaller tail, which for a statistic symmetric about 0 is the same p, capped at 1.
    assert paired_randomization(contributions, "").p == pytest.approx(theirs.pvalue)


@pytest.mark.parametrize("units", [0, 1, 5, 4000])
def test_identical_systems_give_p_one(units: int) -> None:
    assert paired_randomization([0.0] * units, "seed") == (1.0, True, 0)
    # Sums that cancel leave rounding behind, which is no difference.
    assert paired_randomization([0.1 + 0.2 - 0.3] * units, "seed").nonzero_units == 0


def test_the_largest_enumerated_sample_and_the_first_drawn_one() -> None:
    exact = paired_randomization([0.01] * EXACT_UP_TO_UNITS, "seed")
    drawn = paired_randomization([0.01] * (EXACT_UP_TO_UNITS + 1), "seed")
    assert (exact.p, exact.exact) == (2 / 2**EXACT_UP_TO_UNITS, True)
    assert not drawn.exact
    assert 1 / (RANDOMIZATION_DRAWS + 1) <= drawn.p < 0.001


def test_units_without_difference_do_not_end_enumeration() -> None:
    assert paired_randomization([0.01] * 16 + [0.0] * 500, "seed").exact


def test_a_drawn_p_is_never_zero_and_is_one_where_nothing_can_be_less_extreme() -> None:
    assert paired_randomization([1.0] * 400, "seed").p == 1 / (RANDOMIZATION_DRAWS + 1)
    assert paired_randomization([1.0, -1.0] * 20, "seed").p == 1.0


def test_drawn_signs_are_fair_and_independent_between_units() -> None:
    """With 100 equal units the sum is binomial: p must match its tail within sampling error."""
    for positive in (50, 55, 60, 64):
        exact = 1.0 if positive == 50 else 2 * stats.binom.sf(positive - 1, 100, 0.5)
        drawn = paired_randomization([1.0] * positive + [-1.0] * (100 - positive), "seed").p
        assert drawn == pytest.approx(
            exact, abs=4 * (exact * (1 - exact) / RANDOMIZATION_DRAWS) ** 0.5 + 2e-4
        )


def test_equal_units_are_tossed_together_with_the_same_distribution() -> None:
    """Forty units of 1 and ten of 2: the sum is known exactly by convolution, and p must match its tail."""
    ones, twos = (stats.binom(n, 0.5) for n in (40, 10))
    sums: dict[int, float] = {}
    for a in range(41):
        for b in range(11):
            value = (2 * a - 40) + 2 * (2 * b - 10)
            sums[value] = sums.get(value, 0.0) + ones.pmf(a) * twos.pmf(b)
    for gains in (20, 24, 27):
        contributions = [1.0] * gains + [-1.0] * (40 - gains) + [2.0, -2.0] * 5
        observed = abs(sum(contributions))
        exact = sum(chance for value, chance in sums.items() if abs(value) >= observed)
        drawn = paired_randomization(contributions, "seed").p
        assert drawn == pytest.approx(
            exact, abs=4 * (exact * (1 - exact) / RANDOMIZATION_DRAWS) ** 0.5 + 2e-4
        )


def test_draws_of_equal_units_are_the_same_on_every_machine() -> None:
    """Pinned: a change here changes published p-values of large campaigns."""
    contributions = [1 / (1 + n % 10) - (0.27 if n % 3 else 0.33) for n in range(3000)]
    assert paired_randomization(contributions, "0/signs/mrr@10/minilm").p * 10_001 == pytest.approx(5452)


def test_drawn_p_agrees_with_the_normal_limit_for_unequal_units() -> None:
    contributions = [((n * 37) % 101 - 48) / 101 for n in range(300)]
    z = sum(contributions) / sum(c * c for c in contributions) ** 0.5
    drawn = paired_randomization(contributions, "seed").p
    assert drawn == pytest.approx(2 * stats.norm.sf(abs(z)), abs=0.02)


def test_draws_are_the_same_on_every_machine() -> None:
    """Pinned: a change here changes published p-values."""
    contributions = [((n * 37) % 101 - 45) / 101 for n in range(120)]
    assert paired_randomization(contributions, "0/signs/recall@5/minilm").p * 10_001 == pytest.approx(1026)


def test_another_seed_draws_other_signs() -> None:
    contributions = [((n * 37) % 101 - 45) / 101 for n in range(120)]
    assert len({paired_randomization(contributions, str(seed)).p for seed in range(5)}) > 1


@settings(deadline=None, max_examples=20)
@given(st.lists(st.floats(-1, 1), min_size=1, max_size=40))
def test_p_is_two_sided_and_a_probability(contributions: list[float]) -> None:
    found = paired_randomization(contributions, "seed")
    assert 0 < found.p <= 1
    assert paired_randomization([-c for c in contributions], "seed") == found


def test_scale_does_not_matter() -> None:
    contributions = [0.5, 0.25, -0.125, 0.75]
    small = [c / 1024 for c in contributions]
    assert paired_randomization(small, "") == paired_randomization(contributions, "")


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == []
    assert holm([0.2]) == [0.2]
    assert holm([0.6, 0.7]) == [1.0, 1.0]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=10), st.floats(0, 1))
def test_holm_rejects_as_the_stepwise_procedure_does(p_values: list[float], alpha: float) -> None:
    m = len(p_values)
    products = [(m - i) * p for i, p in enumerate(sorted(p_values))]
    assume(all(product != alpha for product in products))
    rejected = next((i for i, product in enumerate(products) if product > alpha), m)
    adjusted = holm(p_values)
    assert sum(p <= alpha for p in adjusted) == (m if alpha == 1 else rejected)
    assert all(p <= a <= 1 for p, a in zip(p_values, adjusted, strict=True))


def test_the_smallest_detectable_difference_needs_six_units_that_differ() -> None:
    assert smallest_detectable(0.02, 6) == pytest.approx(0.056)
    assert smallest_detectable(0.02, 5) is None
    assert smallest_detectable(None, 50) is None


def test_the_power_factor_is_that_of_a_two_sided_test_at_five_percent_with_eighty_percent_power() -> None:
    assert smallest_detectable(1.0, 10) == pytest.approx(
        stats.norm.ppf(0.975) + stats.norm.ppf(0.8), abs=0.002
    )
