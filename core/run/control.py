"""The private socket in a run directory: how a person's other terminal speaks to a running engine."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import struct
from collections.abc import Awaitable, Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from core.errors import BoresightError

ANSWER_TIMEOUT_S = 5.0
MESSAGE_BYTES = 64 * 1024
NAME = ".control"

Handler = Callable[[str], Awaitable[Mapping[str, Any]]]


class NobodyListensError(BoresightError):
    """No engine answers for this run."""


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
    """Put one word to the engine of a run and return its answer.

    Raises NobodyListensError where no engine answers.
    """
    nobody = NobodyListensError(
        f"{run}: nobody listens: no engine is running this run now (`boresight runs` tells its state, "
        f"`boresight resume {run}` goes on with it)"
    )
    try:
        with _short_path(run) as path, socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(timeout_s)
            connection.connect(str(path))
            connection.sendall(json.dumps({"do": word}).encode() + b"\n")
            with connection.makefile("rb") as answers:
                line = answers.readline(MESSAGE_BYTES)
    except (FileNotFoundError, ConnectionError):
        raise nobody from None
    except TimeoutError:
        raise BoresightError(
            f"{run}: the engine did not answer within {timeout_s:g} s; it may be stalled: try again, or "
            "end its process"
        ) from None
    except OSError as error:
        raise BoresightError(f"{run}: its engine cannot be reached: {error.strerror or error}") from None
    if not line:
        raise nobody
    answer = json.loads(line)
    if not answer.get("ok"):
        raise BoresightError(f"{run}: {answer.get('problem', 'the engine refused')}")
    return dict(answer)


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
