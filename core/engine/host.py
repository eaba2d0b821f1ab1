"""Hosts an engine in this process, from a run's lock to its report: events out, words and signals in."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import signal
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any, NamedTuple

from core.campaign.jobs import OpenRun
from core.durable import write_durably
from core.engine.cell import make_cells
from core.engine.engine import Engine, Job, follow, refused
from core.engine.machine import Machine, holder
from core.errors import BoresightError, Exit, is_thread_refusal
from core.progress import LineDisplay
from core.reports.verdict import headline_text
from core.rescoring import rescore
from core.run.control import ControlServer
from core.run.events import (
    LONGEST_PATH,
    Event,
    EventLog,
    EventStream,
    Holder,
    SourceFrozen,
    State,
    holder_text,
)
from core.text import printable

OnEvent = Callable[[Event], None]
_BESIDE = "until that has ended; `boresight continue --together RUN` lets it run beside, and both are marked"


class Ended(NamedTuple):
    """How executing a run ended; `unaccepted` counts planned operations without an accepted result."""

    state: State
    unaccepted: int
    headline: str = ""  # the verdict in sentences, a line each

    @property
    def exit_code(self) -> Exit:
        """The exit code of the command that hosted it."""
        if self.state == "interrupted":
            return Exit.STOPPED
        return Exit.NEGATIVE if self.unaccepted or self.state == "failed" else Exit.DONE


async def execute(
    run: OpenRun,
    on_event: OnEvent = lambda event: None,
    *,
    together: bool = False,
    signals: bool = False,
) -> Ended:
    """Execute an open run to its end, score it, write `exit-status`, and release its lock.

    Every event is handed to `on_event`. While another campaign measures on this machine the run waits,
    unless `together`: then both are marked as disturbed. Others steer it through its control socket
    (`core.run.control.ask`). With `signals`, SIGINT, SIGTERM and SIGHUP stop it cleanly: the child under way
    is killed, its attempt kept; a second one forces the end. Cancelling this coroutine does the same.
    Raises BoresightError; what was published until then is whole.
    """
    status = Exit.STOPPED
    try:
        with contextlib.closing(EventLog(run.layout.events)) as log:
            ended = await _Host(run, log, together=together, signals=signals).run(on_event)
    except OSError as error:
        status = Exit.NEGATIVE
        raise refused(run.layout, error) from error
    except RuntimeError as error:
        if not is_thread_refusal(error):
            raise
        status = Exit.NEGATIVE
        raise refused(run.layout, BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))) from error
    except BoresightError as error:
        status = error.exit_code
        raise
    else:
        status = ended.exit_code
        return ended
    finally:
        with contextlib.suppress(OSError):
            write_durably(run.layout.exit_status, f"{int(status)}\n".encode())
        run.lock.release()


def make_job(run: OpenRun, host: _Host) -> Job:
    """Return what the engine executes: every cell of a run with its retriever and its place."""
    return Job(
        name=run.record.about["name"],
        identity=run.record.identity,
        layout=run.layout,
        cells=make_cells(run.record, run.retrievers),
        plan=run.plan,
        cases={case.id: case for case in run.bank.cases},
        limits=run.limits,
        lock_descriptor=run.lock.descriptor,
        admitted=host.admitted,
        holder=holder,
        is_disturbed=host.is_disturbed,
        score=host.score,
        resumed=run.resumed,
        only=run.only,
    )


class _Host:
    def __init__(self, run: OpenRun, log: EventLog, *, together: bool, signals: bool) -> None:
        self._run = run
        self._log = log
        self._machine = Machine(self.told)
        self._together = together
        stopping = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP) if signals else ()
        # What was ignored on purpose, as by nohup, stays ignored.
        self._signals = [number for number in stopping if signal.getsignal(number) != signal.SIG_IGN]
        self._unaccepted = 0
        self._headline = ""
        self._engine = Engine(make_job(run, self), log)
        self._task = asyncio.current_task()
        self._stops: set[asyncio.Task[None]] = set()

    async def run(self, on_event: OnEvent) -> Ended:
        with _console(self._run.layout.console) as stream:
            readers = [
                asyncio.create_task(_hand_on(self._engine.subscribe(), show))
                for show in (on_event, *([LineDisplay(stream).show] if stream else []))
            ]
            try:
                self._tell_frozen()
                async with self._listening():
                    state = await self._engine.execute()
            finally:
                await self._machine.close()
                # The last event ends them; where it could not be told, nothing else would.
                _, unended = await asyncio.wait(readers, timeout=1.0)
                for reader in unended:
                    reader.cancel()
        return Ended(state, self._unaccepted, self._headline)

    async def admitted(self) -> bool:
        """Whether measuring may begin: no other campaign runs here, or it is meant to run beside one."""
        if self._together:
            await self._machine.join()
            return True
        return await self._machine.try_own()

    def told(self) -> Holder:
        """Return what campaigns that wait for this one may know of it."""
        path = printable(str(self._run.layout.root))[:LONGEST_PATH]
        return Holder(run=path, pid=os.getpid(), progress=self._engine.progress)

    def is_disturbed(self) -> bool:
        """Whether another campaign runs on this machine now."""
        return self._machine.disturbed

    def score(self) -> None:
        """Derive the reports, and count what is missing from them."""
        rescored = rescore(self._run.layout.root, write=True)
        self._unaccepted = rescored.unaccepted
        self._headline = headline_text(rescored.board)

    @contextlib.asynccontextmanager
    async def _listening(self) -> AsyncIterator[None]:
        server = ControlServer(self._run.layout.root, self._answer)
        await server.start()
        try:
            with self._stopped_by_signals():
                yield
        finally:
            await server.close()

    async def _answer(self, word: str) -> Mapping[str, Any]:
        engine = self._engine
        if word == "pause":
            engine.pause()
        elif word == "continue":
            engine.go_on()
            if engine.state == "waiting" and not self._together:
                return {"ok": False, "problem": f"waits for {holder_text(engine.waits_for)} {_BESIDE}"}
        elif word == "together":
            if engine.state != "waiting":
                return {"ok": False, "problem": f"it waits for no other campaign: it is {engine.state}"}
            self._together = True
        elif word in {"stop", "stop-now"}:
            self._stop(force=word == "stop-now")
        elif word != "status":
            return {"ok": False, "problem": f"unknown word {word[:40]!r}"}
        waits = {"waits_for": engine.waits_for.model_dump()} if engine.waits_for is not None else {}
        return {
            "ok": True,
            "pid": os.getpid(),
            "state": engine.state,
            **waits,
            **engine.progress.model_dump(),
        }

    def _stop(self, force: bool = False) -> None:
        if (force or self._stops) and self._task is not None:
            self._task.cancel()
        self._stops.add(asyncio.create_task(self._engine.stop()))

    @contextlib.contextmanager
    def _stopped_by_signals(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        for number in self._signals:
            loop.add_signal_handler(number, self._stop)
        try:
            yield
        finally:
            for number in self._signals:
                loop.remove_signal_handler(number)

    def _tell_frozen(self) -> None:
        for source in self._run.frozen:
            self._log.emit(
                SourceFrozen(
                    repository=source.label, commit=source.commit, files=source.files, bytes=source.bytes
                )
            )


@contextlib.contextmanager
def _console(path: Path) -> Iterator[IO[str] | None]:
    """Open the console's log; where it cannot be written the run goes on, as the events tell the same."""
    try:
        stream = open(path, "a", encoding="utf-8", errors="replace")  # noqa: SIM115  # closed below
    except OSError:
        yield None
        return
    try:
        yield stream
    finally:
        with contextlib.suppress(OSError):
            stream.close()


async def _hand_on(stream: EventStream, on_event: OnEvent) -> None:
    async for event in follow(stream):
        try:
            on_event(event)
        except OSError:  # a terminal that went away, which must not end the campaign
            return
