"""From settings to channels to answers: builds an index, and answers requests from it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol

from core.canonical import canonical_json
from core.ranking import CHANNELS, Channel
from core.retrievers.answers import CONTEXT_FORMAT, INDEX_FORMAT, RANKING_FORMAT
from core.workspace.channels.fusion import Scored, reciprocal_rank_fusion
from core.workspace.channels.lexical import LexicalChannel
from core.workspace.errors import IndexStateError, WorkspaceError
from core.workspace.ingest import collect
from core.workspace.settings import Assets, Settings
from core.workspace.store import Store, StoredUnit, Vectors, write_store
from core.workspace.units import Unit, embedding_text

FUSION_DEPTH = 100  # ranks of each channel that are fused, or as many as are asked for
MAX_CONTEXT = 30_000  # characters of all excerpts of one context
_SCORE_DECIMALS = 6


class Request(NamedTuple):
    """One question: a ranking of one channel, or (`probe`) the context from both."""

    do: Literal["query", "probe"]
    channel: Channel  # of no account for a probe
    text: str
    limit: int


class RankingSource(Protocol):
    """A way to rank units: `LexicalChannel` or `DenseChannel`."""

    def rank(self, text: str, channels: Sequence[Channel], depth: int) -> dict[Channel, list[Scored]]:
        """Return the best `depth` units of each channel."""


class Pipeline:
    """Answers requests from one open index."""

    def __init__(self, store: Store, sources: Sequence[RankingSource]) -> None:
        self._store = store
        self._sources = sources

    def answer(self, request: Request) -> bytes:
        """Return the answer as one line of JSON with its newline."""
        if request.do == "query":
            ranked = self._ranked(request.text, (request.channel,), request.limit)[request.channel]
            return _line(RANKING_FORMAT, [_row(*found) for found in self._shown(ranked, request.limit)])
        ranked = self._interleaved(request.text, request.limit)
        return _line(CONTEXT_FORMAT, _with_excerpts(self._shown(ranked, request.limit)))

    def _interleaved(self, text: str, limit: int) -> list[Scored]:
        """Join code and documentation by their ranks alone: the first of each, then the second of each."""
        ranked = self._ranked(text, CHANNELS, limit)
        return reciprocal_rank_fusion([ranked[channel] for channel in CHANNELS])

    def _ranked(self, text: str, channels: Sequence[Channel], limit: int) -> dict[Channel, list[Scored]]:
        if len(self._sources) == 1:
            return self._sources[0].rank(text, channels, limit)
        depth = max(limit, FUSION_DEPTH)
        answers = [source.rank(text, channels, depth) for source in self._sources]
        return {
            channel: reciprocal_rank_fusion([answer[channel] for answer in answers]) for channel in channels
        }

    def _shown(self, ranked: Sequence[Scored], limit: int) -> Iterator[tuple[StoredUnit, float]]:
        kept = ranked[:limit]
        units = self._store.units(scored.unit for scored in kept)
        return ((unit, scored.score) for unit, scored in zip(units, kept, strict=True))


@contextmanager
def open_pipeline(state: Path, settings: Settings, assets: Assets | None) -> Iterator[Pipeline]:
    """Open an index and load its model, where it has one; raises WorkspaceError."""
    with Store(state) as store:
        sources: list[RankingSource] = []
        if "lexical" in settings.channels:
            sources.append(LexicalChannel(store))
        if settings.dense:
            sources.append(_dense_channel(store, settings, assets))
        yield Pipeline(store, sources)


def build_index(repository: Path, state: Path, settings: Settings, assets: Assets | None) -> bytes:
    """Index a tree into an empty state folder and return the report as one line of JSON.

    Raises WorkspaceError where the tree holds no units or cannot be read.
    """
    collection = collect(repository, settings.text_limit)
    units = collection.units
    if not units:
        left_out = ", ".join(f"{count} {reason}" for reason, count in collection.skipped.items())
        raise WorkspaceError(
            "found no units: the repository has no Python or Markdown file with text in it"
            + (f" (left out: {left_out})" if left_out else "")
        )
    vectors = _embedded(units, settings, assets) if settings.dense else None
    record = write_store(state, units, vectors)
    report = {
        "format": INDEX_FORMAT,
        "units": record.units,
        "emb": record.emb,
        "docs": record.docs,
        "vectors": record.vectors,
        "skipped": dict(collection.skipped),
    }
    return canonical_json(report) + b"\n"


def _embedded(units: Sequence[Unit], settings: Settings, assets: Assets | None) -> Vectors:
    from core.workspace.channels.embedding import Encoder

    encoder = Encoder(_needed(assets), settings, many_texts=True)
    matrix = encoder.encode([embedding_text(unit, settings.text_limit) for unit in units])
    return Vectors(matrix.shape[1], matrix.astype("<f4").tobytes())


def _dense_channel(store: Store, settings: Settings, assets: Assets | None) -> RankingSource:
    from core.workspace.channels.dense import DenseChannel
    from core.workspace.channels.embedding import Encoder

    if store.record.vectors and store.record.dimension != settings.dimension:
        raise IndexStateError(
            "incomplete_index",
            f"the index holds vectors of dimension {store.record.dimension}, the configuration says"
            f" {settings.dimension}; index again",
        )
    return DenseChannel(store, Encoder(_needed(assets), settings, many_texts=False))


def _needed(assets: Assets | None) -> Assets:
    if assets is None:
        raise WorkspaceError("the dense channel needs --model and --tokenizer")
    return assets


def _row(unit: StoredUnit, score: float) -> dict[str, Any]:
    return {
        "path": unit.path,
        "line": unit.line,
        "end_line": unit.end_line,
        "kind": unit.kind,
        "score": round(score, _SCORE_DECIMALS),
    }


def _with_excerpts(found: Iterator[tuple[StoredUnit, float]]) -> list[dict[str, Any]]:
    rows = []
    room = MAX_CONTEXT
    for unit, score in found:
        room -= len(unit.excerpt)
        if room < 0:
            break
        rows.append({**_row(unit, score), "excerpt": unit.excerpt})
    return rows


def _line(form: str, results: list[dict[str, Any]]) -> bytes:
    return canonical_json({"format": form, "results": results}) + b"\n"
