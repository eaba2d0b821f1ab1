"""Screen 5 as a person uses it: the list of cases, its filters, and the walk through single cases."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from textual import on
from textual.pilot import Pilot
from textual.widgets import DataTable, Input, Select

from core.browse.filters import Disagreement, Filters, OutcomeFilter, Sort
from core.browse.index import BANK_ORDER, DamagedIndexError, RunIndex
from core.run.evidence import Validation
from core.run.layout import Operation, RunLayout
from tests.support.campaigns import campaign, fake, make_scene, run_new
from tests.support.finished import finished_run
from tests.support.screens import SIZES, shown, until
from tests.unit.browse.runs import EMPTY_RANKING, add_attempt, narrate, primaries, varied_run
from tui.app import BoresightApp
from tui.cases import page
from tui.cases.exporting import EXPORTED
from tui.cases.standings import MARKS_TOLD
from tui.cases.table_rows import table_row
from tui.navigation import ShowAttempts, ShowQueries
from tui.screens import live_index, queries
from tui.screens.case import CaseScreen
from tui.screens.dialogs import ChoiceDialog, TextDialog
from tui.screens.filter_dialog import FilterDialog
from tui.screens.queries import QueriesScreen
from tui.widgets.answer_panel import AnswerPanel
from tui.widgets.filter_chips import Chip
from tui.widgets.tick import Tick

sizes = pytest.mark.parametrize("size", SIZES)


class Recorder(BoresightApp):
    """The app, with all that would leave it kept."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.copied: list[str] = []
        self.edited: list[Path] = []
        self.exported: list[tuple[str, list[str], list[tuple[str | None, list[object]]]]] = []
        self.attempts: list[ShowAttempts] = []

    def copy(self, text: str) -> None:
        self.copied.append(text)

    def edit(self, path: Path) -> None:
        self.edited.append(path)

    def export(  # type: ignore[override]
        self, run: Path, name: str, header: Sequence[str], rows: Iterable[tuple[str | None, Sequence[object]]]
    ) -> None:
        self.exported.append((name, list(header), [(label, list(cells)) for label, cells in rows]))

    @on(ShowAttempts)
    def keep_attempts(self, asked: ShowAttempts) -> None:
        asked.prevent_default()
        self.attempts.append(asked)


@pytest.fixture
def varied(tmp_path: Path) -> Path:
    """Return a run in which queries are hit, missed, empty, failed, unsupported and missing."""
    return varied_run(tmp_path)


@pytest.fixture
def private(tmp_path: Path) -> Path:
    """Return a run of a private repository."""
    return finished_run(tmp_path, private=True).run


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """Return a run whose answers, contexts, failures and sources hold what could act on a terminal."""
    run = finished_run(tmp_path).run
    with_hostile_rows(run)
    return run


@pytest.fixture
def crowded(tmp_path: Path) -> Path:
    """Return a run of nine candidates with long names."""
    scene = make_scene(tmp_path, per_intent=1)
    candidates = [fake(f"a-candidate-with-a-long-name-{number}", session=True) for number in range(9)]
    return run_new(campaign(scene, *candidates), tmp_path / "run").run


@asynccontextmanager
async def opened(
    run: Path,
    size: tuple[int, int] = SIZES[1],
    filters: Filters = Filters(),  # noqa: B008 - a value
    sort: Sort = BANK_ORDER,
    case: str | None = None,
) -> AsyncIterator[tuple[Recorder, Pilot[Any]]]:
    """Open the screen on a run, and wait for its first page."""
    app = Recorder(run.parent)
    async with app.run_test(size=size, notifications=True) as pilot:
        await pilot.pause()
        app.screen.post_message(ShowQueries(run, filters, sort, case))
        await until(pilot, lambda: any(_is_ready(screen) for screen in app.screen_stack))
        yield app, pilot


def _is_ready(screen: object) -> bool:
    return isinstance(screen, QueriesScreen) and screen._form is not None


def listed(app: Recorder) -> QueriesScreen:
    screen = app.screen
    assert isinstance(screen, QueriesScreen)
    return screen


def case_of(app: Recorder) -> CaseScreen:
    assert isinstance(app.screen, CaseScreen)
    return app.screen


