"""The results screen, by its keys, at the smallest and at a large size."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from textual import on
from textual.pilot import Pilot
from textual.widgets import TabbedContent, Tabs

from core import api
from core.browse.behind import NOT_HIT
from core.browse.filters import Filters, OutcomeFilter, Sort
from core.run.layout import RunLayout
from core.run.lock import RunLock
from tests.support.campaigns import campaign, fake, make_scene, run_new
from tests.support.finished import finished_run
from tests.support.screens import SIZES, shown, until, unwrapped
from tui import navigation
from tui.app import stylesheet
from tui.outward import OutwardApp
from tui.results.grid import Sorting
from tui.results.loading import load, saved
from tui.screens.dialogs import TextDialog
from tui.screens.results import ResultsScreen
from tui.widgets.figure_table import FigureTable
from tui.widgets.verdict_text import VerdictText

SMALL, LARGE = SIZES
HOSTILE = [
    "[/foo] bar",
    "[/]",
    "[X=http://a]",
    "\x1b]52;c;aGk=\x07",
    "\x1b]0;t\x07",
    "\u202eabc",
    "a\0b",
    "x" * 10**6,
]


class Host(OutwardApp):
    """An app with this screen alone, which notes what it is asked for."""

    CSS_PATH = stylesheet()

    def __init__(self, run: Path) -> None:
        super().__init__()
        self.run_path = run
        self.asked: list[navigation.ShowQueries | navigation.ShowAttempts] = []
        self.copied: list[str] = []
        self.edited: list[Path] = []

    def on_mount(self) -> None:
        self.push_screen(ResultsScreen(self.run_path))

    @on(navigation.ShowQueries)
    @on(navigation.ShowAttempts)
    def note(self, asked: navigation.ShowQueries | navigation.ShowAttempts) -> None:
        self.asked.append(asked)

    def copy(self, text: str) -> None:
        self.copied.append(text)

    def edit(self, path: Path) -> None:
        self.edited.append(path)


@asynccontextmanager
async def opened(run: Path, size: tuple[int, int]) -> AsyncIterator[tuple[Host, Pilot[Any]]]:
    app = Host(run)
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: isinstance(app.screen, ResultsScreen) and app.screen.loaded is not None)
        await until(pilot, lambda: isinstance(app.focused, FigureTable) and "CANDIDATE" in shown(app))
        yield app, pilot


def words(app: Host) -> str:
    """Return what is shown as one line of words, without frames."""
    return " ".join(shown(app).replace("█", " ").split())


def _shows(app: Host, told: str) -> bool:
    return told in shown(app)


def channel(app: Host) -> str | None:
    view = screen(app).view
    return view.channel if view is not None else None


def screen(app: Host) -> ResultsScreen:
    assert isinstance(app.screen, ResultsScreen)
    return app.screen


async def last_asked(app: Host, pilot: Pilot[Any], key: str) -> Any:
    before = len(app.asked)
    await pilot.press(key)
    await until(pilot, lambda: len(app.asked) > before)
    return app.asked[-1]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return finished_run(tmp_path).run


@pytest.mark.parametrize("size", SIZES)
async def test_the_answer_stands_first_with_the_state_and_the_leaderboard(
    run: Path, size: tuple[int, int]
) -> None:
    async with opened(run, size) as (app, _):
        text = shown(app)
        assert "✔ complete · 18 of 18 operations accepted · verified" in text
        assert text.index("finds the known target") < text.index("CANDIDATE")
        assert "Recall@5" in text and "DECISION" in text and "SUPPORT" in text
        assert "all 8 queries answered" in " ".join(text.split())
        assert "baseline" in text and "no material gain" in text


async def test_a_large_terminal_shows_more_columns(run: Path) -> None:
    async with opened(run, LARGE) as (app, _):
        heads = shown(app)
        assert all(title in heads for title in ("Hit@1", "MRR@10", "Δ R@5 95 %", "ANSWERED"))
    async with opened(run, SMALL) as (app, pilot):
        assert "Δ R@5 95 %" not in shown(app)
        await pilot.resize_terminal(*LARGE)
        await until(pilot, lambda: "Δ R@5 95 %" in shown(app))


@pytest.mark.parametrize("size", SIZES)
async def test_keys_walk_the_tabs_each_with_what_its_numbers_are_over(
    run: Path, size: tuple[int, int]
) -> None:
    async with opened(run, size) as (app, pilot):
        for told in ("INTENT", "REPOSITORY", "INDEXING", "@10"):
            await pilot.press("right_square_bracket")
            await until(pilot, partial(_shows, app, told))
            await until(pilot, lambda: isinstance(app.focused, FigureTable))
        await pilot.press("right_square_bracket")
        await until(pilot, lambda: app.screen.query_one(TabbedContent).active == "leaderboard")
        await pilot.press("left_square_bracket")
        await until(pilot, lambda: app.screen.query_one(TabbedContent).active == "curve")


async def test_arrows_walk_the_tabs_where_these_have_the_focus(run: Path) -> None:
    async with opened(run, SMALL) as (app, pilot):
        app.screen.query_one(Tabs).focus()
        await pilot.press("right")
        await until(pilot, lambda: "symbol_lookup" in shown(app))
        assert isinstance(app.focused, Tabs)


@pytest.mark.parametrize("size", SIZES)
async def test_the_queries_behind_a_cell_of_the_heat_table(run: Path, size: tuple[int, int]) -> None:
    async with opened(run, size) as (app, pilot):
        await pilot.press("right_square_bracket")
        await until(pilot, lambda: "INTENT" in shown(app))
        await pilot.press("down", "right", "right", "right")
        asked = await last_asked(app, pilot, "enter")
        assert asked.run == run
        assert asked.filters == Filters(intents=("symbol_lookup",), cutoff=5)
        assert asked.sort == Sort("delta", "b", "a")
        await pilot.press("up", "right_square_bracket")
        await until(pilot, lambda: "REPOSITORY" in shown(app))
        await pilot.press("down", "right", "right")
        asked = await last_asked(app, pilot, "enter")
        assert asked.filters.repositories == ("store",)


async def test_only_the_misses_behind_a_figure(tmp_path: Path) -> None:
    asked = campaign(make_scene(tmp_path, 1), fake("a"), fake("b", faults={"load_records": "empty"}))
    await asyncio.to_thread(run_new, asked, tmp_path / "run")
    async with opened(tmp_path / "run", LARGE) as (app, pilot):
        assert screen(app).pane.table.row is not None
        names = [row.key for row in screen(app).pane.table._rows]
        await pilot.press(*["down"] * names.index("b"), "right")
        shown_queries = await last_asked(app, pilot, "l")
        hit = screen(app).loaded
        assert hit is not None
        whole = hit.board.candidates["b"].micro[1].hit == 1.0
        assert shown_queries.filters.outcomes == (() if whole else (OutcomeFilter("b", NOT_HIT),))


async def test_attempts_of_the_candidate_under_the_cursor(run: Path) -> None:
    async with opened(run, SMALL) as (app, pilot):
        await pilot.press("down")
        candidate = screen(app).pane.table.row
        assert candidate is not None
        asked = await last_asked(app, pilot, "a")
        assert asked == navigation.ShowAttempts(run, candidate=candidate.key)


async def test_a_figure_without_queries_says_so(run: Path) -> None:
    app = Host(run)
    async with app.run_test(size=LARGE, notifications=True) as pilot:
        await until(pilot, lambda: isinstance(app.focused, FigureTable))
        table = screen(app).pane.table
        table.move_cursor(column=table._columns.index(_column(table, "ANSWERED")))
        await pilot.press("enter")
        await until(pilot, lambda: "No query stands behind" in shown(app))
        assert app.asked == []


def _column(table: FigureTable, title: str) -> int:
    assert table.grid is not None
    return [column.title for column in table.grid.columns].index(title)


@pytest.mark.parametrize("size", SIZES)
async def test_macro_and_micro_and_the_metric_in_the_foreground(run: Path, size: tuple[int, int]) -> None:
    async with opened(run, size) as (app, pilot):
        await pilot.press("m")
        await until(pilot, lambda: "Micro: " in shown(app))
        await pilot.press("m", "t")
        await until(pilot, lambda: "Macro: " in shown(app) and "Δ MRR@10" in shown(app))
        await pilot.press("right_square_bracket")
        await until(pilot, lambda: "MRR@10, macro" in shown(app))


@pytest.mark.parametrize("size", SIZES)
async def test_the_cost_plot_has_letters_and_its_channel_turns(run: Path, size: tuple[int, int]) -> None:
    async with opened(run, size) as (app, pilot):
        await pilot.press("left_square_bracket", "left_square_bracket")
        await until(pilot, lambda: app.screen.query_one(TabbedContent).active == "cost")
        await until(pilot, lambda: "┤" in shown(app))
        assert app.screen.has_class("-plotting")
        await pilot.press("t")
        await until(pilot, lambda: channel(app) == "docs")


async def test_beside_a_plot_on_a_low_screen_the_answer_says_that_it_is_cut(run: Path) -> None:
    async with opened(run, (60, 24)) as (app, pilot):
        answer = app.screen.query_one(VerdictText)
        await until(pilot, lambda: answer.region.height > 2)
        await pilot.press("left_square_bracket")
        await until(pilot, lambda: answer.size.height == 2 and "… v shows all" in shown(app))
        await pilot.press("right_square_bracket")
        await until(pilot, lambda: "v shows all" not in shown(app) and answer.size.height > 2)


@pytest.mark.parametrize("size", SIZES)
async def test_the_plots_read_without_colour(
    run: Path, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with opened(run, size) as (app, pilot):
        await pilot.press("left_square_bracket")
        await until(pilot, lambda: "┤" in shown(app))
        plotted = [line for line in shown(app).splitlines() if "│" in line or "┤" in line]
        assert any("A" in line or "B" in line for line in plotted)
        assert " A " in shown(app) and " B " in shown(app)  # the table is the legend


async def test_sorting_by_a_column_turns_and_is_taken_back(run: Path) -> None:
    async with opened(run, SMALL) as (app, pilot):
        table = screen(app).pane.table
        for sorting, mark in (
            (Sorting("CANDIDATE", descending=False), "▲"),
            (Sorting("CANDIDATE", descending=True), "▼"),
        ):
            await pilot.press("s")
            await until(pilot, partial(_shows, app, mark))
            assert table.sorting == sorting
            names = [row.key for row in table._rows]
            assert names == sorted(names, reverse=sorting.descending)
        await pilot.press("s")
        await until(pilot, lambda: table.sorting is None)


@pytest.mark.parametrize("size", SIZES)
async def test_filtering_candidates_and_taking_it_back(run: Path, size: tuple[int, int]) -> None:
    async with opened(run, size) as (app, pilot):
        await pilot.press("slash", "b")
        await until(pilot, lambda: [row.key for row in screen(app).pane.table._rows] == ["b"])
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.focused, FigureTable))
        await pilot.press("escape")
        await until(pilot, lambda: len(screen(app).pane.table._rows) == 2)
        await pilot.press("slash", "z")
        await until(pilot, lambda: "no candidate's name holds" in words(app))
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.focused, FigureTable))
        await pilot.press("escape")
        await until(pilot, lambda: not isinstance(app.screen, ResultsScreen))


@pytest.mark.parametrize("size", SIZES)
async def test_the_verdict_in_full(run: Path, size: tuple[int, int]) -> None:
    async with opened(run, size) as (app, pilot):
        await pilot.press("v")
        await until(pilot, lambda: isinstance(app.screen, TextDialog))
        await until(pilot, lambda: "finds the known target" in words(app))
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, ResultsScreen))


async def test_copying_a_figure_and_a_row(run: Path) -> None:
    async with opened(run, SMALL) as (app, pilot):
        await pilot.press("right", "y", "Y")
        figure, row = app.copied
        assert "(" in figure
        assert figure in row.split("\t") and "baseline" in row


async def test_exports_withhold_private_repositories(tmp_path: Path) -> None:
    made = await asyncio.to_thread(finished_run, tmp_path, private=True)
    async with opened(made.run, SMALL) as (app, pilot):
        await pilot.press("right_square_bracket", "right_square_bracket")
        await until(pilot, lambda: "REPOSITORY" in shown(app))
        assert "store" in shown(app)  # the screen is local
        await pilot.press("x")
        await until(pilot, lambda: list((made.run / "exports").glob("repositories-*.csv")))
        written = next((made.run / "exports").glob("repositories-*.csv")).read_text()
        assert "all cases" in written and "store" not in written


async def test_the_report_opens_in_the_editor_once_it_is_written(run: Path) -> None:
    app = Host(run)
    async with app.run_test(size=SMALL, notifications=True) as pilot:
        await until(pilot, lambda: isinstance(app.focused, FigureTable))
        await pilot.press("e")
        await until(pilot, lambda: "No quality-summary.md here" in words(app))
        await asyncio.to_thread(api.rescore_run, run)
        await pilot.press("e")
        await until(pilot, lambda: app.edited == [RunLayout(run).summary_text])


@pytest.mark.parametrize("size", SIZES)
async def test_a_run_with_failures_says_what_is_missing_from_its_numbers(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    asked = campaign(make_scene(tmp_path, 1), fake("a"), fake("b", faults={"load_records": "exit_3"}))
    await asyncio.to_thread(run_new, asked, tmp_path / "run")
    async with opened(tmp_path / "run", size) as (app, _):
        text = shown(app)
        assert "✖ failed" in text and "needs more data" in text
        assert "ANSWERED" in text and "3/4" in text
        assert "7 of 8 queries answered, the rest count as misses" in " ".join(text.split())


@pytest.mark.parametrize("size", SIZES)
async def test_a_run_that_never_ran_has_no_answer_and_says_how_to_go_on(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    made = await asyncio.to_thread(
        api.create_run, campaign(make_scene(tmp_path, 1), fake("a")), tmp_path / "run"
    )
    made.close()
    async with opened(tmp_path / "run", size) as (app, pilot):
        assert "◐ interrupted · 0 of 9 operations accepted" in shown(app)
        assert "boresight resume" in words(app)
        for _ in range(5):  # every tab stands, whatever is missing
            await pilot.press("right_square_bracket")
            await pilot.pause()


async def test_a_live_run_is_partial_and_read_again_on_demand(run: Path) -> None:
    lock = RunLock(RunLayout(run).lock)
    lock.acquire()
    try:
        async with opened(run, SMALL) as (app, pilot):
            assert "partial; f5 reads again" in shown(app)
            lock.release()
            await pilot.press("f5")
            await until(pilot, lambda: "✔ complete" in shown(app))
    finally:
        lock.release()


@pytest.mark.parametrize("size", SIZES)
async def test_edited_evidence_is_named_and_its_figures_are_no_result(
    run: Path, size: tuple[int, int]
) -> None:
    stdout = next(iter(sorted(run.glob("operations/b/store/primary-*/attempt-0001/stdout"))))
    stdout.chmod(0o600)
    stdout.write_bytes(b"{}")
    async with opened(run, size) as (app, pilot):
        assert "1 piece of evidence changed: no result" in words(app)
        assert "7 of 8 queries answered" in words(app)
        await pilot.press("v")
        await until(pilot, lambda: isinstance(app.screen, TextDialog))
        await until(pilot, lambda: "It counts as missing" in words(app))


@pytest.mark.parametrize("size", SIZES)
async def test_a_run_of_a_newer_format_is_named_as_one(run: Path, size: tuple[int, int]) -> None:
    file = RunLayout(run).campaign
    file.chmod(0o600)
    file.write_text(file.read_text().replace("boresight-run@1", "boresight-run@2"))
    app = Host(run)
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: "use the newer version" in words(app))
        assert "no results can be told" in shown(app) and "CANDIDATE" not in shown(app)
        for key in ("enter", "l", "a", "m", "t", "s", "slash", "v", "y", "Y", "x", "right_square_bracket"):
            await pilot.press(key)
        assert [type(asked).__name__ for asked in app.asked] in ([], ["ShowAttempts"])
        file.write_text(file.read_text().replace("boresight-run@2", "boresight-run@1"))
        await pilot.press("f5")
        await until(pilot, lambda: "CANDIDATE" in shown(app))


@pytest.mark.parametrize("cut", ["plan.jsonl", "cases.jsonl", "campaign.json"])
async def test_a_half_written_run_says_what_is_missing(run: Path, cut: str) -> None:
    file = run / cut
    file.chmod(0o600)
    file.write_bytes(file.read_bytes()[:40])
    app = Host(run)
    async with app.run_test(size=(160, 50)) as pilot:
        await until(pilot, lambda: "no results can be told" in shown(app))
        assert cut in unwrapped(app)


async def test_the_saved_report_is_shown_while_evidence_is_verified(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await asyncio.to_thread(api.rescore_run, run)
    verified = threading.Event()

    def slow_load(path: Path, tell: Any) -> Any:
        tell(1, 18)
        verified.wait(20)
        return load(path, tell)

    monkeypatch.setattr("tui.screens.results.PATIENCE_SECONDS", 0.0)
    monkeypatch.setattr("tui.screens.results.load", slow_load)
    try:
        async with opened(run, SMALL) as (app, pilot):
            await until(pilot, lambda: "being verified" in shown(app))
            assert "saved report of" in shown(app) and "Recall@5" in shown(app)
            verified.set()
            await until(pilot, lambda: "✔ complete" in shown(app))
    finally:
        verified.set()


async def test_a_saved_report_of_another_run_is_passed_over(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await asyncio.to_thread(api.rescore_run, run)
    file = RunLayout(run).summary
    told = json.loads(file.read_bytes())
    told["run"]["identity"] = "0" * 64
    file.write_text(json.dumps(told))
    assert saved(run) is None
    file.write_text("not JSON")
    assert saved(run) is None


async def test_leaving_ends_the_reading(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ended = threading.Event()

    def endless(path: Path, tell: Any) -> Any:
        try:
            while not ended.wait(0.01):
                tell(1, 2)
        finally:
            ended.set()

    monkeypatch.setattr("tui.screens.results.load", endless)
    app = Host(run)
    async with app.run_test(size=SMALL) as pilot:
        await until(pilot, lambda: "verifying" in shown(app))
        await pilot.press("escape")
        await until(pilot, ended.is_set)


@pytest.mark.parametrize("text", HOSTILE)
async def test_hostile_text_neither_raises_nor_reaches_the_terminal(run: Path, text: str) -> None:
    async with opened(run, SMALL) as (app, pilot):
        screen(app).query_one("#results-filter").value = text  # type: ignore[attr-defined]
        await pilot.pause()
        screen(app).show_failure(f"{text}\n" * 3)
        await pilot.pause()
        seen = shown(app)
        assert not any(ord(character) < 0x20 and character != "\n" for character in seen)
        assert "\x7f" not in seen and "\u202e" not in seen


async def test_a_failure_of_another_kind_is_told_and_the_app_stays(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(path: Path, tell: Any) -> Any:
        raise RuntimeError("what nobody thought of")

    monkeypatch.setattr("tui.screens.results.load", broken)
    app = Host(run)
    async with app.run_test(size=SMALL) as pilot:
        await until(pilot, lambda: "what nobody thought of" in shown(app))


@pytest.mark.parametrize("theme", ["textual-dark", "textual-light", "ansi-dark", "ansi-light"])
async def test_marks_differ_from_what_is_behind_them_in_every_theme(run: Path, theme: str) -> None:
    async with opened(run, SMALL) as (app, pilot):
        app.theme = theme
        await pilot.press("right_square_bracket")  # shades, drawn by the theme
        await until(pilot, lambda: "INTENT" in shown(app))
        await pilot.press("left_square_bracket", "left_square_bracket")
        await until(pilot, lambda: "┤" in shown(app))
        drawn = [segment for strip in app.screen._compositor.render_strips() for segment in strip]
        marks = [
            segment.style for segment in drawn if segment.text.strip("·│ ") in {"A", "B"} and segment.style
        ]
        assert marks
        for style in marks:
            both_default = {style.color and style.color.name, style.bgcolor and style.bgcolor.name} == {
                "default"
            }
            assert both_default or style.color != style.bgcolor
