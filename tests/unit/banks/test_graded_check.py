"""A graded file's own faults and its coverage, found at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.banks.graded_check import check_file
from core.errors import InputError
from core.repositories import RepositoryEntry
from tests.support.graded import QUERIES, document, graded_scene, query


@pytest.fixture
def entry(tmp_path: Path) -> RepositoryEntry:
    return graded_scene(tmp_path).repository


def without(path: str, **changes: Any) -> dict[str, Any]:
    grades = {key: grade for key, grade in QUERIES[0]["relevance_grades"].items() if key != path}
    return {**QUERIES[0], "relevance_grades": grades, **changes}


def test_a_sound_file_has_neither_problems_nor_findings(entry: RepositoryEntry) -> None:
    assert check_file(document(*QUERIES), "q", entry) == (3, (), ())


def test_faults_of_the_file_and_of_its_coverage_are_told_together(entry: RepositoryEntry) -> None:
    raw = document(without("shop/stock.py", gold_facts=["one fact"]), {**QUERIES[1], "shape": 7}, QUERIES[1])
    found = check_file(raw, "q", entry)
    assert [problem.partition(":")[0] for problem in found.problems] == [
        "queries[0] (q-one).gold_facts",
        "queries[1].shape",
    ]
    assert [(each.case_id, each.reason) for each in found.findings] == [("q-one", "module_ungraded")]


def test_a_question_that_has_no_form_is_still_compared_with_the_modules(entry: RepositoryEntry) -> None:
    raw = document({"relevance_grades": {"gone.py": 3}}, {"id": "q-one", "relevance_grades": 1}, QUERIES[0])
    found = check_file(raw, "q", entry)
    assert {each.case_id for each in found.findings} == {"queries[0]"}
    assert {each.reason for each in found.findings} == {"module_ungraded", "not_a_module"}
    assert any(problem.startswith("queries[0].id: ") for problem in found.problems)


def test_rules_that_do_not_read_leave_the_coverage_open_and_say_so(entry: RepositoryEntry) -> None:
    found = check_file(document(*QUERIES, modules={"includes": ["*"]}), "q", entry)
    assert found.findings == ()
    assert found.problems[-1].startswith("modules: as these rules do not read")


def test_nothing_of_a_private_repository_is_told(entry: RepositoryEntry) -> None:
    secret = query("q-one", "Secret?", "focused", ["secret fact", "Secret fact"])
    grades = {"secret/way.py": 9, "../secret.py": 1, "secret.py": 1.5}
    raw = document({**secret, "relevance_grades": grades}, {**secret, "relevance_grades": {"secret.py": -1}})
    found = check_file(raw, "q", entry.model_copy(update={"private": True}))
    told = "\n".join((*found.problems, *(each.sentence for each in found.findings)))
    assert found.problems and found.findings
    assert "secret" not in told.casefold()
    public = "\n".join(check_file(raw, "q", entry).problems)
    assert "secret" in public.casefold()


@pytest.mark.parametrize("raw", [b"{", b'{"queries": [', b'\xff{"queries": 1}'])
def test_what_is_no_json_is_refused_in_words(entry: RepositoryEntry, raw: bytes) -> None:
    with pytest.raises(InputError, match=r"^q.*(JSON|UTF-8)"):
        check_file(raw, "q", entry)


@pytest.mark.parametrize(
    "value", [b'{"queries": {}}', b'{"queries": [1, [], null, {"id": []}]}', b"[]", b"3"]
)
def test_any_json_has_problems_and_never_raises(entry: RepositoryEntry, value: bytes) -> None:
    assert check_file(value, "q", entry).problems
