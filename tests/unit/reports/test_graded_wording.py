"""How graded results are told: why questions failed, what became of facts, which columns there are."""

from __future__ import annotations

import pytest

from core.questions import Fact, Question
from core.reports.graded_wording import (
    CONTEXT,
    EMBEDDED,
    RANKED,
    cells,
    context_notes,
    expected_words,
    fact_words,
    facts_words,
    over_words,
    ranked_words,
    saved_words,
    why_words,
)
from core.scoring.faithfulness import faithfulness
from core.scoring.graded import GradedAnswer, grade
from core.scoring.graded_records import GradedQuery
from core.scoring.records import Status
from core.scoring.reduction import reduction
from tests.support.graded import board

QUESTION = Question("q", "focused", "How?", {"a.py": 3, "b.py": 1, "c.py": 0}, (Fact("it works"),))


def ranked(*modules: str, status: Status = "answered", error: str | None = None) -> GradedQuery:
    return grade(GradedAnswer("x", QUESTION, status, error, modules))


@pytest.mark.parametrize(
    ("query", "told"),
    [
        (ranked("c.py", "a.py"), "found: a.py at rank 2"),
        (ranked("b.py", "a.py"), "found: a.py at rank 2, after modules of lower grades"),
        (
            ranked("b.py", "c.py", "1", "2", "3", "a.py"),
            "only tangential modules among the first 5 (grade 1 at best); grade 3 stands at rank 6",
        ),
        (
            ranked("b.py"),
            "only tangential modules among the first 5 (grade 1 at best); grade 3 was not retrieved",
        ),
        (
            ranked("c.py", "1", "2", "3", "4", "5", "b.py"),
            "retrieved below the first 5: the first relevant module stands at rank 7",
        ),
        (ranked("c.py", "?"), "not retrieved: no relevant module among 2 results"),
        (ranked(), "empty: answered with nothing"),
        (ranked(status="failed", error="timeout"), "failed: timeout"),
        (ranked(status="missing"), "missing: not asked, or its evidence does not count"),
        (ranked(status="unsupported"), "unsupported: the candidate does not answer this channel"),
    ],
)
def test_why_a_question_ended_as_it_did(query: GradedQuery, told: str) -> None:
    assert why_words(query) == told


def test_modules_stand_with_their_grades_and_a_mark_where_they_have_none() -> None:
    assert expected_words(QUESTION) == "a.py 3, b.py 1"
    assert ranked_words(ranked("README.md", "a.py")) == "README.md ?, a.py 3"
    assert ranked_words(ranked(*"abcdefg")).endswith(", e ? and 2 more")
    assert ranked_words(ranked()) == "—"


@pytest.mark.parametrize(
    ("context", "told"),
    [
        ("it works", "found"),
        ("it does", "missed: lacks works"),
        ("it never works", "found; negated by “never works”"),
    ],
)
def test_what_a_context_says_of_a_fact(context: str, told: str) -> None:
    (finding,) = faithfulness(context, QUESTION.facts).facts
    assert fact_words(finding) == told


def test_the_choice_that_a_context_names_instead_is_told() -> None:
    judged = faithfulness("it is PostgreSQL", [Fact("it is SQLite")])
    assert fact_words(judged.facts[0]) == (
        "missed: lacks sqlite; contradicted, the context names postgresql instead"
    )
    assert facts_words(judged) == "0 of 1 fact, 1 contradicted"
    assert facts_words(None) == saved_words(None) == "—"
    assert saved_words(reduction("a b", 25)) == "2 tokens, 12.5×"


def test_embedded_columns_are_none_without_an_embedding_function_and_named_with_one() -> None:
    without, with_one = board(), board(embedding="a model")
    x, y = (without.candidates[name].overall for name in "xy")
    assert cells(without, x, EMBEDDED) == cells(without, y, EMBEDDED) == ["—"] * 3
    assert cells(with_one, with_one.candidates["x"].overall, EMBEDDED) == [".500", "1.000", ".250"]
    assert cells(with_one, with_one.candidates["y"].overall, EMBEDDED) == ["—"] * 3
    assert "not computed without an embedding function" in context_notes(without)[1]
    assert context_notes(with_one)[1].endswith("by a model.")
    assert without.tokenizer in context_notes(without)[0]


def test_means_are_written_with_what_they_are_over() -> None:
    x, y = (board().candidates[name].overall for name in "xy")
    assert over_words(x) == "2 questions, 1 with a context; 1 failed"
    assert over_words(y) == "2 questions, 0 with a context; 1 empty"
    assert cells(board(), x, RANKED) == [".250", ".250", ".250", ".100", ".500", ".459", ".500"]
    assert cells(board(), y, CONTEXT) == ["—"] * 4
