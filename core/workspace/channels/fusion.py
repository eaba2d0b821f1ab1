"""Joins rankings by reciprocal rank fusion."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from math import fsum
from typing import NamedTuple

RRF_K = 60


class Scored(NamedTuple):
    """A unit's number and its score; higher is better."""

    unit: int
    score: float


def reciprocal_rank_fusion(rankings: Sequence[Sequence[Scored]], k: int = RRF_K) -> list[Scored]:
    """Return every unit of the rankings, best first, scored with the sum of 1 / (k + rank), ranks from 1.

    Cormack, Clarke & Büttcher: Reciprocal Rank Fusion outperforms Condorcet and individual Rank Learning
    Methods (SIGIR 2009), with their k = 60. Units of equal score stand in the order of their numbers.
    """
    parts: defaultdict[int, list[float]] = defaultdict(list)
    for ranking in rankings:
        for rank, scored in enumerate(ranking, start=1):
            parts[scored.unit].append(1 / (k + rank))
    fused = (Scored(unit, fsum(shares)) for unit, shares in parts.items())
    return sorted(fused, key=lambda scored: (-scored.score, scored.unit))
