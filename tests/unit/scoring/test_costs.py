from __future__ import annotations

import pytest

from core.scoring.costs import (
    Timing,
    budget_notes,
    index_cost,
    largest,
    latency,
    latency_ratio,
    operation_counts,
)
from core.scoring.records import Form, IndexOutcome, Latency, OperationCounts
from tests.unit.scoring.builders import case, index, plan

ONE_SHOT: tuple[Form, Form] = ("one-shot", "one-shot")


def timed(case_id: str, elapsed_s: float | None) -> Timing:
    return Timing(case_id, "answered", elapsed_s, False)


def late(case_id: str) -> Timing:
    return Timing(case_id, "failed", 900.0, True)


def test_a_median_is_over_answers_with_timeouts_beside_it() -> None:
    assert latency([timed("a", 1.0), timed("b", 3.0), late("c")]) == Latency(2.0, 2, 1)
    assert latency([timed("a", None), late("b")]) == Latency(None, 0, 1)
    assert latency([]) == Latency(None, 0, 0)


def test_a_ratio_is_over_the_cases_that_both_answered() -> None:
    ours = [timed("a", 2.0), timed("b", 4.0), timed("c", 100.0)]
    theirs = [timed("b", 2.0), timed("a", 1.0), late("c"), timed("d", 0.1)]
    found = latency_ratio(ours, theirs, ONE_SHOT)
    assert (found.ratio, found.candidate_median_s, found.baseline_median_s) == (2.0, 3.0, 1.5)
    assert (found.cases, found.candidate_timeouts, found.baseline_timeouts) == (2, 0, 1)
    assert found.within_limit is False
    assert found.reason is None


@pytest.mark.parametrize(("seconds", "within"), [(1.25, True), (1.26, False), (0.5, True)])
def test_the_limit_on_a_ratio_is_inclusive(seconds: float, within: bool) -> None:
    assert latency_ratio([timed("a", seconds)], [timed("a", 1.0)], ONE_SHOT).within_limit is within


@pytest.mark.parametrize(
    ("theirs", "forms", "reason"),
    [
        (timed("a", 1.0), ("session", "one-shot"), "candidate runs as session, baseline as one-shot"),
        (timed("a", 1.0), (None, "one-shot"), "nothing was timed"),
        (timed("b", 1.0), ONE_SHOT, "no case that both answered"),
        (late("a"), ONE_SHOT, "no case that both answered"),
        (timed("a", 0.0), ONE_SHOT, "the baseline's median is 0 s"),
    ],
)
def test_a_ratio_that_would_mislead_is_withheld_with_a_reason(
    theirs: Timing, forms: tuple[Form | None, Form | None], reason: str
) -> None:
    found = latency_ratio([timed("a", 2.0)], [theirs], forms)
    assert (found.ratio, found.within_limit, found.reason) == (None, None, reason)


def test_what_was_planned_and_never_came_is_missing() -> None:
    counts = operation_counts(5, [("answered", False), ("failed", True), ("missing", False)])
    assert counts == OperationCounts(planned=5, answered=1, failed=1, missing=3, timed_out=1)


def test_index_time_is_summed_over_repositories() -> None:
    cost = index_cost(("r", "s"), {"s": index("m", "s", elapsed_s=4.0), "r": index("m", "r", elapsed_s=2.5)})
    assert (cost.total_s, list(cost.by_repository.items())) == (6.5, [("r", 2.5), ("s", 4.0)])
    assert cost.counts == OperationCounts(2, 2, 0, 0, 0)
    assert cost.units == {"r": 10, "s": 10}


@pytest.mark.parametrize(
    "outcomes",
    [
        {},
        {"r": index("m", "r")},
        {"r": index("m", "r"), "s": index("m", "s", "failed")},
        {"r": index("m", "r"), "s": IndexOutcome("m", "s", "answered")},
    ],
)
def test_no_total_is_told_of_a_part(outcomes: dict[str, IndexOutcome]) -> None:
    assert index_cost(("r", "s"), outcomes).total_s is None


def test_a_candidate_that_indexes_nothing_has_no_index_cost() -> None:
    cost = index_cost((), {})
    assert (cost.total_s, cost.counts) == (None, OperationCounts(0, 0, 0, 0, 0))


def test_budgets_are_set_beside_what_was_observed() -> None:
    budgeted = plan([case("c")], memory_budget_mib=100.0, max_index_seconds=60.0)
    memory, seconds = budget_notes(budgeted, 200 * 2**20, 60.0)
    assert memory == ("memory_budget_mib", 100.0, 200.0, False)
    assert seconds == ("max_index_seconds", 60.0, 60.0, True)
    assert [note.within for note in budget_notes(budgeted, None, None)] == [None, None]
    assert budget_notes(plan([case("c")]), 1, 1.0) == ()


def test_the_largest_value_is_among_those_observed() -> None:
    assert largest([None, 3, 7, None]) == 7
    assert largest([None]) is None
