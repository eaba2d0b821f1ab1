"""Every metric against two independent implementations, on random judgments and rankings.

Both peers rank by score and break ties by name, so each ranking is given strictly falling scores.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

from core.scoring.metrics import (
    average_precision,
    hit_at_k,
    ndcg_at_k,
    precision_at_k,
    recall_at_k,
    reciprocal_rank_at_k,
    relevant_items,
)
from tests.support.peers import import_ranx

CUTOFFS = (1, 2, 3, 5, 10, 20, 100)
NAMES = [f"d{number}" for number in range(40)]


class Judged(NamedTuple):
    """One query: its judgments and an ordered answer."""

    grades: dict[str, int]
    ranking: list[str]

    def falling(self) -> dict[str, float]:
        """The ranking as scores, the first highest."""
        return {name: float(len(self.ranking) - position) for position, name in enumerate(self.ranking)}


def relevant_metric(
    metric: Callable[[Sequence[str], frozenset[str], int], float], query: Judged, k: int
) -> float:
    return metric(query.ranking, relevant_items(query.grades), k)


# At least one judgment, since trec_eval drops queries without any.
queries = st.builds(
    Judged,
    grades=st.dictionaries(st.sampled_from(NAMES), st.integers(-1, 4), min_size=1),
    ranking=st.lists(st.sampled_from(NAMES), unique=True, min_size=1),
)


@settings(max_examples=200, deadline=None)
@given(queries)
def test_metrics_agree_with_trec_eval(query: Judged) -> None:
    measures = {f"{name}.{','.join(map(str, CUTOFFS))}" for name in ("success", "recall", "P", "ndcg_cut")}
    evaluator = pytrec_eval.RelevanceEvaluator({"q": query.grades}, {*measures, "recip_rank", "map"})
    theirs: Mapping[str, float] = evaluator.evaluate({"q": query.falling()})["q"]
    relevant = relevant_items(query.grades)
    for k in CUTOFFS:
        assert theirs[f"success_{k}"] == pytest.approx(relevant_metric(hit_at_k, query, k))
        assert theirs[f"recall_{k}"] == pytest.approx(relevant_metric(recall_at_k, query, k))
        assert theirs[f"P_{k}"] == pytest.approx(relevant_metric(precision_at_k, query, k))
        assert theirs[f"ndcg_cut_{k}"] == pytest.approx(ndcg_at_k(query.ranking, query.grades, k, "linear"))
    assert theirs["recip_rank"] == pytest.approx(relevant_metric(reciprocal_rank_at_k, query, 100))
    assert theirs["map"] == pytest.approx(average_precision(query.ranking, relevant))


@settings(max_examples=50, deadline=None)
@given(queries, st.sampled_from(CUTOFFS))
def test_reciprocal_rank_with_a_cutoff_agrees_with_trec_eval_on_the_cut_ranking(
    query: Judged, k: int
) -> None:
    cut = query._replace(ranking=query.ranking[:k])
    evaluator = pytrec_eval.RelevanceEvaluator({"q": query.grades}, {"recip_rank"})
    theirs = evaluator.evaluate({"q": cut.falling()})["q"]["recip_rank"]
    assert theirs == pytest.approx(relevant_metric(reciprocal_rank_at_k, query, k))


def _random_queries(count: int) -> dict[str, Judged]:
    source = random.Random(59)
    found = {}
    for number in range(count):
        judged = source.sample(NAMES, source.randint(1, 20))
        grades = {name: source.randint(0, 4) for name in judged}
        grades[judged[0]] = 3  # ranx divides 0 by 0 where nothing is relevant
        found[f"q{number}"] = Judged(grades, source.sample(NAMES, source.randint(1, 40)))
    return found


def test_metrics_agree_with_ranx() -> None:
    ranx = import_ranx()
    judged = _random_queries(300)
    ours: dict[str, Callable[[Judged, int], float]] = {
        "hit_rate": lambda query, k: relevant_metric(hit_at_k, query, k),
        "recall": lambda query, k: relevant_metric(recall_at_k, query, k),
        "precision": lambda query, k: relevant_metric(precision_at_k, query, k),
        "mrr": lambda query, k: relevant_metric(reciprocal_rank_at_k, query, k),
        "ndcg": lambda query, k: ndcg_at_k(query.ranking, query.grades, k, "linear"),
        "ndcg_burges": lambda query, k: ndcg_at_k(query.ranking, query.grades, k, "exponential"),
    }
    names = [f"{name}@{k}" for name in ours for k in CUTOFFS]
    run = ranx.Run({name: query.falling() for name, query in judged.items()})
    qrels = ranx.Qrels({name: query.grades for name, query in judged.items()})
    ranx.evaluate(qrels, run, [*names, "map"], return_mean=False)
    compared = 0
    for name, query in judged.items():
        for metric, function in ours.items():
            for k in CUTOFFS:
                assert run.scores[f"{metric}@{k}"][name] == pytest.approx(function(query, k)), (metric, k)
                compared += 1
        expected = average_precision(query.ranking, relevant_items(query.grades))
        assert run.scores["map"][name] == pytest.approx(expected)
    assert compared == len(judged) * len(names)
