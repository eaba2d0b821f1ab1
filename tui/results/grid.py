"""Tables of figures: which columns fit, in which order the rows stand, and what is behind each figure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rich.cells import cell_len

from core.browse.behind import Behind

MAX_ROWS = 500  # mounted at once
WIDEST_CELL = 60
_PADDING = 2  # columns of the terminal around a cell


class Column(NamedTuple):
    """A column; the lower its rank, the sooner it is shown, and rank 0 always is."""

    title: str
    rank: int = 0
    numeric: bool = True


class Figure(NamedTuple):
    """A cell: its text, what it sorts by, how full it is from 0 to 1, and the cases behind it."""

    text: str
    value: float | str | None = None
    candidate: str | None = None
    behind: Behind | None = None
    lost: Behind | None = None  # of these the cases without a hit
    fill: float | None = None


class Row(NamedTuple):
    """A row; `repository` names the one that it tells of, so that exports can withhold it."""

    key: str
    figures: tuple[Figure, ...]
    repository: str | None = None


class Grid(NamedTuple):
    """A table; `caption` says what its numbers are over."""

    caption: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]


class Sorting(NamedTuple):
    """The column, by its title, that rows are sorted by."""

    title: str
    descending: bool


def fitting(grid: Grid, width: int) -> tuple[int, ...]:
    """Return the numbers of the columns that fit into a width, by their ranks, in the grid's order."""
    left = width
    chosen: list[int] = []
    for number in sorted(range(len(grid.columns)), key=lambda at: (grid.columns[at].rank, at)):
        needed = column_width(grid, number) + _PADDING
        if grid.columns[number].rank == 0 or needed <= left:
            chosen.append(number)
            left -= needed
    return tuple(sorted(chosen))


def column_width(grid: Grid, number: int) -> int:
    """Return how many columns of the terminal the widest cell of a column takes, WIDEST_CELL at most."""
    cells = max((cell_len(row.figures[number].text) for row in grid.rows), default=0)
    return min(max(cell_len(grid.columns[number].title), cells), WIDEST_CELL)


def in_order(grid: Grid, sorting: Sorting | None) -> tuple[Row, ...]:
    """Return the rows sorted by a column, those without a value last; as they stand where none is asked."""
    titles = [column.title for column in grid.columns]
    if sorting is None or sorting.title not in titles:
        return grid.rows
    at = titles.index(sorting.title)
    known = [row for row in grid.rows if row.figures[at].value is not None]
    rest = [row for row in grid.rows if row.figures[at].value is None]
    known.sort(key=lambda row: _sortable(row.figures[at].value), reverse=sorting.descending)
    return (*known, *rest)


def next_sorting(grid: Grid, number: int, present: Sorting | None) -> Sorting | None:
    """Return what follows on asking for a column: the better end first, then the other, then none."""
    column = grid.columns[number]
    first = Sorting(column.title, descending=column.numeric)
    if present is None or present.title != column.title:
        return first
    return first._replace(descending=not first.descending) if present == first else None


def exported(grid: Grid) -> tuple[Sequence[str], list[tuple[str | None, Sequence[object]]]]:
    """Return a grid's header and rows for a file, with the minus sign that programs read."""
    rows: list[tuple[str | None, Sequence[object]]] = [
        (row.repository, [figure.text.replace("−", "-") for figure in row.figures]) for row in grid.rows
    ]
    return [column.title for column in grid.columns], rows


def _sortable(value: float | str | None) -> tuple[int, float, str]:
    return (1, 0.0, value) if isinstance(value, str) else (0, value or 0.0, "")
