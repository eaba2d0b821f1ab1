"""The retriever that Boresight brings along: words, vectors or both, in a process of its own.

A model manifest's entry for it:

    {"id": "hybrid", "retriever": "embedded", "engine": "hybrid", "model": "all-MiniLM-L6-v2",
     "version": "1", "dimension": 384, "precision": "int8", "config": {…}}

`engine` chooses the ranking: `lexical` (BM25), `onnx` (vectors of an ONNX sentence model) or `hybrid`
(both, joined by reciprocal rank fusion). `dimension` is that of the vectors, null for `lexical`. All of
`config` may be left out, see `core.retrievers.embedded_entry`.
"""

from __future__ import annotations

import platform
import sqlite3
import sys
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import core.workspace
from core.canonical import sha256_file, sha256_of
from core.errors import InputError, ProblemsError
from core.ranking import CHANNELS, Channel
from core.retrievers import answers
from core.retrievers.assets import asset_digest
from core.retrievers.embedded_entry import DEFAULT_PACKAGE, RANKINGS, EmbeddedEntry, contradictions
from core.retrievers.protocol import (
    Answer,
    AnswerError,
    Completeness,
    Configuration,
    Context,
    Diagnosis,
    Features,
    Missing,
    Place,
    Step,
)
from core.retrievers.python_tool import user_site_environment
from core.retrievers.queries import as_argument, as_request, request_id
from core.text import printable
from core.validation import validated
from core.workspace.errors import IndexStateError
from core.workspace.installed import (
    has_full_text_search,
    installed_package,
    package_assets,
    record_digest,
)
from core.workspace.settings import Assets, Settings, render_settings
from core.workspace.store import DATABASE, verify_store

_INSTALL = "run: pip install boresight"
_INSTALL_DENSE = "run: pip install 'boresight[dense]'"
_LIBRARIES = ("numpy", "onnxruntime", "tokenizers")


ENTRY = EmbeddedEntry
EXAMPLE: Mapping[str, Any] = {
    "id": "hybrid",
    "retriever": "embedded",
    "engine": "hybrid",
    "model": "all-MiniLM-L6-v2",
    "version": "1",
    "dimension": 384,
    "precision": "int8",
}


def diagnose() -> Diagnosis:
    """Tell whether words and vectors can both be searched with what is installed."""
    missing = []
    try:
        _require_full_text_search()
    except InputError as error:
        missing.append(Missing("SQLite with FTS5", str(error)))
    try:
        for library in _LIBRARIES:
            _library(library)
        package_assets(DEFAULT_PACKAGE, _INSTALL_DENSE)
    except InputError as error:
        missing.append(Missing("the model of dense candidates (lexical ones work without)", str(error)))
    return Diagnosis(
        "embedded",
        installed_package("boresight", _INSTALL).version,
        "emb, docs and ctx, from a session",
        tuple(missing),
    )


def create(entry: Mapping[str, Any], base: Path, name: str) -> EmbeddedRetriever:
    """Return the retriever that an entry describes; raises ProblemsError. Nothing on disk is looked at."""
    parsed = validated(EmbeddedEntry, dict(entry), name)
    problems = contradictions(parsed)
    if problems:
        raise ProblemsError(f"{printable(name)} is not valid:", problems)
    return EmbeddedRetriever(parsed, base)


