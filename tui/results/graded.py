"""The graded tab: metrics over modules and of contexts, overall and by shape, and why questions failed."""

from __future__ import annotations

from collections.abc import Iterator

from core.browse.behind import Number, behind, lost
from core.reports.graded_wording import (
    CONTEXT,
    EMBEDDED,
    MARKS,
    RANKED,
    Measure,
    cells,
    context_notes,
    fact_words,
    facts_words,
    over_words,
    ranked_words,
    troubles,
    why_words,
)
from core.scoring.graded_records import GradedBoard, GradedCandidate, GradedMeans, GradedQuery
from tui.results.grid import Column, Figure, Grid, Row
from tui.results.view import View

MAX_FAILED = 30  # questions that details name
_FIRST = (
    "Recall@5",
    "nDCG@5",
    "MRR",
    "Hit rate",
    "Faithfulness",
    "Fact recall",
)  # where there is no room for all
_MEASURES = (*RANKED, *CONTEXT, *EMBEDDED)
_ALL = ""


def graded(view: View) -> Grid:
    """Return a row for each candidate over all questions, then one for each shape and candidate."""
    board = view.graded
    if board is None:
        return Grid("this run's bank is not graded", (), ())
    columns = (Column("CANDIDATE", numeric=False), *(_column(measure) for measure in _MEASURES))
    shapes = (_ALL, *board.shapes)
    rows = tuple(
        _row(view, name, shape, means)
        for shape in shapes
        for name in view.candidates
        if (means := _means(board.candidates[name], shape)) is not None
    )
    return Grid(_caption(board), columns, rows)


def graded_details(view: View, row: Row, figure: Figure) -> tuple[str, ...]:
    """Return what the row's means are over, then each question that failed and the facts it lacks."""
    board, name = view.graded, figure.candidate
    if board is None or name is None:
        return ()
    shape = row.key.partition("/")[2]
    means = _means(board.candidates[name], shape)
    if means is None:
        return ()
    asked = [q for q in board.candidates[name].queries if shape in (_ALL, q.question.shape)]
    short = [query for query in asked if _falls_short(query)]
    told = [f"{name}{f' on {shape}' if shape else ''}: {over_words(means)}"]
    if short:
        told.append(f"{len(short)} of {len(asked)} questions lack a module or a fact:")
    for query in short[:MAX_FAILED]:
        told += _question(query)
    if len(short) > MAX_FAILED:
        told.append(f"and {len(short) - MAX_FAILED:,} more; enter shows them")
    told += context_notes(board)
    return tuple(told)


def _question(query: GradedQuery) -> Iterator[str]:
    mark = MARKS.get(query.why, "—")
    yield f"{mark} {query.question.case_id}: {why_words(query)}; {facts_words(query.faithfulness)}"
    if query.why != "found":
        yield f"    ranked: {ranked_words(query)}"
    if query.faithfulness is not None:
        for finding in troubles(query.faithfulness):
            yield f"    {finding.fact}: {fact_words(finding)}"


def _falls_short(query: GradedQuery) -> bool:
    return query.why != "found" or any(troubles(query.faithfulness) if query.faithfulness else ())


def _caption(board: GradedBoard) -> str:
    return (
        f"{board.questions:,} questions over {board.modules:,} modules; relevant from grade 1; MRR and hit "
        "rate over the whole ranking; unanswered counts as 0"
    )


def _column(measure: Measure) -> Column:
    rank = _FIRST.index(measure.title) if measure.title in _FIRST else len(_FIRST) + _MEASURES.index(measure)
    return Column(measure.short, rank)


def _means(found: GradedCandidate, shape: str) -> GradedMeans | None:
    return found.shapes.get(shape) if shape else found.overall


def _row(view: View, name: str, shape: str, means: GradedMeans) -> Row:
    board = view.graded
    label = f"{name} · {shape}" if shape else name
    number = Number(name, intent=shape or None)
    figures = [_figure(view, number, label, label)]
    if board is not None:
        for measure, text in zip(_MEASURES, cells(board, means, _MEASURES), strict=True):
            value = measure.of(means)
            shaded = value if measure in RANKED else None
            figures.append(_figure(view, number, text, value)._replace(fill=shaded))
    return Row(f"{name}/{shape}", tuple(figures))


def _figure(view: View, number: Number, text: str, value: float | str | None) -> Figure:
    return Figure(text, value, number.candidate, behind(view.board, number), lost(view.board, number))
