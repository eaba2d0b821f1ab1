"""One page of a run's cases, asked of the index and laid out; for threads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from core.browse.filters import Filters, Sort
from core.browse.index import PAGE, RunIndex
from core.browse.rows import CaseRow
from tui.cases.filter_words import known
from tui.cases.names import group_word
from tui.cases.table_rows import TableForm, export_cells, table_form, table_row
from tui.text import LazyCell

EXPORT_BLOCK = 5000  # cases that an export holds at once


@dataclass(frozen=True)
class View:
    """Which cases are asked for: a page, from `offset`, of those that fulfil the filters."""

    filters: Filters
    sort: Sort
    offset: int = 0

    def of(self, index: RunIndex) -> View:
        """Return the view without the names that a run does not have."""
        asked = (self.sort.candidate, self.sort.other)
        is_known = all(name is None or name in index.candidates for name in asked)
        filters = known(self.filters, index.candidates, (index.intents, index.repositories))
        return View(filters, self.sort if is_known else Sort(), self.offset)


class Page(NamedTuple):
    """One page, ready to be put into the table."""

    view: View
    rows: tuple[CaseRow, ...]
    total: int
    form: TableForm
    cells: list[tuple[LazyCell, ...]]


def read_page(index: RunIndex, view: View, width: int) -> Page:
    """Ask the index for a page, the last one where there is no such page; raises BoresightError."""
    rows = index.page(view.filters, view.sort, view.offset, PAGE)
    is_last = len(rows) < PAGE and (rows or not view.offset)  # which tells the total without another search
    total = view.offset + len(rows) if is_last else index.count(view.filters)
    if not rows and total:
        view = replace(view, offset=(total - 1) // PAGE * PAGE)
        rows = index.page(view.filters, view.sort, view.offset, PAGE)
    form = table_form(index.candidates, width, group_word(index.intents))
    return Page(view, rows, total, form, [table_row(row, form, view.filters) for row in rows])


def export_rows(index: RunIndex, view: View) -> Iterator[tuple[str | None, Sequence[object]]]:
    """Yield all cases of a view, a block at a time, so that any number takes little memory."""
    offset = 0
    while rows := index.page(view.filters, view.sort, offset, EXPORT_BLOCK):
        for row in rows:
            yield row.repository, export_cells(row)
        offset += len(rows)
