from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from core.scoring.records import Interval
from core.scoring.resampling import (
    BOOTSTRAP_DRAWS,
    BOOTSTRAP_UP_TO_UNITS,
    CLUSTER_FROM_REPOSITORIES,
    Unit,
    Z,
    bootstrap,
    clipped,
    is_bootstrapped,
    normal_interval,
    percentile_interval,
    standard_error,
    strata_of,
)


def singles(*values: float) -> list[Unit]:
    return [Unit(1, (value,)) for value in values]


def test_few_repositories_are_strata_of_their_units() -> None:
    strata = strata_of({"a": singles(0.0, 1.0), "empty": [], "b": singles(0.5)})
    assert strata == [singles(0.0, 1.0), singles(0.5)]


def test_ten_repositories_are_the_units_of_one_stratum() -> None:
    units = {f"r{n}": [Unit(1, (1.0,)), Unit(3, (0.0,))] for n in range(CLUSTER_FROM_REPOSITORIES)}
    assert strata_of(units) == [[Unit(1, (0.25,))] * CLUSTER_FROM_REPOSITORIES]
    units.popitem()
    assert len(strata_of(units)) == CLUSTER_FROM_REPOSITORIES - 1


def test_a_column_that_does_not_vary_has_a_point_interval() -> None:
    draws = bootstrap([[Unit(2, (2.0, 0.0)), Unit(1, (1.0, 0.0))]], "seed")
    assert percentile_interval(draws[0]) == (1.0, 1.0, 0.95)
    assert percentile_interval(draws[1]) == (0.0, 0.0, 0.95)


def test_resampling_without_anything_to_resample() -> None:
    assert bootstrap([], "seed") == []


def test_each_stratum_weighs_the_same_whatever_its_size() -> None:
    draws = bootstrap([singles(*[1.0] * 50), singles(0.0)], "seed")
    assert set(draws[0]) == {0.5}


def test_columns_share_their_resamples() -> None:
    units = [Unit(1, (float(n % 3 == 0), float(n % 3 == 0) / 2)) for n in range(30)]
    whole, half = bootstrap([units], "seed")
    assert half == pytest.approx([value / 2 for value in whole], abs=1e-9)


def test_units_of_several_cases_are_weighted_by_their_cases() -> None:
    draws = bootstrap([[Unit(3, (3.0,)), Unit(1, (0.0,))]], "seed")
    # Two draws of two units: both first, one of each, both second.
    assert {round(value, 6) for value in draws[0]} == {1.0, 0.75, 0.0}


def test_the_interval_agrees_with_scipys_percentile_bootstrap() -> None:
    source = random.Random(7)
    values = [source.betavariate(2, 3) for _ in range(120)]
    theirs = stats.bootstrap(
        (np.array(values),), np.mean, n_resamples=20_000, method="percentile", random_state=7
    )
    ours = percentile_interval(bootstrap([singles(*values)], "seed")[0])
    width = theirs.confidence_interval.high - theirs.confidence_interval.low
    assert ours.low == pytest.approx(theirs.confidence_interval.low, abs=width / 15)
    assert ours.high == pytest.approx(theirs.confidence_interval.high, abs=width / 15)
    assert np.std(bootstrap([singles(*values)], "seed")[0]) == pytest.approx(theirs.standard_error, rel=0.06)


def test_a_percentile_interval_takes_the_fiftieth_from_each_end() -> None:
    draws = [float(n) for n in range(1, BOOTSTRAP_DRAWS + 1)]
    random.Random(1).shuffle(draws)
    assert percentile_interval(draws) == (50.0, 1950.0, 0.95)


def test_draws_are_the_same_on_every_machine() -> None:
    """Pinned: a change here changes published intervals."""
    strata = [[Unit(1 + n % 2, ((n % 5) / 5,)) for n in range(17)], singles(0.0, 0.25, 1.0)]
    draws = bootstrap(strata, "0/bootstrap")[0]
    assert len(draws) == BOOTSTRAP_DRAWS
    assert draws[:3] == pytest.approx([0.2268115942, 0.3342592593, 0.1696666667], abs=1e-9)


def test_another_seed_draws_other_samples() -> None:
    strata = [singles(*[n / 40 for n in range(40)])]
    assert bootstrap(strata, "1")[0] != bootstrap(strata, "2")[0]


