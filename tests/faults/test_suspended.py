"""A machine that sleeps while a campaign runs: nothing times out because of it, and the evidence says so."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from pathlib import Path

import pytest

from core import api
from core.run.evidence import read_measurement
from core.run.layout import RunLayout
from tests.support.campaigns import campaign, fake, make_scene
from tests.support.faults import FULL, hosted, strays

ASLEEP_S = 60.0 if FULL else 3.0
TIMEOUT_S = 2.0


@pytest.mark.parametrize("session", [False, True])
def test_a_machine_that_sleeps_makes_nothing_time_out(tmp_path: Path, session: bool) -> None:
    run = tmp_path / "run"
    asked = campaign(
        make_scene(tmp_path, per_intent=1),
        fake("a", session=session, probe=False, slowness=0.8),
        limits=api.Limits(query_timeout=TIMEOUT_S),
    )
    api.create_run(asked, run).close()
    with hosted(run) as host:
        host.reach(4)
        time.sleep(0.3)  # into a query
        supervisor = host.supervisor()
        assert supervisor is not None
        everything = [host.process.pid, supervisor.pid, *strays(run)]
        for pid in everything:
            os.kill(pid, signal.SIGSTOP)
        time.sleep(ASLEEP_S)
        if FULL:
            assert api.run_status(run).state == "stalled"
        for pid in reversed(everything):
            os.kill(pid, signal.SIGCONT)
        assert host.wait() == 0, host.said

    assert api.run_status(run).state == "complete"
    slept = [
        record["measurement"]["stalled_s"]
        for path in RunLayout(run).operations.rglob("measurement.json")
        if (record := read_measurement(path.parent))["measurement"]["stalled_s"]
    ]
    assert len(slept) == 1, "the one operation that was under way says how long the machine slept"
    assert ASLEEP_S - 1.5 < slept[0] < ASLEEP_S + 1.5
    assert asyncio.run(api.execute(api.reopen_run(run))).state == "complete"
