"""Hosts an engine in a process of its own, which outlives the terminal, the SSH session and the app."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import IO

from core.campaign.jobs import OpenRun, frozen_sources, reopen_run
from core.engine.host import execute
from core.errors import BoresightError, Exit
from core.run.control import STATUS, ask
from core.run.layout import Operation
from core.run.lock import RunLock

START_TIMEOUT_S = 60.0
END_TIMEOUT_S = 10.0  # that a process which never answered has to end by itself


def detach(run: OpenRun, *, together: bool = False) -> int:
    """Hand an open run, its lock included, to a new process in a session of its own; return its id.

    Returns once that process answers on the run's control socket. What it prints goes to `console.log`.
    The operations of `only`, which may be many, are handed over on its standard input.
    Raises BoresightError where it ends before that.
    """
    descriptor = run.lock.descriptor
    if descriptor is None:
        raise ValueError("the run's lock must be held")
    words = [str(run.layout.root), str(descriptor)]
    words += ["--together"] if together else []
    words += ["--resumed"] if run.resumed else []
    words += ["--only"] if run.only is not None else []
    with open(run.layout.console, "ab") as console, _handed_over(run.only) as stdin:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "core.engine.detached", *words],
            cwd="/",
            stdin=stdin,
            stdout=console,
            stderr=console,
            pass_fds=[descriptor],
            start_new_session=True,
            env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        )
    run.lock.release()  # only this process's hold: the new one has inherited its own
    _await_answer(run.layout.root, process)
    # Reaped once it ends, as its starter may go on for days.
    threading.Thread(target=process.wait, name=f"reaps-{process.pid}", daemon=True).start()
    return process.pid


@contextlib.contextmanager
def _handed_over(only: frozenset[Operation] | None) -> Iterator[IO[bytes] | int]:
    """Give a standard input that holds operations, one JSON array a line."""
    if only is None:
        yield subprocess.DEVNULL
        return
    with tempfile.TemporaryFile() as stream:
        stream.writelines(json.dumps(operation).encode() + b"\n" for operation in sorted(only, key=str))
        stream.seek(0)
        yield stream


def _taken(stream: IO[bytes]) -> frozenset[Operation]:
    return frozenset(Operation(*json.loads(line)) for line in stream)


def _await_answer(root: Path, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < deadline:
        try:
            ask(root, STATUS)
        except BoresightError:  # also of one that is slow to answer: it has until the deadline
            if process.poll() is not None:
                if process.returncode in {Exit.DONE, Exit.NEGATIVE}:
                    return  # a short campaign may be over before it was asked
                raise BoresightError(
                    f"{root}: the hosting process ended with status {process.returncode} before it answered; "
                    f"the end of {root / 'console.log'} says why"
                ) from None
            time.sleep(0.05)
        else:
            return
    _end(process)
    raise BoresightError(
        f"{root}: the hosting process (id {process.pid}) did not answer within {START_TIMEOUT_S:g} s and "
        f"was ended; the end of {root / 'console.log'} may say why, and `boresight resume {root}` tries again"
    )


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process, by force where it does not heed; what it ran ends with it."""
    process.terminate()
    try:
        process.wait(END_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def main(words: list[str] | None = None) -> int:
    """Host the run that was handed over; the exit code is the run's."""
    parser = argparse.ArgumentParser(prog="python -P -m core.engine.detached")
    parser.add_argument("run", type=Path)
    parser.add_argument("lock", type=int)
    parser.add_argument("--together", action="store_true")
    parser.add_argument("--resumed", action="store_true")
    parser.add_argument("--only", action="store_true")
    arguments = parser.parse_args(words)
    lock = RunLock(arguments.run / ".lock")
    lock.adopt(arguments.lock)
    try:
        only = _taken(sys.stdin.buffer) if arguments.only else None
        opened = reopen_run(arguments.run, lock=lock, only=only)
        if not arguments.resumed:
            opened = replace(opened, resumed=False, frozen=frozen_sources(opened.record))
        ended = asyncio.run(execute(opened, together=arguments.together, signals=True))
    except BoresightError as error:
        sys.stderr.write(f"boresight: {error}\n")
        return error.exit_code
    except asyncio.CancelledError:
        return Exit.STOPPED
    return ended.exit_code


if __name__ == "__main__":
    sys.exit(main())
