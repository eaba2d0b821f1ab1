"""What the engine adds to one operation: supervisor, sampler, evidence with its fsyncs, events.

A campaign of a retriever that answers at once runs whole; the time from one operation's last event to the
next one's is what an operation takes. Beside it, in the same run: a bare spawn and wait of the same program,
or a bare line to the same session and back. How long the disk takes for the same files and syncs without any
engine is told too: it is in the engine's time, and on a shared disk most of it.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from statistics import median, quantiles
from typing import NamedTuple

import core.retrievers
from core import api
from core.durable import Unnamed, sync_all, sync_directory
from core.engine import machine
from core.repositories import RepositoryEntry
from tests.bench.retrievers.instant import ECHO, TRUE
from tests.bench.row import Row, seconds
from tests.support.repositories import make_repository

QUERIES = 200
CAMPAIGNS = 3
_SIZES = (("command.json", 500), ("stdout", 100), ("stderr", 0))


class Cost(NamedTuple):
    """Seconds of one operation: through the engine, bare, and of its evidence's files and syncs alone."""

    engine: float
    engine_p90: float
    bare: float
    files: float


def rows() -> list[Row]:
    """Return the rows of the two forms of a query."""
    wanted = {"one-shot": (6.0, f"spawn and wait of {TRUE}"), "session": (3.0, "line there and back")}
    found = []
    for form, (limit, bare) in wanted.items():
        costs = [measure(session=form == "session") for _ in range(CAMPAIGNS)]
        cost = Cost(*(median(values) for values in zip(*costs, strict=True)))
        added = median(one.engine - one.bare for one in costs) * 1e3
        found.append(
            Row(
                f"engine around one {form} query",
                f"≤ {limit:g} ms over a bare {bare}",
                f"{cost.engine * 1e3:.2f} ms (p90 {cost.engine_p90 * 1e3:.1f}), bare {cost.bare * 1e3:.2f}; "
                f"the files alone {cost.files * 1e3:.2f}",
                added,
                limit,
            )
        )
    return found


def measure(*, session: bool) -> Cost:
    """Run one campaign and return the medians of its queries and of bare ones before and after it."""
    with tempfile.TemporaryDirectory(prefix="boresight-bench-") as folder, known_retriever():
        bare = _bare_lines if session else _bare_spawns
        before, files_before = bare(), _bare_files(Path(folder, "before"))
        took = _campaign(Path(folder), session)
        files = [*files_before, *_bare_files(Path(folder, "after"))]
        return Cost(median(took), quantiles(took, n=10)[-1], median([*before, *bare()]), median(files))


@contextmanager
def known_retriever() -> Iterator[None]:
    """Make the retriever `instant` known beside the real ones, and wait for no other campaign."""
    path, before = core.retrievers.__path__, os.environ.get(machine.VARIABLE)
    core.retrievers.__path__ = [*path, str(Path(__file__).parent / "retrievers")]
    os.environ[machine.VARIABLE] = f"boresight-bench-{os.getpid()}"
    try:
        yield
    finally:
        core.retrievers.__path__ = path
        del os.environ[machine.VARIABLE]
        if before is not None:
            os.environ[machine.VARIABLE] = before


def instant_run(folder: Path, *, session: bool, queries: int = QUERIES) -> api.OpenRun:
    """Freeze a campaign of one instant candidate and that many queries."""
    source = "".join(f"def look_up_record_{number}():\n    return {number}\n\n" for number in range(queries))
    commit = make_repository(folder / "store", {"store.py": source.encode()})
    entry = RepositoryEntry(label="store", path=folder / "store", commit=commit)
    api.build_bank([entry], queries, ("symbol_lookup",), folder / "cases.jsonl")
    described = {"id": "a", "retriever": "instant", "config": {"session": session}}
    candidate = api.Candidate("a", described, folder, "a")
    campaign = api.Campaign("bench", folder / "cases.jsonl", (entry,), (candidate,), baseline="a")
    return api.create_run(campaign, folder / "run")


def _campaign(folder: Path, session: bool) -> list[float]:
    ended = []

    def keep(event: api.Event) -> None:
        if event.type == "operation_finished" and event.phase == "querying":
            ended.append(event.at.timestamp())

    state = asyncio.run(api.execute(instant_run(folder, session=session), keep)).state
    if state != "complete":
        raise RuntimeError(f"the campaign ended {state}")
    return [later - earlier for earlier, later in pairwise(ended)]


def _bare_spawns() -> list[float]:
    def once() -> None:
        os.waitpid(os.posix_spawn(TRUE, [TRUE], {}), 0)

    return [seconds(once) for _ in range(QUERIES)]


def _bare_files(folder: Path) -> list[float]:
    """Write what an accepted attempt leaves, with the same syncs in the same order."""
    folder.mkdir()

    def once(number: int) -> None:
        operation = folder / f"primary-{number}"
        attempt = operation / "attempt-0001"
        attempt.mkdir(parents=True)
        descriptors = [_new_file(attempt / name, size) for name, size in _SIZES]
        for descriptor in descriptors:
            os.close(descriptor)
        outputs = [attempt / name for name, size in _SIZES if size]
        measurement, result = attempt / "measurement.json", operation / "result.json"
        with Unnamed(measurement, bytes(900)) as measured, Unnamed(result, bytes(700)) as accepted:
            sync_all([measured.temporary, accepted.temporary, *outputs])
            measured.take_name()
            sync_all([attempt, folder])
            accepted.take_name()
        sync_directory(operation)

    return [seconds(lambda number=number: once(number)) for number in range(QUERIES // 2)]  # type: ignore[misc]


def _new_file(path: Path, size: int) -> int:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    os.write(descriptor, bytes(size))
    return descriptor


def _bare_lines() -> list[float]:
    command = [sys.executable, "-I", "-S", str(ECHO)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as process:
        assert process.stdin
        assert process.stdout
        stdin, stdout = process.stdin, process.stdout

        def once() -> None:
            stdin.write(b'{"do": "query", "channel": "emb", "text": "look_up_record_1", "limit": 10}\n')
            stdout.readline()

        once()
        return [seconds(once) for _ in range(QUERIES)]
