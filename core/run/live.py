"""What a run is doing, gathered from its events: the state behind every live view, whoever draws it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from statistics import median

from core.run.events import (
    INDEX_FAILED,
    CampaignFinished,
    CampaignStarted,
    Event,
    Heartbeat,
    Holder,
    OperationFinished,
    OperationStarted,
    Paused,
    Phase,
    Progress,
    State,
)

KEPT_FAILURES = 500
KEPT_SAMPLES = 60  # heartbeats, so about the last minute
KEPT_LATENCIES = 10_000


@dataclass
class LiveCell:
    """One candidate on one repository, as told so far."""

    candidate: str
    repository: str
    planned: int
    completed: int = 0
    failed: int = 0
    unasked: int = 0  # of the failed, those never asked as the index failed
    reused: int = 0
    phase: Phase | None = None
    beat_at: datetime | None = None
    rss: deque[int] = field(default_factory=lambda: deque(maxlen=KEPT_SAMPLES))
    latencies: dict[str, deque[float]] = field(default_factory=dict)

    def median_s(self, channel: str) -> float | None:
        """Return the median latency of a channel's accepted operations, in seconds."""
        values = self.latencies.get(channel)
        return median(values) if values else None


class LiveRun:
    """The present of one run; feed it with events, read its fields whenever a screen redraws."""

    def __init__(self, planned: Iterable[tuple[str, str]]) -> None:
        """`planned` names the candidate and repository of each planned operation."""
        self.cells: dict[tuple[str, str], LiveCell] = {}
        self.total = 0
        for cell in planned:
            self.cells.setdefault(cell, LiveCell(*cell, planned=0)).planned += 1
            self.total += 1
        self.progress = Progress(planned=self.total)
        self.state: State = "waiting"
        self.is_waiting = False  # for another campaign, as its latest event tells
        self.waits_for: Holder | None = None
        self.phase: Phase | None = None
        self.current: LiveCell | None = None  # whose operation is under way
        self.started_at: datetime | None = None
        self.last_at: datetime | None = None
        self.failures: deque[OperationFinished] = deque(maxlen=KEPT_FAILURES)

    def take(self, event: Event) -> None:
        """Bring the state up to date with one event."""
        self.last_at = event.at
        self.is_waiting = isinstance(event, Heartbeat) and event.state == "waiting"
        if isinstance(event, CampaignStarted):
            self._begin(event)
        elif isinstance(event, Heartbeat):
            self._beat(event)
        elif isinstance(event, OperationStarted):
            self.progress = event.progress
            cell = self._cell(event.candidate, event.repository)
            self.phase = cell.phase = event.phase
            cell.beat_at = event.at
            self.current = cell
        elif isinstance(event, OperationFinished):
            self._finish(event)
        elif isinstance(event, Paused):
            self.state = "paused" if event.paused else "running"
        elif isinstance(event, CampaignFinished):
            self.state, self.phase, self.progress = event.state, None, event.progress
            self.current = None

    def _begin(self, event: CampaignStarted) -> None:
        self.state, self.started_at, self.progress = "running", event.at, event.progress
        self.failures.clear()
        for cell in self.cells.values():
            cell.completed = cell.failed = cell.unasked = cell.reused = 0
            cell.phase = cell.beat_at = None

    def _beat(self, event: Heartbeat) -> None:
        self.state, self.phase, self.progress = event.state, event.phase, event.progress
        self.waits_for = event.waits_for
        if event.candidate is None or event.repository is None:
            return
        cell = self._cell(event.candidate, event.repository)
        cell.phase, cell.beat_at = event.phase, event.at
        self.current = cell
        if event.sampled_rss_bytes is not None:
            cell.rss.append(event.sampled_rss_bytes)

    def _finish(self, event: OperationFinished) -> None:
        self.progress = event.progress
        cell = self._cell(event.candidate, event.repository)
        cell.beat_at = event.at
        if event.outcome == "stopped":
            return
        cell.completed += 1
        cell.reused += event.outcome == "reused"
        if event.outcome in {"failed", "not_run"}:
            cell.failed += 1
            cell.unasked += event.error_class == INDEX_FAILED
            self.failures.append(event)
        elif event.elapsed_s is not None and event.channel is not None:
            kept = cell.latencies.setdefault(event.channel, deque(maxlen=KEPT_LATENCIES))
            kept.append(event.elapsed_s)

    def _cell(self, candidate: str, repository: str) -> LiveCell:
        return self.cells.setdefault((candidate, repository), LiveCell(candidate, repository, planned=0))
