"""Hosts an engine in this process: gives it a run, hands its events on, turns signals into stops."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Callable, Iterator, Sequence

from core.campaign.jobs import OpenRun
from core.campaign.places import cell_place
from core.campaign.sources import FrozenSource
from core.engine.cell import Cell
from core.engine.engine import Engine, Job, follow
from core.run.events import Event, EventLog, SourceFrozen, State

OnEvent = Callable[[Event], None]


def make_job(run: OpenRun, resumed: bool) -> Job:
    """Return what the engine executes: every cell of a run with its retriever and its place."""
    record = run.record
    depth = max(record.controls["cutoffs"])
    cells = {}
    for label in record.repositories:
        for name in record.candidates:
            retriever = run.retrievers[name]
            place = cell_place(record.layout, name, label, retriever)
            cell = Cell(name, label, record.cell(name, label), retriever, record.layout, place, depth)
            cells[cell.name] = cell
    return Job(
        name=record.about["name"],
        identity=record.identity,
        layout=record.layout,
        cells=cells,
        plan=run.plan,
        cases={case.id: case for case in run.bank.cases},
        limits=run.limits,
        lock_descriptor=run.lock.descriptor,
        resumed=resumed,
    )


async def execute(
    run: OpenRun,
    on_event: OnEvent = lambda event: None,
    *,
    resumed: bool = False,
    frozen: Sequence[FrozenSource] = (),
) -> State:
    """Execute an open run to its end and release its lock; `frozen` are the sources to tell of first.

    SIGINT, SIGTERM and SIGHUP stop it cleanly where this is the main thread: the child under way is
    killed, its attempt kept. A second signal forces the end. Raises BoresightError.
    """
    try:
        log = EventLog(run.layout.events)
        try:
            engine = Engine(make_job(run, resumed), log)
            reader = asyncio.create_task(_hand_on(engine, on_event))
            for source in frozen:
                log.emit(
                    SourceFrozen(
                        repository=source.label, commit=source.commit, files=source.files, bytes=source.bytes
                    )
                )
            with _stopped_by_signals(engine):
                state = await engine.execute()
            await reader
            return state
        finally:
            log.close()
    finally:
        run.lock.release()


async def _hand_on(engine: Engine, on_event: OnEvent) -> None:
    async for event in follow(engine.subscribe()):
        on_event(event)


@contextlib.contextmanager
def _stopped_by_signals(engine: Engine) -> Iterator[None]:
    loop = asyncio.get_running_loop()
    task = asyncio.current_task()
    stops: list[asyncio.Task[None]] = []

    def stop() -> None:
        if stops and task is not None:
            task.cancel()
        stops.append(loop.create_task(engine.stop()))

    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    taken = []
    for number in numbers:
        with contextlib.suppress(ValueError, RuntimeError):  # not the main thread: its owner stops the engine
            loop.add_signal_handler(number, stop)
            taken.append(number)
    try:
        yield
    finally:
        for number in taken:
            loop.remove_signal_handler(number)
