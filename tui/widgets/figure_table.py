"""A table of figures that shows the columns that fit, sorts, and knows what stands under its cursor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from rich.style import Style
from rich.text import Text
from textual import on
from textual.binding import Binding, BindingType
from textual.color import Color, ColorParseError
from textual.coordinate import Coordinate
from textual.events import Resize
from textual.message import Message
from textual.widgets import DataTable

from tui.results.grid import (
    MAX_ROWS,
    Figure,
    Grid,
    Row,
    Sorting,
    column_width,
    fitting,
    in_order,
    next_sorting,
)
from tui.text import cell

_MARKS = {True: "▼", False: "▲"}
_FULLEST = 0.8  # share of the theme's colour behind a figure of 1; squared, as most figures are high


class FigureTable(DataTable[Text]):
    """One grid; at most MAX_ROWS of its rows are mounted, and its caption then says so."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "select_cursor", "Queries", id="results.queries"),
    ]

    @dataclass
    class Pointed(Message):
        """Another figure stands under the cursor, or none."""

        table: FigureTable

        @property
        def control(self) -> FigureTable:
            """The table."""
            return self.table

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - as every widget names it
        super().__init__(id=id, cursor_type="cell", fixed_columns=1, zebra_stripes=False)
        self.grid: Grid | None = None
        self.sorting: Sorting | None = None
        self._columns: tuple[int, ...] = ()
        self._rows: tuple[Row, ...] = ()

    def on_mount(self) -> None:
        """Draw it anew whenever the theme changes, as the shades are of its colours."""
        self.app.theme_changed_signal.subscribe(self, lambda theme: self._draw())

    def show(self, grid: Grid) -> None:
        """Show a grid in the order that was asked for, keeping the cursor on its row and column."""
        self.grid = grid
        self._draw()

    @property
    def figure(self) -> Figure | None:
        """The figure under the cursor."""
        row, column = self.row, self._column()
        return row.figures[column] if row is not None and column is not None else None

    @property
    def row(self) -> Row | None:
        """The row under the cursor."""
        at = self.cursor_coordinate.row
        return self._rows[at] if at < len(self._rows) else None

    def sort_by_cursor(self) -> None:
        """Sort by the column under the cursor: one way, the other, then as at first."""
        column = self._column()
        if self.grid is not None and column is not None:
            self.sorting = next_sorting(self.grid, column, self.sorting)
            self._draw()

    @on(DataTable.HeaderSelected)
    def sort_by_header(self, event: DataTable.HeaderSelected) -> None:
        """Sort by the column whose head was clicked."""
        self.move_cursor(column=event.column_index)
        self.sort_by_cursor()

    @on(DataTable.CellHighlighted)
    def tell_pointed(self) -> None:
        """Say that the cursor has moved."""
        self.post_message(self.Pointed(self))

    def on_resize(self, event: Resize) -> None:
        """Choose the columns anew."""
        if self.grid is not None and fitting(self.grid, self._width()) != self._columns:
            self._draw()

    def _width(self) -> int:
        return self.size.width or self.app.size.width

    def _column(self) -> int | None:
        at = self.cursor_coordinate.column
        return self._columns[at] if at < len(self._columns) else None

    def _draw(self) -> None:
        grid = self.grid
        if grid is None:
            return
        row, column = self.row, self._column()
        self._columns = fitting(grid, self._width())
        self._rows = in_order(grid, self.sorting)[:MAX_ROWS]
        with self.prevent(DataTable.CellHighlighted):
            self.clear(columns=True)
            for number in self._columns:  # with widths, as lines drawn before these are measured would stay
                self.add_column(self._title(grid, number), width=column_width(grid, number), key=str(number))
            for shown in self._rows:
                self.add_row(*(self._text(grid, shown, number) for number in self._columns), key=shown.key)
            self._return_to(row, column)
        self.post_message(self.Pointed(self))

    def _return_to(self, row: Row | None, column: int | None) -> None:
        keys = [shown.key for shown in self._rows]
        at = keys.index(row.key) if row is not None and row.key in keys else 0
        across = self._columns.index(column) if column in self._columns else 0
        if keys:
            self.cursor_coordinate = Coordinate(at, across)

    def _title(self, grid: Grid, number: int) -> Text:
        column = grid.columns[number]
        sorting = self.sorting
        mark = _MARKS[sorting.descending] if sorting and sorting.title == column.title else ""
        room = column_width(grid, number) - len(mark)
        text = cell(column.title[:room] + mark)
        text.justify = "right" if column.numeric else "left"
        return text

    def _text(self, grid: Grid, row: Row, number: int) -> Text:
        figure = row.figures[number]
        text = cell(figure.text)
        text.justify = "right" if grid.columns[number].numeric else "left"
        if figure.fill is not None:
            text.stylize(self._shade(figure.fill))
        return text

    def _shade(self, fill: float) -> Style:
        """Return a colour from the theme's surface to its primary one, and text to read on it."""
        variables = self.app.theme_variables
        try:
            surface, full = (Color.parse(variables[name]) for name in ("surface", "primary"))
        except (KeyError, ColorParseError):
            return Style()
        if surface.ansi is not None or full.ansi is not None:
            return Style()
        behind = surface.blend(full, max(min(fill, 1.0), 0.0) ** 2 * _FULLEST)
        front = behind.get_contrast_text(1.0)
        return Style(color=front.rich_color, bgcolor=behind.rich_color)
