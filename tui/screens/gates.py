"""The panel of gates on Results: which floors a run keeps to, which fell and by how much."""

from __future__ import annotations

import time
from pathlib import Path
from typing import ClassVar

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.widgets import DataTable, Static
from textual.worker import get_current_worker

from core.errors import BoresightError, StoppedError
from core.reports.gates import HEADERS, GateRow
from tui import navigation
from tui.results.gates import Gated, behind_gate, read_gates
from tui.screens.base import BoresightScreen
from tui.text import cell, safe, safe_lines
from tui.widgets.key_footer import KeyFooter
from tui.widgets.marks import bar
from tui.widgets.measured_table import MeasuredTable
from tui.widgets.title_bar import TitleBar

MAX_ROWS = 500  # mounted at once
TOLD_EVERY_SECONDS = 0.1
_GATE = HEADERS.index("gate")
_BESIDE, _NARROWEST = 58, 22  # columns that the others take, and what the gate's name has at least


class GateTable(MeasuredTable[Text]):
    """The gates, one a row."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "select_cursor", "Misses", id="gates.misses"),
    ]


class GatesScreen(BoresightScreen[None]):
    """One run held to the floors of a folder, or to the default ones."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "Back", id="gates.back"),
        Binding("t", "turn", "Other floors", id="gates.floors"),
        Binding("f,slash", "fallen", "Only fallen", id="gates.filter", key_display="f"),
        Binding("s", "sort", "Sort", id="gates.sort"),
        Binding("y", "copy_row", "Copy", id="gates.copy"),
        Binding("e", "edit", "Edit floors", id="gates.edit"),
        Binding("x", "export", "Export", id="gates.export", show=False),
        Binding("f5", "refresh", "Read again", id="gates.refresh", show=False),
    ]
    HELP = (
        "Whether the run keeps to its floors, as `boresight gate` holds it to them in CI.\n"
        "Floors are floors.toml and *.floors.toml in this folder; runs of graded banks have default ones.\n\n"
        "enter  the queries that the gate's candidate does not hit\n"
        "t      other floors, where there are several\n"
        "f /    only what fell, or all\n"
        "s      what fell first, or in the file's order\n"
        "y      copy the row\n"
        "e      edit the floors file; f5 reads it again\n"
        "x      export what the table shows\n"
        "esc    back to the results"
    )

    def __init__(self, run: Path, folder: Path) -> None:
        super().__init__()
        self.run_path = run
        self.folder = folder
        self.gated: Gated | None = None
        self._number = 0
        self._only_fallen = False
        self._fallen_first = False
        self._rows: tuple[GateRow, ...] = ()

    def compose(self) -> ComposeResult:
        """Lay out the verdict, the table and the details of the row under the cursor."""
        yield TitleBar()
        yield Static("", id="gates-state", markup=False)
        yield GateTable(id="gates-table", cursor_type="row")
        with VerticalScroll(id="gates-details"):
            yield Static("", markup=False)
        yield KeyFooter()

    def on_mount(self) -> None:
        """Name the run, and begin to read it."""
        self.sub_title = safe(f"{self.run_path.name} gates", 80).plain
        self.action_refresh()

    # Reading

    def action_back(self) -> None:
        """Go back one level."""
        self.go_back()

    def action_refresh(self) -> None:
        """Read the run and the floors again."""
        self._tell("reading the run's evidence …")
        self.read(self._number)

    @work(thread=True, exclusive=True, group="gates", exit_on_error=False)
    def read(self, number: int) -> None:
        """Verify the run and hold it to floors, without keeping the screen waiting."""
        worker = get_current_worker()
        told_at = 0.0

        def tell(done: int, total: int) -> None:
            nonlocal told_at
            if worker.is_cancelled:
                raise StoppedError("nobody waits for these gates any more")
            if time.monotonic() - told_at >= TOLD_EVERY_SECONDS:
                told_at = time.monotonic()
                told = f"verifying  {bar(done, total, 10)}  {done:,} of {total:,} operations"
                self.app.call_from_thread(self._tell, told)

        try:
            gated = read_gates(self.run_path, self.folder, number, tell)
        except StoppedError:
            return
        except BoresightError as error:
            if not worker.is_cancelled:
                self.app.call_from_thread(self.show_failure, str(error))
            return
        if not worker.is_cancelled:
            self.app.call_from_thread(self.show, gated)

    def show(self, gated: Gated) -> None:
        """Show what became of the gates, or why the floors do not fit."""
        self.gated = gated
        held = not gated.failure and all(row.held for row in gated.rows)
        told = "no gates can be told; mend the floors (e), then f5" if gated.failure else gated.told
        self._tell(f"{'✔' if held else '✖'} {told} Floors: {gated.floors}", warning=not held)
        self._draw()
        if gated.failure:
            self._details(gated.failure)
        self.table.focus()

    def show_failure(self, failure: str) -> None:
        """Say why the run cannot be held to anything; what was told before is gone with it."""
        self.gated = None
        self._tell("✖ no gates can be told", warning=True)
        self._draw()
        self._details(f"{failure}\n\nf5 reads it again.")

    def _tell(self, words: str, *, warning: bool = False) -> None:
        state = self.query_one("#gates-state", Static)
        state.set_class(warning, "-warning")
        state.update(safe(words, 400))

    # The table

    def on_resize(self) -> None:
        """Cut the gates' names to the room there is."""
        if self.gated is not None:
            self._draw()

    @property
    def table(self) -> GateTable:
        """The table of gates."""
        return self.query_one(GateTable)

    @property
    def row(self) -> GateRow | None:
        """The gate under the cursor."""
        at = self.table.cursor_row
        return self._rows[at] if 0 <= at < len(self._rows) else None

    def _wanted(self) -> tuple[GateRow, ...]:
        """Return the gates that are to be seen, in their order, however many."""
        rows = self.gated.rows if self.gated is not None else ()
        if self._only_fallen:
            rows = tuple(row for row in rows if not row.held)
        return tuple(sorted(rows, key=lambda row: row.held)) if self._fallen_first else rows

    def _draw(self) -> None:
        self._rows = self._wanted()[:MAX_ROWS]
        table = self.table
        room = max(self.size.width - _BESIDE, _NARROWEST)
        table.clear(columns=True)
        for header in HEADERS:
            table.add_column(header.upper() or " ")
        for row in self._rows:
            table.add_row(*(cell(text, room if at == _GATE else 60) for at, text in enumerate(row.cells)))
        if not self._rows:
            self._details("Nothing fell." if self.gated is not None and self.gated.rows else "")

    @on(DataTable.RowHighlighted)
    def tell_details(self) -> None:
        """Say all of the gate under the cursor."""
        row = self.row
        if row is not None:
            more = len(self._wanted()) - MAX_ROWS
            cut = [f"(rows 1–{MAX_ROWS}; {more:,} more)"] if more > 0 else []
            self._details("\n".join([f"{row.mark}: {row.candidate}, {row.sentence}", *row.details, *cut]))

    def _details(self, text: str) -> None:
        self.query_one("#gates-details Static", Static).update(safe_lines(text))

    # Keys

    def action_turn(self) -> None:
        """Hold the run to the next floors, or say that there are none."""
        if self.gated is not None and self.gated.choices < 2:
            here = "these are all" if self.gated.choices else "there are none"
            self.boresight.tell(f"No other floors to turn to: {here}; *.floors.toml in this folder adds some")
            return
        self._number += 1
        self.action_refresh()

    def action_fallen(self) -> None:
        """Show only what fell, or all."""
        self._only_fallen = not self._only_fallen
        self._draw()

    def action_sort(self) -> None:
        """Show what fell first, or everything in the file's order."""
        self._fallen_first = not self._fallen_first
        self._draw()

    @on(DataTable.RowSelected)
    def action_misses(self) -> None:
        """Open the queries that the gate's candidate does not hit."""
        row = self.row
        behind = behind_gate(row) if row is not None else None
        if behind is None:
            self.boresight.tell("No query stands behind this gate")
        else:
            self.post_message(navigation.ShowQueries(self.run_path, behind.filters, behind.sort))

    def action_copy_row(self) -> None:
        """Copy the gate under the cursor, with what fell."""
        row = self.row
        if row is not None:
            self.boresight.copy("\n".join([f"{row.mark}: {row.candidate}, {row.sentence}", *row.details]))

    def action_edit(self) -> None:
        """Open the floors file."""
        if self.gated is not None and self.gated.file is not None:
            self.boresight.edit(self.gated.file)
        else:
            self.boresight.tell(
                "No floors file here: `boresight gate --show-default` prints one", warning=True
            )

    def action_export(self) -> None:
        """Write the gates that are to be seen to a file."""
        if self.gated is not None:
            rows = [(None, (*row.cells, row.note)) for row in self._wanted()]
            self.boresight.export(self.run_path, "gates", ("outcome", *HEADERS[1:], "note"), rows)
