"""The engine's side of the supervisor: start it, have it run things, learn what they cost.

One operation runs at a time. Whatever happens to the engine's task, to the engine or to the
supervisor, no process that was started here is left behind.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple

from core.engine.environment import child_environment
from core.engine.system import kill_marked, refuse_unfit_system
from core.errors import InputError
from core.retrievers.protocol import Step
from core.run.measurement import Measurement, SpawnError, utc_stamp

__all__ = ["Limits", "Measurement", "Sample", "Session", "Supervisor", "child_environment", "kill_marked"]

PROGRAM = Path(__file__).resolve().with_name("supervisor.py")
START_TIMEOUT_S = 30.0
START_SESSION_S = 60.0  # until the program is its own; loading a model is paid by the first answer
CLOSE_GRACE_S = 2.0  # from the end of a session's input to SIGKILL
CLOSE_TIMEOUT_S = 30.0  # beyond the time that the supervisor gives what it kills
MESSAGE_BYTES = 1 << 20


class Limits(NamedTuple):
    """What ends an operation: seconds from its start, and bytes of stdout and stderr together."""

    timeout_s: float
    max_output_bytes: int


class Sample(NamedTuple):
    """The operation in progress, at most once a second: its process tree's resident bytes now and at most."""

    rss_bytes: int
    peak_bytes: int
    elapsed_s: float


OnSample = Callable[[Sample], None]


class Session:
    """One process that answers a line per request; made by `Supervisor.open_session`."""

    def __init__(self, supervisor: Supervisor, number: int, opened: Measurement) -> None:
        self._supervisor = supervisor
        self._number = number
        self._opened = opened
        self._alive = opened.outcome == "answered"

    @property
    def alive(self) -> bool:
        """Whether it may be asked again. A failed start, a crash or a wrong line ends a session."""
        return self._alive and self._supervisor.alive

    async def ask(
        self, line: bytes, stdout: Path, stderr: Path, limits: Limits, on_sample: OnSample | None = None
    ) -> Measurement:
        """Send one line, without its newline, and keep the raw answer and stderr in two new files.

        stderr holds what arrived since the last answer. A session that could not be started answers its
        first request with outcome `spawn_failed`. Raises OSError where a file cannot be made or written
        (the session is then ended), RuntimeError for a session that is not alive, ValueError for a line
        with a newline inside.
        """
        if b"\n" in line:
            raise ValueError("a request is one line")
        if self._opened.outcome != "answered":
            _make_empty(stdout)
            _make_empty(stderr)
            return self._opened
        if not self.alive:
            raise RuntimeError("the session has ended: open another")
        message = {
            "do": "ask",
            "session": self._number,
            "line": line.decode("latin-1"),
            "stdout": _full(stdout),
            "stderr": _full(stderr),
            "timeout_s": limits.timeout_s,
            "max_output_bytes": limits.max_output_bytes,
        }
        self._alive = False  # also where this is cancelled
        measurement = await self._supervisor._operate(message, on_sample)
        self._alive = measurement.outcome == "answered"
        return measurement

    async def close(self) -> Measurement | None:
        """End the process: end of its input, 2 s, then SIGKILL.

        Returns the measurement of the session's whole life, with the kernel's peak and CPU time, or None
        where it had ended before.
        """
        if not self.alive:
            return None
        self._alive = False
        return await self._supervisor._operate(
            {"do": "close", "session": self._number, "timeout_s": CLOSE_GRACE_S}, None
        )


