"""The table of runs and campaign files, as wide as the terminal allows."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import ClassVar

from textual.binding import Binding, BindingType

from core.campaign.folder import RUNS
from core.reports.wording import DASH
from core.text import printable
from tui import wallclock
from tui.runs import CAMPAIGN, Row
from tui.text import cell, near
from tui.widgets.marks import STATE_MARKS, ago, bar
from tui.widgets.measured_table import MeasuredTable

LARGEST = 500  # rows that are mounted
WIDE = 120  # columns from which the best candidate has one of its own
_BEST = "BEST AGAINST BASELINE"
_PLACE = "place"  # the column of a row's place, which shares its title with the campaign's
_WIDE_COLUMNS = ("RUN", _PLACE, "STATE", "PROGRESS", _BEST, "FAILED", "UPDATED")
_NARROW_COLUMNS = ("RUN", _PLACE, "STATE", "PROGRESS", "FAILED", "UPDATED")
_STATE_WIDTH, _UPDATED_WIDTH = 13, 10  # of `◐ interrupted` and `59 min ago`
_BESIDE = 2  # columns: a scrollbar beside the table, and the space around each cell
_LEAST_NAMES = 26  # columns that a campaign and a place have at least, and share where they need more
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
        values = _cells(mounted, folder, width, now)
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
                self.add_column("" if name == _PLACE else name, key=name)
        self._names, self._keys = names, keys
        for key, cells in zip(keys, values, strict=True):
            self.add_row(*cells, key=key)
        if chosen in keys:
            row = keys.index(chosen)
        if keys:
            self.move_cursor(row=min(row, len(keys) - 1), animate=False)


def _cells(rows: Sequence[Row], folder: Path, width: int, now: datetime) -> list[tuple[object, ...]]:
    """Return the cells of rows for a terminal of a width, in which no column is left off its edge."""
    wide = width >= WIDE
    names = [(printable(row.campaign) or DASH, _place(row, folder)) for row in rows]
    progress = [_progress(row, _blocks(width)) for row in rows]
    taken = _STATE_WIDTH + max(map(len, ("PROGRESS", *progress))) + len("FAILED") + _UPDATED_WIDTH
    columns = _WIDE_COLUMNS if wide else _NARROW_COLUMNS
    spare = width - taken - _BESIDE * (len(columns) + 1)
    best = min(max((len(row.best) for row in rows), default=0), spare - _LEAST_NAMES) if wide else 0
    campaign, place = _shared(names, spare - max(best, len(_BEST)) if wide else spare)
    return [
        (
            cell(name[0], campaign),
            _ending(name[1], place),
            cell(_state(row)),
            cell(done),
            *((cell(row.best, max(best, len(_BEST))),) if wide else ()),
            cell("" if row.status is None else row.status.failed - row.status.unasked),
            cell(ago(_moment(row), now)),
        )
        for row, name, done in zip(rows, names, progress, strict=True)
    ]


def _shared(names: Sequence[tuple[str, str]], room: int) -> tuple[int, int]:
    """Return how wide campaigns and places are drawn: as they are where both fit, else half of the room each.

    What one of them leaves of its half is the other's.
    """
    room = max(room, _LEAST_NAMES)
    campaign = max((len(name) for name, _ in names), default=0)
    place = max((len(place) for _, place in names), default=0)
    if campaign + place <= room:
        return campaign, place
    half = room // 2
    if campaign <= half:
        return campaign, room - campaign
    return (room - place, place) if place <= half else (half, room - half)


def _place(row: Row, folder: Path) -> str:
    """Return where a row lies, without the folders that its campaign names already."""
    return near(row.path, folder).removeprefix(f"{RUNS}/").removeprefix(f"{row.campaign}/")


def _blocks(width: int) -> int:
    """Return how long the bar of a run's progress is: short where something else needs the room."""
    return 5 if width < 100 or WIDE <= width < WIDE + 20 else 10


def _progress(row: Row, blocks: int) -> str:
    """Return how many operations are over, in a bar and in numbers."""
    status = row.status
    if status is None:
        return ""
    return f"{bar(status.ended, status.planned, blocks)} {status.ended}/{status.planned}"


def _state(row: Row) -> str:
    if row.status is not None:
        return STATE_MARKS[row.status.state]
    broken = row.manifest is not None and row.manifest.problem is not None
    return "⚠ not valid" if broken else "▤ campaign"


def ordered(rows: Sequence[Row], sort: str) -> list[Row]:
    """Return rows with what is going first, then by what `sort` names: updated, name or state."""
    by_name = sorted(rows, key=lambda row: (row.campaign.casefold(), row.key))
    if sort == "name":
        return by_name
    if sort == "state":
        return sorted(by_name, key=lambda row: _STATE_ORDER.index(row.state))
    latest = sorted(by_name, key=lambda row: row.updated_at, reverse=True)
    return [row for row in by_name if row.is_live] + [row for row in latest if not row.is_live]


def _ending(text: str, room: int) -> object:
    """Return a place cut at its front where it is too long, as its end tells files and runs apart."""
    shown = text
    while len(shown) > room and "/" in shown.removeprefix("…/"):
        shown = f"…/{shown.removeprefix('…/').partition('/')[2]}"
    return cell(shown if len(shown) <= room else f"…{shown[len(shown) + 1 - room :]}", room)


def _moment(row: Row) -> datetime | None:
    found = row.updated_at
    return found if found.timestamp() > 0 else None
