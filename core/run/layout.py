"""Where everything lies in a run directory, and which directories are runs."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

RUN_FORMAT = "boresight-run@1"
INDEX = "index"
WARM_UP = "warmup"
STATE_ATTEMPT = ".attempt"  # in a cell's state: the index attempt that made it
SEARCH_DEPTH = 4  # folders below the one that is searched for runs
STAGING_SUFFIX = ".creating"  # of the folder beside a run's own that it is made in

NEVER_HOLD_RUNS = frozenset({".git", ".venv", "node_modules", "__pycache__"})
_ATTEMPT = re.compile(r"attempt-(\d{4,})\Z")


class Operation(NamedTuple):
    """One act of a cell; `name` is its folder: `index`, `primary-<case>` or `ctx-<case>`."""

    candidate: str
    repository: str
    kind: str  # "index", "primary", "ctx", or "warmup", which is kept but never planned or counted
    case: str | None = None

    @property
    def name(self) -> str:
        """The operation's folder name."""
        return self.kind if self.case is None else f"{self.kind}-{self.case}"

    def __str__(self) -> str:
        """Return the operation as its path below `operations/`."""
        return f"{self.candidate}/{self.repository}/{self.name}"


class RunLayout(NamedTuple):
    """The paths of one run directory."""

    root: Path

    @property
    def campaign(self) -> Path:
        """The frozen identity; a directory without it is no run."""
        return self.root / "campaign.json"

    @property
    def plan(self) -> Path:
        """Operations in their order, one JSON object a line."""
        return self.root / "plan.jsonl"

    @property
    def cases(self) -> Path:
        """The bank's exact bytes."""
        return self.root / "cases.jsonl"

    @property
    def repositories(self) -> Path:
        """The frozen trees and their descriptions."""
        return self.root / "repositories"

    @property
    def configurations(self) -> Path:
        """The rendered configurations."""
        return self.root / "configs"

    @property
    def operations(self) -> Path:
        """All evidence."""
        return self.root / "operations"

    @property
    def events(self) -> Path:
        """The narration, one JSON object a line."""
        return self.root / "events.jsonl"

    @property
    def console(self) -> Path:
        """What the hosting process said, a line a transition."""
        return self.root / "console.log"

    @property
    def exit_status(self) -> Path:
        """The exit code that the last hosting process ended with."""
        return self.root / "exit-status"

    @property
    def lock(self) -> Path:
        """The file that the one writer holds locked."""
        return self.root / ".lock"

    @property
    def supervisor(self) -> Path:
        """The token of the processes that an execution has started, while it lives or where it was killed."""
        return self.root / ".supervisor"

    @property
    def summary(self) -> Path:
        """The derived report as JSON."""
        return self.root / "quality-summary.json"

    @property
    def summary_text(self) -> Path:
        """The derived report as Markdown."""
        return self.root / "quality-summary.md"

    def source(self, label: str) -> Path:
        """Return the frozen tree of a repository."""
        return self.repositories / label

    def state(self, candidate: str, label: str) -> Path:
        """Return the folder that one cell's retriever may write into."""
        return self.root / "state" / candidate / label

    def operation(self, operation: Operation) -> Path:
        """Return the folder of an operation's attempts."""
        return self.operations / str(operation)

    def result(self, operation: Operation) -> Path:
        """Return the file that names the accepted attempt."""
        return self.operation(operation) / "result.json"

    def attempt(self, operation: Operation, number: int) -> Path:
        """Return the folder of one attempt, counted from 1."""
        return self.operation(operation) / f"attempt-{number:04d}"

    def attempts(self, operation: Operation) -> tuple[int, ...]:
        """Return the numbers of an operation's attempts, ascending; none where it never ran."""
        try:
            names = os.listdir(self.operation(operation))  # noqa: PTH208 - once for each of millions of folders
        except (FileNotFoundError, NotADirectoryError):
            return ()
        return tuple(sorted(int(found[1]) for name in names if (found := _ATTEMPT.match(name))))


def state_attempt(state: Path) -> int | None:
    """Return the number of the index attempt that a cell's state was made for, None where it tells none."""
    try:
        return int((state / STATE_ATTEMPT).read_text())
    except (OSError, ValueError):
        return None


def links_in(layout: RunLayout) -> list[Path]:
    """Return the links that stand where a run has files and folders of its own."""
    places = [layout.root]
    for folder in (layout.root, layout.operations, layout.root / "state", layout.repositories):
        if folder.is_dir() and not folder.is_symlink():
            places += folder.iterdir()
    return sorted({place for place in places[1:] if place.is_symlink()})


def is_run(folder: Path) -> bool:
    """Tell whether a folder is a run directory; one that cannot be looked into is none."""
    try:
        return (folder / "campaign.json").is_file()
    except OSError:  # no right to look, or a name longer than the file system allows
        return False


def find_runs(folder: Path, depth: int = SEARCH_DEPTH) -> Iterator[Path]:
    """Yield the run directories in a folder down to a depth, in name order, never one inside another."""
    if is_run(folder):
        yield folder
        return
    if depth == 0:
        return
    try:
        children = sorted(child for child in folder.iterdir() if child.is_dir() and not child.is_symlink())
    except OSError:
        return
    for child in children:
        if child.name not in NEVER_HOLD_RUNS and not child.name.endswith(STAGING_SUFFIX):
            yield from find_runs(child, depth - 1)
