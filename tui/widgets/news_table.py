"""The panel of events: failures first of all, each to be inspected."""

from __future__ import annotations

from collections.abc import Sequence

from textual.widgets import DataTable

from tui.following import News
from tui.text import cell

LARGEST = 500  # rows that are mounted
WIDTH = 160  # columns of a line; arrow keys move along it where the terminal shows fewer


class NewsTable(DataTable[object]):
    """The latest events, the newest at the end; stays at the end unless the person moved away from it."""

    def __init__(self, id: str) -> None:  # noqa: A002 - as Textual calls it
        super().__init__(id=id, cursor_type="row", show_header=False)
        self._items: dict[str, News] = {}

    def on_mount(self) -> None:
        """Make the one column."""
        self.add_column("event", key="event", width=WIDTH)

    @property
    def chosen(self) -> News | None:
        """The event under the cursor."""
        if not 0 <= self.cursor_row < self.row_count:
            return None
        return self._items.get(str(self.coordinate_to_cell_key(self.cursor_coordinate).row_key.value))

    def show(self, news: Sequence[News]) -> None:
        """Add the events that are new, and drop the oldest."""
        was_at_end = self.cursor_row >= self.row_count - 1 or not self.has_focus
        shown = news[-LARGEST:]
        first = shown[0].number if shown else 0
        for key in [key for key, item in self._items.items() if item.number < first]:
            del self._items[key]
            self.remove_row(key)
        added = False
        for item in shown:
            key = str(item.number)
            if key not in self._items:
                self._items[key] = item
                self.add_row(cell(news_line(item), WIDTH), key=key)
                added = True
        if added and was_at_end:
            self.move_cursor(row=self.row_count - 1, animate=False)


def news_line(item: News) -> str:
    """Return an event with its local time."""
    return f"{item.at.astimezone():%H:%M:%S}  {item.text}"
