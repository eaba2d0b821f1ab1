"""What tests of faults share: how many moments they try, a run to disturb, and what must hold afterwards."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import psutil

from core import api
from core.run.layout import RunLayout
from core.run.lock import is_held
from tests.support.campaigns import Ran, campaign, fake, make_scene, run_again, run_new
from tests.support.processes import PROGRAMS, wait_until

FULL = os.environ.get("BORESIGHT_FAULTS", "") == "full"
SEED = os.environ.get("BORESIGHT_FAULTS_SEED", "1")
CASES = 4  # one for each intent of the scene
OPERATIONS = 1 + 2 * CASES  # of each candidate

Scores = dict[str, Any]


def candidates(**config: Any) -> tuple[api.Candidate, api.Candidate]:
    """Return a one-shot candidate and one with a session, both of which leave processes of their own."""
    faults = {"load": "helper", **config.pop("faults", {})}
    return (
        fake("shots", index="helper", faults=faults, **config),
        fake("talks", session=True, slowness=0.02, faults={**faults, "": "helper"}, **config),
    )


class Prepared(NamedTuple):
    """A run that is frozen and not yet executed, and what its undisturbed execution gives."""

    run: Path
    scores: Scores
    events: int  # lines that an undisturbed execution tells, heartbeats left out


@cache
def prepared() -> Prepared:
    """Make the run once for each test process."""
    folder = Path(tempfile.mkdtemp(prefix=f"boresight-faults-{os.getpid()}-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    asked = campaign(make_scene(folder, per_intent=1), *candidates())
    api.create_run(asked, folder / "frozen").close()
    undisturbed = run_new(asked, folder / "undisturbed")
    assert undisturbed.state == "complete"
    told = sum(event.type != "heartbeat" for event in undisturbed.events)
    return Prepared(folder / "frozen", scores(undisturbed.run), told)


def frozen_copy(folder: Path) -> Path:
    """Return a frozen run of one's own, in a folder."""
    shutil.copytree(prepared().run, folder / "run", symlinks=True)
    return folder / "run"


def scores(run: Path) -> Scores:
    """Return what a run's report says of its candidates that no clock and no memory has a part in."""
    models = json.loads(RunLayout(run).summary.read_bytes())["models"]
    kept = ("macro", "micro", "counts", "errors", "probes", "intents")
    return {name: {part: model[part] for part in kept} for name, model in models.items()}


def measured(run: Path) -> dict[str, bytes]:
    """Return every file of every attempt that has a measurement."""
    operations = RunLayout(run).operations
    folders = [path.parent for path in operations.rglob("measurement.json")]
    return {
        str(path.relative_to(operations)): path.read_bytes()
        for folder in folders
        for path in folder.iterdir()
    }


def strays(run: Path) -> list[int]:
    """Return the retrievers of a run, and their children, that are alive: their HOME lies in it."""
    needle = os.fsencode(run / "state") + b"/"
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(OSError):
                if needle in (folder / "environ").read_bytes():
                    found.append(int(folder.name))
    return found


def demand_recovered(run: Path, before: dict[str, bytes]) -> Ran:
    """Resume a run, and check that nothing of it was lost and that it says what it would have said."""
    assert wait_until(lambda: not is_held(RunLayout(run).lock), 10.0), "the lock is held by nobody's child"
    ran = run_again(run)
    assert ran.state == "complete"
    assert scores(run) == prepared().scores
    after = measured(run)
    assert {path: after.get(path) for path in before} == before
    assert api.verify_run(run).problems == ()
    assert strays(run) == []
    assert not is_held(RunLayout(run).lock)
    assert api.run_status(run).state == "complete"
    return ran


class Host:
    """A process that executes a run by `boresight resume`; its words go to a file."""

    def __init__(self, run: Path, name: str, prefix: Sequence[str]) -> None:
        self.run = run
        self._said = Path(tempfile.mkdtemp(prefix="boresight-said-")) / name
        atexit.register(shutil.rmtree, self._said.parent, ignore_errors=True)
        command = [*prefix, sys.executable, str(PROGRAMS / "host.py"), "resume", str(run)]
        with open(self._said, "wb") as said:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=said, stderr=said)

    @property
    def said(self) -> str:
        """What a person would have read in the terminal."""
        return self._said.read_text()

    def wait(self, seconds: float = 60.0) -> int:
        """Return the exit code, a negative one for a signal."""
        return self.process.wait(seconds)

    def transitions(self) -> int:
        """Return how many events were told so far, heartbeats left out."""
        events = api.read_events(RunLayout(self.run).events)
        return sum(event.type != "heartbeat" for event in events)

    def wait_for(self, transitions: int) -> None:
        """Return once so many events were told, or the process has ended."""
        assert wait_until(lambda: self.process.poll() is not None or self.transitions() >= transitions, 60.0)

    def reach(self, transitions: int) -> None:
        """Return once so many events were told; the process must still be there."""
        self.wait_for(transitions)
        assert self.process.poll() is None, self.said

    def supervisor(self) -> psutil.Process | None:
        """Return the process's supervisor, while there is one."""
        with contextlib.suppress(psutil.Error):
            for child in psutil.Process(self.process.pid).children():
                if any(word.endswith("supervisor.py") for word in child.cmdline()):
                    return child
        return None

    def retriever(self) -> psutil.Process | None:
        """Return the retriever that the supervisor started last, while there is one."""
        with contextlib.suppress(psutil.Error):
            supervisor = self.supervisor()
            children = supervisor.children() if supervisor else []
            return max(children, key=lambda child: child.pid, default=None)
        return None


@contextlib.contextmanager
def hosted(run: Path, *, name: str = "host", prefix: Sequence[str] = ()) -> Iterator[Host]:
    """Execute a run in a process of its own, which does not outlive the block."""
    host = Host(run, name, prefix)
    try:
        yield host
    finally:
        host.process.kill()
        host.process.wait()
