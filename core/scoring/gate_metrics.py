"""Which metrics gates know, by name, and where each is told: overall, for a group, for a query.

- `hit@K`, `recall@K`, `mrr@K` at every cutoff that the run keeps, everywhere.
- Graded banks: the names of GRADED_MEANS, overall, for a shape and for a query.
- COUNTS of primary queries, overall and for groups; OPERATIONS (indexes, ctx probes), overall.
- COSTS, overall: medians of latency, index time, memory, which depend on the machine, and lines per hit.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping

from core.questions import TOP
from core.scoring.gate_records import Mean, Part, Reading, Scores
from core.scoring.graded_records import Faithfulness, GradedMeans, GradedQuery
from core.scoring.profile import measures_of
from core.scoring.records import (
    METRIC_NAMES,
    ByCutoff,
    CandidateScore,
    GroupScore,
    QueryCounts,
    QueryScore,
)

_AT = re.compile(rf"({'|'.join(METRIC_NAMES)})@([1-9][0-9]{{0,2}})")
_MIB = 2**20

GRADED_MEANS: Mapping[str, Callable[[GradedMeans], float | None]] = {
    "recall@1": lambda means: means.recall[1],
    "recall@3": lambda means: means.recall[3],
    "recall@5": lambda means: means.recall[5],
    f"precision@{TOP}": lambda means: means.precision,
    "mrr": lambda means: means.mrr,
    f"ndcg@{TOP}": lambda means: means.ndcg,
    "hit_rate": lambda means: means.hit_rate,
    "fact_recall": lambda means: means.fact_recall,
    "contradiction": lambda means: means.contradiction,
    "faithfulness": lambda means: means.faithfulness,
    "context_precision": lambda means: means.context_precision,
    "context_recall": lambda means: means.context_recall,
    "answer_relevance": lambda means: means.answer_relevance,
    "reduction": lambda means: means.reduction,
}


def _judged(value: Callable[[Faithfulness], float | None]) -> Callable[[GradedQuery], float | None]:
    return lambda query: None if query.faithfulness is None else value(query.faithfulness)


GRADED_QUERIES: Mapping[str, Callable[[GradedQuery], float | None]] = {
    "recall@1": lambda query: query.recall[1],
    "recall@3": lambda query: query.recall[3],
    "recall@5": lambda query: query.recall[5],
    f"precision@{TOP}": lambda query: query.precision,
    "mrr": lambda query: query.reciprocal_rank,
    f"ndcg@{TOP}": lambda query: query.ndcg,
    "hit_rate": lambda query: query.hit,
    "fact_recall": _judged(lambda judged: judged.fact_recall),
    "contradiction": _judged(lambda judged: judged.contradiction),
    "faithfulness": _judged(lambda judged: judged.faithfulness),
    "context_precision": _judged(lambda judged: judged.context_precision),
    "context_recall": _judged(lambda judged: judged.context_recall),
    "answer_relevance": _judged(lambda judged: judged.answer_relevance),
    "reduction": lambda query: None if query.reduction is None else query.reduction.ratio,
}

COUNTS: Mapping[str, Callable[[QueryCounts], int]] = {
    "failed": lambda counts: counts.failed,
    "missing": lambda counts: counts.missing,
    "timed_out": lambda counts: counts.timed_out,
    "empty": lambda counts: counts.empty,
    "unsupported": lambda counts: counts.unsupported,
}

OPERATIONS: Mapping[str, Callable[[CandidateScore], int]] = {
    "index_failed": lambda score: score.indexing.counts.failed,
    "index_missing": lambda score: score.indexing.counts.missing,
    "ctx_failed": lambda score: score.probes.failed,
    "ctx_missing": lambda score: score.probes.missing,
}


def _mebibytes(score: CandidateScore) -> float | None:
    size = score.sampled_peak_rss_bytes
    return None if size is None else size / _MIB


COSTS: Mapping[str, Callable[[CandidateScore], float | None]] = {
    "latency_emb_s": lambda score: score.latency["emb"].median_s,
    "latency_docs_s": lambda score: score.latency["docs"].median_s,
    "latency_ctx_s": lambda score: score.latency["ctx"].median_s,
    "index_s": lambda score: score.indexing.total_s,
    "sampled_rss_mib": _mebibytes,
    "lines_per_hit": lambda score: score.lines_per_hit.value,
}
MACHINE_DEPENDENT = frozenset({*COSTS} - {"lines_per_hit"})

_NO_CONTEXT = "no context came back, or the candidate has no ctx probe"
_NO_EMBEDDING = "it needs contexts and an embedding function: give --embed"
_WHY_NONE: Mapping[str, str] = {
    **dict.fromkeys(("fact_recall", "contradiction", "faithfulness"), _NO_CONTEXT),
    **dict.fromkeys(("context_precision", "context_recall", "answer_relevance"), _NO_EMBEDDING),
    "reduction": "no context with a token came back, or the candidate has no ctx probe",
    "index_s": "not every planned index succeeded, or nothing was indexed",
    "sampled_rss_mib": "no memory was sampled",
    "lines_per_hit": "nothing was hit, or results came without lines",
}
_NOTHING_TIMED = "nothing of this kind was answered and timed"


class UntoldError(LookupError):
    """A metric is unknown, or is not told of the part that was asked for; the message says what is."""


def metric_names(scores: Scores) -> tuple[str, ...]:
    """Return the names of all metrics that a run has."""
    graded = GRADED_MEANS if scores.graded is not None else {}
    ranked = [f"{name}@{cutoff}" for name in METRIC_NAMES for cutoff in scores.board.cutoffs]
    return tuple(dict.fromkeys((*graded, *ranked, *COUNTS, *OPERATIONS, *COSTS)))


class Readings:
    """The values of one candidate by metric and part."""

    def __init__(self, scores: Scores, candidate: str) -> None:
        self._scores = scores
        self._score = scores.board.candidates[candidate]
        self._names = frozenset(metric_names(scores))
        self._queries = {query.case_id: query for query in scores.queries if query.candidate == candidate}
        graded = scores.graded.candidates[candidate] if scores.graded is not None else None
        self._graded = graded
        self._questions = {query.question.case_id: query for query in graded.queries} if graded else {}

    def queries(self, part: Part) -> list[Part]:
        """Return each query of a part."""
        return [
            Part(query.intent, query.repository, query.case_id)
            for query in self._queries.values()
            if part.intent in (None, query.intent) and part.repository in (None, query.repository)
        ]

    def intents(self, part: Part) -> list[Part]:
        """Return each intent of a part that has a case."""
        known = self._score.intents if part.repository is None else self._cells(part.repository)
        return [part._replace(intent=intent) for intent in known]

    def repositories(self, part: Part) -> list[Part]:
        """Return each repository of a part that has a case."""
        return [
            part._replace(repository=label)
            for label, cells in self._score.cells.items()
            if cells and (part.intent is None or part.intent in cells)
        ]

    def read(self, metric: str, part: Part, mean: Mean) -> Reading:
        """Return a metric of a part; raises UntoldError where it or the part is not known."""
        if metric not in self._names:
            raise UntoldError(_unknown(metric, self._names))
        if part.query is not None:
            value = self._of_query(metric, part.query)
        elif part == Part():
            value = self._of_all(metric, mean)
        else:
            value = self._of_group(metric, part, mean)
        return Reading(value, None if value is not None else _WHY_NONE.get(metric, _NOTHING_TIMED))

    def _of_all(self, metric: str, mean: Mean) -> float | None:
        if self._graded is not None and metric in GRADED_MEANS:
            return GRADED_MEANS[metric](self._graded.overall)
        if metric in OPERATIONS:
            return OPERATIONS[metric](self._score)
        if metric in COSTS:
            return COSTS[metric](self._score)
        score = self._score
        return _of(GroupScore(score.counts, score.macro, score.micro), metric, mean)

    def _of_group(self, metric: str, part: Part, mean: Mean) -> float | None:
        group = self._group(part)
        if metric in OPERATIONS or metric in COSTS:
            raise UntoldError(f"{metric} is told of all cases together only; leave out the part")
        if self._graded is not None and metric in GRADED_MEANS:
            means = self._graded.overall if part.intent is None else self._graded.shapes[part.intent]
            return GRADED_MEANS[metric](means)
        return _of(group, metric, mean)

    def _of_query(self, metric: str, case_id: str) -> float | None:
        query = self._queries.get(case_id)
        if query is None:
            # No id is suggested, as a private repository's must not reach a log.
            raise UntoldError(f"the bank has no query {case_id!r}; `report RUN --format csv` lists their ids")
        if self._graded is not None and metric in GRADED_QUERIES:
            return GRADED_QUERIES[metric](self._questions[case_id])
        match = _AT.fullmatch(metric)
        if match is None:
            raise UntoldError(f"{metric} is not told of single queries; leave out `query`")
        return float(getattr(measures_of(self._ranks(query), int(match[2])), match[1]))

    def _ranks(self, query: QueryScore) -> tuple[int | None, ...]:
        if query.status != "answered":
            return (None,) * query.relevant
        return query.target_ranks[self._scores.board.level]

    def _group(self, part: Part) -> GroupScore:
        if part.repository is None:
            return _member(self._score.intents, part.intent, "cases of the intent or shape")
        if part.intent is None:
            return _member(self._score.repositories, part.repository, "cases of the repository")
        return _member(
            self._cells(part.repository), part.intent, f"cases of {part.repository} with the intent"
        )

    def _cells(self, label: str) -> Mapping[str, GroupScore]:
        _member(self._score.repositories, label, "cases of the repository")
        return self._score.cells[label]


def _of(group: GroupScore, metric: str, mean: Mean) -> float:
    if metric in COUNTS:
        return COUNTS[metric](group.counts)
    match = _AT.fullmatch(metric)
    if match is None:
        raise UntoldError(f"{metric} is not told of this part")
    by_cutoff: ByCutoff = group.macro if mean == "macro" else group.micro
    return float(getattr(by_cutoff[int(match[2])], match[1]))


def _member(groups: Mapping[str, GroupScore], name: str | None, what: str) -> GroupScore:
    found = groups.get(str(name))
    if found is None:
        raise UntoldError(f"the bank has no {what} {name!r}; it has {', '.join(groups)}")
    return found


def _unknown(metric: str, names: frozenset[str]) -> str:
    near = difflib.get_close_matches(metric, sorted(names), n=1)
    if near:
        return f"unknown metric {metric!r}; did you mean {near[0]!r}?"
    return f"unknown metric {metric!r}; this run has {', '.join(sorted(names))}"
