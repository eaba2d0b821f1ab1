"""Ranks by words: BM25 as SQLite's FTS5 computes it."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

from core.ranking import Channel
from core.workspace.channels.fusion import Scored
from core.workspace.store import Store
from core.workspace.tokens import tokens

MAX_QUERY_TOKENS = 256

# BM25 (Robertson & Zaragoza 2009) with k1 = 1.2 and b = 0.75, which FTS5 fixes, and weights for the
# columns name, path and scope, summary, source: a name says more than a word of its source. FTS5 gives
# better matches smaller numbers, hence the sign.
_RANK: Mapping[Channel, str] = {
    "emb": "SELECT rowid, -bm25(emb_words, 10.0, 2.0, 3.0, 1.0) AS score FROM emb_words"
    " WHERE emb_words MATCH ? ORDER BY score DESC, rowid LIMIT ?",
    "docs": "SELECT rowid, -bm25(docs_words, 10.0, 2.0, 3.0, 1.0) AS score FROM docs_words"
    " WHERE docs_words MATCH ? ORDER BY score DESC, rowid LIMIT ?",
}


class LexicalChannel:
    """BM25 over the words of units."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def rank(self, text: str, channels: Sequence[Channel], depth: int) -> dict[Channel, list[Scored]]:
        """Return the best `depth` units of each channel that share a word with the text."""
        expression = match_expression(text)
        if not expression:
            return {channel: [] for channel in channels}
        return {
            channel: [Scored(*row) for row in self._store.rows(_RANK[channel], (expression, depth))]
            for channel in channels
        }


def match_expression(text: str) -> str:
    """Return an FTS5 expression for any of the first 256 distinct tokens of a text; empty without one.

    Every token is quoted and none holds a quote, so nothing in the text can act as an operator.
    """
    distinct = dict.fromkeys(tokens(text))
    return " OR ".join(f'"{token}"' for token in itertools.islice(distinct, MAX_QUERY_TOKENS))
