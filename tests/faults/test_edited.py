"""What was edited in a run that is not complete: refused by name, or rebuilt where it is derived."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from core import api
from core.errors import Exit
from core.run.layout import RunLayout
from tests.support.campaigns import campaign, fake, make_scene, run_again, run_new
from tests.support.faults import OPERATIONS, scores
from tests.support.shell import Shell


@pytest.fixture
def unfinished(tmp_path: Path) -> Path:
    """Return a run of which one operation failed, so that a resume has something to do."""
    marker = tmp_path / "happened"
    asked = campaign(
        make_scene(tmp_path, per_intent=1),
        fake("a", faults={"load_records": "exit_3"}, once=str(marker)),
        fake("b", session=True),
    )
    ran = run_new(asked, tmp_path / "run")
    assert ran.outcomes()["failed"] == 1
    return ran.run


def append(path: Path) -> None:
    path.chmod(0o600)
    with open(path, "ab") as stream:
        stream.write(b" \n")


NARRATION = {".lock", "events.jsonl", "console.log", "exit-status"}


def contents(run: Path) -> dict[Path, bytes]:
    return {
        path: path.read_bytes() for path in run.rglob("*") if path.is_file() and path.name not in NARRATION
    }


def answered(run: Path) -> Path:
    return min(RunLayout(run).operations.glob("b/store/primary-*")) / "attempt-0001"


@pytest.mark.parametrize(
    ("kind", "find"),
    [
        ("stdout", lambda run: answered(run) / "stdout"),
        ("measurement", lambda run: answered(run) / "measurement.json"),
        ("bank", lambda run: run / "cases.jsonl"),
        ("plan", lambda run: run / "plan.jsonl"),
        ("source file", lambda run: run / "repositories/store/store/records.py"),
        ("configuration", lambda run: run / "configs/a.json"),
    ],
)
def test_an_edited_file_is_refused_by_name_until_it_is_restored(
    unfinished: Path, capsys: pytest.CaptureFixture[str], kind: str, find: Callable[[Path], Path]
) -> None:
    shell = Shell(capsys)
    path = find(unfinished)
    whole = path.read_bytes()
    append(path)
    before = contents(unfinished)

    assert shell("resume", unfinished) == Exit.IDENTITY

    assert path.name in shell.err and "begin a new run" in shell.err and "restore" in shell.err, shell.err
    assert contents(unfinished) == before
    assert shell("verify", unfinished, "--quiet-progress") == Exit.IDENTITY
    assert path.name in shell.out

    path.write_bytes(whole)
    if kind == "source file":
        path.chmod(0o444)
    assert run_again(unfinished).state == "complete"


def test_an_edited_result_is_refused_by_name_until_it_is_restored(
    unfinished: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shell = Shell(capsys)
    path = answered(unfinished).parent / "result.json"
    whole = path.read_bytes()
    path.write_bytes(json.dumps({**json.loads(whole), "stdout_sha256": "0" * 64}).encode())
    for command in ("resume", "rescore"):
        assert shell(command, unfinished) == Exit.IDENTITY
        assert f"{path.parent.name}/attempt-0001/stdout: changed since it was recorded" in shell.err
        assert "restore it from a copy, or begin a new run" in shell.err
    path.write_bytes(whole)
    assert run_again(unfinished).state == "complete"


def test_an_index_that_was_edited_is_built_again_and_its_queries_asked_again(unfinished: Path) -> None:
    index = unfinished / "state/b/store/index.json"
    index.write_text(json.dumps({**json.loads(index.read_text()), "declared": 10**6}))
    assert run_again(unfinished).outcomes() == {"accepted": 1 + OPERATIONS, "reused": OPERATIONS - 1}
    assert len(list((RunLayout(unfinished).operations / "b/store/index").glob("attempt-*"))) == 2


def test_derived_files_that_were_edited_are_written_again(unfinished: Path) -> None:
    expected = scores(unfinished)
    for path in (RunLayout(unfinished).summary, RunLayout(unfinished).summary_text):
        path.write_text("edited")
    api.rescore(unfinished, write=True)
    assert scores(unfinished) == expected
    assert "edited" not in RunLayout(unfinished).summary_text.read_text()


def test_a_half_written_last_event_is_ended_and_the_story_goes_on(unfinished: Path) -> None:
    events = RunLayout(unfinished).events
    told = events.read_bytes()
    events.write_bytes(told[:-20])
    before = [event.sequence for event in api.read_events(events)]
    assert run_again(unfinished).state == "complete"
    after = list(api.read_events(events))
    assert [event.sequence for event in after] == sorted({event.sequence for event in after})
    assert [event.sequence for event in after][: len(before)] == before
    assert after[-1].type == "campaign_finished"