async def walk_into(app: Recorder, pilot: Pilot[Any]) -> CaseScreen:
    await pilot.press("enter")
    await until(pilot, lambda: isinstance(app.screen, CaseScreen) and app.screen.view is not None)
    await pilot.pause()
    return case_of(app)


@sizes
async def test_the_list_tells_ranks_marks_and_differences(varied: Path, size: tuple[int, int]) -> None:
    async with opened(varied, size) as (app, pilot):
        words = ("CASE", "INTENT", "REPO", "✖", "∅", "missing", "unsupported", "symbol", "store")
        await until(pilot, lambda: all(word in shown(app) for word in words))
        text = shown(app)
        assert "1–8 of 8" in text and "bank's order" in text
        table = app.screen.query_one(DataTable)
        assert table.fixed_columns == 1
        assert listed(app).rows[0].query in text


@sizes
async def test_the_form_puts_filters_together_that_become_chips(varied: Path, size: tuple[int, int]) -> None:
    async with opened(varied, size) as (app, pilot):
        await pilot.press("f")
        await until(pilot, lambda: isinstance(app.screen, FilterDialog))
        await until(pilot, lambda: "8 cases fulfil this" in shown(app))
        assert shown(app).count("anything") == 4 and "anyone" in shown(app)
        assert "as finely as all can: exact" in shown(app)
        await pilot.press("space")  # the first intent
        await until(pilot, lambda: "2 cases fulfil this" in shown(app))
        assert "✔" in shown(app)
        app.screen.query_one("#filter-outcome-1", Select).value = ("empty",)
        await until(pilot, lambda: "1 cases fulfil this" in shown(app))
        await pilot.press("ctrl+s")
        await until(pilot, lambda: isinstance(app.screen, QueriesScreen) and listed(app).total == 1)
        assert "intent: symbol ×" in shown(app) and "b is empty ×" in shown(app)
        assert listed(app).view.filters == Filters(
            intents=("symbol_lookup",), outcomes=(OutcomeFilter("b", ("empty",)),)
        )


async def test_the_form_keeps_what_it_was_given(varied: Path) -> None:
    asked = Filters(
        intents=("symbol_lookup", "docs_lookup"),
        outcomes=(OutcomeFilter("b", ("hit", "empty")),),
        disagreements=(Disagreement("a", "b"), Disagreement("a", "c")),
        differ=True,
        text="o",
        cutoff=3,
        level="file",
    )
    async with opened(varied, filters=asked) as (app, pilot):
        await pilot.press("f")
        await until(pilot, lambda: isinstance(app.screen, FilterDialog))
        dialog = app.screen
        assert isinstance(dialog, FilterDialog)
        assert dialog.filters() == asked
        dialog.query_one("#filter-differ", Tick).value = False
        dialog.query_one("#filter-cutoff", Input).value = "999"
        await until(pilot, lambda: "cutoff" in shown(app))
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, QueriesScreen))
        assert listed(app).view.filters == asked


@sizes
async def test_chips_are_taken_away_one_by_one_or_all(varied: Path, size: tuple[int, int]) -> None:
    asked = Filters(intents=("symbol_lookup",), disagreements=(Disagreement("a", "b"),), cutoff=5)
    async with opened(varied, size, asked) as (app, pilot):
        assert "a hits, b misses ×" in shown(app) and "hit = first 5 ×" in shown(app)
        app.screen.query(Chip)[1].focus()
        await pilot.press("enter")
        await until(pilot, lambda: listed(app).total == 2)
        assert "misses ×" not in shown(app)
        await pilot.click(app.screen.query(Chip).first())
        await until(pilot, lambda: listed(app).total == 8)
        await pilot.press("F")
        await until(pilot, lambda: "no filters" in shown(app))
        assert listed(app).view.filters == Filters()


@sizes
async def test_search_finds_while_typing_and_escape_clears(varied: Path, size: tuple[int, int]) -> None:
    async with opened(varied, size) as (app, pilot):
        await pilot.press("slash", *"DOCUMENT")
        await until(pilot, lambda: listed(app).total == 2)
        await pilot.press("enter")
        await until(pilot, lambda: app.focused is app.screen.query_one(DataTable))
        assert listed(app).view.filters.text == "DOCUMENT" and "text: DOCUMENT ×" in shown(app)
        await pilot.press("slash", "escape")
        await until(pilot, lambda: listed(app).total == 8)
        await pilot.press("slash", *"zzz")
        await until(pilot, lambda: "no case fulfils the filters" in shown(app))
        await pilot.press("enter", "enter", "y", "e")
        await pilot.pause()
        assert isinstance(app.screen, QueriesScreen) and app.copied == []


