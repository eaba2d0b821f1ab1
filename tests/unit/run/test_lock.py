"""One writer a run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.errors import BusyError, InputError
from core.run.lock import RunLock, is_held

HOLDER = """
import sys, time
from pathlib import Path
from core.run.lock import RunLock
lock = RunLock(Path(sys.argv[1]))
lock.acquire()
print("held", flush=True)
time.sleep(60)
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / ".lock"


@pytest.fixture
def holder(path: Path) -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen([sys.executable, "-c", HOLDER, str(path)], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        yield process
        process.kill()


def test_a_lock_held_by_another_process_is_refused_naming_it(
    path: Path, holder: subprocess.Popen[bytes]
) -> None:
    began = time.monotonic()
    with pytest.raises(
        BusyError, match=rf"{path.parent}: another process \(process {holder.pid}\)"
    ) as refused:
        RunLock(path).acquire(retry_seconds=0.2)
    assert time.monotonic() - began >= 0.2
    assert "stop it" in str(refused.value)
    assert is_held(path)


def test_a_killed_holder_gives_the_lock_free(path: Path, holder: subprocess.Popen[bytes]) -> None:
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    assert not is_held(path)
    lock = RunLock(path)
    lock.acquire(retry_seconds=0)
    assert is_held(path)
    lock.release()


def test_a_lock_that_comes_free_while_waiting_is_taken(path: Path, holder: subprocess.Popen[bytes]) -> None:
    waiting = subprocess.Popen([sys.executable, "-c", HOLDER, str(path)], stdout=subprocess.PIPE)
    try:
        time.sleep(0.2)
        holder.kill()
        assert waiting.stdout is not None
        assert waiting.stdout.readline() == b"held\n"
    finally:
        waiting.kill()
        waiting.communicate()


def test_the_lock_can_be_given_back_twice_and_taken_again(path: Path) -> None:
    lock = RunLock(path)
    lock.acquire()
    lock.release()
    lock.release()
    assert not is_held(path)
    lock.acquire(retry_seconds=0)
    lock.release()


def test_a_child_that_inherited_the_descriptor_keeps_the_lock_held(path: Path) -> None:
    lock = RunLock(path)
    lock.acquire()
    assert lock.descriptor is not None
    child = subprocess.Popen(["sleep", "60"], pass_fds=[lock.descriptor])
    try:
        lock.release()
        assert is_held(path)
    finally:
        child.kill()
        child.wait()
    assert not is_held(path)


def test_asking_whether_it_is_held_leaves_it_free(path: Path) -> None:
    assert not is_held(path), "a run that never ran has no lock file"
    assert not path.exists()
    path.touch()
    assert not is_held(path)
    assert not is_held(path)
    lock = RunLock(path)
    lock.acquire(retry_seconds=0)
    assert is_held(path) and is_held(path)
    lock.release()


def test_a_held_lock_is_still_refused_where_its_file_names_nobody(path: Path) -> None:
    lock = RunLock(path)
    lock.acquire()
    path.write_text("no JSON")
    with pytest.raises(BusyError, match="another process writes"):
        RunLock(path).acquire(retry_seconds=0)
    lock.release()


def test_a_lock_that_cannot_be_written_is_bad_input(path: Path) -> None:
    path.mkdir()
    with pytest.raises(InputError, match=r"\.lock: the run cannot be locked: Is a directory"):
        RunLock(path).acquire()


def test_a_full_disk_leaves_no_descriptor_open(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int, length: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "ftruncate", full)
    with pytest.raises(InputError, match="No space left on device"):
        RunLock(path).acquire()
    assert not is_held(path)