@settings(deadline=None)
@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=2, max_size=30))
def test_for_single_cases_the_standard_error_is_the_textbook_one(pairs: list[tuple[float, float]]) -> None:
    units = [Unit(1, pair) for pair in pairs]
    expected = stats.sem([first - second for first, second in pairs])
    assert standard_error([units], 0, 1) == pytest.approx(expected, abs=1e-12)


def test_the_standard_error_of_a_macro_mean_adds_the_strata() -> None:
    first = [Unit(1, (float(n % 2), 0.0)) for n in range(10)]
    second = [Unit(1, (float(n % 3 == 0), 0.0)) for n in range(20)]
    a, b = (standard_error([stratum], 0, 1) for stratum in (first, second))
    assert a is not None
    assert b is not None
    assert standard_error([first, second], 0, 1) == pytest.approx((a**2 + b**2) ** 0.5 / 2)


def test_the_standard_error_agrees_with_the_bootstraps_spread_for_units_of_unequal_size() -> None:
    source = random.Random(11)
    units = []
    for _ in range(150):
        cases = source.randint(1, 4)
        units.append(Unit(cases, (float(sum(source.random() < 0.6 for _ in range(cases))), 0.0)))
    spread = float(np.std(bootstrap([units], "seed")[0]))
    assert standard_error([units], 0, 1) == pytest.approx(spread, rel=0.08)


def test_one_unit_tells_nothing_of_variation() -> None:
    two = [Unit(1, (1.0, 0.0)), Unit(1, (0.0, 0.0))]
    assert standard_error([two, two[:1]], 0, 1) is None
    assert standard_error([], 0, 1) is None


def test_a_single_column_has_the_standard_error_of_its_own_mean() -> None:
    units = [Unit(1, (float(n % 3 == 0), 0.0)) for n in range(30)]
    assert standard_error([units], 0) == standard_error([units], 0, 1)
    assert standard_error([units[:1]], 0) is None


def test_the_normal_interval_reaches_as_far_as_the_normal_distribution_does() -> None:
    assert stats.norm.ppf(0.975) == pytest.approx(Z)
    assert normal_interval(0.5, 0.1) == pytest.approx((0.5 - 0.1 * Z, 0.5 + 0.1 * Z, 0.95))


def test_intervals_end_where_their_quantity_does() -> None:
    assert clipped(Interval(-0.1, 1.1), 0.0) == Interval(0.0, 1.0)
    assert clipped(Interval(-1.1, 0.2), -1.0) == Interval(-1.0, 0.2)


def test_units_are_counted_over_all_strata_to_choose_the_method() -> None:
    units = singles(*[0.0] * (BOOTSTRAP_UP_TO_UNITS - 2))
    assert is_bootstrapped([units, singles(0.0, 1.0)])
    assert not is_bootstrapped([units, singles(0.0, 1.0, 1.0)])


def test_at_the_border_the_bootstrap_and_the_normal_interval_agree() -> None:
    """Uneven units in two repositories, a rare hit among the columns: the ends differ by the draws' error."""
    source = random.Random(13)
    strata = []
    for size in (500, BOOTSTRAP_UP_TO_UNITS - 500):
        units = []
        for _ in range(size):
            cases = source.randint(1, 3)
            hit, other, rare = (
                float(sum(source.random() < p for _ in range(cases))) for p in (0.6, 0.5, 0.02)
            )
            mrr = sum(source.choice([0.0, 0.1, 0.2, 0.25, 0.5, 1.0]) for _ in range(cases))
            units.append(Unit(cases, (hit, other, rare, mrr)))
        strata.append(units)
    assert is_bootstrapped(strata)
    draws = bootstrap(strata, "seed")
    paired = [ours - theirs for ours, theirs in zip(draws[0], draws[1], strict=True)]
    for plus, minus, values in ((0, 1, paired), *((column, None, draws[column]) for column in range(4))):
        error = standard_error(strata, plus, minus)
        assert error is not None
        mean = sum(
            sum(unit.values[plus] - (0.0 if minus is None else unit.values[minus]) for unit in units)
            / sum(unit.cases for unit in units)
            for units in strata
        ) / len(strata)
        drawn, normal = percentile_interval(values), normal_interval(mean, error)
        width = normal.high - normal.low
        assert drawn.low == pytest.approx(normal.low, abs=width / 16), (plus, minus)
        assert drawn.high == pytest.approx(normal.high, abs=width / 16), (plus, minus)
