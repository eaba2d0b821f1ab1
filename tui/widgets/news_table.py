"""The panel of events: failures first of all, each to be inspected."""

from __future__ import annotations

from collections.abc import Sequence

from textual.widgets import DataTable

from tui.following import News
from tui.text import cell

LEAST = 20  # columns of a line, however narrow the terminal
LARGEST = 500  # rows that are mounted
WIDTH = 160  # columns of a line; it ends with … where the terminal shows fewer


class NewsTable(DataTable[object]):
    """The latest events, the newest at the end; stays at the end unless the person moved away from it."""

    def __init__(self, id: str) -> None:  # noqa: A002 - as Textual calls it
        super().__init__(id=id, cursor_type="row", show_header=False)
        self._items: dict[str, News] = {}

    def on_mount(self) -> None:
        """Make the one column."""
        self._make_column()

    def on_resize(self) -> None:
        """Cut lines to the room there is."""
        row = self.cursor_row
        self._make_column()
        for key, item in self._items.items():
            self._add(key, item)
        self.move_cursor(row=row, animate=False)

    def _make_column(self) -> None:
        self.clear(columns=True)
        room = self.size.width - 2 * self.cell_padding - self.styles.scrollbar_size_vertical
        self.add_column("event", key="event", width=min(max(room, LEAST), WIDTH))

    def _add(self, key: str, item: News) -> None:
        self.add_row(cell(news_line(item), WIDTH), key=key)

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
                self._add(key, item)
                added = True
        if added and was_at_end:
            self.move_cursor(row=self.row_count - 1, animate=False)


def news_line(item: News) -> str:
    """Return an event with its local time."""
    return f"{item.at.astimezone():%H:%M:%S}  {item.text}"
