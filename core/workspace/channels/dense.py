"""Ranks by meaning: exact cosine search over all vectors of a channel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from core.ranking import Channel
from core.workspace.channels.embedding import Encoder
from core.workspace.channels.fusion import Scored
from core.workspace.errors import IndexStateError
from core.workspace.store import Record, Store

if TYPE_CHECKING:
    from core.workspace.channels.embedding import Matrix

# Last bits may differ between builds of the linear algebra library; they are no part of an answer.
_DECIMALS = 6


class DenseChannel:
    """Exact search: one product of a channel's vectors and the query's, then the best few."""

    def __init__(self, store: Store, encoder: Encoder) -> None:
        self._encoder = encoder
        self._record = store.record
        self._vectors = _matrix(store)

    def rank(self, text: str, channels: Sequence[Channel], depth: int) -> dict[Channel, list[Scored]]:
        """Return the `depth` units of each channel that are nearest to the text, scored by cosine."""
        query = self._encoder.encode([text])[0]
        return {channel: self._nearest(query, self._record.rows(channel), depth) for channel in channels}

    def _nearest(self, query: Matrix, rows: range, depth: int) -> list[Scored]:
        cosines = self._vectors[rows.start : rows.stop] @ query
        return [
            Scored(rows.start + position + 1, round(float(cosines[position]), _DECIMALS))
            for position in best(cosines, depth)
        ]


def best(scores: Matrix, depth: int) -> list[int]:
    """Return the positions of the `depth` highest scores, best first, equal ones in order of position."""
    if depth < len(scores):
        threshold = np.partition(scores, len(scores) - depth)[len(scores) - depth]
        positions = np.flatnonzero(scores >= threshold)
    else:
        positions = np.arange(len(scores))
    order = np.lexsort((positions, -scores[positions]))
    return [int(position) for position in positions[order][:depth]]


def _matrix(store: Store) -> Matrix:
    record: Record = store.record
    if record.vectors != record.units:
        raise IndexStateError(
            "incomplete_index",
            f"found vectors of {record.vectors} units, expected {record.units}: it was indexed without the"
            " dense channel; index again",
        )
    flat = np.frombuffer(store.vectors(), dtype="<f4")
    return flat.reshape(record.vectors, record.dimension)
