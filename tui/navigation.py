"""What screens ask of the app: another screen. Screens post these and know nothing of each other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from textual.message import Message

from core.browse.filters import Filters, Sort
from core.browse.index import ALL_CASES, BANK_ORDER
from core.run.layout import Operation


@dataclass
class ShowManifest(Message):
    """Edit a campaign file; None asks for a new campaign."""

    path: Path | None


@dataclass
class ShowFrozenManifest(Message):
    """Read what a run was frozen with."""

    run: Path


@dataclass
class ShowMonitor(Message):
    """Watch a run."""

    run: Path


@dataclass
class ShowResults(Message):
    """Show what a run says."""

    run: Path


@dataclass
class ShowQueries(Message):
    """Show a run's cases, those that fulfil `filters`; `case` opens one of them."""

    run: Path
    filters: Filters = ALL_CASES
    sort: Sort = BANK_ORDER
    case: str | None = None


@dataclass
class ShowAttempts(Message):
    """Show a run's attempts, of one operation or one candidate where named."""

    run: Path
    operation: Operation | None = None
    candidate: str | None = None


Show = ShowManifest | ShowFrozenManifest | ShowMonitor | ShowResults | ShowQueries | ShowAttempts
MAIN_SCREENS = ("Campaigns", "Manifest", "Monitor", "Results", "Queries", "Attempts")  # by number key
_NAMES: dict[type[Message], str] = {
    ShowManifest: "Manifest",
    ShowFrozenManifest: "Manifest",
    ShowMonitor: "Monitor",
    ShowResults: "Results",
    ShowQueries: "Queries",
    ShowAttempts: "Attempts",
}


def name_of(asked: Show) -> str:
    """Return the name of the main screen that a message asks for."""
    return _NAMES[type(asked)]


def main_screen(name: str, run: Path | None, manifest: Path | None) -> Show | None:
    """Return the message that asks for a main screen, None where it needs a run and there is none."""
    if name == "Manifest" and run is None:
        return ShowManifest(manifest)
    if run is None:
        return None
    asked: dict[str, type[ShowFrozenManifest | ShowMonitor | ShowResults | ShowQueries | ShowAttempts]] = {
        "Manifest": ShowFrozenManifest,
        "Monitor": ShowMonitor,
        "Results": ShowResults,
        "Queries": ShowQueries,
        "Attempts": ShowAttempts,
    }
    return asked[name](run)


@dataclass
class StartRun(Message):
    """Run a campaign file into the next free folder; `reuse` gives what still holds to the new run."""

    manifest: Path
    reuse: Path | None = None


@dataclass
class RetryRun(Message):
    """Go on with a run; with `only`, give new attempts to these operations alone."""

    run: Path
    only: frozenset[Operation] | None = None


@dataclass
class FixAndContinue(Message):
    """Edit the campaign of a run, then offer a new run that takes over what still holds of it."""

    run: Path


@runtime_checkable
class Guarded(Protocol):
    """A screen that may hold changes: it asks what becomes of them, then calls `then`, or stays."""

    def leave(self, then: Callable[[], None]) -> None:
        """Call `then` at once where nothing would be lost."""


@dataclass
class ShowGates(Message):
    """Hold a run to floors."""

    run: Path


@dataclass
class ShowFile(Message):
    """Read a file of any size, a page at a time."""

    path: Path
    title: str
