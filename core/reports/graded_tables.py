"""A graded bank's outcome for a terminal: metrics, shapes, and what failed, in 80 columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from core.reports.drawing import drawn, drawn_table
from core.reports.facts import RunFacts
from core.reports.graded_wording import (
    CONTEXT,
    EMBEDDED,
    RANKED,
    Measure,
    cells,
    context_notes,
    facts_words,
    why_words,
)
from core.reports.wording import counted
from core.scoring.graded_records import GradedBoard, GradedMeans, GradedQuery
from core.text import printable

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

MAX_FAILED = 12  # questions of a candidate that are named


def graded_tables(board: GradedBoard, about: RunFacts, names: Sequence[str]) -> Iterator[RenderableType]:
    """Yield the metrics of the rankings and of the contexts, the shapes, and the questions that failed."""
    means = {name: board.candidates[name].overall for name in names}
    yield _table(board, "Candidate", means, RANKED)
    yield _table(board, "Candidate", means, (*CONTEXT, *EMBEDDED))
    for note in context_notes(board):
        yield drawn(printable(note))
    yield _table(board, "By shape", _by_shape(board, names), (*RANKED[2:3], *RANKED[4:], *CONTEXT[:3]))
    if not about.private:
        for name in names:
            yield from _failed(name, [query for query in board.candidates[name].queries if _failing(query)])


def _table(
    board: GradedBoard, first: str, rows: Mapping[str, GradedMeans], measures: Sequence[Measure]
) -> Table:
    table = drawn_table([first], [measure.short for measure in measures])
    for name, means in rows.items():
        table.add_row(drawn(name, "bold"), *map(drawn, cells(board, means, measures)))
    return table


def _by_shape(board: GradedBoard, names: Sequence[str]) -> dict[str, GradedMeans]:
    return {
        f"{shape}, {name}": board.candidates[name].shapes[shape]
        for shape in board.shapes
        for name in names
        if shape in board.candidates[name].shapes
    }


def _failing(query: GradedQuery) -> bool:
    return query.why != "found"


def _failed(name: str, queries: Sequence[GradedQuery]) -> Iterator[RenderableType]:
    if not queries:
        yield drawn(f"{printable(name)} finds a module of the highest grade for every question.")
        return
    yield drawn(f"{printable(name)} falls short on {counted(len(queries), 'question')}:", "bold")
    for query in queries[:MAX_FAILED]:
        facts = "" if query.faithfulness is None else f" ({facts_words(query.faithfulness)})"
        yield drawn(f"  {printable(query.question.case_id)}: {printable(why_words(query))}{facts}")
    if len(queries) > MAX_FAILED:
        yield drawn(f"  and {len(queries) - MAX_FAILED:,} more, in `boresight report RUN --format md`")
