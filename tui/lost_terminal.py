"""Ends the app when its terminal vanishes, also where no signal tells of that, and past stuck threads."""

from __future__ import annotations

import contextlib
import os
import select
import threading
import time
from collections.abc import Callable

from core.errors import Exit

PATIENCE_SECONDS = 10.0
LEAVING_SECONDS = 5.0


def watch_terminal(leave: Callable[[], object]) -> None:
    """Call `leave`, from a thread of its own, once this process's terminal is gone.

    What is still written goes nowhere from then on: a write to a terminal that is gone fails, which would end
    the thread that draws, and then the event loop would wait for it forever. Ends the process where it does
    not leave; the runs that it watched go on, as they have processes of their own.
    """
    terminals = [descriptor for descriptor in (0, 1, 2) if os.isatty(descriptor)]
    if terminals:
        watch = threading.Thread(target=_wait, args=(terminals, leave), name="terminal-watch", daemon=True)
        watch.start()


def last_moment(exit_code: Callable[[], int]) -> threading.Timer:
    """End the process a few seconds from now, unless cancelled: Python waits for each of its threads.

    One that reads from a disk that no longer answers would keep the person's terminal for ever.
    """

    def end() -> None:
        told = "boresight: left without waiting for something that it was reading\n"
        with contextlib.suppress(OSError):
            os.write(2, told.encode())
        os._exit(exit_code())

    timer = threading.Timer(LEAVING_SECONDS, end)
    timer.daemon = True
    timer.start()
    return timer


def _wait(terminals: list[int], leave: Callable[[], object]) -> None:
    poll = select.poll()
    poll.register(terminals[0], 0)  # a hang-up is told unasked
    while not any(event & (select.POLLHUP | select.POLLERR | select.POLLNVAL) for _, event in poll.poll()):
        pass
    nowhere = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    for descriptor in terminals:
        os.dup2(nowhere, descriptor)
    with contextlib.suppress(RuntimeError):  # the app has left meanwhile
        leave()
    time.sleep(PATIENCE_SECONDS)
    os._exit(Exit.STOPPED)
