"""Files that survive a power loss."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from core import durable
from core.durable import sync_all, write_durably


def test_what_a_record_speaks_of_is_durable_before_the_record_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output, record = tmp_path / "stdout", tmp_path / "folder" / "record.json"
    output.write_bytes(b"out")
    record.parent.mkdir()
    synced: list[tuple[str, bool]] = []
    real = durable._sync

    def sync(path: Path) -> None:
        real(path)
        synced.append((path.name.partition(".partial")[0], record.exists()))

    monkeypatch.setattr(durable, "_sync", sync)
    write_durably(record, b"{}", with_files=[output], then=[tmp_path])
    assert sorted(synced[:2]) == [(".record.json", False), ("stdout", False)]
    assert sorted(synced[2:]) == [("folder", True), (tmp_path.name, True)]


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
    with pytest.raises(OSError, match="Input/output error"):
        write_durably(tmp_path / "record.json", b"{}", with_files=[broken])
    assert [path.name for path in tmp_path.iterdir()] == ["stdout"]


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
