"""Screen 4: what a run says, from the answer in a sentence down to the queries behind each figure."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Input, Static, TabbedContent, TabPane, Tabs
from textual.worker import get_current_worker

from core.browse.behind import Behind
from core.errors import BoresightError, StoppedError
from core.run.layout import RunLayout
from tui import navigation
from tui.results.answer import answer, answer_in_full
from tui.results.grid import exported
from tui.results.help import HELP
from tui.results.loading import Loaded, load, saved, state_words
from tui.results.sheets import GRADED, INTENTS, sheets
from tui.results.view import View
from tui.screens.base import BoresightScreen
from tui.screens.dialogs import TextDialog
from tui.text import safe, safe_lines
from tui.widgets.figure_pane import FigurePane
from tui.widgets.figure_table import FigureTable
from tui.widgets.filter_bar import FilterBar
from tui.widgets.key_footer import KeyFooter
from tui.widgets.marks import bar
from tui.widgets.title_bar import TitleBar
from tui.widgets.verdict_text import VerdictText

TOLD_EVERY_SECONDS = 0.1
PATIENCE_SECONDS = 0.5  # before the saved report is shown in place of nothing
LINES_BESIDE_PLOT = 2  # of the answer on a low screen, as the styles have it


class ResultsScreen(BoresightScreen[None]):
    """One run's answer, leaderboard, breakdowns, cost and curves."""

    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (110, "-wide")]  # noqa: RUF012 - declared so by Textual
    VERTICAL_BREAKPOINTS = [(0, "-short"), (36, "-tall")]  # noqa: RUF012
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "Back", show=False, id="results.back"),
        Binding("l", "lost", "Misses", id="results.lost"),
        Binding("a", "attempts", "Attempts", id="results.attempts"),
        Binding("m", "mean", "Mean", id="results.mean"),
        Binding("t", "turn", "Metric", id="results.metric"),
        Binding("s", "sort", "Sort", id="results.sort"),
        Binding("slash", "filter", "Filter", id="results.filter", key_display="/"),
        Binding("v", "answer", "Verdict", id="results.answer"),
        Binding("g", "gates", "Gates", id="results.gates"),
        Binding("right_square_bracket", "tab(1)", "Next tab", id="results.next_tab", key_display="]"),
        Binding("left_square_bracket", "tab(-1)", "Tab before", id="results.previous_tab", show=False),
        Binding("y", "copy_figure", "Copy", id="results.copy", show=False),
        Binding("Y", "copy_row", "Copy row", id="results.copy_row", show=False),
        Binding("x", "export", "Export", id="results.export", show=False),
        Binding("e", "edit", "Report", id="results.report", show=False),
        Binding("f5", "refresh", "Read again", id="results.refresh", show=False),
    ]
    HELP = HELP

    def __init__(self, run: Path) -> None:
        super().__init__()
        self.run_path = run
        self.loaded: Loaded | None = None
        self.view: View | None = None
        self._sheets = sheets()

    def compose(self) -> ComposeResult:
        """Lay out the state, the answer and the tabs."""
        yield TitleBar()
        yield Static("", id="results-state", markup=False)
        with VerticalScroll(id="results-answer"):
            yield VerdictText()
        with TabbedContent(id="results-tabs"):
            for sheet in self._sheets:
                with TabPane(sheet.title, id=sheet.name):
                    yield FigurePane(sheet)
        yield FilterBar("part of a candidate's name: enter keeps, esc clears", widget_id="results-filter")
        yield KeyFooter()

    def on_mount(self) -> None:
        """Name the run, and begin to read it."""
        self.sub_title = safe(self.run_path.name, 80).plain
        self.query_one("#results-tabs").display = False
        self.action_refresh()

    # Reading

    def action_refresh(self) -> None:
        """Read the run again."""
        self._tell("reading the run's evidence …")
        self.read()

    @work(thread=True, exclusive=True, group="results", exit_on_error=False)
    def read(self) -> None:
        """Verify and score the run without keeping the screen waiting, until the screen goes."""
        worker = get_current_worker()
        began = told_at = time.monotonic()
        patient = self.loaded is None

        def tell(done: int, total: int) -> None:
            nonlocal told_at, patient
            if worker.is_cancelled:
                raise StoppedError("nobody waits for these results any more")
            now = time.monotonic()
            if patient and now - began >= PATIENCE_SECONDS:
                patient = False
                self._show_saved()
            if now - told_at >= TOLD_EVERY_SECONDS:
                told_at = now
                self.app.call_from_thread(self.show_progress, done, total)

        try:
            loaded = load(self.run_path, tell)
        except StoppedError:
            return
        except BoresightError as error:
            failure = str(error)
        except Exception as error:
            failure = f"{self.run_path}: cannot be read: {type(error).__name__}: {error}"
        else:
            if not worker.is_cancelled:
                self.app.call_from_thread(self.show, loaded)
            return
        if not worker.is_cancelled:
            self.app.call_from_thread(self.show_failure, failure)

    def _show_saved(self) -> None:
        """Show the saved report meanwhile, as verifying takes its time; called in the thread."""
        first = saved(self.run_path)
        if first is not None:
            self.app.call_from_thread(self.show, first)

    def show_progress(self, done: int, total: int) -> None:
        """Show how much of the evidence is verified."""
        words = "verifying" if self.loaded is None else f"{state_words(self.loaded)}; reading again"
        if self.loaded is not None and self.loaded.status is None:
            words = state_words(self.loaded)
        self._tell(f"{words}  {bar(done, total, 10)}  {done:,} of {total:,} operations")

    def show(self, loaded: Loaded) -> None:
        """Show what was read, keeping what was chosen."""
        first = self.loaded is None
        self.loaded = loaded
        fresh = View(loaded.board, loaded.facts, loaded.sizes, graded=loaded.graded)
        before = self.view
        self.view = (
            fresh
            if before is None
            else replace(
                before, board=loaded.board, facts=loaded.facts, sizes=loaded.sizes, graded=loaded.graded
            )
        )
        self._tell(state_words(loaded), warning=bool(loaded.changed))
        self.query_one("#results-answer").remove_class("-failure")
        self.query_one(VerdictText).tell(answer(loaded))
        self._cut_answer()
        self.query_one("#results-tabs").display = True
        self._show_tabs()
        self._draw()
        if first:
            self.pane.table.focus()

    def show_failure(self, failure: str) -> None:
        """Say why the run cannot be read; figures that were read before are gone with it."""
        self.loaded = self.view = None
        self._cut_answer()
        self._tell("✖ no results can be told", warning=True)
        self.query_one("#results-tabs").display = False
        place = self.query_one("#results-answer")
        place.add_class("-failure")
        self.query_one(VerdictText).tell(safe_lines(f"{failure}\n\nf5 reads it again."))
        place.focus()

    def _tell(self, words: str, *, warning: bool = False) -> None:
        state = self.query_one("#results-state", Static)
        state.set_class(warning, "-warning")
        state.update(safe(words, 300))

    # Tabs

    @property
    def pane(self) -> FigurePane:
        """The tab that is shown."""
        tabs = self.query_one(TabbedContent)
        return tabs.get_pane(tabs.active or self._sheets[0].name).query_one(FigurePane)

    def _show_tabs(self) -> None:
        """Show the graded tab where there is something to show in it, and call groups by their name."""
        tabs, view = self.query_one(TabbedContent), self.view
        if view is None:
            return
        if view.graded is None:
            tabs.hide_tab(GRADED)
        else:
            tabs.show_tab(GRADED)
        intents = "Intents" if view.board.sought != "relevant module" else "Shapes"
        tabs.get_tab(INTENTS).label = Content(intents)

    def _draw(self) -> None:
        if self.view is not None:
            self.pane.show(self.view)

    @on(TabbedContent.TabActivated)
    def draw_tab(self) -> None:
        """Bring a tab up to date as it is shown."""
        self.set_class(self.pane.sheet.plot is not None, "-plotting")
        self._cut_answer()
        self._draw()
        if self.view is not None and not isinstance(self.focused, Tabs | Input):
            self.pane.table.focus()

    def on_resize(self) -> None:
        """Tell as much of the answer as there is room for."""
        self.call_after_refresh(self._cut_answer)

    def _cut_answer(self) -> None:
        """Leave a plot room on a low screen."""
        low = self.has_class("-short") and self.has_class("-plotting") and self.view is not None
        self.query_one(VerdictText).cut(LINES_BESIDE_PLOT if low else None)

    def action_tab(self, step: int) -> None:
        """Go to the next tab or the one before."""
        tabs = self.query_one(TabbedContent)
        if self.view is not None:
            hidden = {GRADED} if self.view.graded is None else set()
            names = [sheet.name for sheet in self._sheets if sheet.name not in hidden]
            tabs.active = names[(names.index(tabs.active) + step) % len(names)]

    def _choose(self, view: View) -> None:
        self.view = view
        self._draw()

    def action_mean(self) -> None:
        """Turn from macro to micro means, or back."""
        if self.view is not None:
            self._choose(self.view.other_mean())

    def action_turn(self) -> None:
        """Turn to the next metric, or channel."""
        if self.view is not None:
            self._choose(self.pane.sheet.turned(self.view))

    def action_sort(self) -> None:
        """Sort by the column under the cursor."""
        self.pane.table.sort_by_cursor()

    # Filtering

    def action_filter(self) -> None:
        """Type a part of candidates' names."""
        if self.view is not None:
            self.query_one(FilterBar).open()

    @on(FilterBar.Filtered)
    def filter_candidates(self, event: FilterBar.Filtered) -> None:
        """Show the candidates whose names hold what was typed so far."""
        if self.view is not None:
            self._choose(replace(self.view, needle=event.text))

    @on(FilterBar.Left)
    def back_to_table(self) -> None:
        """Give the keys back to the table."""
        self.pane.table.focus()

    def action_back(self) -> None:
        """Take the filter away, or go back one level."""
        if not self.query_one(FilterBar).take_away():
            self.go_back()

    # What is behind a figure

    @on(FigureTable.CellSelected)
    def show_queries(self) -> None:
        """Open the queries behind the figure under the cursor."""
        figure = self.pane.table.figure
        self._show_behind(figure.behind if figure else None)

    def action_lost(self) -> None:
        """Open those of the queries behind the figure that the candidate does not hit."""
        figure = self.pane.table.figure
        self._show_behind((figure.lost or figure.behind) if figure else None)

    def _show_behind(self, behind: Behind | None) -> None:
        if behind is None:
            self.boresight.tell("No query stands behind this figure")
        else:
            self.post_message(navigation.ShowQueries(self.run_path, behind.filters, behind.sort))

    def action_attempts(self) -> None:
        """Open the attempts of the candidate under the cursor."""
        figure = self.pane.table.figure
        candidate = figure.candidate if figure else None
        self.post_message(navigation.ShowAttempts(self.run_path, candidate=candidate))

    def action_gates(self) -> None:
        """Hold the run to floors."""
        self.post_message(navigation.ShowGates(self.run_path))

    def action_answer(self) -> None:
        """Show the answer in full."""
        if self.loaded is not None:
            self.app.push_screen(TextDialog(f"Verdict on {self.run_path.name}", answer_in_full(self.loaded)))

    # Taking along

    def action_copy_figure(self) -> None:
        """Copy the figure under the cursor."""
        figure = self.pane.table.figure
        if figure is not None:
            self.boresight.copy(figure.text)

    def action_copy_row(self) -> None:
        """Copy the row under the cursor, all its columns, separated by tabs."""
        row = self.pane.table.row
        if row is not None:
            self.boresight.copy("\t".join(figure.text for figure in row.figures))

    def action_export(self) -> None:
        """Write the table, all its columns, to a file."""
        grid = self.pane.table.grid
        if grid is not None:
            header, rows = exported(grid)
            self.boresight.export(self.run_path, self.pane.sheet.name, header, rows)

    def action_edit(self) -> None:
        """Open the report that was written last."""
        report = RunLayout(self.run_path).summary_text
        if report.is_file():
            self.boresight.edit(report)
        else:
            self.boresight.tell(
                "No quality-summary.md here yet: rescore the run, which writes it", warning=True
            )
