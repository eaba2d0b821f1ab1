from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.workspace.channels.fusion import Scored, reciprocal_rank_fusion


def ranking(*units: int) -> list[Scored]:
    return [Scored(unit, 0.0) for unit in units]


def test_scores_are_sums_of_reciprocal_ranks() -> None:
    fused = reciprocal_rank_fusion([ranking(3, 1, 2), ranking(1, 4)])
    assert [scored.unit for scored in fused] == [1, 3, 4, 2]
    expected = [1 / 62 + 1 / 61, 1 / 61, 1 / 62, 1 / 63]
    assert [scored.score for scored in fused] == pytest.approx(expected, abs=0)


def test_equal_scores_stand_in_the_order_of_their_numbers() -> None:
    assert [scored.unit for scored in reciprocal_rank_fusion([ranking(9, 2), ranking(5, 1)])] == [5, 9, 1, 2]


def test_nothing_fuses_to_nothing() -> None:
    assert reciprocal_rank_fusion([]) == []
    assert reciprocal_rank_fusion([[], []]) == []


@given(st.lists(st.lists(st.integers(1, 30), unique=True, max_size=10), max_size=4))
def test_the_order_of_the_rankings_does_not_matter(rankings: list[list[int]]) -> None:
    given_order = [ranking(*units) for units in rankings]
    assert reciprocal_rank_fusion(given_order) == reciprocal_rank_fusion(given_order[::-1])
