"""The table of a run's cells: phase, progress, heartbeat, medians and memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

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

_SORTS: tuple[tuple[str, Callable[[CellView], tuple[float, ...]]], ...] = (
    ("as planned", lambda cell: ()),
    ("failures first", lambda cell: (-cell.failed,)),
    ("slowest first", lambda cell: (-max((value or 0.0) for value in cell.medians),)),
    ("unfinished first", lambda cell: (cell.completed / cell.planned if cell.planned else 1.0,)),
)


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

    def show(self, view: RunView, now: datetime, width: int) -> None:
        """Bring the rows up to date; only what changed is drawn."""
        words = self.words.casefold().split()
        wanted = [cell for cell in view.cells if all(word in _searched(cell) for word in words)]
        wanted.sort(key=_SORTS[self._sort][1])
        self.border_subtitle = f"1–{LARGEST} of {len(wanted)}" if len(wanted) > LARGEST else ""
        self._cells = {cell.name: cell for cell in wanted[:LARGEST]}
        keys = list(self._cells)
        labels = _LABELS if width >= _WIDE else COLUMNS
        if keys != self._keys or labels != self._labels:
            self._rebuild(keys, labels)
        for key, found in self._cells.items():
            beat_at = view.last_at if view.held and found.is_current else None
            values = _values(found, beat_at, now, width)
            for column, value in zip(COLUMNS, values, strict=True):
                if self.get_cell(key, column) != value:
                    self.update_cell(key, column, value, update_width=True)

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


def _searched(cell: CellView) -> str:
    return f"{cell.name} {cell.phase or ''}".casefold()


def _values(cell: CellView, beat_at: datetime | None, now: datetime, width: int) -> tuple[object, ...]:
    done = cell.completed >= cell.planned > 0
    phase = "complete" if done else str(cell.phase or "—")
    wide = width >= _WIDE
    if cell.failed > cell.unasked:
        phase = f"{phase} ✖{cell.failed - cell.unasked}"
    if cell.unasked:
        phase = f"{phase} ·{cell.unasked}{' not asked' if wide else ''}"
    counts = f"{cell.completed}/{cell.planned}"
    return (
        text_cell(cell.name, 50 if wide else 20),
        text_cell(phase),
        text_cell(f"{bar(cell.completed, cell.planned, 10)} {counts}" if wide else counts),
        text_cell("") if beat_at is None or done else _beat(beat_at, now),
        *(text_cell("" if value is None else seconds(value)) for value in cell.medians),
        text_cell(_memory(cell.rss, wide=wide)),
    )


def _memory(rss: Sequence[int], *, wide: bool) -> str:
    if not rss:
        return ""
    return f"{memory(rss[-1])} {spark(rss, len(rss))}" if wide else memory(rss[-1])


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
