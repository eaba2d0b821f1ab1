"""Graded questions scored, and the same numbers from independent implementations."""

from __future__ import annotations

import ir_measures
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ir_measures import P, R, Success, nDCG

from core.questions import Fact, Question
from core.scoring.faithfulness import faithfulness
from core.scoring.graded import GradedAnswer, grade, graded_board
from core.scoring.graded_records import GradedQuery, Why
from core.scoring.records import Status
from core.scoring.reduction import count_tokens, reduction
from tests.support.peers import import_ranx

GRADES = {"a": 3, "b": 1, "c": 0, "d": 0, "e": 2}


def question(case_id: str = "q", shape: str = "focused", grades: dict[str, int] = GRADES) -> Question:
    return Question(case_id, shape, "How?", grades, (Fact("it works"), Fact("it is fast")))


def answered(*ranked: str, grades: dict[str, int] = GRADES) -> GradedQuery:
    return grade(GradedAnswer("x", question(grades=grades), "answered", ranked=ranked))


def test_the_metrics_of_one_question() -> None:
    query = answered("c", "e", "d", "a")
    assert query.recall == {1: 0.0, 3: pytest.approx(1 / 3), 5: pytest.approx(2 / 3)}
    assert (query.precision, query.reciprocal_rank, query.hit, query.judged) == (2 / 5, 1 / 2, 1.0, 1.0)


def test_reciprocal_rank_and_hit_look_at_the_whole_ranking() -> None:
    query = answered(*(f"other{number}" for number in range(20)), "b")
    assert (query.reciprocal_rank, query.hit, query.recall[5]) == (1 / 21, 1.0, 0.0)


def test_an_item_without_a_grade_is_not_relevant_and_lowers_what_is_judged() -> None:
    assert answered("unknown", "a").judged == 0.5


@pytest.mark.parametrize(
    ("ranked", "grades", "why"),
    [
        (("c", "a"), GRADES, "found"),
        (("b", "e"), GRADES, "tangential"),
        (("c", "d", "v", "w", "x", "a"), GRADES, "below"),
        (("b", "c", "d", "v", "w", "a"), GRADES, "tangential"),
        (("c", "unknown"), GRADES, "not_retrieved"),
        ((), GRADES, "empty"),
        (("b",), {"b": 1, "c": 0}, "found"),
        (("c",), {"c": 0}, "not_retrieved"),
    ],
)
def test_why_a_question_ended_as_it_did(ranked: tuple[str, ...], grades: dict[str, int], why: Why) -> None:
    assert answered(*ranked, grades=grades).why == why


@pytest.mark.parametrize("status", ["failed", "missing", "unsupported"])
def test_what_was_not_answered_scores_0_and_says_so(status: Status) -> None:
    query = grade(GradedAnswer("x", question(), status, "timeout"))
    assert (query.recall[5], query.ndcg, query.hit, query.why) == (0.0, 0.0, 0.0, status)


@pytest.mark.parametrize("grades", [{"a": 1.5}, {"a": float("nan")}, {"a": True}])
def test_grades_that_are_no_whole_numbers_are_refused(grades: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="grade"):
        answered("a", grades=grades)


def test_a_negative_grade_counts_as_none_and_a_module_twice_is_refused() -> None:
    assert answered("s", "a", grades={"a": 1, "s": -1}).recall[1] == 0.0
    with pytest.raises(ValueError, match=r"twice|more than once|repeated"):
        answered("a", "a")


def test_without_a_relevant_module_every_metric_is_0() -> None:
    query = answered("a", grades={"a": 0})
    assert (query.recall[5], query.precision, query.reciprocal_rank, query.ndcg, query.hit) == (0, 0, 0, 0, 0)


MODULES = [f"m{number}" for number in range(12)]


