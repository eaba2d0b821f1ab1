from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.scoring import metrics
from core.scoring.metrics import (
    average_precision,
    hit_at_k,
    in_score_order,
    judged_at_k,
    ndcg_at_k,
    precision_at_k,
    recall_at_k,
    reciprocal_rank_at_k,
    relevant_items,
)

SET_METRICS = [hit_at_k, recall_at_k, precision_at_k, reciprocal_rank_at_k]
AT_K: list[Callable[..., float]] = [*SET_METRICS, judged_at_k, ndcg_at_k]

items = st.sampled_from("abcdefghij")
rankings = st.lists(items, unique=True)
gradings = st.dictionaries(items, st.integers(-1, 4))


@pytest.mark.parametrize(
    ("grades", "ranking", "gain", "value"),
    [
        ({"a": 3, "b": 1}, "bax", "exponential", 0.7098097414),
        ({"a": 3, "b": 1}, "bax", "linear", 0.7967075810),
        ({"a": 1, "b": 2}, "ab", "linear", 0.8597186998),
        ({"a": 1, "b": 2}, "ba", "exponential", 1.0),
    ],
)
def test_ndcg_at_known_values(grades: dict[str, int], ranking: str, gain: metrics.Gain, value: float) -> None:
    assert ndcg_at_k(list(ranking), grades, 3, gain) == pytest.approx(value, abs=1e-10)


@pytest.mark.parametrize(
    ("metric", "ranking", "relevant", "k", "value"),
    [
        (hit_at_k, "xab", "ab", 1, 0.0),
        (hit_at_k, "xab", "ab", 2, 1.0),
        (recall_at_k, "xab", "abc", 2, 1 / 3),
        (recall_at_k, "xab", "abc", 100, 2 / 3),
        (precision_at_k, "xab", "ab", 3, 2 / 3),
        (precision_at_k, "ab", "ab", 5, 2 / 5),  # divides by k, whatever was returned
        (reciprocal_rank_at_k, "xyab", "ab", 10, 1 / 3),
        (reciprocal_rank_at_k, "xyab", "ab", 2, 0.0),
        (judged_at_k, "axb", "ab", 3, 2 / 3),
        (judged_at_k, "ax", "ab", 10, 1 / 2),  # divides by what was returned
    ],
)
def test_values_by_hand(
    metric: Callable[..., float], ranking: str, relevant: str, k: int, value: float
) -> None:
    assert metric(list(ranking), set(relevant), k) == pytest.approx(value, abs=1e-15)


def test_average_precision_by_hand() -> None:
    assert average_precision(list("axbyz"), set("abc")) == pytest.approx((1 / 1 + 2 / 3) / 3)


@pytest.mark.parametrize("metric", AT_K)
def test_an_empty_ranking_scores_zero(metric: Callable[..., float]) -> None:
    assert metric([], {"a": 1}, 5) == 0.0
    assert average_precision([], {"a"}) == 0.0


@pytest.mark.parametrize("metric", AT_K)
def test_no_judgment_scores_zero(metric: Callable[..., float]) -> None:
    assert metric(["a", "b"], {}, 5) == 0.0
    assert average_precision(["a"], set()) == 0.0


@pytest.mark.parametrize("metric", AT_K)
@pytest.mark.parametrize("k", [0, -1, 1.0, True, None, math.nan])
def test_a_cutoff_is_a_positive_integer(metric: Callable[..., float], k: Any) -> None:
    with pytest.raises(ValueError, match="cutoff must be an integer of at least 1"):
        metric(["a"], {"a": 1}, k)


@pytest.mark.parametrize("metric", AT_K)
def test_a_repeated_item_is_refused(metric: Callable[..., float]) -> None:
    with pytest.raises(ValueError, match="names an item twice"):
        metric(["a", "b", "a"], {"a": 1}, 1)
    with pytest.raises(ValueError, match="names an item twice"):
        average_precision(["a", "a"], {"a"})


def test_a_string_is_no_ranking() -> None:
    with pytest.raises(TypeError, match="not one string"):
        hit_at_k("abc", {"a"}, 1)


