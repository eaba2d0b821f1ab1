from __future__ import annotations

from pathlib import Path

import pytest

from core.banks.graded import parse_graded
from core.banks.graded_stats import FactTold, graded_stats
from core.banks.reading import read_bank
from tests.support.campaigns import make_scene
from tests.support.graded import QUERIES, document, graded_scene


def test_questions_are_counted_by_shape_with_grades_and_facts() -> None:
    aliased = {**QUERIES[0], "gold_facts": ["shop prices", {"fact": "a rule", "aliases": ["one", "two"]}]}
    found = graded_stats(parse_graded(document(aliased, *QUERIES[1:]), "q"))
    assert (found.questions, found.modules, found.facts, found.aliases) == (3, 3, 6, 2)
    assert dict(found.grades) == {0: 5, 1: 1, 2: 1, 3: 2}
    assert found.shapes[1] == ("cross-file", 1, 2.0, 1.0, 2.0)
    assert found.never_relevant == ()
    assert (found.borne_out, found.not_borne_out) == (None, None)


def test_modules_that_no_question_asks_for_are_named() -> None:
    assert graded_stats(parse_graded(document(QUERIES[0]), "q")).never_relevant == (
        "shop/orders.py",
        "shop/stock.py",
    )


def test_with_the_repository_facts_that_no_relevant_module_bears_out_are_named(tmp_path: Path) -> None:
    facts = ["return item.price", "return a discount", {"fact": "sums", "aliases": ["sum_up"]}]
    bank = parse_graded(document({**QUERIES[0], "gold_facts": facts}), "q")
    found = graded_stats(bank, graded_scene(tmp_path).repository)
    assert found.borne_out == 2
    assert found.not_borne_out == (FactTold("q-one", 1, ("a", "discount")),)


def test_a_bank_of_another_kind_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="not graded"):
        graded_stats(read_bank(make_scene(tmp_path, per_intent=1).cases))
