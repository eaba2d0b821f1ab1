"""A run that looks as if an engine executed it: its lock is held here, its events are told by the test."""

from __future__ import annotations

import contextlib
import json
import shutil
from collections.abc import AsyncIterator, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from core.campaign.plan import Planned, parse_plan
from core.run.control import ControlServer
from core.run.events import (
    CampaignFinished,
    CampaignStarted,
    Event,
    EventLog,
    Heartbeat,
    OperationFinished,
    OperationStarted,
    Phase,
    Progress,
    State,
)
from core.run.layout import RunLayout
from core.run.lock import RunLock
from tests.support.finished import finished_run

PHASES: Mapping[str, Phase] = {"index": "indexing", "primary": "querying", "ctx": "probing"}


class Playing(NamedTuple):
    """A run whose part of the engine a test plays."""

    run: Path
    plan: tuple[Planned, ...]
    log: EventLog
    lock: RunLock

    def tell(self, *events: Event) -> None:
        """Tell events as the engine would."""
        for event in events:
            self.log.emit(event)

    def begin(self, completed: int = 0) -> None:
        """Tell that the campaign began."""
        record = json.loads((self.run / "campaign.json").read_text())
        order = record["about"]["order"]
        self.tell(
            CampaignStarted(
                identity=record["identity"],
                name="test",
                candidates=order["candidates"],
                repositories=order["repositories"],
                resumed=False,
                progress=self.progress(completed),
            )
        )

    def progress(self, completed: int, failed: int = 0) -> Progress:
        """Return counts of operations."""
        return Progress(completed=completed, planned=len(self.plan), failed=failed)

    def started(self, at: int) -> OperationStarted:
        """Return the event that the plan's operation `at` begins."""
        item = self.plan[at]
        return OperationStarted(
            candidate=item.operation.candidate,
            repository=item.operation.repository,
            phase=PHASES[item.operation.kind],
            operation=item.operation.name,
            intent=item.intent,
            channel=item.channel,
            attempt=1,
            progress=self.progress(at),
        )

    def finished(self, at: int, *, failed: int = 0, error: str | None = None) -> OperationFinished:
        """Return the event that the plan's operation `at` ended, well or with an error."""
        item = self.plan[at]
        return OperationFinished(
            candidate=item.operation.candidate,
            repository=item.operation.repository,
            phase=PHASES[item.operation.kind],
            operation=item.operation.name,
            intent=item.intent,
            channel=item.channel,
            attempt=1,
            outcome="failed" if error else "accepted",
            error_class=error,
            elapsed_s=0.8,
            progress=self.progress(at + 1, failed),
        )

    def beat(self, at: int, seconds_ago: float = 0.0, state: State = "running") -> Heartbeat:
        """Return a heartbeat while the plan's operation `at` is under way."""
        operation = self.plan[at].operation
        return Heartbeat(
            at=datetime.now(UTC) - timedelta(seconds=seconds_ago),
            state=state,
            candidate=operation.candidate,
            repository=operation.repository,
            phase=PHASES[operation.kind],
            elapsed_s=1.0,
            sampled_rss_bytes=300 * 2**20,
            progress=self.progress(at),
        )

    def end(self, state: State) -> None:
        """Tell the end, and give the lock back."""
        self.tell(CampaignFinished(state=state, progress=self.progress(len(self.plan))))
        self.lock.release()


@contextlib.contextmanager
def playing(folder: Path) -> Iterator[Playing]:
    """Play the engine of a run in `folder` that has no evidence and no events yet."""
    run = finished_run(folder).run
    layout = RunLayout(run)
    shutil.rmtree(layout.operations)
    layout.operations.mkdir()
    for path in (layout.events, layout.exit_status):
        path.unlink(missing_ok=True)
    lock = RunLock(layout.lock)
    lock.acquire()
    log = EventLog(layout.events)
    plan = parse_plan(layout.plan.read_bytes(), str(layout.plan))
    try:
        yield Playing(run, plan, log, lock)
    finally:
        log.close()
        lock.release()


@contextlib.asynccontextmanager
async def listening(run: Path) -> AsyncIterator[list[str]]:
    """Answer on a run's control socket; yields the words that were said, as they come."""
    words: list[str] = []

    async def answer(word: str) -> Mapping[str, Any]:
        words.append(word)
        return {"ok": True, "pid": 1, "state": "running"}

    server = ControlServer(run, answer)
    await server.start()
    try:
        yield words
    finally:
        await server.close()
