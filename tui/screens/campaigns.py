"""Screen 1, home: every run of the folder with its state, and what can be done with it."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.widgets import DataTable, Footer, Header, Static
from textual.worker import get_current_worker

from core import api
from core.errors import BoresightError
from tui.runs import RunRow, list_rows, menu_of, resume_refusal
from tui.screens.dialogs import ChoiceDialog, TextDialog
from tui.screens.monitor import MonitorScreen
from tui.text import cell, safe
from tui.widgets.marks import STATE_MARKS, ago, bar

REFRESH_SECONDS = 2.0
COLUMNS = ("RUN", "STATE", "PROGRESS", "BEST AGAINST BASELINE", "FAILED", "UPDATED")


class CampaignsScreen(Screen[None]):
    """The runs of one folder."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "open", "Open", priority=True),
        Binding("r", "resume", "Resume"),
        Binding("b", "rescore", "Rescore"),
        Binding("f5", "refresh", "Refresh", show=False),
    ]
    HELP = (
        "Every run below this folder.\n\n"
        "enter  what can be done with the run, the sensible thing first\n"
        "r      resume an interrupted or failed run\n"
        "b      rescore: verify every digest and rebuild the reports\n"
        "f5     look again now (it looks every two seconds by itself)\n"
        "q      quit"
    )

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder
        self._rows: dict[str, RunRow] = {}

    def compose(self) -> ComposeResult:
        """Lay out the table and the line about the chosen run."""
        yield Header()
        yield DataTable(id="runs", cursor_type="row", zebra_stripes=True)
        yield Static("", id="about-run", markup=False)
        yield Footer()

    def on_mount(self) -> None:
        """Begin to look at the folder."""
        self.sub_title = str(safe(self.folder))
        table = self.query_one(DataTable)
        for column in COLUMNS:
            table.add_column(column, key=column)
        self.set_interval(REFRESH_SECONDS, self.look)
        self.look()

    @work(thread=True, exclusive=True, group="look", exit_on_error=False)
    def look(self) -> None:
        """Read the folder's runs without keeping the screen waiting."""
        rows = list(list_rows(self.folder))
        if not get_current_worker().is_cancelled:
            self.app.call_from_thread(self.show_rows, rows)

    def show_rows(self, rows: list[RunRow]) -> None:
        """Bring the table up to date, keeping the cursor where it is."""
        table = self.query_one(DataTable)
        self._rows = {str(row.status.path): row for row in rows}
        for key in [key.value for key in table.rows if key.value not in self._rows]:
            table.remove_row(str(key))
        for key, row in self._rows.items():
            cells = self._cells(row)
            if key in table.rows:
                for column, value in zip(COLUMNS, cells, strict=True):
                    table.update_cell(key, column, value, update_width=True)
            else:
                table.add_row(*cells, key=key)
        if not rows:
            self.query_one("#about-run", Static).update(
                safe("No runs here yet. Leave with q and try: boresight quickstart")
            )
        else:
            self._tell_chosen()

    def _cells(self, row: RunRow) -> tuple[object, ...]:
        status = row.status
        return (
            cell(_near(status.path, self.folder), 60),
            cell(STATE_MARKS[status.state]),
            cell(f"{bar(status.accepted, status.planned, 10)} {status.accepted}/{status.planned}"),
            cell(row.best, 60),
            cell(status.failed or "0"),
            cell(ago(status.updated_at)),
        )

    def on_data_table_row_highlighted(self) -> None:
        """Say more of the run under the cursor."""
        self._tell_chosen()

    def _tell_chosen(self) -> None:
        row = self._chosen()
        if row is not None:
            self.query_one("#about-run", Static).update(safe(row.sentence, 400))

    def _chosen(self) -> RunRow | None:
        table = self.query_one(DataTable)
        if table.row_count == 0:
            return None
        key = table.coordinate_to_cell_key(table.cursor_coordinate).row_key.value
        return self._rows.get(str(key))

    def action_refresh(self) -> None:
        """Look again now."""
        self.look()

    def action_open(self) -> None:
        """Open the menu of the chosen run."""
        row = self._chosen()
        if row is not None:
            self.offer(row)

    @work(thread=True, exclusive=True, group="offer", exit_on_error=False)
    def offer(self, row: RunRow) -> None:
        """Find out what would be refused, then show the menu."""
        refusal = resume_refusal(row.status)
        choices = menu_of(row.status, refusal)
        dialog = ChoiceDialog(row.status.path.name, refusal or row.sentence, choices)
        self.app.call_from_thread(self.app.push_screen, dialog, lambda answer: self.act(row, answer))

    def act(self, row: RunRow, answer: str | None) -> None:
        """Do what was chosen in the menu."""
        path = row.status.path
        if answer == "monitor":
            self.app.push_screen(MonitorScreen(path))
        elif answer == "resume":
            self.resume(path)
        elif answer == "rescore":
            self.rescore(path)
        elif answer == "report":
            self.report(path)

    def action_resume(self) -> None:
        """Resume the chosen run."""
        row = self._chosen()
        if row is not None:
            self.resume(row.status.path)

    def action_rescore(self) -> None:
        """Rescore the chosen run."""
        row = self._chosen()
        if row is not None:
            self.rescore(row.status.path)

    @work(thread=True, exclusive=True, group="act", exit_on_error=False)
    def resume(self, path: Path) -> None:
        """Give the run a host process of its own, and watch it."""
        try:
            api.detach(api.reopen_run(path))
            self.app.call_from_thread(self._started, path)
        except BoresightError as error:
            self._tell_error(f"{path.name} was not resumed", error)
            return
        self.app.call_from_thread(self.app.push_screen, MonitorScreen(path))

    def _started(self, path: Path) -> None:
        started: set[Path] = getattr(self.app, "started", set())
        started.add(path)

    @work(thread=True, exclusive=True, group="act", exit_on_error=False)
    def rescore(self, path: Path) -> None:
        """Verify and rescore the run."""
        try:
            rescored = api.rescore_run(path)
        except BoresightError as error:
            self._tell_error(f"{path.name} was not rescored", error)
            return
        self.app.call_from_thread(
            self.app.notify,
            f"rescored: {rescored.unaccepted} of {len(rescored.reader.plan)} operations without a result",
            markup=False,
        )
        self.look()

    @work(thread=True, exclusive=True, group="act", exit_on_error=False)
    def report(self, path: Path) -> None:
        """Show the run's report."""
        try:
            text = api.markdown_report(path)
        except BoresightError as error:
            self._tell_error(f"{path.name} has no report", error)
            return
        self.app.call_from_thread(self.app.push_screen, TextDialog(f"Report of {path.name}", text))

    def _tell_error(self, title: str, error: BoresightError) -> None:
        self.app.call_from_thread(self.app.push_screen, TextDialog(title, str(error)))


def _near(path: Path, folder: Path) -> Path:
    return path.relative_to(folder) if path.is_relative_to(folder) else path
