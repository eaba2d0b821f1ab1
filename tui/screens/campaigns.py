"""Screen 1, home: every run and campaign file of the folder, and what can be done with each."""

from __future__ import annotations

import time
from pathlib import Path
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen
from textual.widgets import DataTable, OptionList, Static
from textual.widgets.option_list import Option
from textual.worker import get_current_worker

from core.reports.wording import counted
from core.run.layout import RunLayout
from tui.row_actions import FIRST_STEPS, RowActions
from tui.runs import Listing, Row
from tui.settings import SORTS
from tui.text import near, safe
from tui.widgets.filter_bar import FilterBar
from tui.widgets.key_footer import KeyFooter
from tui.widgets.patient import PatientList
from tui.widgets.run_table import RunTable, ordered
from tui.widgets.title_bar import TitleBar

REFRESH_SECONDS = 2.0
WALK_SECONDS = 10.0  # between looks for new runs and files
SHARE = 5  # a look that takes long is followed by this many times its length without one


class CampaignsScreen(RowActions):
    """The runs and campaign files of one folder."""

    AUTO_FOCUS = "RunTable"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "filter", "Filter", key_display="/", show=False, id="campaigns.filter"),
        Binding("s", "sort", "Sort", show=False, id="campaigns.sort"),
        Binding("y", "copy", "Copy path", show=False, id="campaigns.copy"),
        Binding("e", "edit", "Edit", show=False, id="campaigns.edit"),
        Binding("x", "export", "Export list", show=False, id="campaigns.export"),
        Binding("f5", "refresh", "Refresh", show=False, id="campaigns.refresh"),
    ]
    HELP = (
        "Every run below this folder, and every campaign file\n"
        "(…campaign….toml).\n\n"
        "enter  what can be done with it, the sensible thing first\n"
        "r      resume an interrupted or failed run\n"
        "n      a new run of this campaign, or a new campaign\n"
        "b      rescore: verify every digest and rebuild the reports\n"
        "a      the run's attempts, failures first\n"
        "d      duplicate the campaign, or what the run was frozen with\n"
        "/  s   filter by campaign, run, state or candidate; sort\n"
        "esc    show all again; or let be what is being looked at\n"
        "y      copy the path\n"
        "e      open the campaign file, or the run's report, in $EDITOR\n"
        "x      write this list into a CSV file\n"
        "f5     read everything again (changes show by themselves)"
    )

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.rows: list[Row] = []
        self._shown: dict[str, Row] = {}
        self._listing = Listing(folder)
        self._looking = False
        self._has_looked = False
        self._again = False
        self._walk_at = 0.0
        self._filter = ""
        self._was_left = False
        self._wanted: Path | None = None  # the row to put the cursor on once it is there

    def compose(self) -> ComposeResult:
        """Lay out the table, the line about the chosen row, and what a first start offers."""
        yield TitleBar()
        yield FilterBar("filter by campaign, run, state or candidate")
        yield RunTable(id="runs")
        yield PatientList(*(Option(safe(step.label), id=step.id) for step in FIRST_STEPS), id="first-steps")
        yield Static("", id="about-run", markup=False)
        yield KeyFooter()

    def on_mount(self) -> None:
        """Begin to look at the folder."""
        self.sub_title = near(self.folder)
        self.query_one("#first-steps").display = False
        self._tell(f"Looking at {near(self.folder)} …")
        self.set_interval(REFRESH_SECONDS, self.look)
        self.call_later(self.look)  # only then is it mounted

    def on_resize(self) -> None:
        """Use the width that there is."""
        self._draw()

    def on_screen_suspend(self) -> None:
        """Remember whether a screen was gone to, or only something asked over this one."""
        self._was_left = not isinstance(self.app.screen, ModalScreen)

    def on_screen_resume(self) -> None:
        """Put the cursor on the run that was shown last, as what comes next is mostly done with it."""
        if self._was_left:
            self._wanted, self._was_left = self.boresight.run_path, False
        if self.is_mounted:
            self._draw()

    def look(self) -> None:
        """Look at the folder, unless a look is still under way."""
        if not self._looking and self.is_mounted:
            self._looking = True
            self._look()

    def look_again(self) -> None:
        """Look for new runs and files too, now or once the present look has ended."""
        self._walk_at = 0.0
        self._again = self._looking
        self.look()

    @work(thread=True, group="look", name="look", exit_on_error=False)
    def _look(self) -> None:
        worker = get_current_worker()
        began = time.monotonic()
        walk = began >= self._walk_at
        try:
            rows = self._listing.look(lambda: worker.is_cancelled, self._show_so_far, walk=walk)
        finally:
            self._looking = False
        if walk:
            now = time.monotonic()
            self._walk_at = now + max(WALK_SECONDS, (now - began) * SHARE)
        if not worker.is_cancelled:
            self.app.call_from_thread(self.show_rows, rows)

    def _show_so_far(self, rows: list[Row], run: Path) -> None:
        self.app.call_from_thread(self._tell_so_far, rows, run)

    def _tell_so_far(self, rows: list[Row], run: Path) -> None:
        if rows:
            self.show_rows(rows)
        self.sub_title = f"counting the operations of {near(run, self.folder)} …"

    def show_rows(self, rows: list[Row]) -> None:
        """Bring the table up to date, keeping the cursor where it is."""
        self.rows = rows
        self._has_looked = True
        self._draw()
        campaigns = len({row.campaign for row in rows if row.campaign})
        runs = sum(row.status is not None for row in rows)
        self.sub_title = f"{counted(campaigns, 'campaign')} · {counted(runs, 'run')} — {near(self.folder)}"
        if self._again and not self._looking:
            self._again = False
            self.look()

    def _draw(self) -> None:
        wanted = ordered(filtered(self.rows, self._filter), self.boresight.settings.sort)
        self._shown = {row.key: row for row in wanted}
        table = self.query_one(RunTable)
        table.show(wanted, self.folder, self.size.width)
        if self._wanted is not None and table.choose(str(self._wanted)):
            self._wanted = None
        empty = self._has_looked and not self.rows
        steps = self.query_one("#first-steps", OptionList)
        if steps.display != empty:
            steps.display, table.display = empty, not empty
            (steps if empty else table).focus()
            self.refresh_bindings()
        if empty:
            self._tell(
                "No runs and no campaigns here yet. In a shell, `boresight quickstart --sample` does it."
            )
        elif self._has_looked:
            self._tell_chosen()

    def _tell(self, text: str) -> None:
        self.query_one("#about-run", Static).update(safe(text, 400))

    @on(DataTable.RowHighlighted)
    def _moved(self) -> None:
        row, wish = self.chosen, self.wish
        if wish is not None and wish.row is not None and (row is None or row.key != wish.row):
            self.drop_wish()
        self._tell_chosen()

    def tell_wish(self) -> None:
        """Show what is being done for a wish, in place of the line about the chosen row."""
        if self.is_mounted:
            self._tell_chosen()

    def _tell_chosen(self) -> None:
        row = self.chosen
        if self.wish is not None and self.wish.screen is self:
            self._tell(self.wish.doing)
        elif row is not None:
            self._tell(row.sentence)
        elif self.rows and self._filter:
            self._tell(f"Nothing matches {self._filter!r}; esc shows all {len(self.rows)} again.")

    @property
    def chosen(self) -> Row | None:
        """The row under the cursor."""
        key = self.query_one(RunTable).chosen_key if self.is_mounted else None
        return self._shown.get(key) if key is not None else None

    def known(self, run: Path) -> Row | None:
        """Return the row of a run as it was last read, None where it is not listed."""
        return next((row for row in self.rows if row.path == run and row.status is not None), None)

    def manifest_of(self, run: Path) -> Path | None:
        """Return the newest campaign file of a run's campaign."""
        row = self.known(run)
        return row.manifest.path if row is not None and row.manifest is not None else None

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer nothing to be done with a row where there is none."""
        if action in {"resume", "rescore", "attempts", "duplicate"} and self._has_looked and not self.rows:
            return False
        return super().check_action(action, parameters)

    def action_filter(self) -> None:
        """Open the filter."""
        self.query_one(FilterBar).open()

    @on(FilterBar.Filtered)
    def filter_rows(self, event: FilterBar.Filtered) -> None:
        """Show the rows that match."""
        self._filter = event.text
        self._draw()

    @on(FilterBar.Left)
    def back_to_rows(self) -> None:
        """Give the keys back to the table."""
        self.query_one(RunTable).focus()

    def action_back(self) -> None:
        """Let what was asked for be; where nothing was, show all rows again."""
        if not self.drop_wish():
            self.query_one(FilterBar).take_away()

    def action_sort(self) -> None:
        """Sort by the next thing, and remember it."""
        settings = self.boresight.settings
        sort = SORTS[(SORTS.index(settings.sort) + 1) % len(SORTS)]
        self.boresight.choose(settings._replace(sort=sort))
        self.boresight.tell(f"Sorted by {sort}")
        self._draw()

    def action_copy(self) -> None:
        """Copy the chosen row's path."""
        if (row := self.chosen) is not None:
            self.boresight.copy(str(row.path))

    def action_edit(self) -> None:
        """Open the campaign file, or the run's report, in the person's editor."""
        if (row := self.chosen) is not None:
            self.boresight.edit(row.path if row.status is None else RunLayout(row.path).summary_text)
            self.look_again()

    def action_export(self) -> None:
        """Write the list as it is shown into a CSV file of the folder."""
        header = ("campaign", "path", "state", "accepted", "planned", "failed", "best", "updated")
        self.boresight.export_list(header, [_exported(row) for row in self._shown.values()])

    def action_refresh(self) -> None:
        """Read everything again now."""
        self._listing.forget()
        self.look_again()


def filtered(rows: list[Row], text: str) -> list[Row]:
    """Return the rows in whose campaign, path, state or candidates every word of a text stands."""
    words = text.casefold().split()
    return [row for row in rows if all(word in _searched(row) for word in words)]


def _searched(row: Row) -> str:
    return " ".join((row.campaign, str(row.path), row.state, *row.candidates)).casefold()


def _exported(row: Row) -> tuple[object, ...]:
    status = row.status
    counts = (status.accepted, status.planned, status.failed) if status is not None else ("", "", "")
    return (row.campaign, row.path, row.state, *counts, row.best, row.updated_at.isoformat())