@sizes
async def test_the_menu_of_orders_asks_for_candidates(varied: Path, size: tuple[int, int]) -> None:
    async with opened(varied, size) as (app, pilot):
        await pilot.press("s")
        await until(pilot, lambda: isinstance(app.screen, ChoiceDialog))
        await pilot.press("down", "down", "down", "enter")
        await until(pilot, lambda: "loses most" in shown(app))
        await pilot.pause(0.1)
        await pilot.press("down", "enter")
        await until(pilot, lambda: "b against" in shown(app))
        await pilot.pause(0.1)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, QueriesScreen))
        await until(pilot, lambda: "where b loses most against a" in shown(app))
        assert listed(app).view.sort == Sort("delta", "b", "a")


async def test_a_click_on_a_candidates_head_sorts_by_its_rank(varied: Path) -> None:
    async with opened(varied) as (app, pilot):
        table = app.screen.query_one(DataTable)
        column = table.ordered_columns[4]
        for descending in (False, True):
            table.post_message(DataTable.HeaderSelected(table, column.key, 4, column.label))
            await until(pilot, lambda: listed(app).view.sort == Sort("rank", "b", None, descending))  # noqa: B023
        table.post_message(DataTable.HeaderSelected(table, table.ordered_columns[0].key, 0, column.label))
        await until(pilot, lambda: listed(app).view.sort == Sort())


@sizes
async def test_pages_turn_at_their_edges_and_by_keys(
    varied: Path, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page, "PAGE", 3)
    monkeypatch.setattr(queries, "PAGE", 3)
    async with opened(varied, size) as (app, pilot):
        assert "1–3 of 8" in shown(app)
        await pilot.press("right_square_bracket")
        await until(pilot, lambda: "4–6 of 8" in shown(app))
        await pilot.press("down", "down", "down")
        await until(pilot, lambda: "7–8 of 8" in shown(app))
        assert app.screen.query_one(DataTable).cursor_row == 0
        await pilot.press("right_square_bracket")
        await pilot.pause(0.2)
        assert "7–8 of 8" in shown(app)
        await pilot.press("pageup")
        await until(pilot, lambda: "4–6 of 8" in shown(app))
        assert app.screen.query_one(DataTable).cursor_row == 2
        await pilot.press("left_square_bracket")
        await until(pilot, lambda: "1–3 of 8" in shown(app))
        await pilot.press("pagedown", "pagedown")
        await until(pilot, lambda: "4–6 of 8" in shown(app))


@sizes
async def test_what_is_chosen_can_be_copied_edited_and_exported(varied: Path, size: tuple[int, int]) -> None:
    async with opened(varied, size) as (app, pilot):
        row = listed(app).rows[1]
        await pilot.press("down", "y", "Y")
        await until(pilot, lambda: app.copied == [row.id, row.target])
        await pilot.press("e")
        await until(pilot, lambda: bool(app.edited))
        assert app.edited == [RunLayout(varied).source("store") / row.target.split(":")[0]]
        await pilot.press("x")
        ((name, header, rows),) = app.exported
        assert name == "queries" and header[:3] == ["case", "intent", "repository"]
        assert len(rows) == 8 and rows[1][0] == "store" and rows[1][1][0] == row.id
        assert len(header) == len(rows[0][1])


async def test_an_export_takes_every_page(varied: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "EXPORT_BLOCK", 3)
    async with opened(varied) as (app, pilot):
        await pilot.press("x")
        assert len({cells[0] for _, cells in app.exported[0][2]}) == 8


@sizes
async def test_a_case_in_full(varied: Path, size: tuple[int, int]) -> None:
    asked = Filters(text="save_records", intents=("symbol_lookup",))
    async with opened(varied, size, asked) as (app, pilot):
        screen = await walk_into(app, pilot)
        text = shown(app)
        assert "case 1 of 1" in text and "save_records" in text
        assert "python_definition" in text and "✔ source holds its digest" in text
        assert "query words stand in the target" in text
        assert "▶" in text and "def save_records" in text
        body = screen.query_one("#case-body")
        found = ""
        for _ in range(20):
            found += shown(app)
            body.scroll_page_down(animate=False)
            await pilot.pause()
        assert "✔ hit at 1 of" in found and "✔ hit store/records.py:" in found
        assert "ctx: ✔ target within" in found


