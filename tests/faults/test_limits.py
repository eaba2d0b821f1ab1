"""Limits of the system that run out: processes, open files, the size of a file; and what is told."""

from __future__ import annotations

import os
import resource
from pathlib import Path

import pytest

from core.run.evidence import read_measurement
from core.run.layout import RunLayout
from tests.support.faults import (
    FULL,
    OPERATIONS,
    Host,
    demand_recovered,
    frozen_copy,
    hosted,
    measured,
    strays,
)

SOMEBODY = 61234  # a user who has no other process


def limited(host: Host, limit: int, value: int) -> None:
    """Lower a limit of the host's supervisor."""
    host.reach(3)
    supervisor = host.supervisor()
    assert supervisor is not None
    _, hard = resource.prlimit(supervisor.pid, limit)
    resource.prlimit(supervisor.pid, limit, (value, hard))


def few_processes(limit: int) -> tuple[str, ...]:
    """Return what starts a command that may have so many processes and threads, which root never is."""
    words = ("prlimit", f"--nproc={limit}:{limit}", "--")
    if os.geteuid() != 0:
        return words
    capabilities = "-sys_resource,-sys_admin"
    user = ("setpriv", f"--ruid={SOMEBODY}", f"--bounding-set={capabilities}", f"--inh-caps={capabilities}")
    return (*user, "--", *words)


@pytest.mark.parametrize("limit", range(1, 13) if FULL else [2, 5])
def test_a_limit_of_processes_is_told_by_name_and_a_resume_tries_again(tmp_path: Path, limit: int) -> None:
    run = frozen_copy(tmp_path)
    with hosted(run, prefix=few_processes(limit)) as host:
        code = host.wait()
    if code != 0:
        assert code == 1, host.said
        assert "`ulimit -u`" in host.said or f"`boresight resume {run}` tries them again" in host.said
    assert strays(run) == []
    demand_recovered(run, measured(run))


def refusals(run: Path) -> set[str]:
    """Return why commands could not be started, as the evidence says."""
    found = (read_measurement(path.parent) for path in RunLayout(run).operations.rglob("measurement.json"))
    return {error["text"] for record in found if (error := record["measurement"].get("spawn_error"))}


def test_a_supervisor_without_descriptors_ends_the_run_with_the_remedy(tmp_path: Path) -> None:
    run = frozen_copy(tmp_path)
    with hosted(run) as host:
        limited(host, resource.RLIMIT_NOFILE, 8)
        assert host.wait() == 1
    assert "Too many open files. What was finished until now is kept; " in host.said
    assert f"let it open more files (`ulimit -n`), then resume the run: boresight resume {run}" in host.said
    assert strays(run) == []
    demand_recovered(run, measured(run))


@pytest.mark.parametrize("files", [8, 10, 12, 14, 16, 18, 20, 22] if FULL else [8, 20])
def test_a_host_without_descriptors_says_so_or_copes(tmp_path: Path, files: int) -> None:
    run = frozen_copy(tmp_path)
    with hosted(run, prefix=("prlimit", f"--nofile={files}:{files}", "--")) as host:
        code = host.wait()
    if code != 0:
        reasons = host.said + str(refusals(run))
        assert "oo many open files" in reasons, reasons
        assert "internal error" not in host.said and "Traceback" not in host.said, host.said
    assert strays(run) == []
    demand_recovered(run, measured(run))


def test_a_limit_of_file_sizes_ends_the_run_with_the_remedy(tmp_path: Path) -> None:
    run = frozen_copy(tmp_path)
    with hosted(run, prefix=("prlimit", "--fsize=3000:3000", "--")) as host:
        assert host.wait() == 1
    assert "File too large. What was finished until now is kept; " in host.said
    assert f"allow larger files (`ulimit -f`), then resume the run: boresight resume {run}" in host.said
    assert demand_recovered(run, measured(run)).outcomes().get("reused", 0) < 2 * OPERATIONS
    assert RunLayout(run).exit_status.read_text() == "0\n"