@given(
    st.dictionaries(st.sampled_from(MODULES), st.integers(0, 3), min_size=1),
    st.lists(st.sampled_from(MODULES), unique=True, max_size=12),
)
def test_ir_measures_says_the_same(grades: dict[str, int], ranked: list[str]) -> None:
    query = answered(*ranked, grades=grades)
    if not ranked or not any(grades.values()):
        assert query.ndcg == 0.0  # ir-measures has no value for these
        return
    qrels = [ir_measures.Qrel("q", module, grade) for module, grade in grades.items()]
    run = [ir_measures.ScoredDoc("q", module, -float(rank)) for rank, module in enumerate(ranked)]
    gains = {0: 0, 1: 1, 2: 3, 3: 7}
    wanted = {
        R @ 1: query.recall[1],
        R @ 3: query.recall[3],
        R @ 5: query.recall[5],
        P @ 5: query.precision,
        ir_measures.RR: query.reciprocal_rank,
        Success @ 1000: query.hit,
        nDCG(gains=gains) @ 5: query.ndcg,
    }
    found = ir_measures.calc_aggregate(list(wanted), qrels, run)
    for measure, value in wanted.items():
        assert found[measure] == pytest.approx(value, abs=1e-9), measure


@given(
    st.dictionaries(st.sampled_from(MODULES), st.integers(0, 3), min_size=1),
    st.lists(st.sampled_from(MODULES), unique=True, min_size=1, max_size=12),
)
@settings(max_examples=30, deadline=None)
def test_ranx_says_the_same(grades: dict[str, int], ranked: list[str]) -> None:
    ranx = import_ranx()
    query = answered(*ranked, grades=grades)
    judged = {module: grade for module, grade in grades.items() if grade}
    if not judged:
        assert (query.recall[5], query.ndcg, query.hit) == (0.0, 0.0, 0.0)  # ranx has no value for these
        return
    run = ranx.Run({"q": {module: float(len(ranked) - rank) for rank, module in enumerate(ranked)}})
    wanted = {
        "recall@1": query.recall[1],
        "recall@3": query.recall[3],
        "recall@5": query.recall[5],
        "precision@5": query.precision,
        "mrr": query.reciprocal_rank,
        "hit_rate": query.hit,
        "ndcg_burges@5": query.ndcg,
    }
    found = ranx.evaluate(ranx.Qrels({"q": judged}), run, list(wanted))
    for name, value in wanted.items():
        assert found[name] == pytest.approx(value, abs=1e-9), name


def test_means_count_every_question_and_stand_by_shape() -> None:
    context = faithfulness("it works", question().facts)
    answers = [
        GradedAnswer("x", question("one"), "answered", ranked=("a",), faithfulness=context),
        GradedAnswer("x", question("two", "identity"), "failed", "timeout"),
    ]
    board = graded_board(answers, {"x": True}, ("focused", "identity"), 5)
    overall = board.candidates["x"].overall
    assert (overall.questions, overall.answered, overall.failed, overall.contexts) == (2, 1, 1, 1)
    assert overall.recall[5] == pytest.approx(1 / 6)
    assert (overall.fact_recall, overall.faithfulness, overall.contradiction) == (0.25, 0.25, 0.0)
    assert board.candidates["x"].shapes["identity"].hit_rate == 0.0
    assert board.candidates["x"].shapes["focused"].faithfulness == 0.5


def test_a_candidate_without_a_probe_has_no_faithfulness() -> None:
    board = graded_board([GradedAnswer("x", question(), "answered")], {"x": False}, ("focused",), 5)
    overall = board.candidates["x"].overall
    assert (overall.faithfulness, overall.contradiction, overall.reduction) == (None, None, None)


def test_every_candidate_answers_every_question_once() -> None:
    one = GradedAnswer("x", question(), "answered")
    for answers in ([one, one], [one]):
        with pytest.raises(ValueError, match="exactly one answer"):
            graded_board(answers, {"x": True, "y": True}, ("focused",), 5)


def test_tokens_are_words_and_marks() -> None:
    assert count_tokens("def f(x):\n    return x_1 + 2") == 10
    assert reduction("a b", 10) == (2, 10, 5.0)
    assert reduction("", 10) == (0, 10, None)
