"""One campaign measures on a machine at a time: others wait for it, or run beside it and both are marked.

The mark is an abstract Unix socket: one name a machine, for all its users, that the kernel gives back
however its holder ends. Whoever runs beside the holder stays connected to it, so that both know.
A second socket answers the holder's own user, in one JSON line, what it executes: asking there disturbs
nobody. A holder that has none, or another user's, stays unnamed.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import struct
from collections.abc import Callable
from pathlib import Path

from pydantic import ValidationError

from core.run.events import Holder, holder_text

VARIABLE = "BORESIGHT_MACHINE"  # gives campaigns that are no measurement, such as tests, a mark of their own
MARK = "boresight-campaign"
ANSWER_BYTES = 8 * 1024
ANSWER_TIMEOUT_S = 0.5
_LONGEST_MARK = 90  # bytes: a socket's name holds 108


def mark() -> str:
    """Return the name of the socket that stands for this machine; child processes inherit it."""
    return "\0" + os.fsdecode(os.fsencode(os.environ.get(VARIABLE) or MARK)[:_LONGEST_MARK])


async def holder() -> Holder | None:
    """Return what the campaign that owns this machine says of itself.

    None where nobody owns it, where its owner is another user's or says nothing, or in time nothing sensible.
    """
    writer = None
    try:
        async with asyncio.timeout(ANSWER_TIMEOUT_S):
            reader, writer = await asyncio.open_unix_connection(_asked(mark()), limit=ANSWER_BYTES)
            if _user(writer) != os.getuid():
                return None
            return Holder.model_validate_json(await reader.readline())
    except (OSError, ValueError, ValidationError):  # a line that is too long is a ValueError
        return None
    finally:
        if writer is not None:
            writer.close()


def measuring() -> str | None:
    """Say which campaign measures on this machine now; None where none does. Not for an event loop."""
    try:
        # Connecting to the mark would be to run beside its holder, for a moment.
        names = [line.rpartition(b" ")[2] for line in Path("/proc/net/unix").read_bytes().splitlines()]
    except OSError:
        return None
    shown = os.fsencode(mark()).replace(b"\0", b"@")
    return holder_text(asyncio.run(holder())) if shown in names else None


class Machine:
    """This process's place among the campaigns of this machine; `tell` says what it executes."""

    def __init__(self, tell: Callable[[], Holder] | None = None) -> None:
        self._name = mark()
        self._tell = tell
        self._server: asyncio.Server | None = None
        self._answers: asyncio.Server | None = None
        self._guests = 0
        self._host: asyncio.StreamWriter | None = None
        self._watch: asyncio.Task[None] | None = None
        self._placed = asyncio.Event()

    @property
    def disturbed(self) -> bool:
        """Whether another campaign runs on this machine now."""
        return self._guests > 0 or self._host is not None

    async def try_own(self) -> bool:
        """Become the machine's one campaign; False while another is."""
        listener = _bound(self._name)
        if listener is None:
            return False
        self._server = await asyncio.start_unix_server(self._welcome, sock=listener)
        answers = _bound(_asked(self._name)) if self._tell is not None else None
        if answers is not None:
            self._answers = await asyncio.start_unix_server(self._answer, sock=answers)
        self._placed.set()
        return True

    async def join(self) -> None:
        """Run beside the campaign that owns the machine, or own it as soon as that one ends."""
        self._watch = asyncio.create_task(self._stay_joined(), name="machine watch")
        await self._placed.wait()

    async def close(self) -> None:
        """Leave the machine to others."""
        if self._watch is not None:
            self._watch.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._watch
        if self._host is not None:
            self._host.close()
            self._host = None
        for server in (self._answers, self._server):
            if server is not None:
                server.close()
        self._answers = self._server = None

    async def _stay_joined(self) -> None:
        while not await self.try_own():
            try:
                reader, self._host = await asyncio.open_unix_connection(self._name)
                self._placed.set()
                await reader.read()  # ends with the campaign that owns the machine
            except OSError:
                await asyncio.sleep(0.05)
            finally:
                if self._host is not None:
                    self._host.close()
                    self._host = None

    async def _welcome(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._guests += 1
        try:
            # Cancelled when the loop ends; asyncio of Python 3.11 prints a traceback for a task that ends so.
            with contextlib.suppress(OSError, asyncio.CancelledError):
                await reader.read()
        finally:
            self._guests -= 1
            writer.close()

    async def _answer(self, _: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            if self._tell is not None and _user(writer) == os.getuid():
                writer.write(self._tell().model_dump_json().encode() + b"\n")
                async with asyncio.timeout(ANSWER_TIMEOUT_S):
                    await writer.drain()
        except OSError:  # whoever asked has left
            pass
        finally:
            writer.close()


def _asked(name: str) -> str:
    return name + ".holder"


def _bound(name: str) -> socket.socket | None:
    """Return a socket with this name, None where another has it."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        listener.bind(name)
    except OSError:
        listener.close()
        return None
    return listener


def _user(writer: asyncio.StreamWriter) -> int:
    raw = writer.get_extra_info("socket").getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
    return int(struct.unpack("3i", raw)[1])
