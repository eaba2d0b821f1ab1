"""A table of one page of a longer list: leaving it by its first or last row asks for the next page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from textual.message import Message
from textual.widgets import DataTable

from tui.text import LazyCell

LEAST_LAST = 6  # columns of the last column; it ends with … where it is cut to the room there is


class CaseTable(DataTable[LazyCell]):
    """One page of cases, a row each, the first column fixed."""

    def fill(
        self, heads: Sequence[str], rows: Sequence[Sequence[LazyCell]], cursor: int, *, is_same_page: bool
    ) -> None:
        """Show rows, with the cursor on one of them.

        Of the same page as before the table stays scrolled as it was, else only sideways.
        """
        x, y = self.scroll_x, self.scroll_y
        self.clear(columns=True)  # as columns never become narrower again
        widths = [
            max(map(cell_len, (head, *(row[at].plain for row in rows)))) for at, head in enumerate(heads)
        ]
        widths[-1] = min(widths[-1], max(self._room_beside(widths[:-1]), LEAST_LAST))
        for head, width in zip(heads, widths, strict=True):
            self.add_column(head, width=width)
        self.add_rows(rows)
        self.move_cursor(row=cursor, scroll=not is_same_page)
        if x or is_same_page:
            self.call_after_refresh(self.scroll_to, x=x, y=y if is_same_page else None, animate=False)

    def _room_beside(self, widths: Sequence[int]) -> int:
        """Return how many columns of the terminal are left for a last column, beside others."""
        padding = 2 * self.cell_padding
        return (
            self.size.width - self.styles.scrollbar_size_vertical - sum(widths) - padding * (len(widths) + 1)
        )

    @dataclass
    class Turned(Message):
        """The cursor left the page: 1 downwards, -1 upwards."""

        pages: int

    def action_page_down(self) -> None:
        """Move a screen down, or to the next page from the last row."""
        if self.cursor_row >= self.row_count - 1:
            self.post_message(self.Turned(1))
        else:
            super().action_page_down()

    def action_page_up(self) -> None:
        """Move a screen up, or to the page before from the first row."""
        if self.cursor_row <= 0:
            self.post_message(self.Turned(-1))
        else:
            super().action_page_up()

    def action_cursor_down(self) -> None:
        """Move a row down, or to the next page from the last row."""
        if self.cursor_row >= self.row_count - 1:
            self.post_message(self.Turned(1))
        else:
            super().action_cursor_down()

    def action_cursor_up(self) -> None:
        """Move a row up, or to the page before from the first row."""
        if self.cursor_row <= 0:
            self.post_message(self.Turned(-1))
        else:
            super().action_cursor_up()
