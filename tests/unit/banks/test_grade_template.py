from __future__ import annotations

import json

import pytest

from core.banks.grade_template import Asked, check_asked, new_file, parse_document, rules_of, with_question
from core.banks.graded import examine
from core.errors import InputError, ProblemsError

MODULES = ("a.py", "b.py")


def test_a_new_file_holds_every_module_at_0_and_only_lacks_what_a_person_must_judge() -> None:
    raw = new_file(Asked("How?", "how", "identity"), MODULES)
    (query,) = json.loads(raw)["queries"]
    assert query["relevance_grades"] == {"a.py": 0, "b.py": 0}
    assert (query["id"], query["question"], query["shape"]) == ("how", "How?", "identity")
    told = [violation.text for violation in examine(raw, "q").violations]
    assert len(told) == 2
    assert "grade one" in told[0] and "gold_facts: found 0, expected 2 to 4" in told[1]


def test_what_was_not_said_is_left_open() -> None:
    (query,) = json.loads(new_file(Asked(), MODULES))["queries"]
    assert (query["id"], query["question"], query["shape"]) == ("question-1", "", "focused")


def test_a_question_is_added_and_all_that_was_there_stays() -> None:
    before = {"version": 2, "own": [1], "queries": [{"id": "question-7", "half": "done"}, 5]}
    after = json.loads(with_question(before, Asked("Ä?"), MODULES, "q"))
    assert {**after, "queries": after["queries"][:2]} == before
    assert after["queries"][2]["id"] == "question-8"


def test_a_taken_id_is_refused() -> None:
    with pytest.raises(InputError, match=r'queries\[0\] has the id "x"; give another --id'):
        with_question({"queries": [{"id": "x"}]}, Asked("?", "x"), MODULES, "q")


@pytest.mark.parametrize("raw", [b"{", b"[]", b'{"queries": 3}', b'{"version": NaN, "queries": []}', b"\xff"])
def test_what_is_no_graded_file_takes_no_question(raw: bytes) -> None:
    with pytest.raises(InputError, match=r"^queries\.json: "):
        parse_document(raw, "queries.json")


def test_the_files_own_rules_say_what_counts_as_a_module() -> None:
    assert rules_of({"modules": {"include": ["*.md"]}}, "q").include == ["*.md"]
    with pytest.raises(ProblemsError, match="modules"):
        rules_of({"modules": {"includes": []}}, "q")


@pytest.mark.parametrize("asked", [Asked(case_id="has space"), Asked(shape="a b"), Asked(question="  ")])
def test_ids_shapes_and_questions_that_a_check_would_refuse_are_refused(asked: Asked) -> None:
    with pytest.raises(ProblemsError, match="the command line"):
        check_asked(asked)
