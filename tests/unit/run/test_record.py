"""A run's frozen identity is read back, or refused with the reason and the remedy."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from core.canonical import sha256_of
from core.errors import Exit, IdentityError, InputError
from core.run.record import campaign_identity, read_cases, read_run, stored
from tests.support.finished import Finished, finished_run


@pytest.fixture
def finished(tmp_path: Path) -> Finished:
    return finished_run(tmp_path)


def edit(run: Path, *path: str, value: Any) -> None:
    """Set a field of campaign.json; None removes it."""
    record = json.loads((run / "campaign.json").read_bytes())
    place = record
    for key in path[:-1]:
        place = place[key]
    if value is None:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    (run / "campaign.json").write_text(json.dumps(record))


def test_a_run_reads_back_as_it_was_written(finished: Finished) -> None:
    run = read_run(finished.run)
    assert run.encode() == (finished.run / "campaign.json").read_bytes()
    assert run.candidates == ("a", "b")
    assert run.repositories == ("store",)
    assert run.private == frozenset()
    assert set(run.cells) == {"a/store", "b/store"}
    assert run.identity == campaign_identity(run.controls, run.cells)


def test_a_newer_format_is_refused_with_the_remedy(finished: Finished) -> None:
    edit(finished.run, "format", value="boresight-run@2")
    with pytest.raises(InputError, match="use the newer version that made it") as refused:
        read_run(finished.run)
    assert "'boresight-run@2'" in str(refused.value) and "'boresight-run@1'" in str(refused.value)


@pytest.mark.parametrize("name", ["events.jsonl", "plan.jsonl", "cases.jsonl"])
def test_a_pipe_in_place_of_a_file_is_refused_without_waiting(finished: Finished, name: str) -> None:
    (finished.run / name).unlink()
    os.mkfifo(finished.run / name)
    with pytest.raises(IdentityError, match=f"{name}: not a regular file; restore it"):
        read_run(finished.run)


def test_a_folder_that_is_no_run_is_refused_and_left_alone(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no run directory .* `boresight runs`") as refused:
        read_run(tmp_path)
    assert refused.value.exit_code == Exit.BAD_INPUT
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(InputError, match="no run directory"):
        read_run(tmp_path / "absent")


@pytest.mark.parametrize("raw", [b"", b"{", b"[]", b"\xff", b'{"format": 5}', b"{}", b"[" * 100_000])
def test_a_campaign_file_that_is_no_record_is_refused(finished: Finished, raw: bytes) -> None:
    (finished.run / "campaign.json").write_bytes(raw)
    with pytest.raises(IdentityError, match="restore it from a copy"):
        read_run(finished.run)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("controls", "seed"), 5),
        (("controls", "limits", "query_timeout"), 1.0),
        (("controls", "baseline"), "b"),
        (("cells", "a/store"), "0" * 64),
        (("identity",), "0" * 64),
        (("format",), "boresight-run@one"),
        (("format",), "boresight-run@" + "9" * 5000),
        (("about", "order", "candidates"), ["a"]),
        (("about", "order", "repositories"), ["store", "other"]),
        (("about", "candidates"), []),
        (("about", "private"), ["other"]),
        (("about", "name"), 5),
        (("about", "name"), "another"),
        (("about",), []),
    ],
)
def test_an_edited_campaign_is_refused(finished: Finished, path: tuple[str, ...], value: Any) -> None:
    edit(finished.run, *path, value=value)
    with pytest.raises(IdentityError, match=r"campaign\.json") as refused:
        read_run(finished.run)
    assert refused.value.exit_code == Exit.IDENTITY


@pytest.mark.parametrize(
    "path",
    [
        ("identity",),
        ("controls",),
        ("cells",),
        ("about",),
        ("about", "order"),
        ("about", "private"),
        ("about", "name"),
        ("about", "created_at"),
        ("about", "candidates"),
    ],
)
def test_a_missing_field_is_refused(finished: Finished, path: tuple[str, ...]) -> None:
    edit(finished.run, *path, value=None)
    with pytest.raises(IdentityError, match="fields are missing"):
        read_run(finished.run)


def test_a_signed_but_contradictory_campaign_is_refused(finished: Finished) -> None:
    record = json.loads((finished.run / "campaign.json").read_bytes())
    del record["cells"]["b/store"]
    record["identity"] = sha256_of({"controls": record["controls"], "cells": record["cells"]})
    (finished.run / "campaign.json").write_text(json.dumps(record))
    with pytest.raises(IdentityError, match="edited since the run was frozen"):
        read_run(finished.run)


def test_the_bank_is_read_only_as_it_was_frozen(finished: Finished) -> None:
    run = read_run(finished.run)
    assert len(read_cases(run).cases) == 4
    run.layout.cases.write_bytes(run.layout.cases.read_bytes().replace(b"load", b"Load"))
    with pytest.raises(IdentityError, match=r"cases\.jsonl: changed since the run was frozen"):
        read_cases(run)
    run.layout.cases.unlink()
    with pytest.raises(IdentityError, match=r"cases\.jsonl: No such file"):
        read_cases(run)


def test_a_stored_value_is_what_json_gives_back() -> None:
    assert stored({"a": (1, 2), "b": {"c": 1.0}}) == {"a": [1, 2], "b": {"c": 1.0}}