class Supervisor:
    """The one process that starts and reaps retrievers."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._complaints: IO[bytes] | None = None
        self._token = ""
        self._number = 0
        self._reader: asyncio.Task[None] | None = None
        self._writer: asyncio.StreamWriter | None = None
        self._ready: asyncio.Future[dict[str, Any]] | None = None
        self._reply: asyncio.Future[dict[str, Any]] | None = None  # of the operation in progress
        self._on_sample: OnSample | None = None

    @property
    def alive(self) -> bool:
        """Whether operations can be started; after a loss `start` may be called again."""
        return self._writer is not None

    @property
    def pid(self) -> int | None:
        """The supervisor's process id while it is alive."""
        return self._process.pid if self._process and self.alive else None

    async def start(self, lock_fd: int | None, token: str) -> None:
        """Start the process, which holds `lock_fd` (an flock) for as long as it or a retriever lives.

        `token` is unique to this run of the engine and free of spaces; it marks every process that is
        started. Raises InputError on a system that cannot run one.
        """
        if self.alive:
            raise RuntimeError("the supervisor is already running")
        refuse_unfit_system()
        self._token = token
        ours = self._spawn(lock_fd)
        reader, self._writer = await asyncio.open_unix_connection(sock=ours, limit=MESSAGE_BYTES)
        self._ready = asyncio.get_running_loop().create_future()
        self._reader = asyncio.create_task(self._listen(reader), name="supervisor messages")
        try:
            async with asyncio.timeout(START_TIMEOUT_S):
                message = await asyncio.shield(self._ready)
        except BaseException:
            await self.close()
            raise
        if message["type"] != "ready":
            raise InputError(f"the process supervisor could not start: {message['text']}")

    def _spawn(self, lock_fd: int | None) -> socket.socket:
        ours, theirs = socket.socketpair()
        with contextlib.ExitStack() as stack, theirs:
            stack.callback(ours.close)
            lock = -1 if lock_fd is None else lock_fd
            words = [str(PROGRAM), str(theirs.fileno()), str(lock), str(os.getpid()), self._token]
            complaints = stack.enter_context(tempfile.TemporaryFile())  # read when it is lost
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-X", "utf8", *words],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=complaints,
                pass_fds=[theirs.fileno(), *([] if lock_fd is None else [lock_fd])],
                start_new_session=True,
                env={name: os.environ[name] for name in ("LD_LIBRARY_PATH",) if name in os.environ},
            )
            self._complaints = complaints
            stack.pop_all()
        return ours

    async def run(
        self,
        steps: Sequence[Step],
        environment: Mapping[str, str],
        stdout: Path,
        stderr: Path,
        limits: Limits,
        on_sample: OnSample | None = None,
    ) -> Measurement:
        """Run commands one after another, up to the first that fails, appending to two new files.

        `environment` is complete; each step's own is added to it. The timeout spans all steps. Raises
        OSError where a file cannot be made. When this task is cancelled the commands are killed first.
        """
        message = {
            "do": "run",
            "steps": [_step(step, environment) for step in steps],
            "stdout": _full(stdout),
            "stderr": _full(stderr),
            "timeout_s": limits.timeout_s,
            "max_output_bytes": limits.max_output_bytes,
        }
        return await self._operate(message, on_sample)

    async def open_session(self, step: Step, environment: Mapping[str, str], stderr: Path) -> Session:
        """Start a session whose whole stderr goes to a new file; a failed start shows in its first answer.

        Returns once the program runs: that it is ready shows by its first answer, so the first request
        should be one that is thrown away. Raises OSError where the file cannot be made.
        """
        number = self._number + 1
        message = {
            "do": "open",
            "session": number,
            "steps": [_step(step, environment)],
            "stderr": _full(stderr),
            "timeout_s": START_SESSION_S,
        }
        return Session(self, number, await self._operate(message, None))

    async def stop(self) -> None:
        """Kill the operation in progress, if any; it returns with outcome `stopped`."""
        if self._reply and not self._reply.done():
            self._send({"do": "stop", "id": self._number})
            await asyncio.wait({self._reply})

    async def close(self) -> None:
        """Kill everything and end the supervisor; returns when nothing is left."""
        writer, self._writer = self._writer, None
        if writer:
            writer.write_eof()  # what it has still to say is read to its end
        if self._reader and self._process:
            _, waiting = await asyncio.wait({self._reader}, timeout=CLOSE_TIMEOUT_S)
            if waiting:
                self._process.kill()
                await asyncio.wait(waiting)
            self._reader = None
        if writer:
            writer.close()

    async def _operate(self, message: dict[str, Any], on_sample: OnSample | None) -> Measurement:
        if not self.alive:
            raise RuntimeError("the supervisor is not running: start it again")
        if self._reply and not self._reply.done():
            raise RuntimeError("one operation at a time: another is in progress")
        self._number += 1
        self._on_sample = on_sample
        reply = self._reply = asyncio.get_running_loop().create_future()
        asked_ns, asked_wall_ns = time.monotonic_ns(), time.time_ns()
        self._send({**message, "id": self._number})
        try:
            answer = await asyncio.shield(reply)
        except asyncio.CancelledError:
            await self.stop()
            raise
        finally:
            self._on_sample = None
        if answer["type"] == "lost":
            return Measurement(utc_stamp(asked_wall_ns), asked_ns, answer["noticed_ns"], "supervisor_lost")
        if answer["type"] == "error":
            raise OSError(answer["errno"], os.strerror(answer["errno"]), answer["path"])
        return _measurement(answer["measurement"])

    def _send(self, message: Mapping[str, Any]) -> None:
        if self._writer:
            self._writer.write(json.dumps(message).encode() + b"\n")

    async def _listen(self, reader: asyncio.StreamReader) -> None:
        """Hand on the supervisor's messages until it is gone, then see to it that nothing is left."""
        with contextlib.suppress(ConnectionError):
            while line := await reader.readline():
                self._take(json.loads(line))
        noticed_ns = time.monotonic_ns()
        if self._writer:
            self._writer.close()
            self._writer = None
        process, complaints = self._process, self._complaints
        if not process or not complaints:
            return
        await asyncio.to_thread(process.wait)
        if process.returncode:
            await asyncio.to_thread(kill_marked, self._token)
        with complaints:
            complaints.seek(0)
            words = complaints.read()[-2000:].decode(errors="replace").strip()
        text = words or f"it ended with status {process.returncode}"
        lost = {"type": "lost", "noticed_ns": noticed_ns, "text": text}
        for waiting in (self._ready, self._reply):
            if waiting and not waiting.done():
                waiting.set_result(lost)

    def _take(self, message: dict[str, Any]) -> None:
        waiting = self._ready if message["type"] == "ready" else self._reply
        if message["type"] == "sample":
            if self._on_sample and message["id"] == self._number:
                sample = Sample(message["rss"], message["peak"], message["elapsed_s"])
                asyncio.get_running_loop().call_soon(self._on_sample, sample)
        elif waiting and not waiting.done():
            waiting.set_result(message)


def _step(step: Step, environment: Mapping[str, str]) -> dict[str, Any]:
    return {"argv": list(step.argv), "cwd": str(step.cwd), "env": {**environment, **step.environment}}


def _full(path: Path) -> str:
    return str(path.absolute())


def _make_empty(path: Path) -> None:
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))


def _measurement(fields: dict[str, Any]) -> Measurement:
    error = fields.pop("spawn_error")
    started_at = utc_stamp(fields.pop("started_wall_ns"))
    return Measurement(started_at=started_at, spawn_error=SpawnError(**error) if error else None, **fields)
