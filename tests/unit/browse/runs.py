"""Runs to browse: one with every kind of outcome, and ways to see and change what a run holds."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from functools import cache
from pathlib import Path

import pytest

from core.browse import reading
from core.browse.operations import Facts, Task, read_facts
from core.rankings import EvidenceReader
from core.run.evidence import (
    Acceptance,
    Validation,
    begin_attempt,
    publish_accepted,
    publish_attempt,
    read_result,
)
from core.run.layout import INDEX, Operation, RunLayout
from core.run.record import read_run
from tests.support.campaigns import campaign, fake, make_scene, run_new

MEASURED = {
    "outcome": "exited",
    "exit_code": 0,
    "elapsed_s": 1.5,
    "sampled_peak_rss_bytes": 7,
    "started_at": "2025-01-02T03:04:05.000000+00:00",
}
EMPTY_RANKING = b'{"format":"boresight-ranking@1","results":[]}\n'


def varied_run(folder: Path) -> Path:
    """Return a copy of a run in which queries are hit, missed, empty, failed, unsupported and missing.

    `a` answers everything, `b` has faults, `c` answers `emb` alone and has no probe, and `d` has no index.
    """
    run = folder / "run"
    shutil.copytree(_made(os.getpid()), run, symlinks=True)
    return run


@cache
def _made(process: int) -> Path:
    folder = Path(tempfile.mkdtemp(prefix=f"boresight-tests-{process}-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    scene = make_scene(folder, per_intent=2)
    faults = {"load_records": "nothing", "behavior": "exit_3", "Documentation": "truncated"}
    candidates = (
        fake("a", session=True),
        fake("b", faults=faults),
        fake("c", session=True, channels=["emb"], probe=False),
        fake("d", index="dies"),
    )
    return run_new(campaign(scene, *candidates), folder / "run").run


def primaries(run: Path, candidate: str) -> list[Operation]:
    """Return a candidate's primary operations that have a folder."""
    folder = RunLayout(run).operations / candidate / "store"
    return [
        Operation(candidate, "store", "primary", path.name.removeprefix("primary-"))
        for path in sorted(folder.glob("primary-*"))
    ]


def add_attempt(
    run: Path, operation: Operation, validation: Validation, stdout: bytes = b"", *, accept: bool = False
) -> None:
    """Add one more attempt to an operation, and make it the accepted one or not."""
    layout = RunLayout(run)
    attempt = begin_attempt(layout, operation, {})
    attempt.stdout.write_bytes(stdout)
    if not accept:
        publish_attempt(attempt, MEASURED, validation)
        return
    index = None
    if operation.kind != INDEX:
        index = read_result(layout, Operation(operation.candidate, operation.repository, INDEX))
    bound = Acceptance(read_run(run).cell(operation.candidate, operation.repository), index)
    publish_accepted(layout, attempt, MEASURED, validation, bound)


class Readings:
    """The operations that were read, in order."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.read: list[Operation] = []

        def noted(reader: EvidenceReader, task: Task) -> Facts:
            self.read.append(task.operation)
            return read_facts(reader, task)

        monkeypatch.setattr(reading, "read_facts", noted)

    def take(self) -> list[Operation]:
        """Return what was read since the last call."""
        found, self.read = self.read, []
        return found


def settle(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let folders count as old at once, so that what does not change is not read again."""
    monkeypatch.setattr("core.browse.operations.SETTLED_NS", -(10**18))


def narrate(run: Path) -> None:
    """Let the run tell that something happened, as an engine does once its evidence stands."""
    with open(RunLayout(run).events, "ab") as stream:
        stream.write(b"{}\n")
