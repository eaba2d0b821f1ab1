"""Runs a campaign's plan: one operation at a time, each kept as evidence and told as an event."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, replace

from core.banks.case import Case
from core.campaign.manifest import Limits
from core.campaign.plan import Planned
from core.engine.cell import WARM_UP_QUERY, Cell
from core.engine.checkpoint import reusable_results
from core.engine.executor import Executor, prepare_state
from core.engine.narrator import PHASES, Narrator
from core.errors import BoresightError
from core.retrievers.protocol import UnpassableError
from core.run.events import CampaignFinished, Event, EventLog, EventStream, State
from core.run.evidence import Attempt, Result, Validation, accept_attempt, begin_attempt, publish_attempt
from core.run.layout import INDEX, WARM_UP, Operation, RunLayout
from core.run.measurement import Measurement


@dataclass(frozen=True)
class Job:
    """Everything that the engine needs to know of a run."""

    name: str
    identity: str
    layout: RunLayout
    cells: Mapping[str, Cell]  # by `candidate/repository`
    plan: Sequence[Planned]
    cases: Mapping[str, Case]
    limits: Limits
    lock_descriptor: int | None
    resumed: bool = False


class Engine:
    """Executes one job; reads nothing from a terminal and draws nothing.

    Follow it with `subscribe`; steer it with `pause`, `go_on` and `stop`.
    """

    def __init__(self, job: Job, log: EventLog) -> None:
        self._job = job
        self._log = log
        self._narrator = Narrator(log, job.cells, job.plan)
        self._executor = Executor(job.limits, lambda sample: self._narrator.sampled(sample.rss_bytes))
        self._indexes: dict[str, Result] = {}
        self._standing: dict[Operation, Result] = {}
        self._warm: set[str] = set()
        self._going = asyncio.Event()
        self._going.set()
        self._stopping = False

    def subscribe(self) -> EventStream:
        """Return a stream of all events from now on."""
        return self._log.subscribe()

    def pause(self) -> None:
        """Wait after the operation under way."""
        self._going.clear()

    def go_on(self) -> None:
        """Leave a pause."""
        self._going.set()

    async def stop(self) -> None:
        """Kill the operation under way and end; its attempt is kept and counts as stopped."""
        self._stopping = True
        self._going.set()
        await self._executor.stop()

    async def execute(self) -> State:
        """Run what is not accepted yet and return the state it ends in: complete, failed or interrupted.

        Raises BoresightError where the run cannot go on (no room on the disk, evidence changed); what was
        published until then is whole, and a resume goes on from there.
        """
        state: State = "interrupted"
        beat = asyncio.create_task(self._narrator.beat())
        try:
            await self._executor.start(self._job.lock_descriptor)
            await self._verify()
            await self._run_plan()
            if not self._stopping:
                state = "failed" if self._narrator.progress.failed else "complete"
        except OSError as error:
            raise _cannot_write(self._job.layout, error) from error
        finally:
            beat.cancel()
            if not self._stopping:
                await self._executor.close_sessions()
            await self._executor.close()
            with contextlib.suppress(OSError):  # the disk may be full: what ended the run is raised already
                self._narrator.campaign_finished(state)
        return state

    async def _verify(self) -> None:
        job = self._job
        self._narrator.campaign_started(job.identity, job.name, job.resumed)
        with self._narrator.phase("verifying"):
            self._standing = await asyncio.to_thread(reusable_results, job.cells, job.plan, job.cases)

    async def _run_plan(self) -> None:
        repository = None
        for planned in self._job.plan:
            cell = self._job.cells[f"{planned.operation.candidate}/{planned.operation.repository}"]
            if cell.repository != repository:
                await self._executor.close_sessions()
                repository = cell.repository
            await self._wait_if_paused()
            if self._stopping:
                return
            if self._executor.lost:
                raise _supervisor_lost(self._job.layout, planned.operation)
            await self._operate(cell, planned)

    async def _wait_if_paused(self) -> None:
        if not self._going.is_set():
            self._narrator.paused(True)
            await self._going.wait()
            self._narrator.paused(False)

    async def _operate(self, cell: Cell, planned: Planned) -> None:
        operation = planned.operation
        standing = self._standing.get(operation)
        if standing is not None:
            if operation.kind == INDEX:
                self._indexes[cell.name] = standing
            self._narrator.finished(cell, planned, "reused", attempt=standing.attempt)
        elif operation.kind == INDEX:
            await self._index(cell, planned)
        elif cell.name not in self._indexes:
            self._narrator.finished(cell, planned, "not_run", error_class="index_failed")
        else:
            await self._ask(cell, planned)

    async def _index(self, cell: Cell, planned: Planned) -> None:
        await asyncio.to_thread(prepare_state, cell)
        result = await self._attempt(cell, planned, None)
        if result is not None:
            self._indexes[cell.name] = result

    async def _ask(self, cell: Cell, planned: Planned) -> None:
        case = self._job.cases[str(planned.operation.case)]
        await self._warm_up(cell, case)
        if not self._stopping:
            await self._attempt(cell, planned, case)

    async def _warm_up(self, cell: Cell, case: Case) -> None:
        """Ask a cell that is cold something that nobody counts; kept like any attempt, never a result."""
        if cell.name in self._warm and not self._executor.is_cold(cell):
            return
        self._warm.add(cell.name)
        channels = cell.retriever.features.channels
        channel = case.channel if case.channel in channels else min(channels)
        planned = Planned(Operation(cell.candidate, cell.repository, WARM_UP), channel)
        await self._attempt(cell, planned, replace(case, query=WARM_UP_QUERY, channel=channel))

    async def _attempt(self, cell: Cell, planned: Planned, case: Case | None) -> Result | None:
        """Execute an operation once and publish what it left; returns its result where it is accepted."""
        operation, layout = planned.operation, self._job.layout
        counted = operation.kind != WARM_UP
        with self._narrator.phase(PHASES[operation.kind], cell):
            try:
                command = cell.expected_command(operation, case)
                refusal = None
            except UnpassableError as error:
                command, refusal = {"form": "none", "steps": []}, str(error)
            attempt = await asyncio.to_thread(begin_attempt, layout, operation, command)
            if counted:
                self._narrator.started(cell, planned, attempt.number)
            if refusal is None:
                measurement = await self._execute(cell, operation.kind, case, attempt)
                validation = await asyncio.to_thread(cell.judge, operation.kind, measurement, attempt)
            else:
                measurement, validation = None, Validation("failed", "unpassable_query", refusal)
            measured = measurement.to_json() if measurement else {"outcome": "not_started"}
            await asyncio.to_thread(publish_attempt, attempt, measured, validation)
            if self._executor.lost and not self._stopping:
                raise _supervisor_lost(layout, operation)
            result = None
            if counted and validation.status == "accepted":
                index = self._indexes.get(cell.name)
                result = await asyncio.to_thread(accept_attempt, layout, attempt, cell.identity, index)
        if counted:
            self._narrator.attempted(cell, planned, attempt.number, measurement, validation)
        return result

    async def _execute(self, cell: Cell, kind: str, case: Case | None, attempt: Attempt) -> Measurement:
        if case is None:
            return await self._executor.index(cell, attempt)
        return await self._executor.ask(cell, kind, case, attempt)


async def follow(stream: EventStream) -> AsyncIterator[Event]:
    """Yield a stream's events up to the campaign's last."""
    while True:
        event = await stream.next()
        yield event
        if isinstance(event, CampaignFinished):
            return


def _cannot_write(layout: RunLayout, error: OSError) -> BoresightError:
    return BoresightError(
        f"{error.filename or layout.root}: cannot be written: {error.strerror or error}. "
        "What was finished until now is kept; make room (or give the rights back), then resume the run."
    )


def _supervisor_lost(layout: RunLayout, operation: Operation) -> BoresightError:
    return BoresightError(
        f"{layout.root}: the process that supervises retrievers was killed during {operation}; "
        "what was finished until now is kept: resume the run"
    )
