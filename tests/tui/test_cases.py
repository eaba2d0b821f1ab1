"""How cases, filters and ranks are put into words."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from textual.content import Content

from core.browse.filters import Disagreement, Filters, OutcomeFilter, Sort
from core.browse.index import BANK_ORDER, open_index
from core.browse.rows import CaseRow, OutcomeStatus, Standing
from core.detail.records import Excerpt, TargetSource
from core.ranking import Target
from tests.support.finished import finished_run
from tests.support.screens import shown, until
from tests.unit.browse.runs import varied_run
from tui.app import BoresightApp
from tui.cases.case_text import _around
from tui.cases.filter_words import filter_parts, page_words, sort_words
from tui.cases.names import SHORT, short_case, short_intent, short_names
from tui.cases.standings import difference_words, standing_words
from tui.cases.table_rows import table_form, table_row
from tui.cases.walk import CaseWalk
from tui.navigation import ShowQueries
from tui.screens import case
from tui.screens.case import CaseScreen

NAMES = ("minilm", "l3", "hybrid", "bge")


def standing(told: int | OutcomeStatus | None) -> Standing:
    """Return an answered query with its rank (None: a miss), or one that ended otherwise."""
    if isinstance(told, str):
        return Standing(told, None, None)
    return Standing("answered", told, 0.1)


@pytest.mark.parametrize(
    ("told", "words"),
    [
        (1, "1"),
        (10, "10"),
        (11, "(11)"),
        (None, "—"),
        ("failed", "✖"),
        ("empty", "∅"),
        ("missing", "missing"),
        ("unsupported", "unsupported"),
        ("changed", "changed"),
    ],
)
def test_each_outcome_has_a_mark_or_a_word(told: int | OutcomeStatus | None, words: str) -> None:
    assert standing_words(standing(told), 10) == words


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ((1, None, 1, 1), "l3 misses"),
        ((1, 11, 1, 1), "l3 misses"),
        ((1, "empty", 1, 1), "l3 misses"),
        ((None, None, 2, None), "only hybrid hits"),
        ((1, None, 1, None), "l3, bge miss"),
        ((None, None, None, None), "all miss"),
        ((1, 1, 1, 1), ""),
        ((1, 2, 3, 4), "minilm leads"),
        ((1, 1, 1, 4), "bge trails"),
        ((1, 1, 4, 4), "ranks differ"),
        ((1, "failed", 1, 1), ""),  # a failure is no answer that could differ
        ((None, "failed", "missing", "unsupported"), ""),
        ((1, "failed", None, "missing"), "hybrid misses"),
    ],
)
def test_the_difference_is_told_among_those_that_answered(
    told: tuple[int | OutcomeStatus | None, ...], words: str
) -> None:
    assert difference_words(NAMES, [standing(one) for one in told], 10) == words


def test_names_are_whole_where_they_fit_else_short_and_apart() -> None:
    assert short_names(NAMES, 80) == NAMES
    alike = [f"all-MiniLM-variant-{number}-of-many" for number in range(12)]
    short = short_names(alike, 80)
    assert len({*short}) == len(alike) and all(len(name) <= SHORT for name in short)


def test_ids_keep_their_telling_end() -> None:
    case = "codira-symbol_lookup-0001e528a1b2c3d4e5f6"
    assert short_case(case, "codira", "symbol_lookup", wide=True) == "…-symbol_lookup-0001e528"
    assert short_case(case, "codira", "symbol_lookup", wide=False) == "…0001e528"
    assert len(short_case("q" * 90, "codira", "focused", wide=False)) == 12
    assert short_intent("error_or_trace_lookup", wide=False) == "error"


def test_each_part_of_filters_can_be_taken_away() -> None:
    filters = Filters(
        intents=("symbol_lookup", "task_lookup"),
        repositories=("codira",),
        outcomes=(OutcomeFilter("l3", ("miss", "failed")),),
        disagreements=(Disagreement("hybrid", "minilm"),),
        differ=True,
        text="load",
        cutoff=5,
        level="file",
    )
    parts = filter_parts(filters)
    assert [part.words for part in parts] == [
        "intent: symbol or task",
        "repository: codira",
        "l3 misses or failed",
        "hybrid hits, minilm misses",
        "some hit, some miss",
        "text: load",
        "hit = first 5",
        "level: file",
    ]
    for part in parts:
        assert [left.words for left in filter_parts(part.without)] == [
            other.words for other in parts if other is not part
        ]


def test_orders_and_pages_in_words() -> None:
    assert sort_words(Sort("delta", "l3", "minilm")) == "where l3 loses most against minilm"
    assert sort_words(Sort("elapsed", "l3", None, True)) == "by latency of l3, slowest first"
    assert page_words(0, 500, 100_000) == "1–500 of 100,000"
    assert page_words(0, 0, 0) == "no case fulfils the filters"


def test_a_walk_finds_neighbours_and_the_place_of_a_case(tmp_path: Path) -> None:
    with open_index(finished_run(tmp_path).run) as index:
        rows = index.page()
        walk = CaseWalk(Filters(), BANK_ORDER, 0, 4)
        assert walk.neighbour(index, -1) is None
        assert walk.neighbour(index, 1) == (1, rows[1])
        assert CaseWalk(Filters(), BANK_ORDER, 3, 4).neighbour(index, 1) is None
        unknown = CaseWalk(Filters(), BANK_ORDER, None, 4)
        assert unknown.neighbour(index, 1) == (0, rows[0])
        assert unknown.neighbour(index, -1) == (3, rows[3])
        assert walk.find(index, rows[2]) == 2
        backwards = CaseWalk(Filters(), Sort(descending=True), None, 4)
        assert backwards.find(index, rows[0]) == 3
        narrow = CaseWalk(Filters(intents=(rows[0].intent,)), BANK_ORDER, None, 1)
        assert narrow.find(index, rows[3]) is None


def test_the_list_leaves_out_the_words_that_all_queries_of_a_rule_begin_with() -> None:
    told = "Where is this behavior implemented: Sum the prices."
    row = CaseRow(1, "c", "store", "task_lookup", "emb", told, "a.py:1", ())
    cells = [found.plain for found in table_row(row, table_form((), 80), Filters())]
    assert cells[-1] == "Sum the prices."


@pytest.fixture
def varied(tmp_path: Path) -> Path:
    return varied_run(tmp_path)


async def test_in_a_stack_the_chosen_answer_keeps_its_name_in_view_whatever_is_shown_of_the_others(
    varied: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = {"every": 40, "ten": 10, "context": 20}

    def lengthy(kind: str) -> Callable[..., Content]:
        return lambda answer, *, every: Content("\n".join(["line"] * lines["every" if every else kind]))

    monkeypatch.setattr(case, "ranking_text", lengthy("ten"))
    monkeypatch.setattr(case, "context_text", lengthy("context"))
    app = BoresightApp(varied.parent)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: app.screen_stack)
        app.screen.post_message(ShowQueries(varied))
        await until(pilot, lambda: bool(app.screen.query("DataTable")) and "symbol" in shown(app))
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, CaseScreen) and app.screen.view is not None)
        body = app.screen.query_one("#case-body")

        def at_the_top(length: int) -> bool:
            (panel,) = app.screen.query(".answer.-chosen")
            is_drawn = panel.region.height == length + panel.gutter.height
            return is_drawn and panel.region.y == body.region.y and "▶ b" in shown(app)

        await pilot.press("o")
        await until(pilot, lambda: at_the_top(lines["ten"]))
        for key, kind in (("m", "every"), ("m", "ten"), ("c", "context"), ("m", "every"), ("c", "every")):
            await pilot.press(key)
            await until(pilot, lambda kind=kind: at_the_top(lines[kind]))  # type: ignore[misc]


def test_a_low_screen_shows_few_lines_of_a_target_with_its_own_among_them() -> None:
    excerpt = Excerpt(10, tuple(f"line {number}" for number in range(10, 20)), 5)
    cut = _around(TargetSource(Target("a.py", 13, "symbol"), excerpt, None), 3)
    assert cut.excerpt == Excerpt(12, ("line 12", "line 13", "line 14"), 10)
