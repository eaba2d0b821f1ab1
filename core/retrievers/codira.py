"""The Codira CLI, 1.55 or newer: its index, its `emb`, `docs` and `ctx`, as a user would call them.

A model manifest's entry for it:

    {"id": "minilm", "engine": "onnx", "model": "all-MiniLM-L6-v2", "version": "1", "dimension": 384,
     "precision": "int8", "config": {"model_path": "model.onnx", "tokenizer_path": "tokenizer.json"}}

`engine` is `onnx`, whose model's files are named and digested, or `sentence-transformers`, whose weights are
found by name in a cache and have no digest here. `config.executable` names another `codira` than the one in
PATH. All else of `config` may be left out, see `CodiraConfig`.

Codira looks at its index before each query and builds it again where it seems stale. That belongs to the
query's time, as it does for every user of such a repository.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from core.errors import InputError, ProblemsError
from core.ranking import CHANNELS, Channel
from core.retrievers import codira_answers
from core.retrievers.assets import asset_digest
from core.retrievers.codira_config import AssetPaths, CodiraEntry, render
from core.retrievers.codira_index import verify
from core.retrievers.codira_probe import ANALYZERS, Codira, ask, isolation, missing_parts, require_valid
from core.retrievers.one_shot import OneShot
from core.retrievers.protocol import (
    Answer,
    Completeness,
    Configuration,
    Context,
    Diagnosis,
    Features,
    Missing,
    Place,
    Step,
    UnpassableError,
)
from core.retrievers.python_tool import environment_fingerprint, find_executable
from core.retrievers.queries import as_argument
from core.text import printable
from core.validation import validated

ENTRY = CodiraEntry
EXAMPLE: Mapping[str, Any] = {
    "id": "codira-minilm",
    "retriever": "codira",
    "engine": "onnx",
    "model": "all-MiniLM-L6-v2",
    "version": "1",
    "dimension": 384,
    "precision": "float32",
    "config": {"model_path": "models/model.onnx", "tokenizer_path": "models/tokenizer.json"},
}

_INSTALL = (
    "in an environment with Python 3.13 or newer, run: pip install codira codira-analyzer-python"
    " codira-analyzer-markdown codira-backend-sqlite codira-vector-store-sqlite codira-embedding-onnx;"
    " then put its `codira` in PATH or name it in config.executable"
)
_OWN_WORD = "purge"  # as the query of `emb` it starts the maintenance of the vector store instead


def create(entry: Mapping[str, Any], base: Path, name: str) -> CodiraRetriever:
    """Return the retriever that an entry describes; raises ProblemsError. Nothing on disk is looked at."""
    if "retriever" not in entry:
        name = f'{name} names no "retriever", which means codira, and'
    parsed = validated(CodiraEntry, dict(entry), name)
    problems = list(_contradictions(parsed))
    if problems:
        raise ProblemsError(f"{printable(name)} is not valid:", problems)
    return CodiraRetriever(parsed, base)


def diagnose() -> Diagnosis:
    """Tell whether the `codira` in PATH could run with a model's own files."""
    answers = "emb, docs and ctx, a process each"
    try:
        found = ask(find_executable("codira", Path(), "codira", _INSTALL))
    except InputError as error:
        return Diagnosis("codira", None, answers, (Missing("Codira 1.55 or newer", str(error)),))
    return Diagnosis("codira", found.version, answers, tuple(missing_parts(found, "onnx", ANALYZERS)))