@sizes
async def test_the_walk_goes_along_the_list_and_back_to_its_place(
    varied: Path, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page, "PAGE", 3)
    monkeypatch.setattr(queries, "PAGE", 3)
    async with opened(varied, size) as (app, pilot):
        await pilot.press("down", "down")
        await walk_into(app, pilot)
        await until(pilot, lambda: "case 3 of 8" in shown(app))
        await pilot.press("n")
        await until(pilot, lambda: "case 4 of 8" in shown(app))
        await pilot.press("n")
        await until(pilot, lambda: "case 5 of 8" in shown(app))
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, QueriesScreen) and "4–6 of 8" in shown(app))
        assert app.screen.query_one(DataTable).cursor_row == 1
        await walk_into(app, pilot)
        await pilot.press("p")
        await until(pilot, lambda: "case 4 of 8" in shown(app))


async def test_the_walk_says_where_it_ends(varied: Path) -> None:
    async with opened(varied) as (app, pilot):
        await walk_into(app, pilot)
        await pilot.press("p")
        await until(pilot, lambda: "This is the first case." in shown(app))
        for number in range(2, 9):
            await pilot.press("n")
            await until(pilot, lambda: f"case {number} of 8" in shown(app))  # noqa: B023
        await pilot.press("n")
        await until(pilot, lambda: "This is the last case." in shown(app))


@sizes
async def test_keys_of_a_case(varied: Path, size: tuple[int, int]) -> None:
    async with opened(varied, size, Filters(intents=("docs_lookup",))) as (app, pilot):
        screen = await walk_into(app, pilot)
        row = listed_case(screen)
        await pilot.press("y", "Y")
        assert app.copied == [row.id, row.target]
        await pilot.press("e")
        await until(pilot, lambda: app.edited == [RunLayout(varied).source("store") / "README.md"])
        await pilot.press("a")
        await until(pilot, lambda: len(app.attempts) == 1)
        assert app.attempts[0].operation is not None
        assert str(app.attempts[0].operation) == f"a/store/primary-{row.id}"
        await pilot.press("o", "o", "a")  # c never answers documentation
        await until(pilot, lambda: "never asked" in shown(app))
        assert len(app.attempts) == 1
        chosen = screen.query_one(".answer.-chosen", AnswerPanel)
        assert str(chosen.border_title).startswith("▶ c")
        await pilot.press("c")
        await until(pilot, lambda: "no probe was planned" in str(chosen.content))
        await pilot.press("c", "m", "m", "question_mark")
        await until(pilot, lambda: isinstance(app.screen, TextDialog))
        assert "next and previous case" in shown(app)


def listed_case(screen: CaseScreen) -> Any:
    assert screen.view is not None
    return screen.view.row


async def test_contexts_stand_where_rankings_stood(varied: Path) -> None:
    async with opened(varied) as (app, pilot):
        screen = await walk_into(app, pilot)
        assert "✔ hit store/records.py" in str(screen.query(AnswerPanel).first().content)
        await pilot.press("c")
        await until(pilot, lambda: "words" in str(screen.query(AnswerPanel).first().content))
        assert "✔ hit store/" not in str(screen.query(AnswerPanel).first().content)


async def test_a_case_that_is_asked_for_opens_at_once_and_finds_its_place(varied: Path) -> None:
    async with opened(varied) as (app, _):
        wanted = listed(app).rows[5].id
    asked = Filters(intents=("docs_lookup", "task_lookup"))
    async with opened(varied, filters=asked, case=wanted) as (app, pilot):
        await until(pilot, lambda: isinstance(app.screen, CaseScreen) and wanted in shown(app))
        await until(pilot, lambda: "of 4" in shown(app))


async def test_an_unknown_case_is_told(varied: Path) -> None:
    async with opened(varied, case="none-such") as (app, pilot):
        await until(pilot, lambda: "no case 'none-such' in this run" in shown(app))


