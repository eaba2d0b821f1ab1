"""The table of runs and campaign files, as wide as the terminal allows."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import ClassVar

from textual.binding import Binding, BindingType

from core.campaign.folder import RUNS
from core.run.events import State
from core.text import printable
from tui import wallclock
from tui.runs import CAMPAIGN, Row
from tui.text import cell, near
from tui.widgets.marks import STATE_MARKS, ago, bar
from tui.widgets.measured_table import MeasuredTable

LARGEST = 500  # rows that are mounted
WIDE = 120  # columns from which the best candidate has one of its own
_WIDE_COLUMNS = ("RUN", "STATE", "PROGRESS", "BEST AGAINST BASELINE", "FAILED", "UPDATED")
_NARROW_COLUMNS = ("RUN", "STATE", "PROGRESS", "FAILED", "UPDATED")
_STATE_ORDER = (
    *("running", "paused", "stopping", "waiting", "stalled"),
    *("interrupted", "failed", "complete", CAMPAIGN, "unreadable"),
)


class RunTable(MeasuredTable[object]):
    """Rows of the home screen; remembers which of them the cursor is on, wherever it moves to."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "select_cursor", "Open", id="campaigns.open"),
    ]

    def __init__(self, id: str) -> None:  # noqa: A002 - as Textual calls it
        super().__init__(id=id, cursor_type="row", zebra_stripes=True)
        self._keys: list[str] = []
        self._names: tuple[str, ...] = ()

    @property
    def chosen_key(self) -> str | None:
        """The key of the row under the cursor."""
        return self._keys[self.cursor_row] if 0 <= self.cursor_row < len(self._keys) else None

    def choose(self, key: str) -> bool:
        """Move the cursor to a row; tell whether it is there."""
        if key in self._keys:
            self.move_cursor(row=self._keys.index(key), animate=False)
        return key in self._keys

    def show(self, rows: Sequence[Row], folder: Path, width: int) -> None:
        """Show rows in their order, keeping the cursor on its row."""
        names = _WIDE_COLUMNS if width >= WIDE else _NARROW_COLUMNS
        mounted = rows[:LARGEST]
        keys = [row.key for row in mounted]
        now = wallclock.now()
        values = [cells_of(row, folder, width, now) for row in mounted]
        if keys != self._keys or names != self._names:
            self._rebuild(names, keys, values)
        else:
            for key, cells in zip(keys, values, strict=True):
                for name, value in zip(names, cells, strict=True):
                    if self.get_cell(key, name) != value:
                        self.update_cell(key, name, value, update_width=True)
        more = len(rows) - len(mounted)
        self.border_subtitle = f"1–{LARGEST} of {len(rows)}; filter with /" if more else ""
        self.set_class(bool(more), "-cut")

    def _rebuild(self, names: tuple[str, ...], keys: list[str], values: Sequence[Sequence[object]]) -> None:
        chosen = self.chosen_key
        row = self.cursor_row
        self.clear(columns=names != self._names)
        if names != self._names:
            for name in names:
                self.add_column(name, key=name)
        self._names, self._keys = names, keys
        for key, cells in zip(keys, values, strict=True):
            self.add_row(*cells, key=key)
        if chosen in keys:
            row = keys.index(chosen)
        if keys:
            self.move_cursor(row=min(row, len(keys) - 1), animate=False)


def cells_of(row: Row, folder: Path, width: int, now: datetime) -> tuple[object, ...]:
    """Return a row's cells for a terminal of a width."""
    wide = width >= WIDE
    place = near(row.path, folder).removeprefix(f"{RUNS}/").removeprefix(f"{row.campaign}/")
    name = f"{row.campaign}  {place}"
    best = (cell(row.best, 48),) if wide else ()
    room = 26 if width < 100 else 44
    if row.status is None:
        broken = row.manifest is not None and row.manifest.problem is not None
        state = "⚠ not valid" if broken else "▤ campaign"
        return (_name(name, room), cell(state), cell(""), *best, cell(""), cell(ago(_moment(row), now)))
    status = row.status
    known: State | None = status.state
    blocks = 10 if width >= 100 else 5
    return (
        _name(name, room),
        cell(STATE_MARKS[known]),
        cell(f"{bar(status.accepted, status.planned, blocks)} {status.accepted}/{status.planned}"),
        *best,
        cell(status.failed - status.unasked),
        cell(ago(_moment(row), now)),
    )


def ordered(rows: Sequence[Row], sort: str) -> list[Row]:
    """Return rows with what is going first, then by what `sort` names: updated, name or state."""
    by_name = sorted(rows, key=lambda row: (row.campaign.casefold(), row.key))
    if sort == "name":
        return by_name
    if sort == "state":
        return sorted(by_name, key=lambda row: _STATE_ORDER.index(row.state))
    latest = sorted(by_name, key=lambda row: row.updated_at, reverse=True)
    return [row for row in by_name if row.is_live] + [row for row in latest if not row.is_live]


def _name(text: str, room: int) -> object:
    """Return a name cut at its middle, as its end tells runs apart."""
    shown = printable(text)
    if len(shown) > room:
        head = room // 3
        shown = f"{shown[:head]}…{shown[head + 1 - room :]}"
    return cell(shown, room)


def _moment(row: Row) -> datetime | None:
    found = row.updated_at
    return found if found.timestamp() > 0 else None
