"""One line of progress on stderr for work that has no events: redrawn on a terminal, else now and then."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import TextIO

REDRAW_SECONDS = 0.1
LINE_SECONDS = 15.0


class Ticker:
    """Shows the newest of many lines; use it in a `with`, so that the screen is left clean.

    `clock` gives seconds that only rise.
    """

    def __init__(
        self,
        stream: TextIO | None = None,
        *,
        quiet: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._quiet = quiet
        self._clock = clock
        self._redraws = self._stream.isatty()
        self._every = REDRAW_SECONDS if self._redraws else LINE_SECONDS
        self._said_at = clock()
        self._drawn = False

    def tell(self, line: Callable[[], str]) -> None:
        """Show a line where it is time for one."""
        now = self._clock()
        if self._quiet or now - self._said_at < self._every:
            return
        self._said_at = now
        self._drawn = self._redraws
        self._stream.write(f"\r\x1b[K{line()}" if self._redraws else f"{line()}\n")
        self._stream.flush()

    def __enter__(self) -> Ticker:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._drawn:
            self._stream.write("\r\x1b[K")
            self._stream.flush()