async def test_names_that_a_run_does_not_have_are_dropped(varied: Path) -> None:
    asked = Filters(intents=("other",), repositories=("no",), disagreements=(Disagreement("a", "gone"),))
    async with opened(varied, filters=asked, sort=Sort("rank", "gone")) as (app, _):
        assert listed(app).view.filters == Filters() and listed(app).view.sort == Sort()


async def test_more_candidates_than_fit_scroll_sideways_and_come_into_view(crowded: Path) -> None:
    async with opened(crowded, (80, 24)) as (app, pilot):
        heads = [str(column.label) for column in app.screen.query_one(DataTable).ordered_columns]
        assert len({*heads}) == len(heads) and all(len(head) <= 8 for head in heads)
        before = shown(app).split("\n")
        await pilot.press(*["right"] * 40)
        await until(pilot, lambda: shown(app).split("\n") != before)
        assert "CASE" in shown(app)
        screen = await walk_into(app, pilot)
        assert len(screen.query(AnswerPanel)) == 4
        await pilot.press(*["o"] * 8)
        await until(pilot, lambda: "a-long-name-8" in str(screen.query(AnswerPanel).last().border_title))


@sizes
async def test_a_resize_lays_everything_out_anew(varied: Path, size: tuple[int, int]) -> None:
    async with opened(varied, size) as (app, pilot):
        other = SIZES[0] if size == SIZES[1] else SIZES[1]
        await pilot.resize_terminal(*other)
        wide = other == SIZES[1]
        await until(pilot, lambda: ("…-symbol_lookup-" in shown(app)) == wide)
        screen = await walk_into(app, pilot)
        await pilot.resize_terminal(*size)
        await until(pilot, lambda: screen.has_class("-side-by-side") != wide)


