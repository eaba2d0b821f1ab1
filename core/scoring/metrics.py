"""Ranking metrics as plain functions over an ordered list of item ids.

Common to all of them:

- A ranking is ordered; nothing here sorts it. Where scores exist, `in_score_order` checks that the
  list and the scores agree, and never reorders.
- A cutoff `k` is an integer of at least 1, else ValueError. A `k` beyond the ranking's end is allowed:
  what was not returned is not found.
- An item named twice in a ranking is a ValueError: each later naming would earn its gain again.
- An empty ranking scores 0, and so does a case without any relevant item, as in trec_eval.
- Items without a judgment are taken as not relevant (gain 0); `judged_at_k` tells how many they are.
- Grades are integers. A negative grade (spam, in some TREC tracks) counts as 0. Booleans, fractions
  and NaN are a ValueError: 2^rel − 1 is defined on grades, and a fraction there is a mistake.

Sources: Järvelin & Kekäläinen 2002, "Cumulated gain-based evaluation of IR techniques", ACM TOIS
20(4); Burges et al. 2005, "Learning to rank using gradient descent", ICML; Voorhees 1999, "The TREC-8
question answering track report"; Manning, Raghavan & Schütze 2008, "Introduction to Information
Retrieval", ch. 8; Sakai 2007, "Alternatives to bpref", SIGIR; and trec_eval's own definitions.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from typing import Literal

Gain = Literal["exponential", "linear"]

LARGEST_GRADE = 1000  # 2^rel leaves the range of a double at 1024


def hit_at_k(ranking: Sequence[str], relevant: Collection[str], k: int) -> float:
    """Return 1.0 if any of the first k items is relevant, else 0.0 (trec_eval's `success_k`)."""
    return float(_found(ranking, relevant, k) > 0)


def recall_at_k(ranking: Sequence[str], relevant: Collection[str], k: int) -> float:
    """Return the share of the relevant items that stand among the first k.

    Manning et al. 2008, 8.3: |relevant ∩ first k| / |relevant|; trec_eval's `recall_k`. With one
    relevant item it equals `hit_at_k`.
    """
    wanted = frozenset(relevant)
    found = _found(ranking, wanted, k)
    return found / len(wanted) if wanted else 0.0


def precision_at_k(ranking: Sequence[str], relevant: Collection[str], k: int) -> float:
    """Return the number of relevant items among the first k, divided by k.

    Manning et al. 2008, 8.4; trec_eval's `P_k`. The divisor is k also where fewer were returned.
    """
    return _found(ranking, relevant, k) / k


def reciprocal_rank_at_k(ranking: Sequence[str], relevant: Collection[str], k: int) -> float:
    """Return 1/rank of the first relevant item, 0.0 if it does not stand among the first k.

    Voorhees 1999. The mean over queries is MRR@k.
    """
    wanted = frozenset(relevant)
    for rank, item in enumerate(_first(ranking, k), start=1):
        if item in wanted:
            return 1.0 / rank
    return 0.0


def ndcg_at_k(ranking: Sequence[str], grades: Mapping[str, int], k: int, gain: Gain = "exponential") -> float:
    """Return the discounted cumulated gain of the first k, divided by that of an ideal ranking.

    DCG@k = Σ_{i=1..k} g(rel_i) / log2(i + 1). The discount and the normalisation are Järvelin &
    Kekäläinen's (2002, with b = 2 and the discount from rank 2 on, as commonly used); `linear` is
    their gain g = rel, and trec_eval's `ndcg_cut_k`; `exponential` is g = 2^rel − 1 of Burges et al.
    2005. The ideal ranking holds all judged items by falling grade, cut at k.
    """
    top = _first(ranking, k)
    gains = {item: _gain(grade, gain) for item, grade in grades.items()}
    ideal = _dcg(sorted(gains.values(), reverse=True)[:k])
    if ideal == 0.0:
        return 0.0
    return _dcg([gains.get(item, 0) for item in top]) / ideal


def average_precision(ranking: Sequence[str], relevant: Collection[str]) -> float:
    """Return the sum of precision at each relevant item's rank, divided by the number of relevant items.

    Manning et al. 2008, 8.4; trec_eval's `map` of one query. Relevant items not returned add 0.
    """
    wanted = frozenset(relevant)
    if not wanted:
        return 0.0
    found = 0
    total = 0.0
    for rank, item in enumerate(_first(ranking, max(len(ranking), 1)), start=1):
        if item in wanted:
            found += 1
            total += found / rank
    return total / len(wanted)


def judged_at_k(ranking: Sequence[str], judged: Collection[str], k: int) -> float:
    """Return the share of the first k returned items that carry a judgment of any grade.

    The divisor is the number of items returned up to k (0.0 for none): an unreturned item is no item
    that lacks a judgment. Low values warn that nDCG and precision understate a ranking (Sakai 2007).
    """
    top = _first(ranking, k)
    known = judged if isinstance(judged, Mapping | frozenset | set) else frozenset(judged)
    return sum(item in known for item in top) / len(top) if top else 0.0


def relevant_items(grades: Mapping[str, int], at_least: int = 1) -> frozenset[str]:
    """Return the items whose grade is `at_least` or more (trec_eval's relevance level)."""
    return frozenset(item for item, grade in grades.items() if _grade(grade) >= at_least)


def in_score_order(scores: Sequence[float]) -> bool:
    """Tell whether scores never rise along the ranking; raises ValueError for NaN."""
    if any(math.isnan(score) for score in scores):
        position = next(index for index, score in enumerate(scores, start=1) if math.isnan(score))
        raise ValueError(f"the score at rank {position} is NaN; a ranking's scores must be numbers")
    return all(first >= second for first, second in pairwise(scores))


def _first(ranking: Sequence[str], k: int) -> Sequence[str]:
    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise ValueError(f"a cutoff must be an integer of at least 1, not {k!r}")
    if isinstance(ranking, str):
        raise TypeError("a ranking is a sequence of item ids, not one string")
    if len(set(ranking)) != len(ranking):
        raise ValueError("the ranking names an item twice; remove duplicates before scoring")
    return ranking[:k]


def _found(ranking: Sequence[str], relevant: Collection[str], k: int) -> int:
    wanted = frozenset(relevant)
    return sum(item in wanted for item in _first(ranking, k))


def _grade(grade: int) -> int:
    if isinstance(grade, bool) or not isinstance(grade, int):
        raise ValueError(f"a grade must be an integer, not {grade!r}")  # noqa: TRY004 - one error for bad values
    if grade > LARGEST_GRADE:
        raise ValueError(f"a grade must be at most {LARGEST_GRADE}, not {grade}")
    return max(grade, 0)


def _gain(grade: int, gain: Gain) -> int:
    if gain not in ("exponential", "linear"):
        raise ValueError(f"a gain is exponential or linear, not {gain!r}")
    rel = _grade(grade)
    return rel if gain == "linear" else (1 << rel) - 1


def _dcg(gains: Sequence[int]) -> float:
    return math.fsum(value / math.log2(rank + 1) for rank, value in enumerate(gains, start=1))