class EmbeddedRetriever:
    """Implements `core.retrievers.protocol.Retriever` with the processes of `core.workspace`."""

    def __init__(self, entry: EmbeddedEntry, base: Path) -> None:
        self._config = entry.config
        self._base = base
        dense = "dense" in RANKINGS[entry.engine]
        self._settings = Settings(
            channels=RANKINGS[entry.engine],
            text_limit=entry.config.text_limit,
            dimension=entry.dimension if dense else None,
            max_tokens=entry.config.max_tokens,
            batch_size=entry.config.batch_size,
        )

    @property
    def features(self) -> Features:
        """What this retriever can do."""
        return Features(
            channels=frozenset(CHANNELS),
            probe=True,
            session=self._config.process == "session",
            writes_repository=False,
            relocatable=True,
            level="exact",
        )

    def configuration(self) -> Configuration:
        """Return the settings as JSON. Where the model's files lie is told to each command instead."""
        return Configuration("json", render_settings(self._settings))

    def fingerprint(self) -> Mapping[str, Any]:
        """Return versions and digests of all that the answers depend on; no path is among them.

        Raises InputError where a part is missing, with the command that installs it.
        """
        _require_full_text_search()
        found: dict[str, Any] = {
            "python": f"{platform.python_implementation()} {platform.python_version()}",
            "sqlite": sqlite3.sqlite_version,
            "workspace_sha256": _workspace_digest(),
            "settings": {**self._settings._asdict(), "channels": list(self._settings.channels)},
        }
        if self._settings.dense:
            found["libraries"] = {library: _library(library) for library in _LIBRARIES}
            found["model_sha256"] = asset_digest(self._assets.model, "config.model_path")
            found["tokenizer_sha256"] = asset_digest(self._assets.tokenizer, "config.tokenizer_path")
        return found

    def index(self, place: Place) -> tuple[Step, ...]:
        """Return the one step that indexes a repository into an empty state folder."""
        return (self._step(place, "index", "--repository", str(place.repository)),)

    def query(self, place: Place, channel: Channel, text: str, limit: int) -> Step:
        """Return the step that ranks one channel's units; raises UnpassableError."""
        options = ("--channel", channel, "--limit", str(limit))
        return self._step(place, "query", *options, "--", as_argument(text))

    def probe(self, place: Place, text: str, limit: int) -> Step:
        """Return the step that prints excerpts of code and documentation; raises UnpassableError."""
        return self._step(place, "probe", "--limit", str(limit), "--", as_argument(text))

    def session(self, place: Place) -> Step | None:
        """Return the step that starts a session, or None where the entry asks for one-shot commands."""
        return self._step(place, "session") if self.features.session else None

    def request(self, kind: str, channel: Channel, text: str, limit: int) -> bytes:
        """Return the line that asks a session; any text can be asked."""
        return as_request(kind, channel, text, limit)

    def is_answer_to(self, request: bytes, stdout: bytes) -> bool:
        """Tell whether the answer bears the request's id."""
        return answers.session_id(stdout) == request_id(request)

    def read_index(self, stdout: bytes, place: Place) -> None:
        """Check the index step's report; raises AnswerError."""
        report = answers.read_index_report(stdout)
        self._require_vectors(report.vectors, report.units)

    def verify_index(self, place: Place) -> Completeness:
        """Count the units, their words and vectors in the state folder; raises AnswerError."""
        try:
            record = verify_store(place.state)
        except IndexStateError as error:
            raise AnswerError(error.kind, str(error)) from None
        self._require_vectors(record.vectors, record.units)
        if self._settings.dense and record.dimension != self._settings.dimension:
            raise AnswerError(
                "incomplete_index",
                f"found vectors of dimension {record.dimension}, expected {self._settings.dimension}",
            )
        details = {
            "emb": record.emb,
            "docs": record.docs,
            "vectors": record.vectors,
            "dimension": record.dimension,
        }
        return Completeness(record.units, details, digest=sha256_file(place.state / DATABASE))

    def read_ranking(self, stdout: bytes, place: Place, limit: int) -> Answer:
        """Read a query's output; raises AnswerError."""
        return answers.read_ranking(stdout, limit)

    def read_context(self, stdout: bytes, place: Place, limit: int) -> Context:
        """Read a probe's output; raises AnswerError."""
        return answers.read_context(stdout, limit)

    @cached_property
    def _assets(self) -> Assets:
        if self._config.model_path is not None and self._config.tokenizer_path is not None:
            paths = (self._config.model_path, self._config.tokenizer_path)
            return Assets(*((self._base / path).resolve() for path in paths))
        package = self._config.package or DEFAULT_PACKAGE
        remedy = _INSTALL_DENSE if package == DEFAULT_PACKAGE else f"run: pip install {package}"
        return package_assets(package, remedy)

    def _step(self, place: Place, command: str, *options: str) -> Step:
        # -P: a repository may hold a `core` package of its own, which must not be the one that runs.
        argv = [sys.executable, "-P", "-m", "core.workspace", command]
        argv += ["--state", str(place.state), "--configuration", str(place.configuration)]
        if self._settings.dense:
            argv += ["--model", str(self._assets.model), "--tokenizer", str(self._assets.tokenizer)]
        return Step(
            (*argv, *options), cwd=place.state, environment=user_site_environment(core.workspace.__file__)
        )

    def _require_vectors(self, vectors: int, units: int) -> None:
        expected = units if self._settings.dense else 0
        if vectors != expected:
            raise AnswerError("incomplete_index", f"found vectors of {vectors} units, expected {expected}")


def _require_full_text_search() -> None:
    if not has_full_text_search():
        raise InputError(
            f"this Python's SQLite ({sqlite3.sqlite_version}) was built without FTS5, which the embedded"
            " retriever needs; use a Python whose SQLite has it, such as python.org's or your distribution's"
        )


def _workspace_digest() -> str:
    folder = Path(core.workspace.__file__).parent
    sources = sorted(folder.rglob("*.py"))
    return sha256_of({path.relative_to(folder).as_posix(): sha256_file(path) for path in sources})


def _library(name: str) -> dict[str, str]:
    package = installed_package(name, _INSTALL_DENSE)
    return {"version": package.version, "record_sha256": record_digest(package)}
