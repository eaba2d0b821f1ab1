"""One attempt reads whole, and reads as far as it goes where its files are missing, edited or hostile."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from core.browse.attempt_detail import AttemptDetail, check_file, read_attempt, read_head
from core.errors import InputError
from core.run.evidence import COMMAND, MEASUREMENT, STDERR, STDOUT, begin_attempt
from core.run.layout import INDEX, Operation, RunLayout
from core.run.lock import RunLock
from core.run.record import read_run
from tests.support.campaigns import campaign, fake, make_scene, run_new
from tests.support.finished import finished_run

INDEXING = Operation("a", "store", INDEX)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return finished_run(tmp_path).run


def detail(run: Path, operation: Operation = INDEXING, number: int = 1) -> AttemptDetail:
    return read_attempt(read_run(run), operation, number)


def verdicts(found: AttemptDetail) -> dict[str, str | None]:
    return {file.name: check_file(file) for file in found.files}


def folder(run: Path) -> Path:
    return RunLayout(run).attempt(INDEXING, 1)


def edit(run: Path, change: dict[str, Any]) -> None:
    path = folder(run) / MEASUREMENT
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))


def test_an_accepted_attempt_reads_whole(run: Path) -> None:
    found = detail(run)
    assert (found.status, found.is_result, found.problems) == ("accepted", True, ())
    assert found.measured.exit_code == 0 and (found.measured.elapsed_s or 0) > 0
    assert (found.judgement.units or 0) > 0
    assert found.command is not None and str(run) in found.command.shell_line()
    assert verdicts(found) == dict.fromkeys((STDOUT, STDERR, COMMAND, MEASUREMENT), "matches")
    assert '"units"' in read_head(found.file(STDOUT), 5, 200).lines[0]


def test_a_query_of_a_session_has_the_line_it_was_asked(run: Path) -> None:
    name = next(path.name for path in (RunLayout(run).operations / "a/store").glob("primary-*"))
    found = detail(run, Operation("a", "store", "primary", name.removeprefix("primary-")))
    assert found.command is not None and found.command.form == "session"
    assert found.command.request is not None and '"do": "query"' in found.command.request


def test_a_failed_attempt_says_why_and_is_not_the_one_that_counts(tmp_path: Path) -> None:
    scene = make_scene(tmp_path, per_intent=1)
    run = run_new(campaign(scene, fake("a", index="dies")), tmp_path / "run").run
    found = detail(run)
    assert (found.status, found.is_result) == ("failed", False)
    assert found.judgement.error_class == "nonzero_exit" and found.measured.exit_code == 3
    assert "no such model" in str(found.judgement.message)
    assert verdicts(found)[MEASUREMENT] == "unrecorded" and verdicts(found)[STDERR] == "matches"


@pytest.mark.parametrize(
    ("name", "change", "verdict"),
    [
        (STDOUT, lambda path: path.write_bytes(b"other"), "changed"),
        (STDERR, lambda path: path.unlink(), "missing"),
        (COMMAND, lambda path: path.write_bytes(path.read_bytes() + b" "), "changed"),
        (STDOUT, lambda path: (path.unlink(), path.mkdir()), "unreadable"),
    ],
)
def test_what_differs_from_its_digest_is_told_by_name(
    run: Path, name: str, change: Any, verdict: str
) -> None:
    change(folder(run) / name)
    found = verdicts(detail(run))
    assert found[name] == verdict
    assert all(told == "matches" for other, told in found.items() if other != name)


def test_an_interrupted_attempt_is_told_as_such(run: Path) -> None:
    (folder(run) / MEASUREMENT).unlink()
    found = detail(run)
    assert found.status == "interrupted" and found.measured.outcome is None
    assert found.command is not None


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'{"format": "other@1"}',
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"format":' + b"9" * 9999,
    ],
)
@pytest.mark.parametrize("name", [MEASUREMENT, COMMAND])
def test_records_that_do_not_read_are_told_and_stand_in_nobodys_way(run: Path, raw: bytes, name: str) -> None:
    (folder(run) / name).write_bytes(raw)
    found = detail(run)
    assert len(found.problems) == 1 and name in found.problems[0]
    assert found.status == ("unreadable" if name == MEASUREMENT else "accepted")
    assert (found.command is None) == (name == COMMAND)


@pytest.mark.parametrize(
    "junk", [None, 3, "x", [], {}, {"elapsed_s": "soon", "exit_code": 10**400, "signal": 9}]
)
def test_fields_of_other_types_are_left_out(run: Path, junk: Any) -> None:
    edit(run, {"measurement": junk, "validation": {"status": "failed", "error_class": 3}, "digests": junk})
    found = detail(run)
    assert found.measured == found.measured._replace(elapsed_s=None, exit_code=None, signal=None)
    assert found.status == "failed" and found.judgement.error_class is None


def test_a_pipe_in_a_files_place_is_never_waited_for(run: Path) -> None:
    for name in (STDOUT, COMMAND, MEASUREMENT):
        (folder(run) / name).unlink()
        os.mkfifo(folder(run) / name)
    found = detail(run)
    assert len(found.problems) == 2
    assert verdicts(found)[STDOUT] == "unreadable"
    with pytest.raises(InputError, match="no regular file"):
        read_head(found.file(STDOUT), 5, 80)


def test_an_attempt_that_is_not_there_is_told(run: Path) -> None:
    found = detail(run, number=9)
    assert found.status == "interrupted"
    assert set(verdicts(found).values()) == {"missing"}


def test_a_comparison_can_be_cancelled(run: Path) -> None:
    assert check_file(detail(run).file(STDOUT), lambda: True) is None


def test_an_attempt_without_a_measurement_is_under_way_only_in_the_execution_that_began_it(run: Path) -> None:
    layout = RunLayout(run)
    begin_attempt(layout, INDEXING, {})
    lock = RunLock(layout.lock)
    lock.acquire()
    try:
        os.utime(layout.lock, ns=(2**62, 2**62))  # taken after the attempt was begun
        assert detail(run, number=2).status == "interrupted"
        os.utime(layout.lock, ns=(0, 0))
        assert detail(run, number=2).status == "under_way"
        assert detail(run, number=1).status == "accepted"
    finally:
        lock.release()
    assert detail(run, number=2).status == "interrupted"
    assert (detail(run, number=2).result, detail(run, number=1).result) == (1, 1)
