"""Small campaigns for tests: a repository, a bank derived from it, and fake candidates."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from core import api
from core.engine.host import execute
from core.repositories import RepositoryEntry
from core.run.events import Event, State
from tests.support.repositories import make_repository

SOURCE = b'''"""Loads and saves the records of a small store."""


def load_records(path):
    """Read every record of a file into memory."""
    if not path:
        raise ValueError("a path is needed to load")
    return []


def save_records(path, records):
    """Write all the records back to their file."""
    if not records:
        raise ValueError("there is nothing to save")


class RecordIndex:
    """Finds a record by the words that it holds."""

    def lookup_word(self, word):
        """Return the records in which a word stands."""
        raise KeyError("this word is in no record")
'''
README = b"""# A small store

## Loading the records

Text.

## Saving the records

More text.
"""
INTENTS = ("symbol_lookup", "task_lookup", "docs_lookup", "error_or_trace_lookup")


class Scene(NamedTuple):
    """A folder with a repository and its bank."""

    folder: Path
    repository: RepositoryEntry
    cases: Path


def make_scene(folder: Path, per_intent: int = 2, label: str = "store") -> Scene:
    """Make a repository of one module and a README, and a bank of `per_intent` cases for four intents."""
    commit = make_repository(folder / label, {"store/records.py": SOURCE, "README.md": README})
    entry = RepositoryEntry(label=label, path=folder / label, commit=commit)
    cases = folder / f"{label}.jsonl"
    api.build_bank([entry], per_intent, INTENTS, cases)
    return Scene(folder, entry, cases)


def fake(name: str, **config: Any) -> api.Candidate:
    """Return a fake candidate; see tests/support/programs/fake_tool.py for what `config` can hold."""
    entry = {"id": name, "retriever": "fake", "engine": "fake", "model": name, "config": config}
    return api.Candidate(name, entry, Path("/"), f"candidates ({name})")


def campaign(scene: Scene, *candidates: api.Candidate, **options: Any) -> api.Campaign:
    """Return a campaign of candidates on the scene's repository; the first is the baseline."""
    options.setdefault("baseline", candidates[0].id)
    return api.Campaign("test", scene.cases, (scene.repository,), candidates, **options)


class Ran(NamedTuple):
    """A finished execution and what it told."""

    run: Path
    state: State
    events: tuple[Event, ...]

    def outcomes(self) -> Mapping[str, int]:
        """Return how many operations ended in each outcome."""
        counts: dict[str, int] = {}
        for event in self.events:
            if event.type == "operation_finished":
                counts[event.outcome] = counts.get(event.outcome, 0) + 1
        return counts

    def errors(self) -> set[str | None]:
        """Return the error classes of failed operations."""
        return {
            event.error_class
            for event in self.events
            if event.type == "operation_finished" and event.outcome in {"failed", "not_run"}
        }


def run_new(asked: api.Campaign, output: Path) -> Ran:
    """Freeze and execute a campaign."""
    return execute_run(api.create_run(asked, output))


def run_again(output: Path, asked: api.Campaign | None = None) -> Ran:
    """Resume a run."""
    return execute_run(api.reopen_run(output, asked), resumed=True)


def execute_run(opened: api.OpenRun, *, resumed: bool = False) -> Ran:
    """Execute a run that is open."""
    events: list[Event] = []
    ended = asyncio.run(execute(opened, events.append))
    return Ran(opened.layout.root, ended.state, tuple(events))
