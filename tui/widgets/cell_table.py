"""The table of a run's cells: phase, progress, heartbeat, medians and memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from rich.cells import cell_len
from rich.text import Text

from core.reports.wording import seconds
from tui.following import CellView, RunView
from tui.text import cell as text_cell
from tui.widgets.marks import bar, spark
from tui.widgets.measured_table import MeasuredTable

LATE_SECONDS = 5.0
LARGEST = 500  # rows that are mounted
COLUMNS = ("CELL", "PHASE", "DONE", "BEAT", "emb", "docs", "ctx", "RSS")
_LABELS = ("CELL", "PHASE", "DONE", "BEAT", "emb p50", "docs p50", "ctx p50", "RSS (sampled)")
HEADER = (
    *("candidate", "repository", "phase", "completed", "planned", "failed"),
    *("emb_median_s", "docs_median_s", "ctx_median_s", "sampled_rss_bytes"),
)
_WIDE = 120
_MEASURED = COLUMNS.index("emb")  # and all after it
_DONE, _RSS = COLUMNS.index("DONE"), COLUMNS.index("RSS")

_SORTS: tuple[tuple[str, Callable[[CellView], tuple[float, ...]]], ...] = (
    ("as planned", lambda cell: ()),
    ("failures first", lambda cell: (-cell.failed,)),
    ("slowest first", lambda cell: (-max((value or 0.0) for value in cell.medians),)),
    ("unfinished first", lambda cell: (cell.completed / cell.planned if cell.planned else 1.0,)),
)


class _Drawn(NamedTuple):
    """How many columns a bar and a line of samples take; 0 where there is no room for one."""

    bar: int = 0
    spark: int = 0


_DRAWN = (_Drawn(10, 8), _Drawn(10, 4), _Drawn(6, 4), _Drawn(10), _Drawn(6), _Drawn(4))  # the first that fits


_LEAST_BAR = 4


class CellTable(MeasuredTable[object]):
    """One row a cell, the one under way marked."""

    def __init__(self, id: str) -> None:  # noqa: A002 - as Textual calls it
        super().__init__(id=id, cursor_type="row")
        self.words = ""
        self._sort = 0
        self._keys: list[str] = []
        self._labels: Sequence[str] = ()
        self._cells: dict[str, CellView] = {}

    @property
    def chosen(self) -> CellView | None:
        """The cell under the cursor."""
        if not 0 <= self.cursor_row < len(self._keys):
            return None
        return self._cells.get(self._keys[self.cursor_row])

    def sort_by_next(self) -> str:
        """Take the next order; return its name."""
        self._sort = (self._sort + 1) % len(_SORTS)
        return _SORTS[self._sort][0]

    def wanted(self, view: RunView) -> list[CellView]:
        """Return the cells that the filter lets through, in their order, however many."""
        words = self.words.casefold().split()
        found = [cell for cell in view.cells if all(word in _searched(cell) for word in words)]
        return sorted(found, key=_SORTS[self._sort][1])

    def show(self, view: RunView, now: datetime, width: int) -> None:
        """Bring the rows up to date; only what changed is drawn."""
        wanted = self.wanted(view)
        left_out = f"1–{LARGEST} of {len(wanted)}" if len(wanted) > LARGEST else ""
        if left_out != (self.border_subtitle or ""):  # setting it draws all of the table anew
            self.border_subtitle = left_out
        self._cells = {cell.name: cell for cell in wanted[:LARGEST]}
        keys = list(self._cells)
        labels = _LABELS if width >= _WIDE else COLUMNS
        if keys != self._keys or labels != self._labels:
            self._rebuild(keys, labels)
        rows = {key: _values(found, _beat_at(view, found), now, width) for key, found in self._cells.items()}
        self._draw(rows, labels, width)
        for key, values in rows.items():
            for column, value in zip(COLUMNS, values, strict=True):
                if self.get_cell(key, column) != value:
                    self.update_cell(key, column, value, update_width=True)

    def _draw(self, rows: Mapping[str, list[Text]], labels: Sequence[str], width: int) -> None:
        """Put bars and samples beside words, which stand closer where there is room for bars only then.

        Progress comes before memory: the last column is the one to be scrolled to where nothing helps.
        """
        drawn = self._room(rows, labels, width)
        if not drawn.bar:
            closer = {
                key: [*values[:_MEASURED], *map(_closer, values[_MEASURED:])] for key, values in rows.items()
            }
            drawn = self._room(closer, labels, width)
            for key, values in rows.items():
                values[:] = closer[key]
        for key, values in rows.items():
            cell = self._cells[key]
            values[_DONE] = text_cell(_done(cell, drawn.bar or _LEAST_BAR))
            if drawn.spark:
                values[_RSS] = text_cell(_memory(cell.rss, drawn.spark))

    def _room(self, rows: Mapping[str, Sequence[Text]], labels: Sequence[str], width: int) -> _Drawn:
        """Return how much can be drawn beside the words without pushing any of them off the screen."""
        taken = self.scrollbar_size_vertical
        for at, label in enumerate(labels):
            widest = max((values[at].cell_len for values in rows.values()), default=0)
            taken += max(widest, cell_len(label)) + 2 * self.cell_padding
        free = width - taken
        has_samples = any(cell.rss for cell in self._cells.values())
        for drawn in _DRAWN:
            spark_columns = drawn.spark + 1 if drawn.spark and has_samples else 0
            if drawn.bar + 1 + spark_columns <= free:
                return drawn if spark_columns else drawn._replace(spark=0)
        return _Drawn()

    def _rebuild(self, keys: list[str], labels: Sequence[str]) -> None:
        row = self.cursor_row
        chosen = self._keys[row] if 0 <= row < len(self._keys) else None
        self.clear(columns=True)
        for column, label in zip(COLUMNS, labels, strict=True):
            self.add_column(label, key=column)
        self._keys, self._labels = keys, labels
        for key in keys:
            self.add_row(*("" for _ in COLUMNS), key=key)
        if chosen in keys:
            self.move_cursor(row=keys.index(chosen), animate=False)


def _closer(value: Text) -> Text:
    return text_cell(value.plain.replace(" ", ""))


def _beat_at(view: RunView, cell: CellView) -> datetime | None:
    return view.last_at if view.held and cell.is_current else None


def _searched(cell: CellView) -> str:
    return f"{cell.name} {cell.phase or ''}".casefold()


def _values(cell: CellView, beat_at: datetime | None, now: datetime, width: int) -> list[Text]:
    """Return a row in words alone."""
    phase = cell.phase or "—"
    wide = width >= _WIDE
    if cell.failed > cell.unasked:
        phase = f"{phase} ✖{cell.failed - cell.unasked}"
    if cell.unasked:
        phase = f"{phase} ·{cell.unasked}{' not asked' if wide else ''}"
    return [
        text_cell(cell.name, 50 if wide else 20),
        text_cell(phase),
        text_cell(_done(cell, 0)),
        text_cell("") if beat_at is None or cell.phase == "complete" else _beat(beat_at, now),
        *(text_cell("" if value is None else seconds(value)) for value in cell.medians),
        text_cell(_memory(cell.rss, 0)),
    ]


def _done(cell: CellView, columns: int) -> str:
    counts = f"{cell.completed}/{cell.planned}"
    return f"{bar(cell.completed, cell.planned, columns)} {counts}" if columns else counts


def _memory(rss: Sequence[int], columns: int) -> str:
    if not rss:
        return ""
    return f"{memory(rss[-1])} {spark(rss, columns)}" if columns else memory(rss[-1])


def _beat(beat_at: datetime, now: datetime) -> Text:
    age = max((now - beat_at).total_seconds(), 0.0)
    shown = text_cell(f"⚠ {age:.0f} s" if age > LATE_SECONDS else f"{age:.0f} s")
    if age > LATE_SECONDS:
        shown.stylize("bold dark_orange")
    return shown


def memory(count: int) -> str:
    """Return bytes of memory as a person reads them."""
    return f"{count / 2**30:.1f} GiB" if count >= 2**30 else f"{count / 2**20:.0f} MiB"


def exported(cell: CellView) -> Sequence[object]:
    """Return a cell's values for a file."""
    return (
        *(cell.candidate, cell.repository, cell.phase or "", cell.completed, cell.planned, cell.failed),
        *(value if value is not None else "" for value in cell.medians),
        cell.rss[-1] if cell.rss else "",
    )