class CodiraRetriever(OneShot):
    """Implements `core.retrievers.protocol.Retriever` with the Codira CLI; its daemon is off."""

    def __init__(self, entry: CodiraEntry, base: Path) -> None:
        self._entry = entry
        self._base = base

    @property
    def features(self) -> Features:
        """What this retriever can do. Its index holds absolute paths, so it cannot be moved."""
        return Features(
            channels=frozenset(CHANNELS),
            probe=True,
            session=False,
            writes_repository=False,
            relocatable=False,
            level="exact",
        )

    def configuration(self) -> Configuration:
        """Return the configuration as TOML; asks the executable which settings it has. Raises InputError."""
        return self._configuration

    def fingerprint(self) -> Mapping[str, Any]:
        """Return what Codira tells of itself, its environment and the model's digests; no path is among them.

        A model that is found by its name has no digest; `undigested` then says what is not covered. Raises
        InputError with the command that mends it where a part is missing or refuses the configuration.
        """
        found = self._codira
        for part, remedy in missing_parts(found, self._entry.engine):
            raise InputError(f"Codira lacks {part}; {remedy}")
        digests = self._digests()
        require_valid(self._executable, self._configuration.text)
        return {
            "version": found.version,
            "capabilities_sha256": found.capabilities_sha256,
            "limit_options": dict(found.limits),
            **digests,
            "environment": environment_fingerprint(self._executable),
        }

    def index(self, place: Place) -> tuple[Step, ...]:
        """Return the one step that builds the index."""
        return (self._step(place, "index", "--full", "--json"),)

    def query(self, place: Place, channel: Channel, text: str, limit: int) -> Step:
        """Return the step that answers one primary query; raises UnpassableError."""
        if channel == "emb" and text == _OWN_WORD:
            raise UnpassableError(
                f"codira emb takes the query {_OWN_WORD!r} for its maintenance command of that name"
            )
        return self._asking(place, channel, text, limit)

    def probe(self, place: Place, text: str, limit: int) -> Step:
        """Return the step that fetches context for one query; raises UnpassableError."""
        return self._asking(place, "ctx", text, limit)

    def read_index(self, stdout: bytes, place: Place) -> None:
        """Check what the index step printed; raises AnswerError."""
        codira_answers.read_index(stdout)

    def verify_index(self, place: Place) -> Completeness:
        """Count embeddings and vectors in the index's own databases; raises AnswerError."""
        return verify(place.state)

    def read_ranking(self, stdout: bytes, place: Place, limit: int) -> Answer:
        """Read a query's output; raises AnswerError."""
        return codira_answers.read_ranking(stdout, place, limit)

    def read_context(self, stdout: bytes, place: Place, limit: int) -> Context:
        """Read a probe's output; raises AnswerError."""
        return codira_answers.read_context(stdout, place, limit)

    @cached_property
    def _configuration(self) -> Configuration:
        text, governing = render(self._entry, self._assets, self._codira.settings)
        return Configuration("toml", text, governing if self._assets else None)

    @cached_property
    def _executable(self) -> Path:
        return find_executable(self._entry.config.executable, self._base, "config.executable", _INSTALL)

    @cached_property
    def _codira(self) -> Codira:
        return ask(self._executable)

    @cached_property
    def _assets(self) -> AssetPaths | None:
        model, tokenizer = self._entry.config.model_path, self._entry.config.tokenizer_path
        if model is None or tokenizer is None:
            return None
        return AssetPaths(*(str((self._base / path).absolute()) for path in (model, tokenizer)))

    def _digests(self) -> dict[str, Any]:
        if self._assets is None:
            return {"model_sha256": None, "tokenizer_sha256": None, "undigested": [self._entry.model]}
        return {
            f"{field}_sha256": asset_digest(Path(path), f"config.{field}_path")
            for field, path in self._assets._asdict().items()
        }

    def _asking(self, place: Place, command: str, text: str, limit: int) -> Step:
        option = self._codira.limits[command]
        limited = () if option is None else (option, str(limit))
        return self._step(place, command, "--json", *limited, query=as_argument(text))

    def _step(self, place: Place, command: str, *options: str, query: str | None = None) -> Step:
        # A bare name is found in PATH again, by the same rule: where it lies is no part of the evidence.
        name = self._entry.config.executable
        argv = [str(self._executable) if "/" in name else name, command, *options]
        argv += ["--path", str(place.repository), "--output-dir", str(place.state)]
        argv += ["--config-file", str(place.configuration)]
        argv += [] if query is None else ["--", query]
        return Step(tuple(argv), cwd=place.state, environment=isolation(place.state))


def _contradictions(entry: CodiraEntry) -> list[str]:
    config = entry.config
    paths = {"model_path": config.model_path, "tokenizer_path": config.tokenizer_path}
    if entry.engine == "onnx":
        problems = [
            f"config.{name}: found nothing, but the engine onnx reads a local file; name it"
            for name, path in paths.items()
            if path is None
        ]
        if config.trust_remote_code:
            problems.append("config.trust_remote_code: the engine onnx runs no model's own code; remove it")
        return problems
    return [
        f"config.{name}: the engine {entry.engine} finds its model by name, not by a file; remove it"
        for name, path in paths.items()
        if path is not None
    ]
