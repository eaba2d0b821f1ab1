"""One campaign measures on a machine at a time: others wait for it, or run beside it and both are marked.

The mark is an abstract Unix socket: one name a machine, for all its users, that the kernel gives back
however its holder ends. Whoever runs beside the holder stays connected to it, so that both know.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket

NAME = "\0boresight-campaign"


class Machine:
    """This process's place among the campaigns of this machine."""

    def __init__(self) -> None:
        self._name = NAME
        self._server: asyncio.Server | None = None
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
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            listener.bind(self._name)
        except OSError:
            listener.close()
            return False
        self._server = await asyncio.start_unix_server(self._welcome, sock=listener)
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
        if self._server is not None:
            self._server.close()
            self._server = None

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
