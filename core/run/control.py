"""The private socket in a run directory: how a person's other terminal speaks to a running engine."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import struct
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from core.errors import BoresightError
from core.run.layout import RunLayout
from core.run.lock import holder_of, is_executed, pid_of
from core.text import printable

ANSWER_TIMEOUT_S = 5.0
MESSAGE_BYTES = 64 * 1024
NAME = ".control"
STATUS = "status"  # the word that only asks
_SHOWN_ANSWER = 120
_LONGEST_PROBLEM = 1000

Handler = Callable[[str], Awaitable[Mapping[str, Any]]]


class NobodyListensError(BoresightError):
    """No engine answers for this run."""


class UnreachableError(BoresightError):
    """An engine executes this run, and cannot be spoken to."""


class ControlServer:
    """Answers one JSON line per connection, `{"do": WORD}`, on a socket that only this user can reach."""

    def __init__(self, run: Path, handler: Handler) -> None:
        self._run = run
        self._handler = handler
        self._server: asyncio.Server | None = None

    async def start(self) -> None:
        """Listen; a socket that a killed engine left is replaced, since the caller holds the run's lock."""
        with _short_path(self._run) as path:
            with contextlib.suppress(FileNotFoundError):
                path.unlink()
            listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            listener.bind(str(path))
            path.chmod(0o600)
        self._server = await asyncio.start_unix_server(self._serve, sock=listener, limit=MESSAGE_BYTES)

    async def close(self) -> None:
        """Stop listening and take the socket away."""
        if self._server is not None:
            self._server.close()
            with contextlib.suppress(OSError):
                (self._run / NAME).unlink()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            if _peer(writer) == os.getuid():
                line = await asyncio.wait_for(reader.readline(), ANSWER_TIMEOUT_S)
                writer.write(json.dumps(await self._answer(line)).encode() + b"\n")
                await writer.drain()
        except (OSError, ValueError, TimeoutError):
            pass  # a peer that speaks nonsense, or left, gets no answer and harms nobody
        finally:
            writer.close()

    async def _answer(self, line: bytes) -> Mapping[str, Any]:
        try:
            word = json.loads(line)["do"]
        except (ValueError, KeyError, TypeError):
            return {"ok": False, "problem": "expected one JSON object with the key do"}
        return await self._handler(str(word))


def ask(run: Path, word: str, timeout_s: float = ANSWER_TIMEOUT_S) -> dict[str, Any]:
    """Put one word to the engine of a run and return its answer, within `timeout_s` in all.

    Raises NobodyListensError where no engine answers, and UnreachableError where one that does not answer
    executes the run; asked for its status, that is NobodyListensError too, as this is what was asked.
    Raises BoresightError where what answers is no engine, or refuses.
    """
    try:
        with _short_path(run) as path, socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            line = _exchange(connection, path, word, time.monotonic() + timeout_s)
    except (FileNotFoundError, ConnectionError):
        raise _unanswered(run, word) from None
    except TimeoutError:
        raise BoresightError(
            f"{run}: the engine did not answer within {timeout_s:g} s; it may be stalled: try again, or "
            "end its process"
        ) from None
    except OSError as error:
        raise BoresightError(f"{run}: its engine cannot be reached: {error.strerror or error}") from None
    if not line:
        raise _unanswered(run, word)
    answer = _parsed(run, line)
    if not answer.get("ok"):
        problem = printable(str(answer.get("problem", "the engine refused")), _LONGEST_PROBLEM)
        raise BoresightError(f"{run}: {problem}")
    return answer


def _exchange(connection: socket.socket, path: Path, word: str, deadline: float) -> bytes:
    """Send a word and return the line that comes back, or as much as came until the end or the bound."""
    _wait_until(connection, deadline)
    connection.connect(str(path))
    connection.sendall(json.dumps({"do": word}).encode() + b"\n")
    line = b""
    while b"\n" not in line and len(line) <= MESSAGE_BYTES:
        _wait_until(connection, deadline)
        part = connection.recv(MESSAGE_BYTES)
        if not part:
            break
        line += part
    return line.partition(b"\n")[0]


def _wait_until(connection: socket.socket, deadline: float) -> None:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    connection.settimeout(left)


def _parsed(run: Path, line: bytes) -> dict[str, Any]:
    try:
        answer = json.loads(line) if len(line) <= MESSAGE_BYTES else None
    except (ValueError, RecursionError):
        answer = None
    if not isinstance(answer, dict):
        told = printable(line[: 4 * _SHOWN_ANSWER].decode(errors="replace"), _SHOWN_ANSWER)
        raise BoresightError(
            f"{run}: what listens on its socket ({NAME}) answered {told!r}, which no engine of this version "
            f"says; {_by_signal(run)}"
        )
    return answer


def _unanswered(run: Path, word: str) -> BoresightError:
    """Return the error that nobody answers: an engine that runs all the same must not be called absent."""
    if not is_executed(RunLayout(run).lock):
        return NobodyListensError(
            f"{run}: nobody listens: no engine is running this run now (`boresight runs` tells its state, "
            f"`boresight resume {run}` goes on with it)"
        )
    kind = NobodyListensError if word == STATUS else UnreachableError
    return kind(
        f"{run}: nobody listens on its socket ({NAME}), which is gone or not yet there, but the run is being "
        f"executed; where it has just begun or is about to end, try again; else {_by_signal(run)}"
    )


def _by_signal(run: Path) -> str:
    """Return how to stop a run's engine without its socket."""
    holder = _living_pid(RunLayout(run).lock)
    if holder is None:
        return "end the process that executes the run with SIGTERM, which stops it cleanly"
    return f"its engine is process {holder}, and SIGTERM stops it cleanly: `kill {holder}`"


def _living_pid(lock: Path) -> int | None:
    """Return the process that a lock file names, where that process has it open: ids are used again."""
    pid = pid_of(holder_of(lock))
    try:
        names = list(Path(f"/proc/{pid}/fd").iterdir())
    except OSError:
        return None
    for name in names:
        with contextlib.suppress(OSError):  # closed meanwhile
            if name.samefile(lock):
                return pid
    return None


@contextlib.contextmanager
def _short_path(run: Path) -> Iterator[Path]:
    """Give the socket's path through a descriptor, as a socket's own name holds 108 bytes at most."""
    descriptor = os.open(run, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield Path(f"/proc/self/fd/{descriptor}", NAME)
    finally:
        os.close(descriptor)


def _peer(writer: asyncio.StreamWriter) -> int:
    raw = writer.get_extra_info("socket").getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
    return int(struct.unpack("3i", raw)[1])
