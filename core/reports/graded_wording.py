"""How graded results are told, in words and columns that every report and screen shares."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from core.questions import TOP, Question
from core.reports.wording import DASH, count, counted, metric
from core.scoring.graded_records import (
    FactFinding,
    Faithfulness,
    GradedBoard,
    GradedMeans,
    GradedQuery,
    Reduction,
    Why,
)
from core.text import printable

NO_EMBEDDING = (
    "Context precision, context recall and answer relevance (—) are not computed without an embedding "
    "function; `boresight report RUN --embed` computes them with the embedded model."
)
FIRST_RANKED = TOP
WHY_TITLES: dict[Why, str] = {
    "found": "found",
    "tangential": "only tangential",
    "below": f"below the first {TOP}",
    "not_retrieved": "not retrieved",
    "empty": "empty",
    "failed": "failed",
    "missing": "missing",
    "unsupported": "unsupported",
}
MARKS: dict[Why, str] = {"found": "✔", "tangential": "≈", "failed": "✖", "empty": "∅", "missing": "…"}
"""A mark beside the words; what has none is a dash."""

_TEXT = 300  # characters of anything from outside


class Measure(NamedTuple):
    """A mean of a graded bank: its title, a short one for narrow tables, how it is read and written."""

    title: str
    short: str
    of: Callable[[GradedMeans], float | None]
    write: Callable[[float | None], str] = metric


def reduction_words(value: float | None) -> str:
    """Write how many times as long all modules are as the context: `12.3×`."""
    return DASH if value is None else f"{value:,.1f}×"


RANKED: tuple[Measure, ...] = (
    Measure("Recall@1", "R@1", lambda means: means.recall[1]),
    Measure("Recall@3", "R@3", lambda means: means.recall[3]),
    Measure("Recall@5", "R@5", lambda means: means.recall[5]),
    Measure("Precision@5", "P@5", lambda means: means.precision),
    Measure("MRR", "MRR", lambda means: means.mrr),
    Measure("nDCG@5", "nDCG@5", lambda means: means.ndcg),
    Measure("Hit rate", "Hit", lambda means: means.hit_rate),
)
"""Metrics of rankings, over modules."""

CONTEXT: tuple[Measure, ...] = (
    Measure("Fact recall", "Facts", lambda means: means.fact_recall),
    Measure("Contradiction", "Contra", lambda means: means.contradiction),
    Measure("Faithfulness", "Faithful", lambda means: means.faithfulness),
    Measure("Reduction", "Reduction", lambda means: means.reduction, reduction_words),
)
"""What the contexts are worth, the standard library alone."""

EMBEDDED: tuple[Measure, ...] = (
    Measure("Context precision", "Ctx P", lambda means: means.context_precision),
    Measure("Context recall", "Ctx R", lambda means: means.context_recall),
    Measure("Answer relevance", "Relevance", lambda means: means.answer_relevance),
)
"""The columns that need an embedding function."""


def cells(board: GradedBoard, means: GradedMeans, measures: Sequence[Measure]) -> list[str]:
    """Write means; an embedded column is a dash where no embedding function was there."""
    return [
        DASH if board.embedding is None and measure in EMBEDDED else measure.write(measure.of(means))
        for measure in measures
    ]


def over_words(means: GradedMeans) -> str:
    """Say what means are over: `20 questions, 18 with a context; 1 failed`."""
    told = [f"{counted(means.questions, 'question')}, {count(means.contexts)} with a context"]
    gaps = ("failed", "missing", "unsupported", "empty")
    told += [f"{count(getattr(means, gap))} {gap}" for gap in gaps if getattr(means, gap)]
    return "; ".join(told)


def context_notes(board: GradedBoard, quoted: Callable[[str], str] = str) -> tuple[str, ...]:
    """Say what tokens were counted by and what the embedded columns were made with."""
    embedded = NO_EMBEDDING
    if board.embedding is not None:
        embedded = f"Context precision, context recall and answer relevance by {quoted(board.embedding)}."
    return (
        f"Reduction: tokens of all {counted(board.modules, 'module')} over those of the context, the median; "
        f"tokens are {quoted(board.tokenizer)}.",
        embedded,
    )


def expected_words(question: Question) -> str:
    """Name the relevant modules with their grades: `fees.py 3, money.py 1`."""
    return ", ".join(f"{printable(path, _TEXT)} {question.grades[path]}" for path in question.relevant)


def ranked_words(query: GradedQuery, first: int = FIRST_RANKED) -> str:
    """Name the first ranked modules with their grades, `?` for what is no module: `fees.py 3, a.md ?`."""
    if not query.ranked:
        return DASH
    grades = query.question.grades
    named = [f"{printable(path, _TEXT)} {grades.get(path, '?')}" for path in query.ranked[:first]]
    more = len(query.ranked) - first
    return ", ".join(named) + (f" and {count(more)} more" if more > 0 else "")


def why_words(query: GradedQuery) -> str:
    """Say in plain words how a question ended, and why it failed where it did."""
    best = max(query.question.grades.values(), default=0)
    first = _first_rank(query, 1)
    if query.why == "found":
        return f"found: {_module(query, first)}" if first == _first_rank(query, best) else _later(query, best)
    if query.why == "tangential":
        top = max(query.question.grades.get(module, 0) for module in query.ranked[:TOP])
        return (
            f"only tangential modules among the first {TOP} (grade {top} at best); "
            f"grade {best} {_where(_first_rank(query, best))}"
        )
    return {
        "below": f"retrieved below the first {TOP}: the first relevant module stands at rank {first}",
        "not_retrieved": f"not retrieved: no relevant module among {counted(len(query.ranked), 'result')}",
        "empty": "empty: answered with nothing",
        "failed": f"failed: {printable(query.error_class or 'without a word', _TEXT)}",
        "missing": "missing: not asked, or its evidence does not count",
        "unsupported": "unsupported: the candidate does not answer this channel",
    }[query.why]


def facts_words(judged: Faithfulness | None) -> str:
    """Count the facts found: `2 of 3 facts, 1 contradicted`; a dash without a context."""
    if judged is None:
        return DASH
    found = sum(finding.found for finding in judged.facts)
    denied = sum(is_contradicted(finding) for finding in judged.facts)
    return f"{found} of {counted(len(judged.facts), 'fact')}" + (f", {denied} contradicted" if denied else "")


def fact_words(finding: FactFinding) -> str:
    """Say what a context says of a fact, in words."""
    told = "found"
    if not finding.found:
        told = f"missed: lacks {', '.join(printable(word, 60) for word in finding.missing_words)}"
    if finding.negated:
        told += f"; negated by “{printable(finding.negation or '', 120)}”"
    if finding.excluded_by is not None:
        told += f"; contradicted, the context names {printable(finding.excluded_by, 60)} instead"
    return told


def is_contradicted(finding: FactFinding) -> bool:
    """Tell whether a context denies a fact, or names only the other of two exclusive choices."""
    return finding.negated or finding.excluded_by is not None


def troubles(judged: Faithfulness) -> Iterator[FactFinding]:
    """Yield the facts that a context misses or contradicts."""
    yield from (finding for finding in judged.facts if not finding.found or is_contradicted(finding))


def saved_words(found: Reduction | None) -> str:
    """Write a context's tokens with the reduction: `812 tokens, 12.3×`."""
    if found is None:
        return DASH
    return f"{counted(found.context_tokens, 'token')}, {reduction_words(found.ratio)}"


def _first_rank(query: GradedQuery, grade: int) -> int | None:
    """Return the rank of the first module of at least a grade."""
    grades, wanted = query.question.grades, max(grade, 1)
    ranks = (at for at, module in enumerate(query.ranked, start=1) if grades.get(module, 0) >= wanted)
    return next(ranks, None)


def _module(query: GradedQuery, rank: int | None) -> str:
    return f"{printable(query.ranked[rank - 1], _TEXT)} at rank {rank}" if rank else DASH


def _later(query: GradedQuery, best: int) -> str:
    return f"found: {_module(query, _first_rank(query, best))}, after modules of lower grades"


def _where(rank: int | None) -> str:
    return f"stands at rank {rank}" if rank else "was not retrieved"
