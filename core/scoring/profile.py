"""Known-target metrics of many cases at every cutoff, from counts by rank."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence

from core.scoring.records import Measures, TargetRanks


def measures_of(ranks: TargetRanks, cutoff: int) -> Measures:
    """Return one case's metrics: hit, known-target recall and reciprocal rank within the cutoff."""
    found = [rank for rank in ranks if rank is not None and rank <= cutoff]
    if not found:
        return Measures(0.0, 0.0, 0.0)
    return Measures(1.0, len(found) / len(ranks), 1.0 / min(found))


class RankProfile:
    """How many cases first hit at each rank, and how many targets were found at each rank.

    It holds counts only, so that its means do not depend on the order in which cases were added.
    """

    def __init__(self) -> None:
        self.cases = 0
        self._first: Counter[int] = Counter()
        self._found: Counter[tuple[int, int]] = Counter()  # (rank, the case's number of targets)

    def add(self, ranks: TargetRanks) -> None:
        """Add one case by the rank of each of its targets, None for those not found."""
        self.cases += 1
        found = [rank for rank in ranks if rank is not None]
        if found:
            self._first[min(found)] += 1
        for rank in found:
            self._found[rank, len(ranks)] += 1

    def merge(self, other: RankProfile) -> None:
        """Add all cases of another profile."""
        self.cases += other.cases
        self._first.update(other._first)
        self._found.update(other._found)

    def means(self, cutoffs: Sequence[int]) -> dict[int, Measures]:
        """Return the mean metrics over all added cases by cutoff; zeros without any case."""
        return {cutoff: self._mean(cutoff) for cutoff in cutoffs}

    def _mean(self, cutoff: int) -> Measures:
        if self.cases == 0:
            return Measures(0.0, 0.0, 0.0)
        first = [(rank, count) for rank, count in self._first.items() if rank <= cutoff]
        hit = sum(count for _, count in first)
        reciprocal = math.fsum(count / rank for rank, count in first)
        recall = math.fsum(
            count / relevant for (rank, relevant), count in self._found.items() if rank <= cutoff
        )
        return Measures(hit / self.cases, recall / self.cases, reciprocal / self.cases)


def mean_of(parts: Iterable[dict[int, Measures]], cutoffs: Sequence[int]) -> dict[int, Measures]:
    """Return the unweighted mean of several parts' metrics: the macro mean; zeros without any part."""
    columns = list(parts)
    if not columns:
        return dict.fromkeys(cutoffs, Measures(0.0, 0.0, 0.0))
    return {
        cutoff: Measures(
            *(
                math.fsum(part[cutoff][i] for part in columns) / len(columns)
                for i in range(len(Measures._fields))
            )
        )
        for cutoff in cutoffs
    }
