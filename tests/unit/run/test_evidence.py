"""Attempts are numbered, kept and never overwritten; results are held by their digests."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from core.errors import IdentityError
from core.run import evidence
from core.run.evidence import (
    Acceptance,
    Attempt,
    Result,
    Validation,
    begin_attempt,
    load_measurement,
    publish_accepted,
    publish_attempt,
    read_command,
    read_measurement,
    read_result,
    verify_result,
)
from core.run.layout import Operation, RunLayout

INDEX = Operation("a", "store", "index")
QUERY = Operation("a", "store", "primary", "store-symbol_lookup-1")
MEASURED = {"outcome": "exited", "exit_code": 0, "elapsed_s": 0.5}


@pytest.fixture
def layout(tmp_path: Path) -> RunLayout:
    return RunLayout(tmp_path)


def begun(layout: RunLayout, operation: Operation = INDEX) -> Attempt:
    attempt = begin_attempt(layout, operation, {"form": "one-shot", "steps": []})
    attempt.stdout.write_bytes(b"out")
    attempt.stderr.write_bytes(b"err")
    return attempt


def finished(layout: RunLayout, operation: Operation = INDEX, status: str = "accepted") -> Attempt:
    attempt = begun(layout, operation)
    publish_attempt(attempt, MEASURED, Validation(status))
    return attempt


def accepted(layout: RunLayout, operation: Operation = INDEX, index: Result | None = None) -> Result:
    bound = Acceptance("cell", index)
    return publish_accepted(layout, begun(layout, operation), MEASURED, Validation("accepted"), bound)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_next_attempt_takes_the_next_number_also_after_a_gap(layout: RunLayout) -> None:
    assert begin_attempt(layout, INDEX, {}).number == 1
    layout.attempt(INDEX, 7).mkdir()
    assert begin_attempt(layout, INDEX, {}).number == 8
    assert layout.attempts(INDEX) == (1, 7, 8)


def test_a_new_attempt_overwrites_nothing(layout: RunLayout) -> None:
    finished(layout, status="failed")
    before = contents(layout.root)
    accepted(layout)
    after = contents(layout.root)
    assert {path: after[path] for path in before} == before
    assert after.keys() > before.keys()


def test_an_attempt_keeps_its_command_before_anything_runs(layout: RunLayout) -> None:
    attempt = begin_attempt(layout, INDEX, {"form": "one-shot", "steps": ["{run}"]})
    record = read_command(attempt.folder)
    assert record["command"] == {"form": "one-shot", "steps": ["{run}"]}
    assert record["root"] == str(layout.root)
    assert attempt.folder.stat().st_mode & 0o077 == 0


def test_an_attempt_without_a_measurement_was_interrupted_and_stays(layout: RunLayout) -> None:
    attempt = begin_attempt(layout, INDEX, {})
    attempt.stdout.write_bytes(b"half")
    with pytest.raises(FileNotFoundError):
        read_measurement(attempt.folder)
    accepted(layout)
    assert attempt.stdout.read_bytes() == b"half"
    assert read_result(layout, INDEX) is not None
    assert layout.attempts(INDEX) == (1, 2)


def test_a_measurement_holds_digests_of_everything_and_an_absent_output_is_empty(layout: RunLayout) -> None:
    attempt = begin_attempt(layout, INDEX, {})
    publish_attempt(attempt, MEASURED, Validation("failed", "spawn_failed", "no such program"))
    record = read_measurement(attempt.folder)
    assert record["digests"]["stdout"]["bytes"] == 0
    assert set(record["digests"]) == {"command.json", "stdout", "stderr"}
    assert record["validation"] == {
        "status": "failed",
        "error_class": "spawn_failed",
        "message": "no such program",
        "duplicates": 0,
        "surplus": 0,
    }
    assert load_measurement((attempt.folder / "measurement.json").read_bytes(), INDEX) == record


def test_a_result_reads_back_and_binds_a_query_to_its_index(layout: RunLayout) -> None:
    index = accepted(layout)
    query = accepted(layout, QUERY, index)
    assert read_result(layout, INDEX) == index
    assert read_result(layout, QUERY) == query
    assert (query.index_attempt, query.index_measurement_sha256) == (1, index.measurement_sha256)
    assert read_result(layout, Operation("a", "store", "ctx", "other")) is None


def test_untouched_evidence_is_verified_with_its_bytes(layout: RunLayout) -> None:
    verified = verify_result(layout, INDEX, accepted(layout))
    assert verified.changed == ()
    assert verified.stdout == b"out"


def test_an_output_that_grew_large_is_named_without_being_read(
    layout: RunLayout, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = accepted(layout)
    stdout = layout.attempt(INDEX, result.attempt) / "stdout"
    with open(stdout, "ab") as stream:
        stream.truncate(1 << 38)  # as no reader could hold
    assert verify_result(layout, INDEX, result).changed == (
        "a/store/index/attempt-0001/stdout: changed since it was recorded",
    )


@pytest.mark.parametrize("name", ["command.json", "stdout", "stderr", "measurement.json"])
def test_a_pipe_in_the_place_of_evidence_keeps_nobody_waiting(layout: RunLayout, name: str) -> None:
    attempt = begun(layout)
    attempt.stderr.write_bytes(b"")
    result = publish_accepted(layout, attempt, MEASURED, Validation("accepted"), Acceptance("cell", None))
    path = attempt.folder / name
    path.unlink()
    os.mkfifo(path)
    changed = (f"a/store/index/attempt-0001/{name}: no regular file",)
    assert verify_result(layout, INDEX, result).changed == changed


@pytest.mark.parametrize("name", ["command.json", "stdout", "stderr", "measurement.json"])
@pytest.mark.parametrize("act", ["edit", "remove"])
def test_evidence_that_differs_from_its_digest_is_named(layout: RunLayout, name: str, act: str) -> None:
    result = accepted(layout)
    path = layout.attempt(INDEX, 1) / name
    path.write_bytes(path.read_bytes() + b" ") if act == "edit" else path.unlink()
    expected = "changed since it was recorded" if act == "edit" else "No such file or directory"
    assert verify_result(layout, INDEX, result).changed == (f"a/store/index/attempt-0001/{name}: {expected}",)


def refuse(at: int) -> Callable[..., None]:
    """Return a sync that a full disk refuses from its `at`-th call on."""
    calls = count(1)

    def sync(*_: Any) -> None:
        if next(calls) >= at:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    return sync


@pytest.mark.parametrize("accept", [True, False])
def test_a_full_disk_leaves_no_result_and_no_half_written_record(
    layout: RunLayout, monkeypatch: pytest.MonkeyPatch, accept: bool
) -> None:
    attempt = begin_attempt(layout, INDEX, {})
    attempt.stdout.write_bytes(b"out")
    monkeypatch.setattr(evidence, "sync_all", refuse(1))
    with pytest.raises(OSError, match="No space left"):
        if accept:
            publish_accepted(layout, attempt, MEASURED, Validation("accepted"), Acceptance("cell"))
        else:
            publish_attempt(attempt, MEASURED, Validation("failed"))
    with pytest.raises(FileNotFoundError):
        read_measurement(attempt.folder)
    assert read_result(layout, INDEX) is None
    assert {path.name for path in attempt.folder.iterdir()} == {"command.json", "stdout", "stderr"}
    assert [path.name for path in layout.operation(INDEX).iterdir()] == ["attempt-0001"]


def test_a_result_has_no_name_before_its_measurement_has_one_for_good(
    layout: RunLayout, monkeypatch: pytest.MonkeyPatch
) -> None:
    attempt = begun(layout)
    monkeypatch.setattr(evidence, "sync_all", refuse(2))
    with pytest.raises(OSError, match="No space left"):
        publish_accepted(layout, attempt, MEASURED, Validation("accepted"), Acceptance("cell"))
    assert read_measurement(attempt.folder)["measurement"] == MEASURED
    assert read_result(layout, INDEX) is None
    assert [path.name for path in layout.operation(INDEX).iterdir()] == ["attempt-0001"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            {"format": "boresight-result@2"},
            "format 'boresight-result@2' where 'boresight-result@1' is needed",
        ),
        ({"attempt": None}, "the field 'attempt' holds None"),
        ({"attempt": True}, "the field 'attempt' holds True"),
        ({"stdout_sha256": 5}, "the field 'stdout_sha256' holds 5"),
        ({"operation": "b/store/index"}, "belongs to operation 'b/store/index'"),
    ],
)
def test_an_edited_result_is_refused(layout: RunLayout, change: dict[str, Any], said: str) -> None:
    accepted(layout)
    path = layout.result(INDEX)
    path.write_text(json.dumps({**json.loads(path.read_bytes()), **change}))
    with pytest.raises(IdentityError, match=said) as refused:
        read_result(layout, INDEX)
    assert str(path) in str(refused.value)


@pytest.mark.parametrize("raw", [b"", b"{", b"[]", b"\xff", b"[" * 100_000])
def test_a_result_that_is_no_record_is_refused(layout: RunLayout, raw: bytes) -> None:
    accepted(layout)
    layout.result(INDEX).write_bytes(raw)
    with pytest.raises(IdentityError, match="restore it from a copy"):
        read_result(layout, INDEX)


def test_a_result_without_a_field_is_refused_by_its_name(layout: RunLayout) -> None:
    accepted(layout)
    path = layout.result(INDEX)
    record = json.loads(path.read_bytes())
    del record["cell"]
    path.write_text(json.dumps(record))
    with pytest.raises(IdentityError, match="the field 'cell' is missing"):
        read_result(layout, INDEX)


@pytest.mark.parametrize("field", ["digests", "measurement", "validation"])
@pytest.mark.parametrize("value", [None, {}, []])
def test_a_measurement_without_its_parts_is_refused(layout: RunLayout, field: str, value: Any) -> None:
    attempt = finished(layout, status="failed")
    path = attempt.folder / "measurement.json"
    path.write_text(json.dumps({**json.loads(path.read_bytes()), field: value}))
    with pytest.raises(IdentityError, match=f"the field '{field}' is missing or incomplete"):
        read_measurement(attempt.folder)


def test_records_that_cannot_be_read_are_refused(layout: RunLayout) -> None:
    layout.result(INDEX).mkdir(parents=True)
    with pytest.raises(IdentityError, match="cannot be read: Is a directory"):
        read_result(layout, INDEX)
