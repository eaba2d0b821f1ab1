"""The values of graded banks: questions with a grade for every module, and what a candidate made of them.

A module is a source file, named by its path. Metric values lie in [0, 1]; ranks count from 1; a module is
relevant where its grade is 1 or more.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from core.questions import Question
from core.scoring.records import Status

Why = Literal["found", "below", "tangential", "not_retrieved", "empty", "failed", "missing", "unsupported"]
"""How a question ended.

`found`: a module of the highest grade stands among the first TOP; `tangential`: only lower-graded ones do;
`below`: relevant ones came, none of them among the first TOP; `not_retrieved`: none came.
"""


class FactFinding(NamedTuple):
    """What a context says of a fact.

    `found` where all its words occur, `start` to `end` (characters) being the shortest stretch that holds
    them; else `missing_words` are those that do not. `negated` where that stretch denies it, in the words
    `negation`; `excluded_by` is the choice that the context names instead of the fact's.
    """

    fact: str
    found: bool
    missing_words: tuple[str, ...] = ()
    start: int | None = None
    end: int | None = None
    negated: bool = False
    negation: str | None = None
    excluded_by: str | None = None


class Faithfulness(NamedTuple):
    """How far a retrieved context bears out the gold facts; faithfulness = fact_recall × (1 − contradiction).

    The last three need an embedding function and are None without one.
    """

    fact_recall: float
    contradiction: float
    faithfulness: float
    facts: tuple[FactFinding, ...]
    context_precision: float | None = None
    context_recall: float | None = None
    answer_relevance: float | None = None


class Reduction(NamedTuple):
    """Tokens of a context beside those of all modules; `ratio` = modules / context, None for an empty one."""

    context_tokens: int
    module_tokens: int
    ratio: float | None


class GradedQuery(NamedTuple):
    """One candidate's answer to one question, over modules; `ranked` holds them at their best rank."""

    candidate: str
    question: Question
    status: Status
    error_class: str | None
    ranked: tuple[str, ...]
    recall: Mapping[int, float]
    precision: float  # at TOP
    reciprocal_rank: float  # over the whole ranking
    ndcg: float  # at TOP, gain 2^rel − 1
    hit: float  # over the whole ranking
    judged: float  # at TOP
    why: Why
    faithfulness: Faithfulness | None  # None where no context was asked for or came back
    reduction: Reduction | None


class GradedMeans(NamedTuple):
    """Means over questions; failed and missing ones score 0 and count in every denominator.

    `contexts` counts the questions with a context. Without one, fact recall and faithfulness are 0 where the
    candidate has a probe; all of the last seven are None where it has none. Contradiction and the embedded
    columns are means over the questions that have one, `reduction` is the median of the ratios.
    """

    questions: int
    answered: int
    failed: int
    missing: int
    unsupported: int
    empty: int
    recall: Mapping[int, float]
    precision: float
    mrr: float
    ndcg: float
    hit_rate: float
    contexts: int
    fact_recall: float | None
    contradiction: float | None
    faithfulness: float | None
    context_precision: float | None
    context_recall: float | None
    answer_relevance: float | None
    reduction: float | None


class GradedCandidate(NamedTuple):
    """One candidate on a graded bank."""

    candidate: str
    overall: GradedMeans
    shapes: Mapping[str, GradedMeans]
    queries: tuple[GradedQuery, ...]


class GradedBoard(NamedTuple):
    """A graded campaign: candidates in the plan's order, shapes in the bank's.

    `tokenizer` is what tokens were counted by, `embedding` what the embedded columns were made with.
    """

    questions: int
    modules: int
    shapes: tuple[str, ...]
    tokenizer: str
    embedding: str | None
    candidates: Mapping[str, GradedCandidate]
