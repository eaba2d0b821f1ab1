"""The screens on a graded run: shapes for intents, the graded tab, and a question's facts."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.content import Content
from textual.widgets import TabbedContent

from core.browse.filters import Filters
from core.detail.facts import fact_views
from core.questions import Fact, Question
from core.run.layout import RunLayout
from core.scoring.faithfulness import faithfulness
from tests.support.finished import finished_run
from tests.support.graded import board, graded_run
from tests.support.screens import SIZES, shown, until
from tests.tui.test_queries import case_of, listed, walk_into
from tests.tui.test_queries import opened as opened_queries
from tests.tui.test_results import Host, last_asked, opened, screen
from tui.cases.fact_text import fact_lines, facts_line
from tui.results.graded import graded, graded_details
from tui.results.loading import load
from tui.results.sheets import GRADED
from tui.results.view import View

HOSTILE = ["[/foo] bar", "[/]", "[X=http://a]", "\x1b]52;c;aGk=\x07", "\u202eabc", "a\0b", "x" * 10**5]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return graded_run(tmp_path)


def is_shown(app: Host, tab: str) -> bool:
    return bool(app.screen.query_one(TabbedContent).get_tab(tab).display)


@pytest.mark.parametrize("size", SIZES)
async def test_the_graded_tab_tells_metrics_shapes_and_why_questions_failed(
    run: Path, size: tuple[int, int]
) -> None:
    async with opened(run, size) as (app, pilot):
        assert is_shown(app, GRADED)
        assert "Shapes" in shown(app) and "Intents" not in shown(app)
        await pilot.press("]")
        await until(pilot, lambda: "3 questions over 3 modules" in shown(app))
        for title in ("R@5", "nDCG@5", "MRR", "Hit"):
            assert title in shown(app)
        table = screen(app).pane.table
        assert [row.key for row in table.grid.rows[:4]] == ["a/", "b/", "a/focused", "b/focused"]  # type: ignore[union-attr]
        await pilot.press("down")
        details = screen(app).pane.query_one(".figure-details Static")
        await until(pilot, lambda: "∅ q-one: empty: answered with nothing" in str(details.render()))
        assert "stock counts: missed: lacks counts" in str(details.render())
        await pilot.press("down")
        assert (await last_asked(app, pilot, "enter")).filters == Filters(intents=("focused",), cutoff=10)
        await pilot.press("]")
        await until(pilot, lambda: "SHAPE" in shown(app))


async def test_a_large_terminal_shows_every_column_of_the_graded_tab(run: Path) -> None:
    async with opened(run, SIZES[1]) as (app, pilot):
        await pilot.press("]")
        await until(pilot, lambda: "Relevance" in shown(app))
        for title in ("P@5", "Facts", "Contra", "Faithful", "Reduction", "Ctx P", "Ctx R", "—"):
            assert title in shown(app)


async def test_a_known_target_run_has_no_graded_tab_and_the_keys_pass_it_by(tmp_path: Path) -> None:
    async with opened(finished_run(tmp_path).run, SIZES[0]) as (app, pilot):
        assert not is_shown(app, GRADED)
        assert "Intents" in shown(app)
        await pilot.press("]")
        await until(pilot, lambda: app.screen.query_one(TabbedContent).active == "intents")


async def test_the_verdict_in_full_never_speaks_of_known_targets(run: Path) -> None:
    async with opened(run, SIZES[1]) as (app, pilot):
        await pilot.press("v")
        await until(pilot, lambda: "What this does not say" in shown(app))
        assert "relevant module" in shown(app)
        assert "known target" not in shown(app).casefold().replace("-", " ")


def test_what_is_loaded_holds_the_graded_board(run: Path) -> None:
    loaded = load(run, lambda done, total: None)
    assert loaded.graded is not None
    assert tuple(loaded.graded.candidates) == ("a", "b")


def test_a_row_without_a_candidate_or_a_view_without_a_board_has_no_details(run: Path) -> None:
    loaded = load(run, lambda done, total: None)
    view = View(loaded.board, loaded.facts, graded=loaded.graded)
    row = graded(view).rows[0]
    assert graded_details(view, row, row.figures[0]._replace(candidate=None)) == ()
    empty = View(loaded.board, loaded.facts)
    assert graded(empty).rows == () and graded_details(empty, row, row.figures[0]) == ()


@pytest.mark.parametrize("size", SIZES)
async def test_a_question_in_full_tells_grades_and_where_its_facts_stand(
    run: Path, size: tuple[int, int]
) -> None:
    async with opened_queries(run, size) as (app, pilot):
        assert "SHAPE" in shown(app) and "INTENT" not in shown(app)
        case = await walk_into(app, pilot)
        await until(pilot, lambda: "graded by people: shop/prices.py 3; 2 others 0" in shown(app))
        assert "shape focused" in shown(app)
        await until(pilot, lambda: "facts: 1 of 2 in the context" in shown(app))
        await pilot.press("c")
        await until(pilot, lambda: "✔ shop prices" in shown(app) and "— price is negative" in shown(app))
        assert "missed: lacks price, is, negative" in shown(app)
        assert "line " in shown(app)
        assert case is case_of(app)


async def test_the_form_of_filters_asks_for_shapes(run: Path) -> None:
    async with opened_queries(run, SIZES[1]) as (app, pilot):
        assert listed(app).index is not None
        await pilot.press("f")
        await until(pilot, lambda: "shapes (none ticked: all)" in shown(app))


async def test_an_edited_bank_is_told_and_the_case_still_opens(run: Path) -> None:
    async with opened_queries(run, SIZES[1]) as (app, pilot):
        cases = RunLayout(run).cases
        cases.write_bytes(cases.read_bytes().replace(b"price_of", b"PRICE_OF"))
        await walk_into(app, pilot)
        await until(pilot, lambda: "changed since the run was frozen" in " ".join(shown(app).split()))


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_facts_are_shown_as_text(text: str) -> None:
    question = Question("q", "focused", "?", {f"{text}.py": 3}, (Fact(f"fact {text}"), Fact("absent words")))
    views = fact_views(f"a fact {text}, never that", question)
    lines = Content("\n").join([facts_line(views), *fact_lines(views)])
    assert not any(sign in lines.plain for sign in "\x1b\x07\u202e\0")
    if text.startswith("["):
        assert text in lines.plain
    assert faithfulness("", question.facts).fact_recall == 0


@pytest.mark.parametrize("text", HOSTILE[:6])
async def test_hostile_questions_raise_in_no_tab(run: Path, text: str) -> None:
    async with opened(run, SIZES[0]) as (app, pilot):
        loaded = screen(app).loaded
        assert loaded is not None
        hostile = board(hostile=text)
        found = {name: hostile.candidates[own] for name, own in zip("ab", "xy", strict=True)}
        screen(app).show(loaded._replace(graded=hostile._replace(candidates=found)))
        await pilot.press("]")
        await until(pilot, lambda: "2 questions over 3 modules" in shown(app))
        assert not any(sign in shown(app) for sign in "\x1b\x07\u202e\0")
