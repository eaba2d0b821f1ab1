"""Runs a campaign's plan: one operation at a time, each kept as evidence and told as an event."""

from __future__ import annotations

import asyncio
import contextlib
import errno
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from core.banks.case import Case
from core.campaign.manifest import Limits
from core.campaign.plan import Planned
from core.engine.cell import WARM_UP_QUERY, Cell
from core.engine.checkpoint import cell_name, reusable_results
from core.engine.executor import Executor, demand_unchanged_tree, prepare_state, restored_tree
from core.engine.narrator import PHASES, Narrator
from core.errors import RunError
from core.retrievers.protocol import UnpassableError
from core.run.events import (
    INDEX_FAILED,
    NOT_CHOSEN,
    CampaignFinished,
    Event,
    EventLog,
    EventStream,
    Holder,
    Progress,
    State,
)
from core.run.evidence import (
    Acceptance,
    Attempt,
    Result,
    Validation,
    begin_attempt,
    publish_accepted,
    publish_attempt,
)
from core.run.layout import INDEX, WARM_UP, Operation, RunLayout
from core.run.measurement import Measurement

ADMISSION_SECONDS = 1.0
_MORE_FILES = "cannot be opened", "let it open more files (`ulimit -n`)"
_REFUSALS = {  # what could not be done, and what to do
    errno.EMFILE: _MORE_FILES,
    errno.ENFILE: _MORE_FILES,
    errno.EFBIG: ("cannot be written", "allow larger files (`ulimit -f`)"),
    errno.EAGAIN: ("no process can be started", "allow more processes (`ulimit -u`)"),
    errno.EROFS: ("cannot be written", "mount it writable"),
}
_REFUSAL = "cannot be written", "make room (or give the rights back)"


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
    admitted: Callable[[], Awaitable[bool]]  # whether measuring may begin; asked every second until it may
    holder: Callable[[], Awaitable[Holder | None]]  # the campaign that is waited for, as far as it is known
    is_disturbed: Callable[[], bool]  # whether another campaign runs on this machine
    score: Callable[[], None]  # derives the reports once all is measured; called in a thread
    resumed: bool = False
    only: frozenset[Operation] | None = None  # of what does not stand, give new attempts to these alone


