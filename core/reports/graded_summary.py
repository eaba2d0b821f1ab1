"""The `graded` part of `quality-summary.json`: means and, of public repositories, every question."""

from __future__ import annotations

from typing import Any

from core.questions import RECALL_CUTOFFS, TOP
from core.reports.facts import RunFacts
from core.reports.graded_wording import why_words
from core.scoring.graded_records import (
    Faithfulness,
    GradedBoard,
    GradedCandidate,
    GradedMeans,
    GradedQuery,
)
from core.scoring.relevance import SIMILAR
from core.text import printable

_TEXT = 400


def graded_summary(board: GradedBoard, about: RunFacts) -> dict[str, Any]:
    """Return a graded board as a JSON-able value; a private repository's questions are left out."""
    shown = not about.private
    return {
        "questions": board.questions,
        "modules": board.modules,
        "shapes": list(board.shapes),
        "tokenizer": board.tokenizer,
        "embedding": board.embedding,
        "similar_from_cosine": SIMILAR,
        "cutoffs": {"recall": list(RECALL_CUTOFFS), "precision": TOP, "ndcg": TOP, "judged": TOP},
        "candidates": {name: _candidate(found, shown=shown) for name, found in board.candidates.items()},
    }


def _candidate(found: GradedCandidate, *, shown: bool) -> dict[str, Any]:
    told: dict[str, Any] = {
        "overall": _means(found.overall),
        "shapes": {shape: _means(means) for shape, means in found.shapes.items()},
    }
    if shown:
        told["questions"] = {query.question.case_id: _query(query) for query in found.queries}
    return told


def _means(means: GradedMeans) -> dict[str, Any]:
    return {**means._asdict(), "recall": {str(cutoff): value for cutoff, value in means.recall.items()}}


def _query(query: GradedQuery) -> dict[str, Any]:
    question = query.question
    return {
        "shape": question.shape,
        "question": printable(question.text, _TEXT),
        "expected": {printable(path, _TEXT): question.grades[path] for path in question.relevant},
        "ranked": [
            {"module": printable(path, _TEXT), "grade": question.grades.get(path)}
            for path in query.ranked[: 2 * TOP]
        ],
        "returned": len(query.ranked),
        "status": query.status,
        "error_class": None if query.error_class is None else printable(query.error_class, _TEXT),
        "why": query.why,
        "why_words": why_words(query),
        "recall": {str(cutoff): value for cutoff, value in query.recall.items()},
        "precision": query.precision,
        "reciprocal_rank": query.reciprocal_rank,
        "ndcg": query.ndcg,
        "hit": query.hit,
        "judged": query.judged,
        "context": None if query.faithfulness is None else _context(query.faithfulness),
        "reduction": None if query.reduction is None else query.reduction._asdict(),
    }


def _context(judged: Faithfulness) -> dict[str, Any]:
    told = judged._asdict()
    told["facts"] = [
        {
            **finding._asdict(),
            "fact": printable(finding.fact, _TEXT),
            "missing_words": [printable(word, _TEXT) for word in finding.missing_words],
            "negation": None if finding.negation is None else printable(finding.negation, _TEXT),
        }
        for finding in judged.facts
    ]
    return told
