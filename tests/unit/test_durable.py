"""Files that survive a power loss."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from core import durable
from core.durable import Unnamed, sync_all, write_durably


def test_a_sync_that_fails_beside_others_leaves_no_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.fsync
    broken = tmp_path / "stdout"
    broken.write_bytes(b"out")

    def fsync(descriptor: int) -> None:
        if os.fstat(descriptor).st_ino == broken.stat().st_ino:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        real(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    with (
        pytest.raises(OSError, match="Input/output error"),
        Unnamed(tmp_path / "record.json", b"{}") as record,
    ):
        sync_all([record.temporary, broken, tmp_path])
        record.take_name()
    assert [path.name for path in tmp_path.iterdir()] == ["stdout"]


def test_a_file_that_cannot_be_made_durable_is_as_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_durably(tmp_path / "record.json", b"old")

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_durably(tmp_path / "record.json", b"new")
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"old"]


def test_where_no_thread_may_be_started_syncs_come_one_after_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class NoThreads:
        def submit(self, *_: object) -> None:
            raise RuntimeError("can't start new thread")

    synced = []
    monkeypatch.setattr(durable, "_pool", NoThreads)
    monkeypatch.setattr(durable, "_sync", lambda path: synced.append(path.name))
    sync_all([tmp_path / name for name in "abc"])
    assert sorted(synced) == ["a", "b", "c"]
