"""A place in a filtered list of cases, moved along across its pages; for threads, as it asks the index."""

from __future__ import annotations

from core.browse.filters import Filters, Sort
from core.browse.index import BANK_ORDER, RunIndex
from core.browse.rows import CaseRow

_BLOCK = 2000  # rows of one look for a case's place
_LOOKED_AT = 100_000  # rows, before the place of a case counts as unknown


class CaseWalk:
    """Where a person is in a list; `position` counts from 0 and is None where the case is not known in it."""

    def __init__(self, filters: Filters, sort: Sort, position: int | None, total: int) -> None:
        self.filters = filters
        self.sort = sort
        self.position = position
        self.total = total

    def neighbour(self, index: RunIndex, step: int) -> tuple[int, CaseRow] | None:
        """Return the case `step` places further, with its place; None beyond the list's ends."""
        start = self.position if self.position is not None else (-1 if step > 0 else self.total)
        wanted = start + step
        if wanted < 0:
            return None
        rows = index.page(self.filters, self.sort, wanted, 1)
        return (wanted, rows[0]) if rows else None

    def find(self, index: RunIndex, row: CaseRow) -> int | None:
        """Return the place of a case in the list, None where it is not in it or too far down."""
        if self.sort == BANK_ORDER and self.filters == Filters(
            cutoff=self.filters.cutoff, level=self.filters.level
        ):
            return row.number
        for start in range(0, min(self.total, _LOOKED_AT), _BLOCK):
            for at, found in enumerate(index.page(self.filters, self.sort, start, _BLOCK), start=start):
                if found.id == row.id:
                    return at
        return None
