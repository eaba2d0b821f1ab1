"""One case as rows of a file: its targets, then what each candidate answered."""

from __future__ import annotations

from collections.abc import Iterator

from core.detail.records import AnswerView, CaseView
from core.ranking import Location, Target

EXPORTED = (
    *("case", "query", "part", "candidate", "outcome", "seconds"),
    *("rank", "hit", "path", "line", "end_line", "kind", "score"),
)
_NO_PLACE = ("",) * 7


def exported_case(view: CaseView) -> Iterator[tuple[str | None, tuple[object, ...]]]:
    """Yield a case's rows, each after the label of its repository; an answer without results has one too."""
    row = view.row
    for source in view.targets:
        cells = (row.id, row.query, "target", "", "", "", "", "", *_place(source.target))
        yield row.repository, cells
    for answer in view.answers:
        for cells in _results(answer):
            yield row.repository, (row.id, row.query, "answer", *cells)


def _results(answer: AnswerView) -> Iterator[tuple[object, ...]]:
    about = (answer.candidate, answer.status, answer.elapsed_s)
    for result in answer.results:
        yield (*about, result.rank, "hit" if result.hits else "", *_place(result.location))
    if not answer.results:
        yield (*about, *_NO_PLACE)


def _place(place: Target | Location) -> tuple[object, ...]:
    end, score = (place.end_line, place.score) if isinstance(place, Location) else (None, None)
    return (place.path, place.line or None, end, place.kind, score)
