"""Turns texts into vectors with an ONNX sentence model: mean pooling, then unit length."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
import onnxruntime
import tokenizers

from core.workspace.errors import WorkspaceError
from core.workspace.settings import Assets, Settings

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Matrix = NDArray[np.float32]

MAX_WORKERS = 8
_LOG_ERRORS_ONLY = 3
_INPUTS = frozenset({"input_ids", "attention_mask", "token_type_ids"})


class Encoder:
    """A loaded model and its tokenizer.

    For many texts each core reads batches of its own on one thread (a small model's layers are too
    short to be worth sharing: a quarter more texts a second than two threads on one batch). For one
    text all cores share its batch.
    """

    def __init__(self, assets: Assets, settings: Settings, *, many_texts: bool) -> None:
        self._dimension = settings.dimension
        self._batch_size = settings.batch_size
        self._workers = min(usable_cores(), MAX_WORKERS) if many_texts else 1
        self._tokenizer = _load_tokenizer(assets, settings.max_tokens)
        self._padding = self._tokenizer.token_to_id("[PAD]") or 0
        self._model = _load_model(assets, threads=1 if many_texts else usable_cores())
        self._inputs = _input_names(self._model)
        self._output = _output_name(self._model)

    def encode(self, texts: Sequence[str]) -> Matrix:
        """Return one row of unit length for each text, as float32 of shape (texts, dimension).

        Texts are cut to the tokenizer's first `max_tokens` and read in batches of like lengths, longest
        first. Raises WorkspaceError where the model's vectors have another dimension than the settings.
        """
        cleaned = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
        encodings = [encoding.ids for encoding in self._tokenizer.encode_batch(cleaned)]
        order = sorted(range(len(encodings)), key=lambda position: (-len(encodings[position]), position))
        batches = [
            order[start : start + self._batch_size] for start in range(0, len(order), self._batch_size)
        ]
        vectors = np.zeros((len(texts), self._dimension or 0), dtype=np.float32)
        with ThreadPoolExecutor(self._workers) as pool:
            rows = pool.map(lambda batch: self._read([encodings[position] for position in batch]), batches)
            for batch, found in zip(batches, rows, strict=True):
                vectors[batch] = found
        if not np.isfinite(vectors).all():
            raise WorkspaceError("the model gave vectors that are not finite; another model is needed")
        return vectors

    def _read(self, batch: Sequence[Sequence[int]]) -> Matrix:
        ids = np.full((len(batch), max(map(len, batch))), self._padding, dtype=np.int64)
        mask = np.zeros_like(ids)
        for row, tokens in enumerate(batch):
            ids[row, : len(tokens)] = tokens
            mask[row, : len(tokens)] = 1
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        try:
            (hidden,) = self._model.run([self._output], {name: given[name] for name in self._inputs})
        except Exception as error:  # onnxruntime's errors share no base class
            raise WorkspaceError(f"the model cannot read a batch: {error}") from None
        if hidden.ndim != 3 or hidden.shape[-1] != self._dimension:
            raise WorkspaceError(
                f"the model's output {self._output} has the shape {hidden.shape}, but the candidate's"
                f" dimension is {self._dimension}; set it to {hidden.shape[-1]}"
            )
        return normalised(mean_pooled(hidden.astype(np.float32), mask))


def mean_pooled(hidden: Matrix, mask: NDArray[np.int64]) -> Matrix:
    """Return the mean of each text's token vectors, padding left out.

    `hidden` is (texts, tokens, dimension), `mask` (texts, tokens) of 0 and 1. Reimers & Gurevych:
    Sentence-BERT (2019), section 3.
    """
    weights = mask[:, :, None].astype(np.float32)
    pooled: Matrix = (hidden * weights).sum(axis=1) / np.maximum(weights.sum(axis=1), 1)
    return pooled


def normalised(vectors: Matrix) -> Matrix:
    """Return each row at Euclidean length 1, so that a product of rows is their cosine."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    scaled: Matrix = vectors / np.maximum(lengths, np.finfo(np.float32).tiny)
    return scaled


def usable_cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _load_tokenizer(assets: Assets, max_tokens: int) -> Any:
    try:
        tokenizer = tokenizers.Tokenizer.from_file(str(assets.tokenizer))
    except Exception as error:  # tokenizers raises bare Exception
        raise WorkspaceError(f"{assets.tokenizer}: the tokenizer cannot be loaded: {error}") from None
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_length=max_tokens)
    return tokenizer


def _load_model(assets: Assets, threads: int) -> Any:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = _LOG_ERRORS_ONLY
    # Threads that spin after an answer would take the cores from whichever candidate is asked next.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    try:
        return onnxruntime.InferenceSession(str(assets.model), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's errors share no base class
        raise WorkspaceError(f"{assets.model}: the model cannot be loaded: {error}") from None


def _input_names(model: Any) -> list[str]:
    names = [given.name for given in model.get_inputs()]
    unknown = sorted(set(names) - _INPUTS)
    if unknown or not {"input_ids", "attention_mask"} <= set(names):
        raise WorkspaceError(
            f"the model takes {', '.join(names)}; expected input_ids and attention_mask, with or without"
            " token_type_ids"
        )
    return names


def _output_name(model: Any) -> str:
    outputs = model.get_outputs()
    names = [output.name for output in outputs]
    if "last_hidden_state" in names:
        return "last_hidden_state"
    for output in outputs:
        if len(output.shape or ()) == 3:
            return str(output.name)
    raise WorkspaceError(
        f"the model gives {', '.join(names)}; expected last_hidden_state, or another output of the shape"
        " texts x tokens x dimension"
    )
