"""The manifest entry of `tests/support/programs/own_tool.py`, and trials of it on a small repository."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from core import api
from core.conformance.trial import Trial
from core.repositories import RepositoryEntry
from tests.support.campaigns import README, SOURCE
from tests.support.repositories import make_repository

PROGRAM = Path(__file__).parent / "programs" / "own_tool.py"
TOOL: Mapping[str, Any] = {
    "query": [sys.executable, "-I", str(PROGRAM), "{repository}", "{limit}", "--", "{query}"],
    "level": "exact",
    "answer": {
        "format": "json",
        "expect": {"command": "search"},
        "error": "error",
        "rows": "hits",
        "path": "file",
        "line": "at",
    },
}
SESSION = {
    **{name: value for name, value in TOOL.items() if name != "query"},
    "session": [sys.executable, "-I", str(PROGRAM), "serve", "{repository}"],
}


def own_tool(config: Mapping[str, Any] = TOOL, **changes: Any) -> dict[str, Any]:
    """Return an entry; a change to None takes the field out."""
    merged = {name: value for name, value in {**config, **changes}.items() if value is not None}
    return {"id": "own", "retriever": "command", "config": merged}


def trial(folder: Path, entry: Mapping[str, Any]) -> Trial:
    """Return a trial of an entry on a repository that is made in `folder`."""
    repository = folder / "store"
    if not repository.exists():
        make_repository(repository, {"store/records.py": SOURCE, "README.md": README})
    candidate = api.Candidate("own", entry, folder, "candidates (own)")
    return Trial(candidate, RepositoryEntry(label="store", path=repository), api.Limits(), 10)
