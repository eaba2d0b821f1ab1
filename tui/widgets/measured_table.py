"""A table whose columns take their widths from its rows."""

from __future__ import annotations

from textual.widgets import DataTable
from textual.widgets.data_table import CellType


class MeasuredTable(DataTable[CellType]):
    """Draws its lines again once its columns have been measured.

    Textual keeps lines that it drew before, cut to the widths of the columns' heads.
    """

    def watch_virtual_size(self) -> None:
        """Draw all lines again, as widths have changed; writing any cell has Textual forget the old ones."""
        if self.rows and self.columns:
            row, column = next(iter(self.rows)), next(iter(self.columns))
            self.update_cell(row, column, self.get_cell(row, column))
