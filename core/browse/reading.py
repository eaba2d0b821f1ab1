"""Reads many operations, beside this process where there are many: parsing would keep a screen waiting.

    python -m core.browse.reading RUN

answers each line of tasks with a line of facts. It reads only, and says nothing on stderr that a terminal
could show.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import TracebackType

from core.browse.operations import Facts, Pending, Task, read_facts
from core.rankings import EvidenceReader
from core.run.record import RunRecord, read_run

BATCH = 200
MOST_PROCESSES = 2
WORTH_A_PROCESS = 2000  # operations: starting one costs as much time as reading a thousand
_PATIENCE_S = 5.0
_GARBAGE = 50_000  # objects: records are many and hold no cycles

Batch = Sequence[Pending]


class Readers:
    """Reads batches of tasks in order: by other processes where `expected` is many, else right here.

    A process that cannot be started, or dies, is no failure: its batches are read here.
    """

    def __init__(self, record: RunRecord, expected: int) -> None:
        self._record = record
        self._here: EvidenceReader | None = None
        self._lock = threading.Lock()
        self._local = threading.local()
        self._processes: list[subprocess.Popen[bytes]] = []
        count = min(os.cpu_count() or 1, MOST_PROCESSES) if expected >= WORTH_A_PROCESS else 0
        self._threads = ThreadPoolExecutor(count, thread_name_prefix="browse") if count else None
        self._ahead = 3 * count

    def __enter__(self) -> Readers:
        """Return itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the processes."""
        if self._threads is None:
            return
        if kind is not None:
            for process in self._processes:
                process.kill()
        self._threads.shutdown(cancel_futures=True)
        for process in self._processes:
            _end(process)

    def read(self, batches: Iterable[Batch]) -> Iterator[tuple[Batch, list[Facts]]]:
        """Yield each batch with its facts, in the order of the batches."""
        if self._threads is None:
            for batch in batches:
                yield batch, self._read_here(batch)
            return
        pending: deque[tuple[Batch, Future[list[Facts]]]] = deque()
        for batch in batches:
            pending.append((batch, self._threads.submit(self._read_beside, batch)))
            if len(pending) > self._ahead:
                done, facts = pending.popleft()
                yield done, facts.result()
        while pending:
            done, facts = pending.popleft()
            yield done, facts.result()

    def _read_here(self, batch: Batch) -> list[Facts]:
        with self._lock:
            if self._here is None:
                self._here = EvidenceReader(self._record)
            return [read_facts(self._here, item.task) for item in batch]

    def _read_beside(self, batch: Batch) -> list[Facts]:
        answer = self._asked(batch)
        return self._read_here(batch) if answer is None else answer

    def _asked(self, batch: Batch) -> list[Facts] | None:
        process = self._process()
        if process is None or process.stdin is None or process.stdout is None:
            return None
        try:
            process.stdin.write(json.dumps([item.task for item in batch]).encode() + b"\n")
            process.stdin.flush()
            found = json.loads(process.stdout.readline())
            facts = [Facts(*each) for each in found]
        except (OSError, ValueError, TypeError):
            self._local.process = None
            return None
        return facts if len(facts) == len(batch) else None

    def _process(self) -> subprocess.Popen[bytes] | None:
        """Return this thread's own process."""
        if not hasattr(self._local, "process"):
            self._local.process = self._started()
        found: subprocess.Popen[bytes] | None = self._local.process
        return found

    def _started(self) -> subprocess.Popen[bytes] | None:
        command = [sys.executable, "-P", "-m", "core.browse.reading", str(self._record.layout.root)]
        try:
            process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
        except OSError:
            return None
        self._processes.append(process)
        return process


def _end(process: subprocess.Popen[bytes]) -> None:
    """Let a process end, which it does once nothing more is asked."""
    for stream in (process.stdin, process.stdout):
        with contextlib.suppress(OSError):
            if stream is not None:
                stream.close()
    try:
        process.wait(_PATIENCE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def in_batches(pending: Iterable[Pending], is_cancelled: Callable[[], bool]) -> Iterator[Batch]:
    """Yield what is to be read in batches, and no more of it once cancelled."""
    batch: list[Pending] = []
    for item in pending:
        batch.append(item)
        if len(batch) == BATCH:
            yield batch
            batch = []
            if is_cancelled():
                return
    if batch:
        yield batch


def main(run: str) -> None:
    """Answer lines of tasks until there are no more."""
    gc.set_threshold(_GARBAGE)
    reader = EvidenceReader(read_run(Path(run)))
    for line in sys.stdin.buffer:
        facts = [read_facts(reader, Task(*each)) for each in json.loads(line)]
        sys.stdout.buffer.write(json.dumps(facts).encode() + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
