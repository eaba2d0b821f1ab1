"""Screen 3: a run as it goes, its own or anybody's, followed through its files and steered by its socket."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import ActiveBinding, Binding, BindingType
from textual.content import Content
from textual.widgets import DataTable, Static
from textual.worker import get_current_worker

from core import api
from core.browse.filters import Filters
from core.errors import BoresightError
from core.reports.wording import failed_words
from core.run.control import NobodyListensError
from core.run.events import State
from core.run.layout import RunLayout
from core.status import LIVE
from tui import navigation, wallclock
from tui.following import Follower, News, RunView
from tui.runs import UNFINISHED
from tui.screens.base import BoresightScreen
from tui.screens.dialogs import Choice, ChoiceDialog
from tui.text import facts, safe
from tui.widgets.cell_table import HEADER, CellTable, exported
from tui.widgets.filter_bar import FilterBar
from tui.widgets.key_footer import KeyFooter
from tui.widgets.marks import STATE_MARKS, bar, clock
from tui.widgets.news_table import NewsTable, news_line
from tui.widgets.title_bar import TitleBar

REDRAW_SECONDS = 0.2
SHOWN_FAILURES = 200
STOP_WAITING_SAID = "It waits no longer; r resumes it"
STOP_SAID = "The operation under way is ended and kept; ctrl+c again stops by force"
_STEERING: Mapping[str, str] = {"pause": "pause", "go_on": "continue", "stop": "stop"}


class MonitorScreen(BoresightScreen[None]):
    """One run: cells, progress, heartbeats, failures as they happen."""

    AUTO_FOCUS = "CellTable"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "Back", id="monitor.back"),
        Binding("p", "pause", "Pause", id="monitor.pause"),
        Binding("c", "go_on", "Continue", id="monitor.continue"),
        Binding("t", "together", "Run beside it", id="monitor.together"),
        Binding("r", "resume", "Resume", id="monitor.resume"),
        Binding("ctrl+c", "stop", "Stop", priority=True, id="monitor.stop"),
        Binding("f", "failures", "Failures", id="monitor.failures"),
        Binding("slash", "filter", "Filter", key_display="/", show=False, id="monitor.filter"),
        Binding("s", "sort", "Sort", show=False, id="monitor.sort"),
        Binding("y", "copy", "Copy path", show=False, id="monitor.copy"),
        Binding("e", "edit", "Edit", show=False, id="monitor.edit"),
        Binding("x", "export", "Export", show=False, id="monitor.export"),
    ]
    HELP = (
        "A run as it goes. Percentages count operations; what an index and\n"
        "a query cost differs. BEAT is the age of the last heartbeat, p50 a\n"
        "median over accepted operations, RSS what was sampled last.\n\n"
        "p       pause after the operation under way\n"
        "c       continue\n"
        "t       where it waits for another campaign: run beside that; the\n"
        "        operations of both are marked as disturbed\n"
        "r       where nobody executes it: resume it, with every verified\n"
        "        result kept\n"
        "ctrl+c  stop: the operation under way is ended and kept;\n"
        "        again: by force\n"
        "f       the failures so far; enter inspects one\n"
        "enter   on a cell: its attempts where some failed, else the\n"
        "        queries of its repository; on an event: its attempts\n"
        "tab     between cells and events\n"
        "/  s    filter the cells, sort them\n"
        "y  e    copy the run's path, open its console.log in $EDITOR\n"
        "x       write the cells shown into a CSV file of the run\n"
        "esc     back; the run goes on in its own process\n\n"
        "A heartbeat comes every second: one older than 5 s shows ⚠, older\n"
        "than 10 s the run is stalled; a run whose writer is gone is\n"
        "interrupted."
    )

    def __init__(self, run: Path) -> None:
        super().__init__()
        self.run_path = run
        self._follower = Follower(run)
        self._drawn = 0
        self._stopped_once = False
        self._state: State | None = None
        self._waits = False  # for another campaign

    def compose(self) -> ComposeResult:
        """Lay out the head, the bar, the cells and the events."""
        yield TitleBar()
        yield Static("reading …", id="run-head", markup=False)
        yield Static("", id="run-bar", markup=False)
        yield Static("", id="run-problems", markup=False)
        yield FilterBar("filter the cells by candidate, repository or phase")
        yield CellTable(id="cells")
        yield NewsTable(id="events")
        yield KeyFooter()

    def on_mount(self) -> None:
        """Begin to follow."""
        self.sub_title = safe(self.run_path.name, 80).plain
        self.query_one("#run-problems").display = False
        self.query_one(NewsTable).border_title = " Events "
        self.follow()
        self.set_interval(REDRAW_SECONDS, self.redraw)

    @work(thread=True, exclusive=True, group="follow", exit_on_error=False)
    def follow(self) -> None:
        """Read the run as it is written, until this screen goes."""
        worker = get_current_worker()
        self._follower.follow(lambda: worker.is_cancelled)

    def on_resize(self) -> None:
        """Use the width that there is."""
        self.redraw()

    def redraw(self) -> None:
        """Show the latest view; called on a fixed tick, however many events came."""
        view = self._follower.view
        if view is None or not self.is_mounted:
            return
        now = wallclock.now()
        state = view.state(now)
        if self._state is not None and self._state != state and state not in {"stopping", "running"}:
            self._stopped_once = False
        waits = view.waits_for is not None
        if (state, waits) != (self._state, self._waits):
            self._state, self._waits = state, waits
            self.refresh_bindings()
        width = max(self.size.width - 4, 10)
        _put(self.query_one("#run-head", Static), _head(view, state, now, width))
        shown = bar(view.progress.completed, view.progress.planned, width)
        _put(self.query_one("#run-bar", Static), safe(shown))
        self._tell_problems(view, state)
        self.query_one(CellTable).show(view, now, self.size.width)
        if view.sequence != self._drawn:
            self._drawn = view.sequence
            events = self.query_one(NewsTable)
            events.show(view.news)
            title = f" Events · {failed_words(view.failed, view.unasked)} " if view.failed else " Events "
            if events.border_title != title:  # setting it draws all of the table anew
                events.border_title = title

    def _tell_problems(self, view: RunView, state: State) -> None:
        lines = [problem.splitlines()[0] for problem in view.problems]
        if state == "interrupted" and view.is_caught_up:
            lines.append("Nobody executes this run now; r resumes it.")
        elif view.waits_for is not None:
            lines.append(f"It waits for {view.waits_for}.")
            lines.append("t runs it beside that, and both are marked as disturbed; ctrl+c stops waiting.")
        elif state in {"complete", "failed"}:
            lines.append("It has ended: 4 Results, 5 Queries, 6 Attempts.")
        elif state == "stalled":
            lines.append(
                "Its process holds the lock but says nothing: ctrl+c stops it, or look at the machine."
            )
        panel = self.query_one("#run-problems", Static)
        panel.display = bool(lines)
        _put(panel, safe_join(lines))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer only what makes sense of a run that fares so; keys that steer say why they cannot."""
        if action == "together":
            return self._waits
        if action == "resume":
            return self._state in UNFINISHED
        return super().check_action(action, parameters)

    @property
    def active_bindings(self) -> dict[str, ActiveBinding]:
        """The keys that the footer offers: none of those that would only say why they cannot steer."""
        active = super().active_bindings
        return {
            key: each
            for key, each in active.items()
            if each.node is not self or self._cannot(each.binding.action) is None
        }

    def _cannot(self, action: str) -> str | None:
        """Return why the run cannot be steered so as it fares; None where it can, or nobody knows yet."""
        state, what = self._state, _STEERING.get(action)
        if what is None or state is None:
            return None
        if state not in LIVE:
            resume = "; r resumes it" if state in UNFINISHED else ""
            return f"{self.run_path.name} is not being executed, so there is nothing to {what}{resume}"
        if state == "waiting" and action != "stop":
            beside = "t runs it beside that, " if self._waits else ""
            return f"{self.run_path.name} waits, so there is nothing to {what}; {beside}ctrl+c stops waiting"
        return None

    def action_together(self) -> None:
        """Ask the engine not to wait for the other campaign."""
        self.say("together", "Running beside the other campaign; the operations of both are marked")

    def action_resume(self) -> None:
        """Give the run a host process again, or say why that would be refused and what helps."""
        self.boresight.home.resume_run(self.run_path)

    def action_pause(self) -> None:
        """Ask the engine to wait after the operation under way."""
        self.steer("pause", "pause", "Pausing after the operation under way")

    def action_go_on(self) -> None:
        """Ask the engine to go on."""
        self.steer("go_on", "continue", "Going on")

    def action_stop(self) -> None:
        """Ask the engine to stop; the second time, at once."""
        if self._stopped_once:
            self.steer("stop", "stop-now", "Stopping by force")
        else:
            self.steer("stop", "stop", STOP_WAITING_SAID if self._waits else STOP_SAID)

    def steer(self, action: str, word: str, said: str) -> None:
        """Put a word to the run's engine, or say why there is nobody to take it."""
        reason = self._cannot(action)
        if reason is None:
            self.say(word, said)
        else:
            self.boresight.tell(reason, warning=True)

    @work(thread=True, group="say", exit_on_error=False)
    def say(self, word: str, said: str) -> None:
        """Put a word to the run's engine, and say what came of it."""
        try:
            api.ask(self.run_path, word)
        except NobodyListensError:
            told, warning = f"{self.run_path.name}: nobody listens: no engine is running it now", True
        except (BoresightError, OSError) as error:
            told, warning = str(error), True
        else:
            told, warning = said, False
            self._stopped_once = self._stopped_once or word == "stop"
        self.app.call_from_thread(self.boresight.tell, told, warning=warning)

    def action_failures(self) -> None:
        """List the failures so far, to inspect one."""
        view = self._follower.view
        failures = [item for item in view.news if item.is_failure][-SHOWN_FAILURES:] if view else []
        if view is None or not failures:
            self.boresight.tell("No operation has failed")
            return
        text = f"{failed_words(view.failed, view.unasked)}. The latest stand first; enter inspects one."
        if view.unasked:
            text += " What was never asked as an index failed is one line, that of the index."
        choices = [Choice(str(item.number), news_line(item)) for item in reversed(failures)]
        by_number = {str(item.number): item for item in failures}

        def answered(answer: str | None) -> None:
            if answer is not None:
                self._inspect(by_number[answer])

        self.app.push_screen(ChoiceDialog(f"Failures of {self.run_path.name}", text, choices), answered)

    def _inspect(self, item: News) -> None:
        self.post_message(navigation.ShowAttempts(self.run_path, item.operation))

    @on(DataTable.RowSelected, "#events")
    def open_event(self) -> None:
        """Show the attempts of the operation that an event tells of."""
        item = self.query_one(NewsTable).chosen
        if item is not None and item.operation is not None:
            self._inspect(item)

    @on(DataTable.RowSelected, "#cells")
    def open_cell(self) -> None:
        """Show what a cell holds: its attempts where some failed, else its repository's queries."""
        cell = self.query_one(CellTable).chosen
        if cell is None:
            return
        if cell.failed:
            self.post_message(navigation.ShowAttempts(self.run_path, candidate=cell.candidate))
        else:
            filters = Filters(repositories=(cell.repository,))
            self.post_message(navigation.ShowQueries(self.run_path, filters))

    def action_filter(self) -> None:
        """Open the filter."""
        self.query_one(FilterBar).open()

    @on(FilterBar.Filtered)
    def filter_cells(self, event: FilterBar.Filtered) -> None:
        """Show the cells that match."""
        self.query_one(CellTable).words = event.text
        self.redraw()

    def action_back(self) -> None:
        """Take the filter away, or go back one level."""
        if not self.query_one(FilterBar).take_away():
            self.go_back()

    @on(FilterBar.Left)
    def back_to_cells(self) -> None:
        """Give the keys back to the table."""
        self.query_one(CellTable).focus()

    def action_sort(self) -> None:
        """Sort the cells by the next thing."""
        self.boresight.tell(f"Cells sorted: {self.query_one(CellTable).sort_by_next()}")
        self.redraw()

    def action_copy(self) -> None:
        """Copy the run's path."""
        self.boresight.copy(str(self.run_path))

    def action_edit(self) -> None:
        """Open the run's console log in the person's editor."""
        self.boresight.edit(RunLayout(self.run_path).console)

    def action_export(self) -> None:
        """Write the cells that the filter lets through into a CSV file of the run."""
        view = self._follower.view
        if view is not None:
            cells = self.query_one(CellTable).wanted(view)
            rows = [(cell.repository, exported(cell)) for cell in cells]
            self.boresight.export(self.run_path, "cells", HEADER, rows)


def _put(panel: Static, text: Content | str) -> None:
    """Show text where it is news: each update is laid out, drawn and sent to the terminal anew."""
    if panel.content != text:
        panel.update(text)


def safe_join(lines: Sequence[str]) -> str:
    """Return lines made safe, under each other."""
    return "\n".join(safe(line, 400).plain for line in lines)


def _head(view: RunView, state: State, now: datetime, width: int) -> Content:
    progress = view.progress
    percent = 100 * progress.completed // progress.planned if progress.planned else 0
    parts = [
        view.name,
        STATE_MARKS[state],
        (view.phase or "") if view.held else "",
        clock(view.elapsed_s(now)),
        f"{progress.completed} of {progress.planned} operations ({percent} %)",
        f"{progress.reused} reused" if progress.reused else "",
        failed_words(view.failed, view.unasked) if view.failed else "",
        "" if view.is_caught_up else "reading its events …",
    ]
    return facts(filter(None, parts), width)
