"""What screens ask of the app: another screen. Screens post these and know nothing of each other."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

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
