from __future__ import annotations

from core.reports.examples import disagreements, outcome
from tests.unit.reports.boards import campaign


def test_the_widest_spread_that_the_leader_wins_comes_first() -> None:
    found = campaign({"a": [1, None, 1, 2, 1], "b": [None, 1, 1, 1, 1]})
    # b leads on MRR; positions 0 and 1 have equal spread and b wins 1
    first, second, *_ = found.examples
    assert first.outcomes == {"a": "miss", "b": 1}
    assert first.query == "query_1"
    assert second.outcomes == {"a": 1, "b": "miss"}


def test_agreement_and_failures_are_no_disagreement() -> None:
    found = campaign({"a": [1, None, 1, "empty"], "b": [1, None, "failed", None]})
    assert found.examples == ()


def test_outcomes_tell_apart_why_there_is_no_rank() -> None:
    found = campaign({"a": [3, None, "empty", "failed", "unsupported"]})
    assert [outcome(query, "exact") for query in found.queries] == [
        3,
        "miss",
        "empty",
        "failed",
        "unsupported",
    ]


def test_examples_vary_before_they_repeat_and_stop_at_the_limit() -> None:
    found = campaign({"a": [1] * 10, "b": [None] * 10})
    chosen = disagreements(found.board, found.queries, found.cases, frozenset(), limit=3)
    assert [example.query for example in chosen] == ["query_0", "query_1", "query_2"]
    assert disagreements(found.board, found.queries, found.cases, frozenset(), limit=0) == ()


def test_private_cases_are_never_examples() -> None:
    found = campaign({"a": [1] * 4, "b": [None] * 4}, repositories={"alpha": False, "vault": True})
    assert {example.repository for example in found.examples} == {"alpha"}
