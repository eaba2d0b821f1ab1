from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.scoring.metrics import hit_at_k, recall_at_k, reciprocal_rank_at_k
from core.scoring.profile import RankProfile, mean_of, measures_of
from core.scoring.records import Measures

# Distinct ranks: in a list of item ids an item stands at one rank only.
ranks_of_case = st.lists(st.none() | st.integers(1, 30), min_size=1, max_size=4).filter(
    lambda ranks: len({r for r in ranks if r}) == sum(r is not None for r in ranks)
)
cutoffs = st.integers(1, 35)


@given(ranks_of_case, cutoffs)
def test_measures_are_the_metrics_of_the_ranking(ranks: list[int | None], k: int) -> None:
    ranking = [f"filler{n}" for n in range(1, 31)]
    for target, rank in enumerate(ranks):
        if rank is not None:
            ranking[rank - 1] = f"target{target}"
    relevant = {f"target{target}" for target in range(len(ranks))}
    found = measures_of(tuple(ranks), k)
    assert found.hit == hit_at_k(ranking, relevant, k)
    assert found.recall == pytest.approx(recall_at_k(ranking, relevant, k))
    assert found.mrr == pytest.approx(reciprocal_rank_at_k(ranking, relevant, k))


def test_two_targets_may_be_found_by_one_result() -> None:
    assert measures_of((2, 2, None), 5) == Measures(1.0, 2 / 3, 0.5)


@given(st.lists(ranks_of_case, min_size=1, max_size=20), cutoffs)
def test_a_profile_holds_the_mean_over_its_cases(cases: list[list[int | None]], k: int) -> None:
    profile = RankProfile()
    for ranks in cases:
        profile.add(tuple(ranks))
    rows = [measures_of(tuple(ranks), k) for ranks in cases]
    expected = [sum(column) / len(rows) for column in zip(*rows, strict=True)]
    assert list(profile.means([k])[k]) == pytest.approx(expected)


@given(st.lists(ranks_of_case, max_size=10), st.lists(ranks_of_case, max_size=10))
def test_order_and_grouping_change_no_bit(
    first: list[list[int | None]], second: list[list[int | None]]
) -> None:
    whole, left, right = RankProfile(), RankProfile(), RankProfile()
    for ranks in reversed([*first, *second]):
        whole.add(tuple(ranks))
    for ranks in first:
        left.add(tuple(ranks))
    for ranks in second:
        right.add(tuple(ranks))
    left.merge(right)
    assert left.means([1, 5, 10]) == whole.means([1, 5, 10])
    assert left.cases == len(first) + len(second)


def test_a_macro_mean_weighs_its_parts_equally() -> None:
    parts = [{5: Measures(1.0, 1.0, 1.0)}, {5: Measures(0.0, 0.5, 0.25)}]
    assert mean_of(parts, [5]) == {5: Measures(0.5, 0.75, 0.625)}


def test_nothing_scored_is_zero() -> None:
    assert RankProfile().means([1]) == {1: Measures(0.0, 0.0, 0.0)}
    assert mean_of([], [1]) == {1: Measures(0.0, 0.0, 0.0)}
