"""Graded questions scored: metrics over modules for each question, and their means overall and by shape.

A module is relevant where its grade is 1 or more. The formulas are those of `core.scoring.metrics`; recall at
1, 3 and 5, precision and nDCG (gain 2^rel − 1) at 5, reciprocal rank and hit over the whole ranking.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean, median
from typing import NamedTuple

from core.questions import RECALL_CUTOFFS, TOP, Question
from core.scoring import metrics
from core.scoring.graded_records import (
    Faithfulness,
    GradedBoard,
    GradedCandidate,
    GradedMeans,
    GradedQuery,
    Reduction,
    Why,
)
from core.scoring.records import Status
from core.scoring.reduction import TOKENIZER


class GradedAnswer(NamedTuple):
    """What one candidate returned for one question: modules, each once, at their best rank.

    `faithfulness` and `reduction` are those of its context, None where none came back.
    """

    candidate: str
    question: Question
    status: Status
    error_class: str | None = None
    ranked: tuple[str, ...] = ()
    faithfulness: Faithfulness | None = None
    reduction: Reduction | None = None


def grade(answer: GradedAnswer) -> GradedQuery:
    """Return an answer's metrics; all are 0 unless it was answered. Raises ValueError for a module twice."""
    grades, relevant = answer.question.grades, frozenset(answer.question.relevant)
    ranked = answer.ranked if answer.status == "answered" else ()
    whole = max(len(ranked), 1)
    return GradedQuery(
        candidate=answer.candidate,
        question=answer.question,
        status=answer.status,
        error_class=answer.error_class,
        ranked=ranked,
        recall={k: metrics.recall_at_k(ranked, relevant, k) for k in RECALL_CUTOFFS},
        precision=metrics.precision_at_k(ranked, relevant, TOP),
        reciprocal_rank=metrics.reciprocal_rank_at_k(ranked, relevant, whole),
        ndcg=metrics.ndcg_at_k(ranked, grades, TOP),
        hit=metrics.hit_at_k(ranked, relevant, whole),
        judged=metrics.judged_at_k(ranked, grades, TOP),
        why=_why(answer.status, ranked, grades),
        faithfulness=answer.faithfulness,
        reduction=answer.reduction,
    )


def graded_board(
    answers: Iterable[GradedAnswer],
    probing: Mapping[str, bool],
    shapes: Sequence[str],
    modules: int,
    embedding: str | None = None,
) -> GradedBoard:
    """Score all answers; `probing` names the candidates in order, and whether each has a probe.

    Every candidate needs one answer for each question, also where nothing came back: raises ValueError.
    """
    queries: dict[str, list[GradedQuery]] = {name: [] for name in probing}
    for answer in answers:
        queries[answer.candidate].append(grade(answer))
    asked = {name: [query.question.case_id for query in found] for name, found in queries.items()}
    first = next(iter(asked.values()))
    if len({*first}) != len(first) or any(sorted(ids) != sorted(first) for ids in asked.values()):
        raise ValueError("every candidate needs exactly one answer for each question")
    return GradedBoard(
        questions=len(first),
        modules=modules,
        shapes=tuple(shapes),
        tokenizer=TOKENIZER,
        embedding=embedding,
        candidates={name: _candidate(name, found, probing[name], shapes) for name, found in queries.items()},
    )


def _candidate(name: str, queries: list[GradedQuery], probes: bool, shapes: Sequence[str]) -> GradedCandidate:
    by_shape = {shape: [query for query in queries if query.question.shape == shape] for shape in shapes}
    return GradedCandidate(
        candidate=name,
        overall=_means(queries, probes),
        shapes={shape: _means(found, probes) for shape, found in by_shape.items() if found},
        queries=tuple(queries),
    )


def _means(queries: Sequence[GradedQuery], probes: bool) -> GradedMeans:
    counts = Counter(query.status for query in queries)
    found = [query.faithfulness for query in queries if query.faithfulness is not None]
    ratios = [query.reduction.ratio for query in queries if query.reduction and query.reduction.ratio]

    def over_all(value: Callable[[Faithfulness], float]) -> float | None:
        return sum(map(value, found)) / len(queries) if probes else None

    def over_found(value: Callable[[Faithfulness], float | None]) -> float | None:
        values = [kept for kept in map(value, found) if kept is not None]
        return fmean(values) if probes and values else None

    return GradedMeans(
        questions=len(queries),
        answered=counts["answered"],
        failed=counts["failed"],
        missing=counts["missing"],
        unsupported=counts["unsupported"],
        empty=sum(query.why == "empty" for query in queries),
        recall={k: fmean(query.recall[k] for query in queries) for k in RECALL_CUTOFFS},
        precision=fmean(query.precision for query in queries),
        mrr=fmean(query.reciprocal_rank for query in queries),
        ndcg=fmean(query.ndcg for query in queries),
        hit_rate=fmean(query.hit for query in queries),
        contexts=len(found),
        fact_recall=over_all(lambda one: one.fact_recall),
        contradiction=over_found(lambda one: one.contradiction),
        faithfulness=over_all(lambda one: one.faithfulness),
        context_precision=over_found(lambda one: one.context_precision),
        context_recall=over_found(lambda one: one.context_recall),
        answer_relevance=over_found(lambda one: one.answer_relevance),
        reduction=median(ratios) if probes and ratios else None,
    )


def _why(status: Status, ranked: Sequence[str], grades: Mapping[str, int]) -> Why:
    if status != "answered":
        return status
    if not ranked:
        return "empty"
    best = max(grades.values(), default=0)
    top = [grades.get(module, 0) for module in ranked[:TOP]]
    if max(top) >= max(best, 1):
        return "found"
    if max(top) >= 1:
        return "tangential"
    return "below" if any(grades.get(module, 0) >= 1 for module in ranked) else "not_retrieved"
