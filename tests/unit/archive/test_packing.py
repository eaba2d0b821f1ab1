"""An export is whole, deterministic and private, and refuses what it could not vouch for."""

from __future__ import annotations

import hashlib
import json
import os
import socket
import tarfile
from pathlib import Path

import pytest

from core import api
from core.archive import packing
from core.archive.manifest import MANIFEST_NAME
from core.canonical import sha256_file
from core.errors import BusyError, IdentityError, InputError
from core.run.lock import RunLock
from tests.support.finished import finished_run

ENDINGS = [".tar.gz", ".tar.xz", ".tar"]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return finished_run(tmp_path).run


def listed(file: Path) -> list[tarfile.TarInfo]:
    with tarfile.open(file) as tar:
        return tar.getmembers()


@pytest.mark.parametrize("ending", ENDINGS)
def test_an_archive_is_plain_tar_with_its_manifest_first(run: Path, tmp_path: Path, ending: str) -> None:
    file = tmp_path / f"kept{ending}"
    exported = api.export_run(run, file)

    with tarfile.open(file) as tar:
        members = tar.getmembers()
        first = tar.extractfile(members[0])
        assert first is not None
        manifest = json.loads(first.read())
    assert members[0].name == MANIFEST_NAME
    assert manifest["format"] == "boresight-archive@1"
    names = [member.name for member in members[1:]]
    folders, files = names[: len(manifest["folders"])], names[len(manifest["folders"]) :]
    assert folders == sorted(folders) and files == sorted(files)
    assert {member.mode for member in members} == {0o600, 0o700}
    assert {(member.mtime, member.uid, member.gid, member.uname) for member in members} == {(0, 0, 0, "")}
    assert all(member.isreg() or member.isdir() for member in members)
    for entry in manifest["files"]:
        assert hashlib.sha256((run / entry["path"]).read_bytes()).hexdigest() == entry["sha256"]
    assert len(files) == exported.files == sum(path.is_file() for path in run.rglob("*")) - 1  # the lock
    assert file.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("ending", ENDINGS)
def test_the_same_run_gives_the_same_bytes(run: Path, tmp_path: Path, ending: str) -> None:
    first, second = tmp_path / f"one{ending}", tmp_path / f"two{ending}"
    api.export_run(run, first)
    for path in run.rglob("*"):
        os.utime(path, (1, 1))
    api.export_run(run, second)
    assert first.read_bytes() == second.read_bytes()


def test_what_is_of_the_moment_stays_out(run: Path, tmp_path: Path) -> None:
    (run / "index.sqlite").write_bytes(b"cache")
    (run / "operations/a/store/index/.result.json.partial-7").write_bytes(b"half")
    with socket.socket(socket.AF_UNIX) as control:
        here = Path.cwd()
        os.chdir(run)  # a socket's name is short
        try:
            control.bind(".control")
        finally:
            os.chdir(here)
        api.export_run(run, tmp_path / "kept.tar")
    names = {member.name for member in listed(tmp_path / "kept.tar")}
    assert not names & {
        ".lock",
        ".control",
        "index.sqlite",
        "operations/a/store/index/.result.json.partial-7",
    }


def test_indexes_can_be_left_out(run: Path, tmp_path: Path) -> None:
    api.export_run(run, tmp_path / "kept.tar", with_state=False)
    assert not any(member.name.startswith("state") for member in listed(tmp_path / "kept.tar"))


def test_links_in_indexes_are_left_out_and_named_and_elsewhere_refused(run: Path, tmp_path: Path) -> None:
    (run / "state/a/store/link").symlink_to("/etc/passwd")
    exported = api.export_run(run, tmp_path / "kept.tar")
    assert exported.left_out == ("state/a/store/link",)
    assert "state/a/store/link" not in {member.name for member in listed(tmp_path / "kept.tar")}
    (run / "operations/a/link").symlink_to("/etc/passwd")
    with pytest.raises(IdentityError, match=r"operations/a/link: found a link"):
        api.export_run(run, tmp_path / "other.tar")
    assert not (tmp_path / "other.tar").exists()


def test_a_private_repository_is_carried_only_where_that_was_meant(tmp_path: Path) -> None:
    run = finished_run(tmp_path, private=True).run
    with pytest.raises(InputError, match=r"private repositories \(store\).*--include-private"):
        api.export_run(run, tmp_path / "kept.tar")
    assert not (tmp_path / "kept.tar").exists()
    api.export_run(run, tmp_path / "kept.tar", include_private=True)
    assert (tmp_path / "kept.tar").is_file()


def test_a_run_that_is_being_written_is_refused_with_the_remedy(run: Path, tmp_path: Path) -> None:
    lock = RunLock(run / ".lock")
    lock.acquire()
    try:
        with pytest.raises(BusyError, match="boresight stop"):
            api.export_run(run, tmp_path / "kept.tar")
    finally:
        lock.release()
    assert not list(tmp_path.glob("*kept*"))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("kept.zip", "found no known ending"),
        ("run.tar/x.tar", "folder does not exist"),
        ("old.tar", "exists"),
    ],
)
def test_a_file_that_cannot_be_made_is_refused(run: Path, tmp_path: Path, name: str, said: str) -> None:
    (tmp_path / "old.tar").write_text("old")
    with pytest.raises(InputError, match=said):
        api.export_run(run, tmp_path / name)
    assert (tmp_path / "old.tar").read_text() == "old"


def test_a_file_that_changes_meanwhile_is_told_and_nothing_is_left(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def edit(path: Path) -> str:
        digest = sha256_file(path)
        if path.name == "cases.jsonl":
            path.write_bytes(path.read_bytes().replace(b"a", b"b"))
        return digest

    monkeypatch.setattr(packing, "sha256_file", edit)
    with pytest.raises(IdentityError, match=r"cases\.jsonl: changed while it was exported"):
        api.export_run(run, tmp_path / "kept.tar.gz")
    assert not list(tmp_path.glob("*kept*"))


def test_a_full_disk_leaves_nothing(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(packing, "_pack", full)
    with pytest.raises(InputError, match="No space left on device"):
        api.export_run(run, tmp_path / "kept.tar.gz")
    assert not list(tmp_path.glob("*kept*"))


def test_zstandard_is_used_where_python_has_it(run: Path, tmp_path: Path) -> None:
    try:
        packing.zstd_module()
    except InputError as error:
        assert "use .tar.gz" in str(error)
        with pytest.raises(InputError, match=r"use \.tar\.gz"):
            api.export_run(run, tmp_path / "kept.tar.zst")
        assert not list(tmp_path.glob("*kept*"))
    else:
        api.export_run(run, tmp_path / "kept.tar.zst")
        api.import_run(tmp_path / "kept.tar.zst", tmp_path / "back")


def test_progress_rises_to_the_whole(run: Path, tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    api.export_run(run, tmp_path / "kept.tar", on_bytes=lambda done, total: told.append((done, total)))
    assert told == sorted(told)
    assert told[-1][0] == told[-1][1]