@sizes
async def test_a_damaged_index_is_built_anew_and_said_so(
    varied: Path, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(varied, size) as (app, pilot):
        real, failures = RunIndex.page, [DamagedIndexError("index.sqlite: damaged")]

        def page_once_damaged(index: RunIndex, *asked: Any) -> Any:
            if failures:
                raise failures.pop()
            return real(index, *asked)

        monkeypatch.setattr(RunIndex, "page", page_once_damaged)
        await pilot.press("F")
        await until(pilot, lambda: any("is built anew" in told.message for told in app._notifications))
        await until(pilot, lambda: "1–8 of 8" in shown(app))


async def test_an_index_that_another_screen_closed_is_opened_again(varied: Path) -> None:
    async with opened(varied) as (app, pilot):
        app.indexes.forget(varied)
        await pilot.press("F5", "f5", "slash", *"docs")
        await until(pilot, lambda: listed(app).total == 2)


async def test_an_index_that_stays_damaged_ends_in_words(
    varied: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(varied) as (app, pilot):

        def always(index: RunIndex, *asked: Any) -> Any:
            raise DamagedIndexError("index.sqlite: damaged for good")

        monkeypatch.setattr(RunIndex, "page", always)
        await pilot.press("F")
        await until(pilot, lambda: "damaged for good" in shown(app))


async def test_a_run_that_cannot_be_read_says_why(tmp_path: Path) -> None:
    app = Recorder(tmp_path)
    async with app.run_test(size=SIZES[0]) as pilot:
        await pilot.pause()
        app.screen.post_message(ShowQueries(tmp_path / "nothing"))
        await until(pilot, lambda: "no run directory" in shown(app))
        assert isinstance(app.screen, TextDialog)


@pytest.mark.parametrize("is_live", [True, False])
async def test_a_run_that_goes_on_is_looked_at_again(
    varied: Path, is_live: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_index, "LIVE_SECONDS", 0.1)
    monkeypatch.setattr(live_index, "is_executed", lambda lock: is_live)
    async with opened(varied, filters=Filters(intents=("symbol_lookup",))) as (app, pilot):
        screen = listed(app)
        assert [row.standings[1].status for row in screen.rows] == ["empty", "answered"]
        operation = Operation("b", "store", "primary", screen.rows[1].id)
        await asyncio.to_thread(
            add_attempt, varied, operation, Validation("accepted", returned=0), EMPTY_RANKING, accept=True
        )
        narrate(varied)
        if not is_live:
            await pilot.press("f5")
        await until(pilot, lambda: [row.standings[1].status for row in screen.rows] == ["empty"] * 2)


async def test_a_look_at_the_run_leaves_the_cursor_where_a_key_moved_it_meanwhile(
    varied: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entered, released = threading.Event(), threading.Event()
    read = page.read_page

    def held(*asked: Any) -> page.Page:
        entered.set()
        assert released.wait(20)
        return read(*asked)

    async with opened(varied) as (app, pilot):
        screen, table = listed(app), app.screen.query_one(DataTable)
        first = screen.rows
        monkeypatch.setattr(queries, "read_page", held)
        screen.index_refreshed()
        await until(pilot, entered.is_set)
        await pilot.press("down", "down")
        released.set()
        await until(pilot, lambda: screen.rows is not first)
        assert table.cursor_row == 2 and screen.chosen() == screen.rows[2]


@sizes
async def test_hostile_text_neither_raises_nor_reaches_the_terminal(
    hostile: Path, size: tuple[int, int]
) -> None:
    async with opened(hostile, size) as (app, pilot):
        screen = listed(app)
        evil = "[/foo] bar [/] [X=http://a] \x1b]52;c;aGk=\x07 \x1b]0;t\x07 \u202e \0 " + "x" * 1_000_000
        row = screen.rows[0]._replace(query=evil, id=evil[:200], target=evil, repository="[/]")
        index = screen.index
        assert index is not None
        form = screen._form
        assert form is not None
        cells = [table_row(row, form, Filters())]
        screen.show_page(page.Page(screen.view, (row,), 1, form, cells), 0)
        screen.ask_for(Filters(text="[/foo] \x1b]52;c;aGk=\x07\u202e"))
        await pilot.pause(0.3)
        assert_safe(app)
        screen.ask_for(Filters())
        await until(pilot, lambda: len(screen.rows) == 4)
        await walk_into(app, pilot)
        for key in ("m", "c", "m", "n", "c"):
            await pilot.press(key)
            await pilot.pause(0.2)
            assert_safe(app)
        await pilot.press("escape", "f")
        await until(pilot, lambda: isinstance(app.screen, FilterDialog))
        app.screen.query_one("#filter-text", Input).value = "\x1b]52;c;aGk=\x07[/]\ud800"
        await pilot.pause(0.3)
        assert_safe(app)
        await pilot.press("ctrl+s")
        await until(pilot, lambda: isinstance(app.screen, QueriesScreen))


def assert_safe(app: Recorder) -> None:
    unsafe = {character for character in shown(app) if ord(character) < 0x20 and character != "\n"}
    assert not unsafe
    assert not {"\x7f", "\x9b", "\u202e", "\ud800"} & {*shown(app)}


def with_hostile_rows(run: Path) -> None:
    """Give every query an answer of hostile places and the frozen source hostile lines."""
    paths = ["[/foo] bar.py", "[X=http://a].py", "\x1b]52;c;aGk=\x07.py", "\u202eabc.py", "store/records.py"]
    rows = [{"path": path, "line": 1} for path in paths]
    stdout = json.dumps({"format": "boresight-ranking@1", "results": rows}).encode()
    context = json.dumps(
        {
            "format": "boresight-context@1",
            "results": [{**row, "excerpt": "[/] \x1b[31m \u202e \0 " + "x" * 1_000_000} for row in rows[:3]],
        }
    ).encode()
    for operation in primaries(run, "a"):
        add_attempt(run, operation, Validation("accepted", returned=5), stdout, accept=True)
        add_attempt(run, operation._replace(kind="ctx"), Validation("accepted"), context, accept=True)
    for operation in primaries(run, "b"):
        RunLayout(run).result(operation).unlink()
        add_attempt(run, operation, Validation("failed", "[/foo]\x1b[31m", "\x1b]52;c;aGk=\x07[/] \u202e"))
    source = RunLayout(run).source("store") / "store" / "records.py"
    source.chmod(0o644)
    source.write_bytes(
        b"[/foo] \x1b]52;c;aGk=\x07 \xff\xfe \0 [X=http://a] " + b"x" * 1_000_000 + b"\n" * 100
    )


@pytest.mark.parametrize("size", SIZES)
async def test_a_case_opens_with_the_candidate_that_the_list_is_about(
    varied: Path, size: tuple[int, int]
) -> None:
    async with opened(varied, size, sort=Sort("rank", "b")) as (app, pilot):
        assert MARKS_TOLD in shown(app)
        screen = await walk_into(app, pilot)
        chosen = screen._chosen()
        assert chosen is not None and chosen.candidate == "b"
        await until(pilot, lambda: any(panel.region.height for panel in screen.query(".answer.-chosen")))
        await pilot.pause()
        (panel,) = screen.query(".answer.-chosen")
        assert screen.query_one("#case-body").region.overlaps(panel.region)


@sizes
async def test_a_drilled_case_shows_its_source_first_then_the_candidate_drilled_into(
    varied: Path, size: tuple[int, int]
) -> None:
    asked = Filters(outcomes=(OutcomeFilter("c", ("hit", "miss")),))
    async with opened(varied, size, asked, Sort("rank", "a")) as (app, pilot):
        screen = await walk_into(app, pilot)
        chosen = screen._chosen()
        assert chosen is not None and chosen.candidate == "c"
        body = screen.query_one("#case-body")
        assert body.scroll_y == 0
        lines = [line.lstrip(" │") for line in shown(app).splitlines()]
        target = next(at for at, line in enumerate(lines) if line.startswith("target"))
        first = next(at for at, line in enumerate(lines) if "▶ c" in line)
        assert target < first
        await pilot.press("n")
        await until(pilot, lambda: "case 2 of" in shown(app))
        assert body.scroll_y == 0


async def test_a_case_opened_on_a_low_screen_shows_more_source_once_that_grows(varied: Path) -> None:
    async with opened(varied, (80, 24)) as (app, pilot):
        screen = await walk_into(app, pilot)
        targets = screen.query_one("#case-targets")
        low = targets.region.height
        await pilot.resize_terminal(80, 34)
        await until(pilot, lambda: targets.region.height > low)
        await pilot.resize_terminal(80, 24)
        await until(pilot, lambda: targets.region.height == low)


async def test_a_case_is_exported_with_its_targets_and_every_ranking(varied: Path) -> None:
    async with opened(varied) as (app, pilot):
        screen = await walk_into(app, pilot)
        assert screen.view is not None
        await pilot.press("x")
        ((name, header, rows),) = app.exported
        found = [dict(zip(header, cells, strict=True)) for _, cells in rows]
        assert name == "case" and {label for label, _ in rows} == {"store"}
        assert {(row["case"], row["query"]) for row in found} == {(screen.view.row.id, screen.view.row.query)}
        targets = [row for row in found if row["part"] == "target"]
        assert [row["path"] for row in targets] == [each.target.path for each in screen.view.targets]
        for answer in screen.view.answers:
            own = [row for row in found if row["candidate"] == answer.candidate]
            assert len(own) == max(len(answer.results), 1)
            assert {row["outcome"] for row in own} == {answer.status}
            hits = [row["rank"] for row in own if row["hit"]]
            assert hits == [result.rank for result in answer.results if result.hits]


async def test_a_query_that_does_not_fit_ends_with_a_sign_of_it(varied: Path) -> None:
    async with opened(varied, (80, 24)) as (app, pilot):
        table = app.screen.query_one(DataTable)
        await until(pilot, lambda: table.virtual_size.width <= 80)
        await until(pilot, lambda: any(line.rstrip().endswith("…") for line in shown(app).splitlines()))
        await pilot.resize_terminal(110, 24)
        await until(pilot, lambda: listed(app)._form is not None and listed(app)._form.width == 110)  # type: ignore[union-attr]
        await until(pilot, lambda: table.virtual_size.width <= 110)


async def test_a_case_of_a_private_repository_is_withheld_from_its_export(private: Path) -> None:
    run, app = private, BoresightApp(private.parent)
    async with app.run_test(size=SIZES[1], notifications=True) as pilot:
        await pilot.pause()
        app.screen.post_message(ShowQueries(run, Filters(), BANK_ORDER))
        await until(pilot, lambda: _is_ready(app.screen))
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, CaseScreen) and app.screen.view is not None)
        await pilot.press("x")
        withheld = "of private repositories withheld"
        await until(pilot, lambda: any(withheld in said.message for said in app._notifications))
        (file,) = (run / "exports").glob("case-*.csv")
        assert file.read_text().splitlines() == [",".join(EXPORTED)]
