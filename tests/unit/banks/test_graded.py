"""Graded banks: what is read, what is refused, and how the repository's modules are compared."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from core.banks.case import Bank
from core.banks.check import check_bank
from core.banks.graded import FORMAT, bound, is_graded, parse_graded
from core.banks.pinning import fitted
from core.banks.reading import decode_bank
from core.errors import InputError, ProblemsError
from core.questions import Fact, collapsed
from core.ranking import Location, Target
from core.repositories import RepositoryEntry
from tests.support.repositories import make_repository

FILES = {
    "auth/jwt.py": b"def verify():\n    pass\n",
    "auth/__init__.py": b"import os\n",
    "api/routes.py": b"ROUTES = 1\n",
    "empty.py": b" \n",
    "README.md": b"# Words\n",
}


def query(**changes: Any) -> dict[str, Any]:
    entry = {
        "id": "jwt-verify",
        "question": "How is a token verified?",
        "shape": "focused",
        "relevance_grades": {"api/routes.py": 1, "auth/jwt.py": 3},
        "gold_facts": ["verify checks the signature", {"fact": "tokens expire", "aliases": ["expiry"]}],
    }
    return {**entry, **changes}


def raw(*queries: dict[str, Any], **top: Any) -> bytes:
    return json.dumps({"version": "1.0", "description": "", "queries": list(queries), **top}).encode()


def problems(data: bytes) -> tuple[str, ...]:
    with pytest.raises(ProblemsError) as told:
        parse_graded(data, "queries.json")
    return tuple(told.value.problems)


def entry(folder: Path, **changes: Any) -> RepositoryEntry:
    commit = make_repository(folder / "store", FILES)
    return RepositoryEntry(label="store", path=folder / "store", commit=commit, **changes)


def test_a_question_becomes_a_case_that_asks_for_its_relevant_modules_the_best_first() -> None:
    bank = decode_bank(raw(query()), "queries.json")
    assert (bank.format, len(bank.cases)) == (FORMAT, 1)
    case = bank.cases[0]
    assert (case.id, case.intent, case.channel) == ("jwt-verify", "focused", "emb")
    assert case.targets == (Target("auth/jwt.py", 0, "file"), Target("api/routes.py", 0, "file"))
    assert bank.graded is not None
    assert bank.graded.questions["jwt-verify"].facts == (
        Fact("verify checks the signature"),
        Fact("tokens expire", ("expiry",)),
    )


def test_a_query_may_name_its_channel() -> None:
    assert decode_bank(raw(query(channel="docs")), "q").cases[0].channel == "docs"


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"relevance_grades": {"a.py": 4}}, "a.py: found 4, expected 0 to 3"),
        ({"relevance_grades": {"a.py": -1}}, "a.py: found -1, expected 0 to 3"),
        ({"relevance_grades": {"a.py": 0}}, "no module has a grade of 1 or more"),
        ({"relevance_grades": {"a.py": 1.5}}, "relevance_grades.a.py: found 1.5, expected a whole number"),
        ({"relevance_grades": {"../a.py": 1}}, "found a path with a `..` part"),
        ({"gold_facts": ["one fact"]}, "gold_facts: found 1, expected 2 to 4"),
        ({"gold_facts": ["fact number one"] * 2}, "found a fact twice"),
        ({"gold_facts": [f"fact {number}" for number in range(5)]}, "gold_facts: found 5, expected 2 to 4"),
        ({"gold_facts": ["x", "a whole fact"]}, "gold_facts[0]: found under 2 characters"),
        ({"id": "has space"}, "queries[0].id: "),
        ({"question": "  "}, "queries[0].question: "),
        ({"shap": "focused"}, 'did you mean "shape"'),
    ],
)
def test_a_violation_is_named_with_its_place(change: dict[str, Any], told: str) -> None:
    assert any(told in problem for problem in problems(raw(query(**change))))


def test_every_violation_is_listed_at_once() -> None:
    found = problems(raw(query(gold_facts=["a fact"]), query(relevance_grades={"a.py": 9})))
    assert len(found) == 3
    assert "which queries[0] has" in found[2]


@pytest.mark.parametrize(
    "data", [b"{", b'{"queries": [', b'\xff{"queries": 1}', b'{"version": NaN, "queries": []}']
)
def test_a_broken_file_is_refused_in_words(data: bytes) -> None:
    with pytest.raises(InputError, match=r"queries\.json"):
        parse_graded(data, "queries.json")


def test_formats_are_told_apart_also_where_they_are_broken() -> None:
    assert is_graded(raw(query()))
    assert is_graded(b'{\n  "version": 1,\n  "queries": [\n')
    assert not is_graded(b'{"channel":"emb"}\n{"channel":')
    assert not is_graded(b'{"channel":')


def test_a_bank_is_bound_to_the_one_repository_of_its_manifest(tmp_path: Path) -> None:
    bank, entries = fitted(parse_graded(raw(query()), "q"), [entry(tmp_path)], "q")
    assert bank.commits == {"store": entries[0].commit}
    with pytest.raises(InputError, match="asks about one repository, the manifest names 2"):
        fitted(bank, [*entries, entries[0].model_copy(update={"label": "other"})], "q")


def findings(tmp_path: Path, bank: Bank, **changes: Any) -> list[tuple[str, str]]:
    place = entry(tmp_path, **changes)
    result = check_bank(bound(bank, "store", str(place.commit)), [place])
    return [(finding.reason, finding.sentence) for finding in result.findings]


def test_a_bank_that_grades_every_module_and_nothing_else_is_borne_out(tmp_path: Path) -> None:
    assert findings(tmp_path, parse_graded(raw(query()), "q")) == []


def test_modules_without_a_grade_and_grades_without_a_module_are_named(tmp_path: Path) -> None:
    grades = {"auth/jwt.py": 3, "auth/__init__.py": 0, "gone.py": 1}
    found = findings(tmp_path, parse_graded(raw(query(relevance_grades=grades)), "q"))
    assert [reason for reason, _ in found] == ["module_ungraded", "not_a_module"]
    assert "1 of 2 modules have no grade (api/routes.py)" in found[0][1]
    assert "(auth/__init__.py, gone.py)" in found[1][1]


def test_a_private_repository_is_counted_and_not_named(tmp_path: Path) -> None:
    found = findings(tmp_path, parse_graded(raw(query(relevance_grades={"gone.py": 1})), "q"), private=True)
    assert not any(path in sentence for _, sentence in found for path in ("gone.py", "jwt", "routes"))


def test_the_file_says_which_files_are_modules(tmp_path: Path) -> None:
    rules = {"include": ["*.py", "*.md"], "exclude": ["api/*"]}
    grades = {"auth/jwt.py": 3, "README.md": 0}
    assert findings(tmp_path, parse_graded(raw(query(relevance_grades=grades), modules=rules), "q")) == []


def test_where_nothing_counts_as_a_module_the_check_says_how_to_name_them(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no file at [0-9a-f]{12} counts as a module"):
        findings(tmp_path, parse_graded(raw(query(), modules={"include": ["*.zig"]}), "q"))


def test_a_ranking_of_places_is_one_of_modules_at_their_best_rank() -> None:
    places = (Location("a.py", 9), Location("b.py", 1), Location("a.py", 2))
    assert collapsed(places) == (Location("a.py", 9), Location("b.py", 1))
