"""Turns what the engine does into events, and counts operations on the way."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Literal

from core.campaign.plan import Planned
from core.engine.cell import Cell
from core.run.events import (
    INDEX_FAILED,
    CampaignFinished,
    CampaignStarted,
    CellFinished,
    EventLog,
    Heartbeat,
    Holder,
    OperationFinished,
    OperationStarted,
    Paused,
    Phase,
    Progress,
    State,
)
from core.run.evidence import Validation
from core.run.layout import INDEX, WARM_UP
from core.run.measurement import Measurement

HEARTBEAT_SECONDS = 1.0
PHASES: Mapping[str, Phase] = {
    INDEX: "indexing",
    "primary": "querying",
    "ctx": "probing",
    WARM_UP: "querying",
}
Outcome = Literal["accepted", "reused", "failed", "stopped", "not_run"]


class Narrator:
    """Knows the present moment of a campaign and tells it; decides nothing."""

    def __init__(self, log: EventLog, cells: Mapping[str, Cell], plan: Iterable[Planned]) -> None:
        self._log = log
        self._cells = cells
        self._by_cell = dict.fromkeys(cells, Progress())
        for item in plan:
            name = f"{item.operation.candidate}/{item.operation.repository}"
            count = self._by_cell[name]
            self._by_cell[name] = count.model_copy(update={"planned": count.planned + 1})
        self.progress = Progress(planned=sum(count.planned for count in self._by_cell.values()))
        self._phase: Phase | None = None
        self._cell: Cell | None = None
        self._since = 0.0
        self._rss_bytes: int | None = None
        self.waits_for: Holder | None = None

    @contextlib.contextmanager
    def phase(self, phase: Phase, cell: Cell | None = None) -> Iterator[None]:
        """Say in heartbeats that this is under way."""
        self._phase, self._cell, self._rss_bytes = phase, cell, None
        self._since = asyncio.get_running_loop().time()
        try:
            yield
        finally:
            self._phase = self._cell = self._rss_bytes = None

    def sampled(self, rss_bytes: int) -> None:
        """Take the resident memory of the operation under way."""
        self._rss_bytes = rss_bytes

    async def beat(self, state: Callable[[], State]) -> None:
        """Tell a heartbeat every second, until cancelled."""
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(HEARTBEAT_SECONDS)
            beat = Heartbeat(
                state=state(),
                waits_for=self.waits_for,
                candidate=self._cell.candidate if self._cell else None,
                repository=self._cell.repository if self._cell else None,
                phase=self._phase,
                elapsed_s=round(loop.time() - self._since, 3) if self._phase else 0.0,
                sampled_rss_bytes=self._rss_bytes,
                progress=self.progress,
            )
            with contextlib.suppress(OSError):  # a full disk ends the run at its next write, with a message
                self._log.emit(beat)

    def campaign_started(self, identity: str, name: str, resumed: bool) -> None:
        """Tell that operations begin."""
        self._log.emit(
            CampaignStarted(
                identity=identity,
                name=name,
                candidates=tuple(dict.fromkeys(cell.candidate for cell in self._cells.values())),
                repositories=tuple(dict.fromkeys(cell.repository for cell in self._cells.values())),
                resumed=resumed,
                progress=self.progress,
            )
        )

    def campaign_finished(self, state: State) -> None:
        """Tell that the engine ends."""
        self._log.emit(CampaignFinished(state=state, progress=self.progress))

    def paused(self, paused: bool) -> None:
        """Tell that the engine waits, or goes on."""
        self._log.emit(Paused(paused=paused, progress=self.progress))

    def started(self, cell: Cell, planned: Planned, attempt: int) -> None:
        """Tell that an attempt begins."""
        self._log.emit(
            OperationStarted(
                candidate=cell.candidate,
                repository=cell.repository,
                phase=PHASES[planned.operation.kind],
                operation=planned.operation.name,
                intent=planned.intent,
                channel=planned.channel,
                attempt=attempt,
                progress=self.progress,
            )
        )

    def attempted(
        self,
        cell: Cell,
        planned: Planned,
        attempt: int,
        measurement: Measurement | None,
        validation: Validation,
    ) -> None:
        """Tell how an attempt ended."""
        outcomes: dict[str, Outcome] = {"accepted": "accepted", "stopped": "stopped"}
        self.finished(
            cell,
            planned,
            outcomes.get(validation.status, "failed"),
            attempt=attempt,
            error_class=validation.error_class,
            measurement=measurement,
        )

    def finished(
        self,
        cell: Cell,
        planned: Planned,
        outcome: Outcome,
        *,
        attempt: int = 0,
        error_class: str | None = None,
        measurement: Measurement | None = None,
    ) -> None:
        """Count an operation and tell what became of it, and of its cell where that was its last."""
        if outcome != "stopped":
            unasked = outcome == "not_run" and error_class == INDEX_FAILED
            self.progress = _counted(self.progress, outcome, unasked=unasked)
            self._by_cell[cell.name] = _counted(self._by_cell[cell.name], outcome, unasked=unasked)
        self._log.emit(
            OperationFinished(
                candidate=cell.candidate,
                repository=cell.repository,
                phase=PHASES[planned.operation.kind],
                operation=planned.operation.name,
                intent=planned.intent,
                channel=planned.channel,
                attempt=attempt,
                outcome=outcome,
                error_class=error_class,
                elapsed_s=measurement.elapsed_s if measurement else None,
                sampled_peak_rss_bytes=measurement.sampled_peak_rss_bytes if measurement else None,
                progress=self.progress,
            )
        )
        count = self._by_cell[cell.name]
        if count.completed == count.planned:
            self._log.emit(
                CellFinished(
                    candidate=cell.candidate,
                    repository=cell.repository,
                    completed=count.completed,
                    planned=count.planned,
                    failed=count.failed,
                )
            )


def _counted(progress: Progress, outcome: Outcome, *, unasked: bool) -> Progress:
    return progress.model_copy(
        update={
            "completed": progress.completed + 1,
            "reused": progress.reused + (outcome == "reused"),
            "failed": progress.failed + (outcome in {"failed", "not_run"}),
            "unasked": progress.unasked + unasked,
        }
    )
