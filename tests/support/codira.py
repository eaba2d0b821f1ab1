"""Executables that play the Codira CLI (tests/support/programs/fake_codira.py), and entries that ask them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

from core import api
from core.retrievers.codira import CodiraRetriever, create

PROGRAMS = Path(__file__).parent / "programs"


def make_codira(folder: Path, name: str = "codira", **behaviour: Any) -> Path:
    """Write an executable of this behaviour into a folder, and return it."""
    folder.mkdir(parents=True, exist_ok=True)
    executable = folder / name
    executable.write_text(
        f"#!{sys.executable} -IS\nimport sys\nsys.path.insert(0, {str(PROGRAMS)!r})\n"
        f"from fake_codira import main\nsys.exit(main(sys.argv[1:], {behaviour!r}))\n"
    )
    executable.chmod(0o755)
    return executable


def make_assets(folder: Path) -> tuple[Path, Path]:
    """Write the two files of a model, which the playing executable never reads; return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    model, tokenizer = folder / "model.onnx", folder / "tokenizer.json"
    model.write_bytes(b"weights")
    tokenizer.write_bytes(b"{}")
    return model, tokenizer


def codira_entry(executable: Path, assets: Path, name: str = "minilm", **config: Any) -> dict[str, Any]:
    """Return a model manifest's entry whose model lies in `assets`; it names no retriever."""
    files = {"model_path": str(assets / "model.onnx"), "tokenizer_path": str(assets / "tokenizer.json")}
    return {
        "id": name,
        "engine": "onnx",
        "model": "all-MiniLM-L6-v2",
        "version": "1",
        "dimension": 384,
        "precision": "int8",
        "config": {"executable": str(executable), **files, **config},
    }


def codira_candidate(executable: Path, assets: Path, name: str = "minilm", **config: Any) -> api.Candidate:
    """Return a candidate of such an entry."""
    entry = codira_entry(executable, assets, name, **config)
    return api.Candidate(name, entry, Path("/"), f"candidates ({name})")


def codira_retriever(folder: Path, **behaviour: Any) -> CodiraRetriever:
    """Return a retriever whose executable and model lie in a folder."""
    make_assets(folder)
    return create(codira_entry(make_codira(folder, **behaviour), folder), folder, "models.json, models[0]")


def make_index(tree: Path, state: Path, **behaviour: Any) -> None:
    """Index a tree into `state` by an executable of this behaviour."""
    state.mkdir(parents=True)
    argv: list[str | Path] = [
        make_codira(state, **behaviour),
        "index",
        "--full",
        "--json",
        "--path",
        tree,
        "--output-dir",
        state,
    ]
    subprocess.run(argv, check=True, capture_output=True)
