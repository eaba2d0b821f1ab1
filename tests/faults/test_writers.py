"""Who may write to a run, and when: two at once, nobody, and a clock that was set back."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from core import api
from core.errors import Exit
from core.run.events import Heartbeat, Progress
from core.run.layout import RunLayout
from core.run.lock import RunLock, is_held
from tests.support.disks import small_disk
from tests.support.faults import demand_recovered, frozen_copy, hosted, measured, prepared, scores
from tests.support.finished import finished_run
from tests.support.processes import wait_until
from tests.support.shell import Shell


def test_a_second_writer_is_told_who_writes_and_the_first_is_not_disturbed(tmp_path: Path) -> None:
    run = frozen_copy(tmp_path)
    with hosted(run) as first:
        first.reach(3)
        first.process.send_signal(signal.SIGSTOP)  # so that it is still there when the other has given up
        with hosted(run, name="second") as second:
            assert second.wait() == Exit.BUSY
        who = f"another process (process {first.process.pid}) writes to this run"
        assert f"{who}. Wait until it ends, or stop it" in second.said
        first.process.send_signal(signal.SIGCONT)
        assert first.wait() == Exit.DONE
    assert scores(run) == prepared().scores


def test_of_two_writers_at_once_each_operation_is_measured_once(tmp_path: Path) -> None:
    """Where the run is short, the second finds it complete as soon as the lock is free."""
    run = frozen_copy(tmp_path)
    with hosted(run) as first, hosted(run, name="second") as second:
        codes = {first.wait(), second.wait()}
    assert codes in ({Exit.DONE, Exit.BUSY}, {Exit.DONE}), first.said + second.said
    assert scores(run) == prepared().scores
    attempts = [
        path.name for path in RunLayout(run).operations.rglob("attempt-*") if "warmup" not in str(path)
    ]
    assert set(attempts) == {"attempt-0001"}


def without_override() -> Sequence[str]:
    """Return what makes root's command obey the rights of files, as anybody else's does."""
    if os.geteuid() != 0:
        return ()
    return ("setpriv", "--bounding-set=-dac_override", "--inh-caps=-dac_override", "--")


def test_a_folder_without_write_permission_is_told_and_can_be_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = frozen_copy(tmp_path)
    run.chmod(0o500)
    RunLayout(run).lock.chmod(0o400)
    try:
        with hosted(run, prefix=without_override()) as host:
            assert host.wait() == Exit.BAD_INPUT
        assert (
            "the run cannot be locked: Permission denied; check that this user may write there" in host.said
        )
    finally:
        run.chmod(0o700)
        RunLayout(run).lock.chmod(0o600)
    demand_recovered(run, {})


def test_a_disk_that_is_mounted_read_only_is_told_and_its_runs_can_be_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shell = Shell(capsys)
    with small_disk(tmp_path / "small") as disk:
        run = frozen_copy(disk.folder)
        disk.remount("ro")
        for words in (["resume", run], ["rescore", run]):
            assert shell(*words) == Exit.BAD_INPUT
            assert (
                "the run cannot be locked: Read-only file system; check that this user may write" in shell.err
            )
        for words in (["status", run], ["verify", run, "--quiet-progress"], ["runs", disk.folder]):
            assert shell(*words) == Exit.DONE, shell.err
        disk.remount("rw")
        demand_recovered(run, {})


def test_a_disk_that_becomes_read_only_ends_the_run_with_the_remedy(tmp_path: Path) -> None:
    with small_disk(tmp_path / "small") as disk:
        run = frozen_copy(disk.folder)
        readonly = disk.folder / "run" / "operations" / "talks"
        with small_disk(readonly) as inner:
            inner.remount("ro")
            with hosted(run) as host:
                assert host.wait() == Exit.NEGATIVE
            assert (
                "cannot be written: Read-only file system. What was finished until now is kept; " in host.said
            )
            assert f"mount it writable, then resume the run: boresight resume {run}" in host.said
        demand_recovered(run, measured(run))


FUTURE = timedelta(days=2)


def test_after_the_clock_was_set_back_a_resume_goes_on_in_order(tmp_path: Path) -> None:
    run = frozen_copy(tmp_path)
    with hosted(run) as host:
        host.reach(6)
    layout = RunLayout(run)
    assert wait_until(lambda: not is_held(layout.lock), 10.0)
    stamp_later(layout)
    assert api.run_status(run).state == "interrupted"
    demand_recovered(run, measured(run))
    events = list(api.read_events(layout.events))
    assert [event.sequence for event in events] == sorted({event.sequence for event in events})
    assert events[-1].at < events[0].at, "the file's order is by number, whatever the clock said"
    elapsed = [json.loads(raw)["measurement"]["elapsed_s"] for raw in records(run)]
    assert elapsed and all(0 <= seconds < 60 for seconds in elapsed)


def records(run: Path) -> list[bytes]:
    return [path.read_bytes() for path in RunLayout(run).operations.rglob("measurement.json")]


def stamp_later(layout: RunLayout) -> None:
    """Give all that was told so far stamps of the day after tomorrow, and the lock as well."""
    lines = layout.events.read_bytes().splitlines()
    moved = []
    for line in lines:
        event = json.loads(line)
        event["at"] = (datetime.fromisoformat(event["at"]) + FUTURE).isoformat()
        moved.append(json.dumps(event).encode() + b"\n")
    layout.events.write_bytes(b"".join(moved))
    later = time.time() + FUTURE.total_seconds()
    os.utime(layout.lock, (later, later))


def test_a_stalled_run_is_called_so_though_its_lock_was_taken_before_the_clock_was_set_back(
    tmp_path: Path,
) -> None:
    run = finished_run(tmp_path).run
    layout = RunLayout(run)
    lock = RunLock(layout.lock)
    lock.acquire()
    try:
        long_ago = datetime.now(UTC) - timedelta(minutes=2)
        beat = Heartbeat(at=long_ago, sequence=10**6, progress=Progress())
        with open(layout.events, "ab") as stream:
            stream.write(beat.model_dump_json().encode() + b"\n")
        later = time.time() + FUTURE.total_seconds()
        os.utime(layout.lock, (later, later))
        assert api.run_status(run).state == "stalled"
    finally:
        lock.release()
