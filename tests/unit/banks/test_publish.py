"""Several files appear together or not at all."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from core.banks.publish import demand_absent, publish_together
from core.errors import InputError


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_all_files_are_written(tmp_path: Path) -> None:
    publish_together({tmp_path / "a": b"1", tmp_path / "b": b"2"})
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"a": b"1", "b": b"2"}


@pytest.mark.parametrize("existing", ["a", "b"])
def test_an_existing_file_keeps_its_bytes_and_no_other_appears(tmp_path: Path, existing: str) -> None:
    (tmp_path / existing).write_bytes(b"precious")
    with pytest.raises(InputError, match="appeared meanwhile"):
        publish_together({tmp_path / "a": b"1", tmp_path / "b": b"2"})
    assert names(tmp_path) == [existing]
    assert (tmp_path / existing).read_bytes() == b"precious"


def test_a_full_disk_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []

    def full(descriptor: int) -> None:
        calls.append(descriptor)
        if len(calls) == 2:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InputError, match="No space left on device; nothing was left behind"):
        publish_together({tmp_path / "new" / "a": b"1", tmp_path / "new" / "b": b"2"})
    assert names(tmp_path) == []


def test_an_interruption_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    link = os.link

    def interrupted(source: Path, target: Path) -> None:
        if target.name == "b":
            raise KeyboardInterrupt
        link(source, target)

    monkeypatch.setattr(os, "link", interrupted)
    with pytest.raises(KeyboardInterrupt):
        publish_together({tmp_path / "a": b"1", tmp_path / "b": b"2"})
    assert names(tmp_path) == []


def test_a_file_system_without_links_still_overwrites_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_links(*_: Any) -> None:
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "link", no_links)
    publish_together({tmp_path / "a": b"1", tmp_path / "b": b"2"})
    assert names(tmp_path) == ["a", "b"]
    with pytest.raises(InputError, match="appeared meanwhile"):
        publish_together({tmp_path / "c": b"3", tmp_path / "b": b"4"})
    assert names(tmp_path) == ["a", "b"] and (tmp_path / "b").read_bytes() == b"2"


def test_a_dangling_link_counts_as_existing(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("nowhere")
    with pytest.raises(InputError, match="a exists, and evidence is never overwritten"):
        demand_absent(tmp_path / "a")


def test_a_folder_that_cannot_hold_the_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(InputError, match="is not a folder that can be written to"):
        demand_absent(tmp_path / "file" / "deep" / "a")
    demand_absent(tmp_path / "new" / "a")
