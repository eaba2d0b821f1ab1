"""Gates: bounds, parts, and values that are not there."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import ProblemsError
from core.questions import Fact, Question
from core.scoring.aggregate import score
from core.scoring.faithfulness import faithfulness
from core.scoring.gate_metrics import COSTS, COUNTS, GRADED_MEANS, GRADED_QUERIES, OPERATIONS, metric_names
from core.scoring.gate_records import Bound, BoundKind, Gate, GateOutcome, Part, Scores
from core.scoring.gates import evaluate
from core.scoring.graded import GradedAnswer, graded_board
from core.scoring.reduction import reduction
from tests.unit.scoring import builders


def scores() -> Scores:
    """Two repositories: in `r` both intents, in `s` one; `cand` finds three of four, and fails one."""
    cases = [
        builders.case("one", "r", intent="symbol_lookup"),
        builders.case("two", "r", intent="task_lookup"),
        builders.case("three", "r", intent="task_lookup"),
        builders.case("four", "s", intent="task_lookup"),
    ]
    queries = [
        builders.outcome("base", cases[0], 1),
        builders.outcome("base", cases[1], 1),
        builders.outcome("base", cases[2], 1),
        builders.outcome("base", cases[3], 1),
        builders.outcome("cand", cases[0], 1),
        builders.outcome("cand", cases[1], 4),
        builders.outcome("cand", cases[2], status="failed", error_class="timeout", returned=0),
        builders.outcome("cand", cases[3], 2, elapsed_s=3.0, sampled_peak_rss_bytes=2**21),
    ]
    board = score(builders.plan(cases), queries)
    return Scores(board, queries)


def gate(metric: str, part: Part = Part(), **options: object) -> Gate:  # noqa: B008 - immutable
    return Gate(metric, (Bound("min", 0.0),), part, **options)  # type: ignore[arg-type]


def only(asked: Gate, candidate: str = "cand", found: Scores | None = None) -> GateOutcome:
    (outcome,) = evaluate([asked], found or scores(), [candidate], "floors.toml")
    return outcome


def value(asked: Gate, candidate: str = "cand", found: Scores | None = None) -> float | None:
    (check,) = only(asked, candidate, found).checks
    return check.value


@pytest.mark.parametrize(
    ("kind", "limit", "number", "held"),
    [
        ("min", 0.5, 0.5, True),
        ("min", 0.05, 0.45 - 0.40, True),
        ("min", 0.5, 0.4999, False),
        ("above", 0.0, 0.0, False),
        ("above", 0.05, 0.45 - 0.40, False),
        ("above", 0.0, 0.01, True),
        ("max", 0.2, 0.2, True),
        ("max", 0.2, 0.2001, False),
        ("below", 0.2, 0.2, False),
        ("below", 0.2, 0.19, True),
    ],
)
def test_bounds_include_or_exclude_their_limit(
    kind: BoundKind, limit: float, number: float, held: bool
) -> None:
    assert Bound(kind, limit).holds(number) is held


@given(st.floats(-1, 1), st.floats(-1, 1))
def test_of_a_floor_and_the_ceiling_that_excludes_it_exactly_one_holds(number: float, limit: float) -> None:
    assert Bound("min", limit).holds(number) is not Bound("below", limit).holds(number)
    assert Bound("max", limit).holds(number) is not Bound("above", limit).holds(number)


def test_metrics_are_read_overall_and_of_each_part() -> None:
    assert value(gate("recall@5")) == pytest.approx((2 / 3 + 1) / 2)
    assert value(gate("recall@5", mean="micro")) == pytest.approx(3 / 4)
    assert value(gate("recall@1")) == pytest.approx(1 / 3 / 2)
    assert value(gate("hit@10", Part(repository="r"))) == pytest.approx(2 / 3)
    assert value(gate("mrr@10", Part(intent="task_lookup"))) == pytest.approx((1 / 4 / 2 + 1 / 2) / 2)
    assert value(gate("mrr@10", Part(intent="task_lookup"), mean="micro")) == pytest.approx(0.75 / 3)
    assert value(gate("recall@5", Part("task_lookup", "r"))) == pytest.approx(1 / 2)
    assert value(gate("recall@5", Part(query="three"))) == 0.0
    assert value(gate("failed")) == 1
    assert value(gate("failed", Part(repository="s"))) == 0


def test_each_holds_every_member_on_its_own() -> None:
    asked = Gate("recall@5", (Bound("above", 0.0),), each="query")
    outcome = only(asked)
    assert [(check.part.query, check.held) for check in outcome.checks] == [
        ("one", True),
        ("two", True),
        ("three", False),
        ("four", True),
    ]
    assert not outcome.held
    assert only(asked._replace(part=Part(repository="s"))).held
    by_intent = only(Gate("recall@5", (Bound("min", 0.8),), each="intent"))
    assert [(check.part.intent, check.held) for check in by_intent.checks] == [
        ("symbol_lookup", True),
        ("task_lookup", False),
    ]
    by_repository = only(Gate("recall@5", (Bound("min", 0.8),), Part(intent="task_lookup"), "repository"))
    assert [(check.part.repository, check.value) for check in by_repository.checks] == [
        ("r", 0.5),
        ("s", 1.0),
    ]


def test_a_repository_without_the_intent_is_no_member_of_each() -> None:
    outcome = only(Gate("recall@5", (Bound("min", 0.0),), Part(intent="symbol_lookup"), "repository"))
    assert [check.part.repository for check in outcome.checks] == ["r"]


def test_what_fell_says_which_bound_it_broke_and_by_how_much() -> None:
    (check,) = only(Gate("recall@5", (Bound("min", 0.9), Bound("max", 1.0)))).checks
    assert check.broken == Bound("min", 0.9)
    assert check.gap == pytest.approx(0.9 - 5 / 6)
    (above,) = only(Gate("recall@5", (Bound("min", 0.1), Bound("max", 0.8)))).checks
    assert above.broken == Bound("max", 0.8)


def test_no_value_is_no_pass_and_says_why() -> None:
    (check,) = only(Gate("index_s", (Bound("max", 100.0),))).checks
    assert check.value is None and not check.held
    assert "not every planned index succeeded" in str(check.reason)
    (docs,) = only(Gate("latency_docs_s", (Bound("max", 100.0),))).checks
    assert not docs.held and "answered and timed" in str(docs.reason)


def test_costs_are_marked_as_depending_on_the_machine() -> None:
    assert only(gate("latency_emb_s")).machine_dependent
    assert value(gate("latency_emb_s")) == pytest.approx(1.0)
    assert value(gate("sampled_rss_mib")) == pytest.approx(2.0)
    assert not only(gate("recall@5")).machine_dependent
    assert not only(gate("lines_per_hit")).machine_dependent


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (gate("recal@5"), "unknown metric 'recal@5'; did you mean 'recall@5'?"),
        (gate("recall@3"), "did you mean"),
        (gate("mrr"), "did you mean 'mrr@"),
        (gate("zzz"), "this run has"),
        (gate("recall@5", Part(intent="focused")), "no cases of the intent or shape 'focused'"),
        (gate("recall@5", Part(repository="x")), "no cases of the repository 'x'; it has r, s"),
        (gate("recall@5", Part("symbol_lookup", "s")), "no cases of s with the intent 'symbol_lookup'"),
        (gate("recall@5", Part(query="five")), "no query 'five'"),
        (gate("recall@5", Part(intent="focused"), each="query"), "'focused'"),
        (gate("failed", Part(query="one")), "not told of single queries"),
        (gate("index_s", Part(repository="r")), "all cases together only"),
        (gate("latency_emb_s", each="query"), "not told of single queries"),
    ],
)
def test_what_the_run_does_not_have_is_a_mistake_not_a_pass(asked: Gate, told: str) -> None:
    with pytest.raises(ProblemsError) as caught:
        evaluate([gate("recall@5"), asked], scores(), ["base", "cand"], "floors.toml")
    assert "floors.toml does not fit the run:" in str(caught.value)
    (problem,) = caught.value.problems  # once, though both candidates have it
    assert problem.startswith(f"gate[1] ({asked.metric}): ") and told in problem


def test_hostile_names_are_made_safe_in_messages() -> None:
    with pytest.raises(ProblemsError) as caught:
        evaluate([gate("\x1b]52;c;x\x07" * 100)], scores(), ["cand"], "\x1bfile")
    assert "\x1b" not in str(caught.value) and len(str(caught.value)) < 1500


def graded(*, probing: bool = True) -> Scores:
    grades = {"a.py": 3, "b.py": 1, "c.py": 0}
    facts = (Fact("the store is SQLite"), Fact("records expire"))
    asked = [
        Question("q1", "focused", "Where?", grades, facts),
        Question("q2", "identity", "What?", grades, facts),
    ]
    judged = faithfulness("the store is SQLite, records never expire", facts)
    answers = [
        GradedAnswer(
            "cand",
            asked[0],
            "answered",
            None,
            ("a.py", "c.py"),
            judged if probing else None,
            reduction("a b", 20) if probing else None,
        ),
        GradedAnswer("cand", asked[1], "answered", None, ("c.py",)),
    ]
    cases = [builders.case(q.case_id, intent=q.shape, paths=["a.py", "b.py"]) for q in asked]
    queries = [builders.outcome("cand", cases[0], 1, None), builders.outcome("cand", cases[1], None, None)]
    plan = builders.plan(cases, ["cand"], baseline=None)._replace(sought="relevant module")
    board = graded_board(answers, {"cand": probing}, ("focused", "identity"), 3)
    return Scores(score(plan, queries), queries, board)


def test_graded_metrics_are_read_overall_of_shapes_and_of_questions() -> None:
    found = graded()
    assert value(gate("recall@5"), found=found) == pytest.approx(0.25)
    assert value(gate("mrr"), found=found) == 0.5
    assert value(gate("hit_rate", Part(intent="focused")), found=found) == 1.0
    assert value(gate("hit_rate", Part(repository="r")), found=found) == 0.5
    assert value(gate("ndcg@5", Part(query="q2")), found=found) == 0.0
    assert value(gate("contradiction"), found=found) == pytest.approx(0.25)
    assert value(gate("reduction"), found=found) == 10.0
    assert value(gate("recall@10"), found=found) == pytest.approx(0.25)
    shapes = only(Gate("hit_rate", (Bound("min", 0.7),), each="intent"), found=found)
    assert [check.held for check in shapes.checks] == [True, False]


def test_what_needs_a_context_falls_with_a_reason_where_none_came() -> None:
    without = graded(probing=False)
    (check,) = only(Gate("faithfulness", (Bound("above", 0.0),)), found=without).checks
    assert not check.held and "no ctx probe" in str(check.reason)
    (embedded,) = only(Gate("context_recall", (Bound("min", 0.0),)), found=graded()).checks
    assert not embedded.held and "--embed" in str(embedded.reason)
    each = only(Gate("contradiction", (Bound("max", 1.0),), each="query"), found=graded())
    assert [check.held for check in each.checks] == [True, False]


def test_every_metric_of_a_run_has_a_value_or_a_reason() -> None:
    for found in (scores(), graded()):
        for name in metric_names(found):
            (check,) = only(gate(name), found=found).checks
            assert check.value is not None or check.reason
            assert check.value is None or math.isfinite(check.value)


def test_graded_means_and_questions_know_the_same_names() -> None:
    assert {*GRADED_MEANS} == {*GRADED_QUERIES}
    assert not {*GRADED_MEANS} & {*COUNTS, *OPERATIONS, *COSTS}
