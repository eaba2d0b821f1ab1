"""A graded question's facts, with their place in a context, and in the detail of a case."""

from __future__ import annotations

from pathlib import Path

from core.browse.filters import Filters
from core.browse.index import open_index
from core.detail.facts import QUOTE_CHARACTERS, fact_views
from core.detail.reader import CaseReader
from core.questions import Fact, Question
from tests.support.finished import finished_run
from tests.support.graded import graded_run

QUESTION = Question("q", "focused", "How?", {"a.py": 3}, (Fact("it works"), Fact("it is fast")))


def test_a_found_fact_has_the_line_where_it_begins_and_its_words() -> None:
    found, missed = fact_views("first\nsecond: it\nalways works", QUESTION)
    assert (found.line, found.quote) == (2, "it\nalways works")
    assert (missed.finding.missing_words, missed.line, missed.quote) == (("is", "fast"), None, "")


def test_a_long_stretch_is_cut() -> None:
    found, _ = fact_views(f"it {'x ' * 300} works", QUESTION)
    assert len(found.quote) == QUOTE_CHARACTERS + 1


def test_a_case_of_a_graded_run_tells_its_grades_and_each_candidates_facts(tmp_path: Path) -> None:
    with open_index(graded_run(tmp_path)) as index:
        (row,) = index.page(Filters(text="place_order"))
        view = CaseReader(index.record).read(index.case(row.id), index.level)
    assert view.question is not None and view.question.relevant == ("shop/orders.py", "shop/prices.py")
    assert [source.target.path for source in view.targets] == ["shop/orders.py", "shop/prices.py"]
    for answer in view.answers:
        assert answer.probe is not None
        assert [fact.finding.found for fact in answer.probe.facts] == [True, False]
        assert answer.probe.facts[0].line is not None


def test_other_cases_have_no_facts(tmp_path: Path) -> None:
    with open_index(finished_run(tmp_path).run) as index:
        (row, *_) = index.page(Filters())
        view = CaseReader(index.record).read(index.case(row.id), index.level)
    assert view.question is None
    assert all(answer.probe is not None and answer.probe.facts == () for answer in view.answers)
