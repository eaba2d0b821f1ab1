from __future__ import annotations

from typing import Any

import pytest

from core.errors import InputError
from core.scoring.outcomes import Ledger, check_plan, kept_cutoffs, open_ledgers
from core.scoring.records import CandidatePlan
from tests.unit.scoring.builders import case, index, outcome, plan, probe

A, B = case("a"), case("b", channel="docs", paths=["x.md", "y.md"])


def test_one_five_and_ten_are_always_kept() -> None:
    assert kept_cutoffs([]) == (1, 5, 10)
    assert kept_cutoffs([100, 3, 5, 3]) == (1, 3, 5, 10, 100)


@pytest.mark.parametrize("cutoff", [0, -1, 101, 1.0, True, "5", None])
def test_a_cutoff_outside_one_to_a_hundred_is_refused(cutoff: Any) -> None:
    with pytest.raises(InputError, match=r"expected an integer from 1 to 100") as caught:
        kept_cutoffs([5, cutoff])
    assert repr(cutoff) in str(caught.value)


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (plan([A, A]), "holds the case 'a' twice"),
        (plan([A], ["base", "base"]), "holds the candidate 'base' twice"),
        (plan([A])._replace(repositories=("r", "r")), "holds the repository 'r' twice"),
        (plan([A])._replace(repositories=("s",)), "case 'a' is of 'r'"),
        (plan([A], baseline="other"), "baseline 'other' is none of the candidates"),
        (plan([A], [], baseline=None), "no candidate"),
        (plan([]), "no case"),
        (plan([A._replace(target_paths=())]), "case 'a' has no target"),
    ],
)
def test_a_plan_that_contradicts_itself_is_refused(broken: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        check_plan(broken)


def test_outcomes_land_with_their_candidate_in_the_plans_order() -> None:
    planned = plan([A, B], costs=True)
    ledgers = open_ledgers(
        planned,
        iter([outcome("cand", A, 2), outcome("base", B, 1, None)]),
        [probe("cand", A)],
        [index("base", "r")],
    )
    assert list(ledgers) == ["base", "cand"]
    assert ledgers["cand"].ranks(A, "exact") == (2,)
    assert ledgers["base"].ranks(B, "exact") == (1, None)
    assert ledgers["cand"].probes == {"a": probe("cand", A)}
    assert ledgers["base"].indexes == {"r": index("base", "r")}


def test_what_never_arrived_is_missing_and_found_nothing() -> None:
    ledger = Ledger(CandidatePlan("cand"), plan([A, B]))
    assert ledger.query(B).status == "missing"
    assert ledger.ranks(B, "file") == (None, None)


def test_ranks_of_a_query_that_failed_do_not_count() -> None:
    ledger = Ledger(CandidatePlan("cand"), plan([A]))
    ledger.add_query(outcome("cand", A, 1, status="failed"))
    assert ledger.ranks(A, "exact") == (None,)


def test_timings_are_told_by_channel_in_the_plans_order() -> None:
    c = case("c")
    ledger = Ledger(CandidatePlan("cand"), plan([A, B, c]))
    for found in (outcome("cand", c, 1), outcome("cand", B, 1, 2), outcome("cand", A, 1)):
        ledger.add_query(found)
    ledger.add_probe(probe("cand", B))
    assert [t.case_id for t in ledger.timings("emb")] == ["a", "c"]
    assert [t.case_id for t in ledger.timings("docs")] == ["b"]
    assert [(t.case_id, t.elapsed_s) for t in ledger.timings("ctx")] == [("b", 2.0)]


@pytest.mark.parametrize(
    ("queries", "probes", "indexes", "message"),
    [
        ([outcome("other", A, 1)], [], [], "no candidate 'other'"),
        ([outcome("cand", case("z"), 1)], [], [], "no case 'z'"),
        ([outcome("cand", A._replace(repository="s"), 1)], [], [], "no case 'a' of 's'"),
        ([outcome("cand", A, 1), outcome("cand", A, 2)], [], [], "two outcomes for case 'a'"),
        ([outcome("cand", A, 1, 2)], [], [], "has 1 targets"),
        ([], [probe("cand", A), probe("cand", A)], [], "two outcomes for case 'a'"),
        ([], [probe("bare", A)], [], "'bare' plans no ctx probes"),
        ([], [], [index("cand", "r"), index("cand", "r")], "two indexes of 'r'"),
        ([], [], [index("cand", "s")], "plans no index of 's'"),
        ([], [], [index("bare", "r")], "plans no index of 'r'"),
    ],
)
def test_an_outcome_that_the_plan_does_not_hold_is_refused(
    queries: Any, probes: Any, indexes: Any, message: str
) -> None:
    candidates = [CandidatePlan("cand"), CandidatePlan("bare", probes=False, indexes=False)]
    with pytest.raises(ValueError, match=message):
        open_ledgers(plan([A], candidates, baseline=None), queries, probes, indexes)