class Engine:
    """Executes one job; reads nothing from a terminal and draws nothing.

    Follow it with `subscribe`; steer it with `pause`, `go_on` and `stop`.
    """

    def __init__(self, job: Job, log: EventLog) -> None:
        self._job = job
        self._log = log
        self._narrator = Narrator(log, job.cells, job.plan)
        self._executor = Executor(
            job.limits, job.layout.supervisor, lambda sample: self._narrator.sampled(sample.rss_bytes)
        )
        self._indexes: dict[str, Result] = {}
        self._standing: dict[Operation, Result] = {}
        self._warm: set[str] = set()
        self._renewed: set[str] = set()  # cells indexed in this execution
        self._chosen = frozenset(map(cell_name, job.only or ()))
        self._going = asyncio.Event()
        self._going.set()
        self._stopping = False
        self._waiting = True
        self._paused = False

    @property
    def state(self) -> State:
        """What the engine does now: waiting, running, paused or stopping."""
        if self._stopping:
            return "stopping"
        if self._waiting:
            return "waiting"
        return "paused" if self._paused else "running"

    @property
    def waits_for(self) -> Holder | None:
        """The campaign that this one waits for; None where it waits for none, or for one without a name."""
        return self._narrator.waits_for

    @property
    def progress(self) -> Progress:
        """Operations counted so far."""
        return self._narrator.progress

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
        """Run what is not accepted yet, score it all, and return complete, failed or interrupted.

        Raises BoresightError where the run cannot go on (no room on the disk, evidence changed); what was
        published until then is whole, and a resume goes on from there.
        """
        state: State = "interrupted"
        beat = asyncio.create_task(self._narrator.beat(lambda: self.state))
        try:
            await self._wait_for_admission()
            await self._executor.start(self._job.lock_descriptor)
            await self._verify()
            await self._run_plan()
            if not self._stopping:
                with self._narrator.phase("verifying"):
                    await asyncio.to_thread(self._demand_unchanged_trees)
                state = "failed" if self._narrator.progress.failed else "complete"
                with self._narrator.phase("scoring"):
                    await asyncio.to_thread(self._job.score)
        except OSError as error:
            raise refused(self._job.layout, error) from error
        finally:
            beat.cancel()
            if not self._stopping:
                await self._executor.close_sessions()
            await self._executor.close()
            with contextlib.suppress(OSError):  # the disk may be full: what ended the run is raised already
                self._narrator.campaign_finished(state)
        return state

    async def _wait_for_admission(self) -> None:
        while not await self._job.admitted() and not self._stopping:
            self._narrator.waits_for = await self._job.holder()
            await asyncio.sleep(ADMISSION_SECONDS)
        self._narrator.waits_for = None
        self._waiting = False

    async def _verify(self) -> None:
        job = self._job
        self._narrator.campaign_started(job.identity, job.name, job.resumed)
        with self._narrator.phase("verifying"):
            self._standing = await asyncio.to_thread(
                reusable_results, job.cells, job.plan, job.cases, lambda: self._stopping
            )

    def _demand_unchanged_trees(self) -> None:
        asked = {cell.repository: cell for cell in self._job.cells.values() if cell.name in self._warm}
        for cell in asked.values():
            demand_unchanged_tree(cell, "a candidate")

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
            await asyncio.sleep(0)  # results reused in a row would else fill a reader's queue unread

    async def _wait_if_paused(self) -> None:
        if not self._going.is_set():
            self._paused = True
            self._narrator.paused(True)
            await self._going.wait()
            self._paused = False
            self._narrator.paused(False)

    async def _operate(self, cell: Cell, planned: Planned) -> None:
        operation = planned.operation
        standing = self._standing.get(operation)
        if standing is not None:
            if operation.kind == INDEX:
                self._indexes[cell.name] = standing
            self._narrator.finished(cell, planned, "reused", attempt=standing.attempt)
        elif not self._is_chosen(cell, operation):
            self._narrator.finished(cell, planned, "not_run", error_class=NOT_CHOSEN)
        elif operation.kind == INDEX:
            await self._index(cell, planned)
        elif cell.name not in self._indexes:
            self._narrator.finished(cell, planned, "not_run", error_class=INDEX_FAILED)
        else:
            await self._ask(cell, planned)

    def _is_chosen(self, cell: Cell, operation: Operation) -> bool:
        """Tell whether an operation may run; a new index voids its cell's queries, so all run after it."""
        only = self._job.only
        if only is None or operation in only or cell.name in self._renewed:
            return True
        return operation.kind == INDEX and cell.name in self._chosen

    async def _index(self, cell: Cell, planned: Planned) -> None:
        await asyncio.to_thread(prepare_state, cell)
        result = await self._attempt(cell, planned, None)
        if result is not None:
            self._indexes[cell.name] = result
            self._renewed.add(cell.name)

    async def _ask(self, cell: Cell, planned: Planned) -> None:
        case = self._job.cases[str(planned.operation.case)]
        await self._warm_up(cell, case)
        if not self._stopping:
            await self._attempt(cell, planned, case)

    async def _warm_up(self, cell: Cell, case: Case) -> None:
        """Ask a cell that is cold something that nobody counts; kept like any attempt, never a result."""
        if not cell.starts_process("primary"):
            return
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
        disturbed = self._job.is_disturbed()
        left: Measurement | Validation
        with self._narrator.phase(PHASES[operation.kind], cell):
            try:
                command, refusal = cell.expected_command(operation, case), None
            except UnpassableError as error:
                command, refusal = {"form": "none", "steps": []}, str(error)
            attempt = begin_attempt(layout, operation, command)
            if counted:
                self._narrator.started(cell, planned, attempt.number)
            if refusal is not None:
                left = Validation("failed", "unpassable_query", refusal)
            elif self._stopping:
                left = Validation("stopped")
            else:
                left = await self._execute(cell, case, attempt)
            disturbed = disturbed or self._job.is_disturbed()
            index = self._indexes.get(cell.name)
            kept = await _to_its_end(
                asyncio.to_thread(_keep, cell, case, attempt, left, index, disturbed=disturbed)
            )
            if case is not None and cell.uses_session and kept.validation.status != "accepted":
                await self._executor.end_session(cell)  # it may be out of step with its requests
            if self._executor.lost and not self._stopping:
                raise _supervisor_lost(layout, operation)
        if counted:
            measurement = None if isinstance(left, Validation) else left
            self._narrator.attempted(cell, planned, attempt.number, measurement, kept.validation)
        return kept.result

    async def _execute(self, cell: Cell, case: Case | None, attempt: Attempt) -> Measurement | Validation:
        operation = attempt.operation
        if not cell.starts_process(operation.kind):
            return await asyncio.to_thread(cell.answer_without_process, operation, attempt.stdout)
        if case is None:
            return await self._executor.index(cell, attempt)
        return await self._executor.ask(cell, operation.kind, case, attempt)