@pytest.mark.parametrize("grade", [0.5, 1.0, math.nan, True, "1", None])
@pytest.mark.parametrize("gain", ["linear", "exponential"])
def test_a_grade_is_an_integer(grade: Any, gain: metrics.Gain) -> None:
    with pytest.raises(ValueError, match="grade must be an integer"):
        ndcg_at_k(["b"], {"a": grade}, 1, gain)


def test_a_grade_whose_gain_no_double_holds_is_refused() -> None:
    assert ndcg_at_k(["a"], {"a": metrics.LARGEST_GRADE}, 1) == 1.0
    with pytest.raises(ValueError, match="at most 1000, not 1001"):
        ndcg_at_k(["a"], {"a": metrics.LARGEST_GRADE + 1}, 1)


def test_an_unknown_gain_is_refused() -> None:
    with pytest.raises(ValueError, match="exponential or linear"):
        ndcg_at_k(["a"], {"a": 1}, 1, "quadratic")  # type: ignore[arg-type]


def test_negative_and_zero_grades_gain_nothing() -> None:
    assert ndcg_at_k(["a", "b"], {"a": -2, "b": 1}, 2) == ndcg_at_k(["a", "b"], {"b": 1}, 2)
    assert ndcg_at_k(["a"], {"a": 0, "b": -1}, 5) == 0.0
    assert relevant_items({"a": -1, "b": 0, "c": 1, "d": 2}) == {"c", "d"}
    assert relevant_items({"c": 1, "d": 2}, at_least=2) == {"d"}


def test_an_unjudged_item_is_not_relevant_but_takes_its_rank() -> None:
    assert reciprocal_rank_at_k(["?", "a"], {"a"}, 5) == 0.5
    assert ndcg_at_k(["?", "a"], {"a": 1}, 5) == pytest.approx(1 / math.log2(3))


def test_relevant_items_named_twice_count_once() -> None:
    assert recall_at_k(["a"], ["a", "a", "b"], 1) == 0.5
    assert average_precision(["a"], ["a", "a"]) == 1.0


@given(rankings, gradings, st.integers(1, 15))
def test_every_metric_lies_between_zero_and_one(ranking: list[str], grades: dict[str, int], k: int) -> None:
    relevant = relevant_items(grades)
    values = [metric(ranking, relevant, k) for metric in SET_METRICS]
    values += [judged_at_k(ranking, grades, k), average_precision(ranking, relevant)]
    values += [ndcg_at_k(ranking, grades, k), ndcg_at_k(ranking, grades, k, "linear")]
    assert all(0.0 <= value <= 1.0 + 1e-12 for value in values)


@given(rankings, gradings, st.integers(1, 15))
def test_hits_never_fall_as_the_cutoff_grows(ranking: list[str], grades: dict[str, int], k: int) -> None:
    relevant = relevant_items(grades)
    for metric in (hit_at_k, recall_at_k, reciprocal_rank_at_k):
        assert metric(ranking, relevant, k) <= metric(ranking, relevant, k + 1)


@given(rankings, items, st.integers(1, 15))
def test_with_one_relevant_item_recall_is_hit(ranking: list[str], item: str, k: int) -> None:
    assert recall_at_k(ranking, {item}, k) == hit_at_k(ranking, {item}, k)


@given(gradings, st.integers(1, 15))
def test_an_ideal_ranking_has_ndcg_one(grades: dict[str, int], k: int) -> None:
    ideal = sorted(grades, key=lambda item: -grades[item])
    expected = 1.0 if any(grade > 0 for grade in grades.values()) else 0.0
    assert ndcg_at_k(ideal, grades, k) == pytest.approx(expected)
    assert ndcg_at_k(ideal, grades, k, "linear") == pytest.approx(expected)


@given(st.lists(st.floats(allow_nan=False)))
def test_scores_are_in_order_when_they_never_rise(scores: Sequence[float]) -> None:
    assert in_score_order(sorted(scores, reverse=True))
    assert in_score_order(scores) == (list(scores) == sorted(scores, reverse=True))


def test_a_nan_score_is_refused_with_its_rank() -> None:
    with pytest.raises(ValueError, match="rank 2 is NaN"):
        in_score_order([1.0, math.nan, 0.5])
