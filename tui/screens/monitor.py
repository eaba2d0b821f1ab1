"""Screen 3: a run as it goes, its own or anybody's, followed through its files and steered by its socket."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from pathlib import Path
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.widgets import DataTable, Footer, Header, RichLog, Static
from textual.worker import get_current_worker

from core import api
from core.errors import BoresightError
from core.run.events import Event, OperationFinished
from core.run.follow import EventTail
from core.run.live import LiveCell, LiveRun
from core.run.lock import is_executed
from tui.screens.dialogs import TextDialog
from tui.text import cell as text_cell
from tui.text import safe
from tui.widgets.marks import STATE_MARKS, bar, clock, spark

REDRAW_SECONDS = 0.25
POLL_SECONDS = 0.2
LATE_SECONDS = 5.0
STALLED_SECONDS = 10.0
COLUMNS = ("CELL", "PHASE", "DONE", "BEAT", "emb p50", "docs p50", "ctx p50", "RSS (sampled)")


class MonitorScreen(Screen[None]):
    """One run: cells, progress, heartbeats, failures as they happen."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "app.pop_screen", "Back"),
        Binding("p", "pause", "Pause"),
        Binding("c", "go_on", "Continue"),
        Binding("ctrl+c", "stop", "Stop", priority=True),
        Binding("f", "failures", "Failures"),
    ]
    HELP = (
        "A run as it goes. Percentages count operations; indexes and queries differ in cost.\n\n"
        "p       pause after the operation under way\n"
        "c       continue\n"
        "ctrl+c  stop: the operation under way is ended and kept; again: at once\n"
        "f       the failures so far\n"
        "esc     back; the run goes on in its own process\n\n"
        f"A heartbeat comes every second: one older than {LATE_SECONDS:.0f} s shows its age, older than "
        f"{STALLED_SECONDS:.0f} s the run is stalled; a run whose writer is gone is interrupted."
    )

    def __init__(self, run: Path) -> None:
        super().__init__()
        self.run_path = run
        self._live: LiveRun | None = None
        self._held = False
        self._stopped_once = False
        self._unlogged: list[OperationFinished] = []

    def compose(self) -> ComposeResult:
        """Lay out the head, the bar, the cells and the events."""
        yield Header()
        yield Static("", id="run-head", markup=False)
        yield Static("", id="run-bar", markup=False)
        yield DataTable(id="cells", cursor_type="row")
        yield RichLog(id="events", markup=False, highlight=False, max_lines=500)
        yield Footer()

    def on_mount(self) -> None:
        """Begin to follow."""
        self.sub_title = str(safe(self.run_path.name))
        table = self.query_one(DataTable)
        for column in COLUMNS:
            table.add_column(column, key=column)
        self.follow()
        self.set_interval(REDRAW_SECONDS, self.redraw)

    @work(thread=True, exclusive=True, group="follow", exit_on_error=False)
    def follow(self) -> None:
        """Read the run's events as they are written, until this screen goes."""
        worker = get_current_worker()
        try:
            reader = api.RunReader(self.run_path)
        except BoresightError as error:
            self.app.call_from_thread(
                self.app.push_screen, TextDialog(f"{self.run_path.name} cannot be opened", str(error))
            )
            return
        live = LiveRun((item.operation.candidate, item.operation.repository) for item in reader.plan)
        tail = EventTail(reader.layout.events)
        self._live = live
        while not worker.is_cancelled:
            for event in tail.read():
                self._take(live, event)
            self._held = is_executed(reader.layout.lock)
            time.sleep(POLL_SECONDS)

    def _take(self, live: LiveRun, event: Event) -> None:
        live.take(event)
        if isinstance(event, OperationFinished) and event.outcome in {"failed", "not_run"}:
            self._unlogged.append(event)

    def redraw(self) -> None:
        """Show the latest state; called on a fixed tick, however many events came."""
        live = self._live
        if live is None:
            return
        now = datetime.now(UTC)
        self.query_one("#run-head", Static).update(safe(self._head(live, now), 400))
        width = max(self.size.width - 4, 10)
        progress = live.progress
        self.query_one("#run-bar", Static).update(safe(bar(progress.completed, progress.planned, width)))
        self._draw_cells(live, now)
        log = self.query_one(RichLog)
        unlogged, self._unlogged = self._unlogged, []
        for event in unlogged[-200:]:
            log.write(safe(_failure_line(event)).plain)

    def _state(self, live: LiveRun, now: datetime) -> str:
        if live.state in {"complete", "failed"} and not self._held:
            return STATE_MARKS[live.state]
        if not self._held:
            return STATE_MARKS["interrupted"]
        age = (now - live.last_at).total_seconds() if live.last_at else 0.0
        return STATE_MARKS["stalled" if age > STALLED_SECONDS else live.state]

    def _head(self, live: LiveRun, now: datetime) -> str:
        progress = live.progress
        percent = 100 * progress.completed // progress.planned if progress.planned else 0
        end = now if self._held else live.last_at or now
        elapsed = clock((end - live.started_at).total_seconds()) if live.started_at else clock(0)
        parts = [
            self._state(live, now),
            live.phase or "",
            elapsed,
            f"{progress.completed} of {progress.planned} operations ({percent} %)",
            f"{progress.reused} reused" if progress.reused else "",
            f"{progress.failed} failed" if progress.failed else "",
        ]
        return " · ".join(part for part in parts if part)

    def _draw_cells(self, live: LiveRun, now: datetime) -> None:
        table = self.query_one(DataTable)
        for cell in list(live.cells.values()):
            key = f"{cell.candidate}/{cell.repository}"
            cells = self._cell_columns(cell, live.current, now)
            if key in table.rows:
                for column, value in zip(COLUMNS, cells, strict=True):
                    table.update_cell(key, column, value, update_width=True)
            else:
                table.add_row(*cells, key=key)

    def _cell_columns(self, live: LiveCell, current: LiveCell | None, now: datetime) -> tuple[object, ...]:
        done = live.completed >= live.planned
        phase = "complete" if done else str(live.phase or "—")
        if live.failed:
            phase = f"{phase} ✖{live.failed}"
        return (
            text_cell(f"{live.candidate} × {live.repository}", 50),
            text_cell(phase),
            text_cell(f"{bar(live.completed, live.planned, 10)} {live.completed}/{live.planned}"),
            text_cell(_beat(live, now) if self._held and live is current else ""),
            *(text_cell(_seconds(live.median_s(channel))) for channel in ("emb", "docs", "ctx")),
            text_cell(f"{live.rss[-1] / 2**20:.0f} MiB {spark(tuple(live.rss), 8)}" if live.rss else ""),
        )

    def action_pause(self) -> None:
        """Ask the engine to wait after the operation under way."""
        self.say("pause")

    def action_go_on(self) -> None:
        """Ask the engine to go on."""
        self.say("continue")

    def action_stop(self) -> None:
        """Ask the engine to stop; the second time, at once."""
        self.say("stop-now" if self._stopped_once else "stop")
        self._stopped_once = True

    @work(thread=True, group="say", exit_on_error=False)
    def say(self, word: str) -> None:
        """Put a word to the run's engine, and say what came of it."""
        try:
            answer = api.ask(self.run_path, word)
            text, severity = f"{word}: {answer['state']}", "information"
        except BoresightError as error:
            text, severity = str(error), "warning"
        self.app.call_from_thread(
            self.app.notify, safe(text).plain, severity=severity, markup=False, timeout=6
        )

    def action_failures(self) -> None:
        """List the failures so far."""
        failures = self._live.failures if self._live else ()
        text = "\n".join(_failure_line(event) for event in failures) or "No operation has failed."
        self.app.push_screen(TextDialog(f"Failures of {self.run_path.name}", text))


def _beat(cell: LiveCell, now: datetime) -> str:
    if cell.beat_at is None:
        return ""
    age = (now - cell.beat_at).total_seconds()
    return f"⚠ {age:.0f} s" if age > LATE_SECONDS else f"{age:.0f} s"


def _seconds(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:.2f} s" if value >= 1 else f"{value * 1000:.1f} ms"


def _failure_line(event: OperationFinished) -> str:
    what = " ".join(part for part in (event.channel, event.intent) if part)
    return (
        f"{event.at:%H:%M:%S}  ✖ {event.candidate} × {event.repository}  {what or event.phase}  "
        f"attempt {event.attempt}  {event.error_class or event.outcome}"
    )
