"""The sections of the Markdown report on a graded bank: metrics over modules, contexts, every question."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from core.reports.facts import RunFacts
from core.reports.graded_wording import (
    CONTEXT,
    EMBEDDED,
    RANKED,
    Measure,
    cells,
    context_notes,
    expected_words,
    fact_words,
    facts_words,
    over_words,
    ranked_words,
    saved_words,
    troubles,
    why_words,
)
from core.reports.markup import code, table, text
from core.reports.wording import DASH, counted, metric
from core.scoring.graded_records import GradedBoard, GradedMeans, GradedQuery

MAX_QUESTIONS = 100
_QUESTION_CHARACTERS = 300

Lines = Iterator[str]


def overall(board: GradedBoard, names: Sequence[str]) -> Lines:
    """Yield the means over all questions: of the rankings, then of the contexts."""
    yield "## Graded metrics"
    yield ""
    yield (
        f"Means over {counted(board.questions, 'question')}; a repository of "
        f"{counted(board.modules, 'module')}. What was not answered scores 0 and counts. "
        "MRR and hit rate look at the whole ranking."
    )
    yield ""
    means = {name: board.candidates[name].overall for name in names}
    yield from _table(board, means, RANKED, "Candidate", counts=True)
    yield ""
    yield from _table(board, means, (*CONTEXT, *EMBEDDED), "Candidate")
    for note in context_notes(board, lambda name: f"`{name}`"):
        yield ""
        yield note


def by_shape(board: GradedBoard, names: Sequence[str]) -> Lines:
    """Yield the same means by the shape of the question."""
    yield "## By shape"
    yield ""
    means = {
        f"{shape} / {name}": board.candidates[name].shapes[shape]
        for shape in board.shapes
        for name in names
        if shape in board.candidates[name].shapes
    }
    yield from _table(board, means, (*RANKED, *CONTEXT[:3]), "Shape / candidate", counts=True)


def questions(board: GradedBoard, names: Sequence[str], about: RunFacts) -> Lines:
    """Yield every question with what each candidate made of it; nothing of private repositories."""
    if about.private:
        return
    yield "## Question by question"
    yield ""
    yield (
        "After a module stands its grade, `?` for what was never graded. Facts are looked for in the context "
        "that the ctx probe returned."
    )
    by_name = {name: {q.question.case_id: q for q in board.candidates[name].queries} for name in names}
    asked = list(board.candidates[names[0]].queries) if names else []
    for query in asked[:MAX_QUESTIONS]:
        yield ""
        yield from _question([by_name[name][query.question.case_id] for name in names])
    if len(asked) > MAX_QUESTIONS:
        yield ""
        yield f"And {len(asked) - MAX_QUESTIONS:,} more questions, in `quality-summary.json`."


def _table(
    board: GradedBoard,
    rows: dict[str, GradedMeans],
    measures: Sequence[Measure],
    first: str,
    *,
    counts: bool = False,
) -> list[str]:
    titles = [first, *(["Over"] if counts else []), *(measure.title for measure in measures)]
    body = [
        [text(name), *([over_words(means)] if counts else []), *cells(board, means, measures)]
        for name, means in rows.items()
    ]
    return table(titles, body, words=2 if counts else 1)


def _question(queries: Sequence[GradedQuery]) -> Lines:
    question = queries[0].question
    yield f"### {text(question.case_id)} ({text(question.shape)})"
    yield ""
    yield f"{text(question.text, _QUESTION_CHARACTERS)}"
    yield ""
    yield f"Expected: {code(expected_words(question), 400)}"
    yield ""
    rows = [
        [
            text(query.candidate),
            text(why_words(query)),
            code(ranked_words(query), 400) if query.ranked else DASH,
            metric(query.recall[5]),
            metric(query.ndcg),
            facts_words(query.faithfulness),
            saved_words(query.reduction),
        ]
        for query in queries
    ]
    titles = ["Candidate", "Outcome", "First ranked", "Recall@5", "nDCG@5", "Facts", "Context"]
    yield from table(titles, rows, words=3)
    told = [
        f"- {text(query.candidate)}: {text(finding.fact, _QUESTION_CHARACTERS)}: {text(fact_words(finding))}"
        for query in queries
        if query.faithfulness is not None
        for finding in troubles(query.faithfulness)
    ]
    if told:
        yield ""
        yield from told
