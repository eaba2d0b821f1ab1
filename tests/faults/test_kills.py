"""SIGKILL at any moment: whoever it hits, a resume ends in the scores of an undisturbed run."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import time
from pathlib import Path

import pytest

from core import api
from core.engine.remains import end_remains
from core.run.layout import RunLayout
from core.run.lock import is_held
from tests.support.faults import (
    FULL,
    SEED,
    Host,
    demand_recovered,
    frozen_copy,
    hosted,
    measured,
    prepared,
    strays,
)
from tests.support.processes import alive, wait_until

MOMENTS = 50 if FULL else 6
VICTIMS = ("host", "supervisor", "retriever", "host and supervisor", "all")


def strike(host: Host, victim: str) -> None:
    """Kill the victim, as far as it is alive."""
    supervisor, retriever = host.supervisor(), host.retriever()
    hit = {
        "host": [host.process.pid],
        "supervisor": [supervisor.pid] if supervisor else [],
        "retriever": [retriever.pid] if retriever else [],
        "host and supervisor": [host.process.pid, *([supervisor.pid] if supervisor else [])],
        "all": [host.process.pid, *([supervisor.pid] if supervisor else []), *strays(host.run)],
    }[victim]
    for number in (signal.SIGSTOP, signal.SIGKILL):  # none may see another fall and react
        for pid in hit:
            send(pid, number)


def send(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


@pytest.mark.parametrize("number", range(MOMENTS))
def test_whoever_is_killed_at_whatever_moment_a_resume_ends_in_the_same_scores(
    tmp_path: Path, number: int
) -> None:
    chance = random.Random(f"{SEED}-{number}")
    victim = VICTIMS[number % len(VICTIMS)]
    run = frozen_copy(tmp_path)
    with hosted(run) as host:
        host.wait_for(chance.randrange(1, prepared().events))
        time.sleep(chance.uniform(0.0, 0.06))
        strike(host, victim)
        code = host.wait()

    if victim in {"supervisor", "retriever"} and code not in {-signal.SIGKILL, 0}:
        assert code == 1, host.said
        assert "boresight resume" in host.said  # what the person reads says what to do next
    assert wait_until(lambda: not is_held(RunLayout(run).lock), 10.0)
    if victim in {"host", "supervisor", "retriever"}:  # one of the two is there to end all others
        assert strays(run) == []
    demand_recovered(run, measured(run))


def test_a_lost_supervisor_is_told_and_its_run_goes_on_by_a_resume(tmp_path: Path) -> None:
    run = frozen_copy(tmp_path)
    with hosted(run) as host:
        host.reach(6)
        strike(host, "supervisor")
        assert host.wait() == 1
    assert "the process that supervises retrievers was killed during " in host.said
    assert f"what was finished until now is kept: resume the run: boresight resume {run}" in host.said
    assert demand_recovered(run, measured(run)).outcomes()["reused"] > 0


def test_what_outlives_engine_and_supervisor_is_ended_before_the_next_execution(tmp_path: Path) -> None:
    """Nobody is left to end it, and the lock is free: the run itself knows what it started."""
    run = frozen_copy(tmp_path)
    with hosted(run) as host:
        host.reach(4)
        assert wait_until(lambda: len(strays(run)) > 1)
        strike(host, "host and supervisor")
        host.wait()
    assert wait_until(lambda: not is_held(RunLayout(run).lock), 10.0)
    survivors = strays(run)
    assert survivors, "a helper of the retriever in a session of its own"
    assert api.run_status(run).state == "interrupted"

    demand_recovered(run, measured(run))

    assert not [pid for pid in survivors if alive(pid)]
    assert not RunLayout(run).supervisor.exists()


def test_a_copy_of_a_run_that_was_killed_harms_no_process_of_the_original(tmp_path: Path) -> None:
    run = frozen_copy(tmp_path)
    with hosted(run) as host:
        host.reach(4)
        (tmp_path / "copy").mkdir()
        copied = RunLayout(tmp_path / "copy").supervisor
        copied.write_bytes(RunLayout(run).supervisor.read_bytes())
        assert end_remains(copied) == 0
        assert host.wait() == 0, host.said
