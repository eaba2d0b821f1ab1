"""CSV of a graded bank: one row for each question and candidate, written as in `core.reports.table`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from core.questions import RECALL_CUTOFFS, TOP
from core.reports.facts import RunFacts
from core.reports.graded_wording import is_contradicted
from core.reports.table import csv_line, free_text
from core.scoring.graded_records import Faithfulness, GradedBoard, GradedQuery

GRADED_COLUMNS = (
    "case",
    "shape",
    "candidate",
    "status",
    "error_class",
    "why",
    "returned",
    *(f"recall_{cutoff}" for cutoff in RECALL_CUTOFFS),
    f"precision_{TOP}",
    "reciprocal_rank",
    f"ndcg_{TOP}",
    "hit",
    f"judged_{TOP}",
    "facts",
    "facts_found",
    "facts_contradicted",
    "fact_recall",
    "contradiction",
    "faithfulness",
    "context_precision",
    "context_recall",
    "answer_relevance",
    "context_tokens",
    "module_tokens",
    "reduction",
)


def graded_csv(board: GradedBoard, about: RunFacts) -> Iterator[str]:
    """Yield, line by line, the metrics of every question with every candidate.

    An empty field is what there is none of, as without a context or an embedding function. A private
    repository's questions are left out.
    """
    yield csv_line(GRADED_COLUMNS)
    if about.private:
        return
    for candidate in board.candidates.values():
        for query in candidate.queries:
            yield csv_line(_row(query))


def _row(query: GradedQuery) -> list[Any]:
    return [
        query.question.case_id,
        query.question.shape,
        query.candidate,
        query.status,
        None if query.error_class is None else free_text(query.error_class),
        query.why,
        len(query.ranked),
        *(query.recall[cutoff] for cutoff in RECALL_CUTOFFS),
        query.precision,
        query.reciprocal_rank,
        query.ndcg,
        query.hit,
        query.judged,
        *_context(query.faithfulness),
        *(query.reduction or (None, None, None)),
    ]


def _context(judged: Faithfulness | None) -> list[Any]:
    if judged is None:
        return [None] * 9
    return [
        len(judged.facts),
        sum(finding.found for finding in judged.facts),
        sum(is_contradicted(finding) for finding in judged.facts),
        judged.fact_recall,
        judged.contradiction,
        judged.faithfulness,
        judged.context_precision,
        judged.context_recall,
        judged.answer_relevance,
    ]
