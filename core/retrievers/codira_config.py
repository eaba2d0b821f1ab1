"""Renders a candidate as a Codira configuration, with the settings that every measured candidate shares.

Shared are the SQLite backend and vector store, the CPU, immediate indexing of at most 4,000 characters a
text, and no daemon: neither the one that answers warm queries nor the one that indexes by itself. Which
settings there are differs between versions, and one that a version does not know is an error to it, so only
those are written that it told of.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Literal, NamedTuple

from pydantic import Field

from core.errors import InputError
from core.validation import InputModel

Engine = Literal["onnx", "sentence-transformers"]

MAX_TEXT_CHARACTERS = 4000
_MODEL, _TOKENIZER = "{model}", "{tokenizer}"  # what stands in the governing text for this machine's paths


class CodiraConfig(InputModel):
    """The `config` of an entry; paths start from the manifest's base folder."""

    executable: str = Field(default="codira", min_length=1)  # a name in PATH, or a path
    model_path: str | None = Field(default=None, min_length=1)  # of the engine onnx, and required there
    tokenizer_path: str | None = Field(default=None, min_length=1)
    provider: Literal["CPUExecutionProvider"] = "CPUExecutionProvider"
    max_tokens: int = Field(default=512, ge=1, le=1_000_000)
    normalize: bool = True
    batch_size: int | None = Field(default=None, ge=1, le=4096)  # texts; None is Codira's own default
    intra_op_num_threads: int = Field(default=0, ge=0, le=4096)  # 0 is the engine's own default
    inter_op_num_threads: int = Field(default=0, ge=0, le=4096)
    trust_remote_code: bool = False  # of the engine sentence-transformers


class CodiraEntry(InputModel):
    """A model manifest's entry for this retriever; one that names no retriever is this one's."""

    id: str
    retriever: Literal["codira"] = "codira"
    engine: Engine
    model: str = Field(min_length=1)
    version: str = Field(default="1", min_length=1)
    dimension: int = Field(ge=1, le=65536)
    precision: str = Field(default="float32", min_length=1)
    config: CodiraConfig = CodiraConfig()


class AssetPaths(NamedTuple):
    """The files of a local model."""

    model: str
    tokenizer: str


def render(entry: CodiraEntry, assets: AssetPaths | None, known: Collection[str]) -> tuple[bytes, bytes]:
    """Return the configuration as TOML: with the paths of `assets`, and with words in their place.

    `known` holds the dotted names of the settings that the installed version has. Raises InputError where
    one that the measurement rests on is not among them, and for a path that TOML cannot hold.
    """
    words = AssetPaths(_MODEL, _TOKENIZER) if assets else None
    return _toml(_settings(entry, assets, known)), _toml(_settings(entry, words, known))


def _settings(entry: CodiraEntry, assets: AssetPaths | None, known: Collection[str]) -> dict[str, Any]:
    required = {
        "config_version": 1,
        "backend.name": "sqlite",
        "embeddings.enabled": True,
        "embeddings.engine": entry.engine,
        "embeddings.vector_store": "sqlite",
        "embeddings.model": entry.model,
        "embeddings.version": entry.version,
        "embeddings.dimension": entry.dimension,
        "embeddings.device": "cpu",
        "embeddings.indexing.mode": "immediate",
        "embeddings.indexing.object_types": ["symbol", "documentation"],
        "embeddings.indexing.max_text_chars": MAX_TEXT_CHARACTERS,
    }
    if entry.config.batch_size is not None:
        required["embeddings.batch_size"] = entry.config.batch_size
    missing = [name for name in required if name not in known]
    if missing:
        raise InputError(
            f"this version of Codira has no setting {', '.join(missing)}, which the measurement rests on;"
            " install another one: 1.55 to 1.63 are known to have them"
        )
    optional = {"daemon.enabled": False, "query_daemon.enabled": False}
    settings = _nested({**required, **{name: off for name, off in optional.items() if name in known}})
    settings["plugins"] = {f"embedding-{entry.engine}": _plugin(entry, assets)}
    return settings


def _plugin(entry: CodiraEntry, assets: AssetPaths | None) -> dict[str, Any]:
    if assets is None:
        return {"enabled": True, "trust_remote_code": entry.config.trust_remote_code}
    return {
        "enabled": True,
        "model_path": assets.model,
        "tokenizer_path": assets.tokenizer,
        "provider": entry.config.provider,
        "precision": entry.precision,
        "normalize": entry.config.normalize,
        "max_tokens": entry.config.max_tokens,
        "intra_op_num_threads": entry.config.intra_op_num_threads,
        "inter_op_num_threads": entry.config.inter_op_num_threads,
    }


def _nested(dotted: Mapping[str, Any]) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for name, value in dotted.items():
        *tables, key = name.split(".")
        inner = tree
        for table in tables:
            inner = inner.setdefault(table, {})
        inner[key] = value
    return tree


def _toml(settings: Mapping[str, Any]) -> bytes:
    import tomlkit  # only where something is rendered: readers of a finished run do without

    try:
        return tomlkit.dumps(settings).encode()
    except UnicodeEncodeError:
        raise InputError(
            "a model's path is not UTF-8, which its configuration must be; move the file"
        ) from None