class _Kept(NamedTuple):
    """How an attempt was judged, and its operation's result where it was accepted."""

    validation: Validation
    result: Result | None


def _keep(
    cell: Cell,
    case: Case | None,
    attempt: Attempt,
    left: Measurement | Validation,
    index: Result | None,
    *,
    disturbed: bool,
) -> _Kept:
    """Judge what an attempt left, publish it, and accept it where it may be: all that waits for the disk.

    `left` is the validation itself where nothing was started.
    """
    measured: dict[str, Any] = {"outcome": "not_started"}
    if isinstance(left, Validation):
        validation = left
    else:
        validation, measured = _judged(cell, case, attempt, left), left.to_json()
    if validation.status != "accepted" or attempt.operation.kind == WARM_UP:
        publish_attempt(attempt, measured, validation, disturbed=disturbed)
        return _Kept(validation, None)
    bound = Acceptance(cell.identity, index)
    return _Kept(
        validation,
        publish_accepted(cell.layout, attempt, measured, validation, bound, disturbed=disturbed),
    )


def _judged(cell: Cell, case: Case | None, attempt: Attempt, measurement: Measurement) -> Validation:
    """Judge an attempt, and undo what an index step wrote into the tree that others are asked about.

    Raises IdentityError where it did what cannot be undone.
    """
    validation = cell.judge(attempt.operation.kind, measurement, attempt, case)
    if cell.retriever.features.writes_repository:
        return validation
    if case is not None:
        if attempt.operation.kind == WARM_UP:
            demand_unchanged_tree(cell, f"{cell.candidate}, or a candidate asked before it,")
        return validation
    changed = restored_tree(cell)
    if changed is None or validation.status != "accepted":
        return validation
    message = f"the index step wrote into the repository: {changed}"
    return Validation("failed", "repository_changed", message)


async def _to_its_end(work: Awaitable[_Kept]) -> _Kept:
    """Wait for work in a thread also where this task is cancelled: a run's writer ends before its lock."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait({task})
        raise


async def follow(stream: EventStream) -> AsyncIterator[Event]:
    """Yield a stream's events up to the campaign's last."""
    while True:
        event = await stream.next()
        yield event
        if isinstance(event, CampaignFinished):
            return


def refused(layout: RunLayout, error: OSError) -> RunError:
    """Return the error that ends an execution to which the system refused something."""
    what, remedy = _REFUSALS.get(error.errno or 0, _REFUSAL)
    return RunError(
        f"{error.filename or layout.root}: {what}: {error.strerror or error}. "
        f"What was finished until now is kept; {remedy}, then resume the run: boresight resume {layout.root}"
    )


def _supervisor_lost(layout: RunLayout, operation: Operation) -> RunError:
    return RunError(
        f"{layout.root}: the process that supervises retrievers was killed during {operation}; "
        f"what was finished until now is kept: resume the run: boresight resume {layout.root}"
    )
