"""A window on a file of any size: where it stands, how it moves, and the lines that it shows."""

from __future__ import annotations

from typing import NamedTuple

from rich.cells import cell_len, chop_cells

from core.browse.paging import LineNumbers, Row, Rows, Source

CONTEXT = 3  # a found place is shown below a third of the window


class Line(NamedTuple):
    """One line of the window: safe text that fits it.

    `number` is its line's, None beyond those that are counted; `is_first` is no continuation of the line
    above. `before` and `after` say that text lies to the left and how many bytes more to the right.
    """

    offset: int
    number: int | None
    is_first: bool
    text: str
    before: bool = False
    cut: int = 0


class Page(NamedTuple):
    """What the window shows: lines, the bytes that they hold, and the file's size at that moment."""

    lines: tuple[Line, ...]
    start: int
    stop: int
    size: int
    column: int
    trouble: str | None = None

    @property
    def percent(self) -> int:
        """How much of the file lies above the window's end."""
        return 100 if self.stop >= self.size else self.stop * 100 // self.size


class Viewport:
    """The window. Its calls read a few blocks each, so make them from a thread, one at a time.

    Every call raises OSError where the file cannot be read.
    """

    def __init__(self, source: Source) -> None:
        self._source = source
        self._numbers = LineNumbers(source)
        self._rows = Rows(source)
        self.width = 80
        self.height = 24
        self.wraps = False
        self.column = 0
        self._top = 0  # the first row's offset
        self._skipped = 0  # wrapped lines of it above the window

    def look(self) -> None:
        """Look at the file anew; it may have grown."""
        self._rows = Rows(self._source)

    def move(self, lines: int) -> None:
        """Move down, or up for a negative count."""
        for _ in range(abs(lines)):
            if not (self._down() if lines > 0 else self._up()):
                return

    def to_start(self) -> None:
        """Show the beginning."""
        self._top = self._skipped = self.column = 0

    def to_end(self) -> None:
        """Show the last lines."""
        row = self._rows.at(self._rows.size)
        if row is None:
            return self.to_start()
        self._top, self._skipped = row.start, self._height_of(row) - 1
        self.move(1 - self.height)
        return None

    def to_offset(self, offset: int) -> None:
        """Show a byte, in the window's upper third, and far enough to the side."""
        row = self._rows.at(offset)
        if row is None:
            return
        at = self._rows.column_of(row, offset)
        self._top, self._skipped = row.start, 0
        if self.wraps:
            self._skipped = min(at // max(self.width, 1), self._height_of(row) - 1)
        elif not self.column <= at < self.column + self.width - CONTEXT:
            self.column = max(at - self.width // CONTEXT, 0) if at >= self.width - CONTEXT else 0
        self.move(-(self.height // CONTEXT))

    def sideways(self, characters: int) -> None:
        """Move right, or left, as far as the longest row here goes."""
        longest = max((row.stop - row.start for row, _ in self._shown_rows()), default=0)
        self.column = max(min(self.column + characters, longest - 1), 0)

    def page(self) -> Page:
        """Return what the window shows; at the end of the file it is filled from above."""
        rows = self._shown_rows()
        if self._lines_in(rows) < self.height and (self._top > 0 or self._skipped > 0):
            self.to_end()
            rows = self._shown_rows()
        lines: list[Line] = []
        stop = start = self._top
        for row, skipped in rows:
            room = self.height - len(lines)
            lines += self._wrapped(row, skipped, room) if self.wraps else [self._cut(row)]
            stop = row.end
        return Page(tuple(lines), start, stop, self._rows.size, self.column, self._source.trouble())

    def _shown_rows(self) -> list[tuple[Row, int]]:
        """Return the rows that the window reaches, each with its wrapped lines above it."""
        found = []
        row = self._rows.at(self._top)
        skipped, room = self._skipped, self.height
        while row is not None and room > 0:
            found.append((row, skipped))
            room -= self._height_of(row) - skipped
            row, skipped = self._rows.after(row), 0
        return found

    def _lines_in(self, rows: list[tuple[Row, int]]) -> int:
        return sum(self._height_of(row) - skipped for row, skipped in rows)

    def _down(self) -> bool:
        row = self._rows.at(self._top)
        if row is None:
            return False
        if self._skipped + 1 < self._height_of(row):
            self._skipped += 1
            return True
        below = self._rows.after(row)
        if below is None:
            return False
        self._top, self._skipped = below.start, 0
        return True

    def _up(self) -> bool:
        if self._skipped > 0:
            self._skipped -= 1
            return True
        row = self._rows.at(self._top)
        above = self._rows.before(row) if row is not None else None
        if above is None:
            return False
        self._top, self._skipped = above.start, self._height_of(above) - 1
        return True

    def _height_of(self, row: Row) -> int:
        return len(self._parts(row)) if self.wraps else 1

    def _parts(self, row: Row) -> list[str]:
        """Return a row's text in pieces of the window's width."""
        text = self._rows.text(row)
        width = max(self.width, 2)
        if not text:
            return [""]
        if text.isascii():
            return [text[start : start + width] for start in range(0, len(text), width)]
        return chop_cells(text, width)

    def _wrapped(self, row: Row, skipped: int, room: int) -> list[Line]:
        number = self._numbers.at(row.start) if row.is_first else None
        parts = self._parts(row)[skipped : skipped + room]
        return [
            Line(row.start, number, row.is_first and skipped + at == 0, part) for at, part in enumerate(parts)
        ]

    def _cut(self, row: Row) -> Line:
        number = self._numbers.at(row.start) if row.is_first else None
        end = self.column + self.width
        text = self._rows.text(row, end + 1)
        shown = text[self.column : end]
        while cell_len(shown) > self.width:
            shown = shown[:-1]
        cut = row.stop - row.start if len(text) > self.column + len(shown) else 0
        return Line(row.start, number, row.is_first, shown, self.column > 0 and bool(text), cut)
