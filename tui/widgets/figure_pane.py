"""A tab of the results screen: what its numbers are over, a plot where it has one, the table, the details."""

from __future__ import annotations

from textual import on
from textual.app import ComposeResult
from textual.containers import Container, Vertical, VerticalScroll
from textual.widgets import Static

from tui.results.grid import MAX_ROWS
from tui.results.sheets import Sheet
from tui.results.view import View
from tui.text import safe, safe_lines
from tui.widgets.figure_plot import FigurePlot
from tui.widgets.figure_table import FigureTable


class FigurePane(Vertical):
    """Shows one sheet."""

    def __init__(self, sheet: Sheet) -> None:
        super().__init__(classes="figure-pane -plotted" if sheet.plot else "figure-pane")
        self.sheet = sheet
        self.view: View | None = None

    def compose(self) -> ComposeResult:
        """Lay out the caption, the plot beside or above the table, and the details."""
        yield Static("", classes="figure-caption", markup=False)
        with Container(classes="figure-body"):
            if self.sheet.plot is not None:
                yield FigurePlot()
            yield FigureTable()
        with VerticalScroll(classes="figure-details"):
            yield Static("", markup=False)

    @property
    def table(self) -> FigureTable:
        """The table."""
        return self.query_one(FigureTable)

    def show(self, view: View) -> None:
        """Show a view of the scores, unless it is what stands here already."""
        if view is self.view:
            return
        self.view = view
        grid = self.sheet.grid(view)
        plot = self.sheet.plot(view) if self.sheet.plot is not None else None
        told = [grid.caption]
        if len(grid.rows) > MAX_ROWS:
            told.append(f"rows 1–{MAX_ROWS} of {len(grid.rows):,}")
        if not grid.rows:
            told.append(f"no candidate's name holds {view.needle!r}")
        if plot is not None and plot.note:
            told.append(plot.note)
        self.query_one(".figure-caption", Static).update(safe("; ".join(told), 400))
        self.table.show(grid)
        if plot is not None:
            drawn = self.query_one(FigurePlot)
            drawn.display = bool(plot.series)
            drawn.show(plot)

    @on(FigureTable.Pointed)
    def tell_details(self) -> None:
        """Say all that is held of what is pointed at."""
        row, figure = self.table.row, self.table.figure
        told: tuple[str, ...] = ()
        if self.view is not None and row is not None and figure is not None:
            told = self.sheet.details(self.view, row, figure)
        self.query_one(".figure-details Static", Static).update(safe_lines("\n".join(told)))
