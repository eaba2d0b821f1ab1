"""Starts what an operation needs, as a command of its own or as a line to the cell's session."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from core.banks.case import Case
from core.campaign.manifest import Limits
from core.campaign.sources import FrozenSource, copy_frozen, read_frozen, restore_frozen, verify_frozen
from core.engine import processes
from core.engine.cell import Cell
from core.engine.processes import Sample, Session, Supervisor, child_environment
from core.engine.remains import end_remains, note_token
from core.errors import IdentityError
from core.retrievers.protocol import Step
from core.run.evidence import Attempt
from core.run.layout import INDEX, STATE_ATTEMPT, Operation
from core.run.measurement import Measurement


class Executor:
    """The supervisor and the sessions of one engine."""

    def __init__(self, limits: Limits, mark: Path, on_sample: Callable[[Sample], None]) -> None:
        self._limits = limits
        self._mark = mark
        self._on_sample = on_sample
        self._supervisor = Supervisor()
        self._marked = False
        self._sessions: dict[str, Session] = {}

    async def start(self, lock_descriptor: int | None) -> None:
        """End what an earlier execution left running; start the supervisor, which inherits the run's lock."""
        await asyncio.to_thread(end_remains, self._mark)
        token = secrets.token_hex(16)
        self._marked = True
        note_token(self._mark, token)
        await self._supervisor.start(lock_descriptor, token)

    @property
    def lost(self) -> bool:
        """Whether the supervisor died: nothing more can be started."""
        return not self._supervisor.alive

    async def index(self, cell: Cell, attempt: Attempt) -> Measurement:
        """Build a cell's index."""
        return await self._supervisor.run(
            cell.index_steps(),
            _environment(cell, cell.index_steps()),
            attempt.stdout,
            attempt.stderr,
            self._bounds(self._limits.index_timeout),
            self._on_sample,
        )

    async def ask(self, cell: Cell, kind: str, case: Case, attempt: Attempt) -> Measurement:
        """Put one query or probe to a cell."""
        bounds = self._bounds(self._limits.query_timeout)
        if cell.uses_session:
            session = await self._session(cell)
            request = cell.request(kind, case.channel, case.query)
            return await session.ask(request, attempt.stdout, attempt.stderr, bounds, self._on_sample)
        step = cell.query_step(kind, case.channel, case.query)
        return await self._supervisor.run(
            [step], _environment(cell, [step]), attempt.stdout, attempt.stderr, bounds, self._on_sample
        )

    async def end_session(self, cell: Cell) -> None:
        """End a cell's session, which is out of step: its next query starts another."""
        session = self._sessions.pop(cell.name, None)
        if session is not None:
            await session.close()

    def is_cold(self, cell: Cell) -> bool:
        """Whether a cell's next query would start its session."""
        session = self._sessions.get(cell.name)
        return cell.uses_session and (session is None or not session.alive)

    async def stop(self) -> None:
        """Kill the operation under way."""
        await self._supervisor.stop()

    async def close_sessions(self) -> None:
        """End all sessions, each given a moment to do so by itself."""
        for name in list(self._sessions):
            await self._sessions.pop(name).close()

    async def close(self) -> None:
        """Kill what is left and end the supervisor."""
        self._sessions.clear()
        await self._supervisor.close()
        if self._marked:
            with contextlib.suppress(OSError):
                self._mark.unlink()

    def _bounds(self, timeout_s: float) -> processes.Limits:
        return processes.Limits(timeout_s, self._limits.max_output_bytes)

    async def _session(self, cell: Cell) -> Session:
        session = self._sessions.get(cell.name)
        if session is not None and session.alive:
            return session
        if session is not None:
            await session.close()
        folder = cell.layout.operations / cell.candidate / cell.repository / "session"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        taken = [int(path.name.rpartition("-")[2]) for path in folder.glob("stderr-[0-9]*")]
        number = 1 + max(taken, default=0)
        step = cell.session_step()
        session = await self._supervisor.open_session(
            step, _environment(cell, [step]), folder / f"stderr-{number:04d}"
        )
        self._sessions[cell.name] = session
        return session


def prepare_state(cell: Cell) -> None:
    """Give a cell's next index attempt an empty state, with a copy of the tree where it is written into.

    Raises OSError.
    """
    state = cell.place.state
    if state.exists():
        shutil.rmtree(state)
    state.mkdir(parents=True, mode=0o700)
    number = 1 + max(cell.layout.attempts(Operation(cell.candidate, cell.repository, INDEX)), default=0)
    (state / STATE_ATTEMPT).write_text(f"{number}\n")
    for folder in (_home(cell), _temporary(cell)):
        folder.mkdir(mode=0o700)
    if cell.retriever.features.writes_repository:
        copy_frozen(cell.layout.repositories, cell.repository, cell.place.repository)


def restored_tree(cell: Cell) -> str | None:
    """Undo what was added to a cell's frozen tree; return what was found changed, None where nothing was.

    Raises IdentityError where tracked files were changed, which cannot be undone.
    """
    found, remaining = restore_frozen(cell.layout.repositories, _source(cell))
    if remaining:
        raise IdentityError(
            f"{cell.layout.source(cell.repository)}: {cell.candidate} changed the frozen sources while it "
            f"indexed them ({_told(cell, remaining)}), so that nobody can go on with this run. Begin a new "
            "one without that candidate, or with its retriever declared as one that writes there"
        )
    return "; ".join(found[:5]) if found else None


def demand_unchanged_tree(cell: Cell, culprit: str) -> None:
    """Raise IdentityError, which names `culprit`, where a cell's frozen tree is not what was frozen.

    Unlike what an index step adds, this is not undone: answers were given about it already.
    """
    found = verify_frozen(cell.layout.repositories, _source(cell))
    if found:
        raise IdentityError(
            f"{cell.layout.source(cell.repository)}: {culprit} changed the frozen sources while it answered "
            f"queries ({_told(cell, found)}), so that answers are about other files than those that were "
            "frozen, and nobody can go on with this run. Begin a new one without it, or with its retriever "
            "declared as one that writes there"
        )


def _source(cell: Cell) -> FrozenSource:
    source = read_frozen(cell.layout.repositories, cell.repository)
    if source is None:
        gone = cell.layout.source(cell.repository)
        raise IdentityError(f"{gone}: the frozen tree is gone; begin a new run")
    return source


def _told(cell: Cell, differences: Sequence[str]) -> str:
    if cell.private:
        return f"{len(differences)} files differ; a private repository's paths are not told"
    return "; ".join(differences[:3])


def _environment(cell: Cell, steps: Sequence[Step]) -> Mapping[str, str]:
    secrets = sorted({name for step in steps for name in step.secrets})
    return child_environment({}, _home(cell), _temporary(cell), secrets)


def _home(cell: Cell) -> Path:
    return cell.place.state / "home"


def _temporary(cell: Cell) -> Path:
    return cell.place.state / "tmp"
