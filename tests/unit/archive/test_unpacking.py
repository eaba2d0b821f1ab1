"""An archive from anywhere becomes a verified run, or leaves nothing and says why."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
import tarfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from core import api
from core.archive import unpacking
from core.archive.manifest import MANIFEST_NAME
from core.errors import IdentityError, InputError
from tests.support.campaigns import run_again
from tests.support.finished import OPERATIONS, finished_run
from tests.unit.archive.builders import Member, declare, manifest_of, pack

X = declare("x", b"data")


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return finished_run(tmp_path).run


def tree(folder: Path) -> dict[str, bytes | None]:
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
        if path.name != ".lock"
    }


def refused(file: Path, said: str, kind: type[Exception] = InputError) -> None:
    folder = file.parent
    before = sorted(path.name for path in folder.iterdir())
    with pytest.raises(kind, match=said):
        api.import_run(file, folder / "back")
    assert sorted(path.name for path in folder.iterdir()) == before


@pytest.mark.parametrize("ending", [".tar.gz", ".tar.xz", ".tar"])
def test_what_was_exported_comes_back_whole_and_goes_on(run: Path, tmp_path: Path, ending: str) -> None:
    (run / "repositories/store/README.md").chmod(0o644)
    api.export_run(run, tmp_path / f"kept{ending}")
    back = tmp_path / "deep" / "back"
    found = api.import_run(tmp_path / f"kept{ending}", back)

    assert found.problems == ()
    assert tree(back) == tree(run)
    assert back.stat().st_mode & 0o077 == 0
    assert api.rescore(back, write=False).unaccepted == 0
    assert run_again(back).outcomes() == {"reused": 2 * OPERATIONS}


def test_names_of_any_bytes_and_any_length_and_the_executable_bit_come_back(
    run: Path, tmp_path: Path
) -> None:
    state = os.fsencode(run / "state/a/store")
    long = b"d" * 120
    Path(os.fsdecode(state + b"/" + long)).mkdir()
    names = [b"caf\xe9", b"new\nline", b"-leading", "ümlaut".encode(), long + b"/" + b"f" * 130]
    for name in names:
        Path(os.fsdecode(state + b"/" + name)).write_bytes(name)
    Path(os.fsdecode(state + b"/" + names[0])).chmod(0o755)
    api.export_run(run, tmp_path / "kept.tar.gz")
    api.import_run(tmp_path / "kept.tar.gz", tmp_path / "back")
    back = os.fsencode(tmp_path / "back/state/a/store")
    for name in names:
        assert Path(os.fsdecode(back + b"/" + name)).read_bytes() == name
    assert Path(os.fsdecode(back + b"/" + names[0])).stat().st_mode & 0o777 == 0o700


def test_an_existing_target_is_refused_and_left_alone(run: Path, tmp_path: Path) -> None:
    api.export_run(run, tmp_path / "kept.tar")
    (tmp_path / "back").mkdir()
    refused(tmp_path / "kept.tar", "already exists")


def test_a_digest_that_differs_is_named(run: Path, tmp_path: Path) -> None:
    file = tmp_path / "kept.tar"
    api.export_run(run, file)
    raw = bytearray(file.read_bytes())
    with tarfile.open(file) as tar:
        at = tar.getmember("cases.jsonl").offset_data
    raw[at] ^= 1
    file.write_bytes(raw)
    refused(file, r"cases\.jsonl differs from its digest", IdentityError)


def test_a_run_that_was_edited_before_its_export_is_refused_by_its_own_digests(
    run: Path, tmp_path: Path
) -> None:
    (run / "operations/a/store/index/attempt-0001/stdout").write_text("edited")
    api.export_run(run, tmp_path / "kept.tar")
    refused(tmp_path / "kept.tar", r"operations/a/store/index/attempt-0001/stdout: changed", IdentityError)


@pytest.mark.parametrize("cut", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("ending", [".tar.gz", ".tar"])
def test_an_archive_that_ends_early_is_refused(run: Path, tmp_path: Path, cut: float, ending: str) -> None:
    file = tmp_path / f"kept{ending}"
    api.export_run(run, file)
    raw = file.read_bytes()
    file.write_bytes(raw[: int(len(raw) * cut)])
    refused(file, "ends in the middle|cannot be read|is no tar")


@pytest.mark.parametrize(
    ("members", "said"),
    [
        ([], "does not begin with"),
        ([Member("x", b"data"), manifest_of([X])], "does not begin with"),
        ([manifest_of([X]), Member("../x", b"data")], r"file \.\./x undeclared"),
        ([manifest_of([X]), Member("/x", b"data")], "file /x undeclared"),
        ([manifest_of([X]), Member("y", b"data")], "file y undeclared"),
        ([manifest_of([X]), Member("x", b"data"), Member("x", b"data")], "undeclared or twice"),
        ([manifest_of([X]), Member("x", b"date!")], "with 5 bytes, its manifest declares 4"),
        ([manifest_of([X]), Member("x", declared=2**40)], "its manifest declares 4"),
        ([manifest_of([X])], "lacks x"),
        ([manifest_of([X], ["f"]), Member("x", b"data")], "lacks f"),
        ([manifest_of([]), Member("f/", type=tarfile.DIRTYPE)], "folder f undeclared"),
        ([manifest_of([X]), Member("x", type=tarfile.SYMTYPE, link="/etc/passwd")], "neither a plain file"),
        ([manifest_of([X]), Member("x", type=tarfile.LNKTYPE, link="/etc/passwd")], "neither a plain file"),
        ([manifest_of([X]), Member("x", type=tarfile.CHRTYPE)], "neither a plain file"),
        ([manifest_of([X]), Member("x", type=tarfile.FIFOTYPE)], "neither a plain file"),
        ([manifest_of([X]), Member("x", type=tarfile.GNUTYPE_SPARSE)], "neither a plain file"),
        ([manifest_of([X]), Member("p", b"9 path=y\n", type=tarfile.XHDTYPE)], "neither a plain file"),
        ([manifest_of([X]), Member("l", type=tarfile.GNUTYPE_LONGNAME, declared=2**40)], "longer than any"),
        ([manifest_of([X]), Member("x", b"data"), Member(MANIFEST_NAME)], "undeclared"),
        ([Member(MANIFEST_NAME, declared=2**40)], "larger than 256 MiB"),
        ([manifest_of([declare("x", b"data").model_copy(update={"size": 2**60})])], "are free here"),
        ([manifest_of([X]), Member("x", b"data")], "no run directory"),
    ],
)
def test_an_archive_that_is_not_what_it_declares_is_refused(
    tmp_path: Path, members: Sequence[Member], said: str
) -> None:
    refused(pack(tmp_path / "hostile.tar", members), said)


def test_what_goes_on_after_the_end_is_refused(tmp_path: Path) -> None:
    members = [manifest_of([X]), Member("x", b"data")]
    refused(pack(tmp_path / "hostile.tar", members, b"\0" * 512 + b"more" * 128), "goes on after its end")
    refused(pack(tmp_path / "hostile.tar", members, b"\0" * (2 << 20)), "goes on after its end")


def test_a_bomb_is_refused_before_it_unfolds(tmp_path: Path) -> None:
    file = pack(tmp_path / "bomb.tar", [manifest_of([X]), Member("x", declared=2**40)], b"\0" * (64 << 20))
    packed = tmp_path / "bomb.tar.gz"
    packed.write_bytes(gzip.compress(file.read_bytes()))
    refused(packed, "its manifest declares 4")


@pytest.mark.parametrize("raw", [b"", b"text", b"\x1f\x8bnonsense", b"\xfd7zXZ\x00nonsense", b"\0" * 4096])
def test_a_file_that_is_no_archive_is_refused(tmp_path: Path, raw: bytes) -> None:
    (tmp_path / "file").write_bytes(raw)
    refused(tmp_path / "file", "file: ")


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read: No such file"):
        api.import_run(tmp_path / "none", tmp_path / "back")


def test_an_archive_of_another_identity_than_it_names_is_refused(run: Path, tmp_path: Path) -> None:
    file = tmp_path / "kept.tar"
    api.export_run(run, file)
    identity = json.loads((run / "campaign.json").read_bytes())["identity"].encode()
    raw = file.read_bytes()
    at = raw.index(b'"identity":"' + identity)
    file.write_bytes(raw[: at + 12] + b"0" * 64 + raw[at + 76 :])
    refused(file, "holds another run than its manifest names", IdentityError)


def test_a_full_disk_leaves_nothing(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    api.export_run(run, tmp_path / "kept.tar")
    monkeypatch.setattr(unpacking, "_write", full)
    refused(tmp_path / "kept.tar", "No space left on device.*nothing was left behind")


KILLED = """
import os, signal, sys
from pathlib import Path
import core.retrievers
from core.archive import unpacking
core.retrievers.__path__.append(sys.argv[1])
unpacking.publish_stage = lambda stage: os.kill(os.getpid(), signal.SIGKILL)
unpacking.import_run(Path(sys.argv[2]), Path(sys.argv[3]))
"""


def test_killed_before_the_name_is_given_there_is_no_run_and_the_next_import_works(
    run: Path, tmp_path: Path
) -> None:
    project = Path(__file__).parents[3]
    api.export_run(run, tmp_path / "kept.tar")
    words = [str(project / "tests/support/retrievers"), str(tmp_path / "kept.tar"), str(tmp_path / "back")]
    done = subprocess.run([sys.executable, "-c", KILLED, *words], cwd=project, check=False)
    assert done.returncode == -signal.SIGKILL
    assert not (tmp_path / "back").exists()
    assert (tmp_path / ".back.creating/campaign.json").is_file()
    api.import_run(tmp_path / "kept.tar", tmp_path / "back")
    assert not (tmp_path / ".back.creating").exists()
