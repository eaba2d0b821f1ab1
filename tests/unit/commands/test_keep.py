"""`verify`, `export`, `import`, `clean`, and the disk that `runs` shows: words, numbers and exit codes."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from core import api
from core.errors import Exit
from core.run.lock import RunLock
from tests.support.campaigns import campaign, fake, make_scene, run_new
from tests.support.finished import OPERATIONS, finished_run
from tests.support.shell import Shell


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(capsys)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return finished_run(tmp_path).run


def test_verify_counts_files_and_bytes(shell: Shell, run: Path) -> None:
    assert shell("verify", run) == Exit.DONE
    words = shell.out.split()
    assert words[1] == "files," and words[3] == "bytes" and shell.out.endswith("all match\n")
    assert int(words[0]) > 2 * OPERATIONS * 4 and int(words[2]) > 0


def test_verify_names_what_differs_and_exits_3(shell: Shell, run: Path) -> None:
    with open(run / "cases.jsonl", "ab") as stream:
        stream.write(b"\n")
    (run / "operations/a/store/index/attempt-0001/stderr").unlink()
    assert shell("verify", run) == Exit.IDENTITY
    assert "cases.jsonl: changed since it was recorded\n" in shell.out
    assert "operations/a/store/index/attempt-0001/stderr: missing\n" in shell.out
    assert shell.out.endswith("3 differ\n")


def test_verify_as_json(shell: Shell, run: Path) -> None:
    assert shell("verify", run, "--json") == Exit.DONE
    told = json.loads(shell.out)
    assert told["problems"] == [] and told["files"] > 0 and told["interrupted"] == 0


def test_verify_tells_of_attempts_that_it_cannot_check(shell: Shell, run: Path) -> None:
    (run / "operations/a/store/index/attempt-0002").mkdir()
    assert shell("verify", run) == Exit.DONE
    assert "1 interrupted attempts hold no digests" in shell.err


def test_verify_of_an_edited_campaign_exits_3_and_of_no_run_2(
    shell: Shell, run: Path, tmp_path: Path
) -> None:
    assert shell("verify", tmp_path) == Exit.BAD_INPUT
    (run / "campaign.json").write_text("{}")
    assert shell("verify", run) == Exit.IDENTITY
    assert shell.out == ""


def test_a_run_goes_into_a_file_and_comes_back(
    shell: Shell, run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert shell("export", run) == Exit.DONE
    assert shell.out == "run.tar.gz\n"
    assert shell("import", "run.tar.gz", "back") == Exit.DONE
    assert shell.out == f"Known-target results: {tmp_path / 'back'}\n"
    assert "verified" in shell.err
    assert shell("report", "back") == Exit.DONE
    assert shell("export", run, "run.tar.gz") == Exit.BAD_INPUT
    assert "already exists" in shell.err
    assert shell("import", "run.tar.gz", "back") == Exit.BAD_INPUT
    assert shell("import", "absent.tar.gz", "other") == Exit.BAD_INPUT
    assert shell("export", run, "small.tar", "--without-state") == Exit.DONE
    assert Path("small.tar").stat().st_size > Path("run.tar.gz").stat().st_size


def test_an_export_tells_what_it_left_out(shell: Shell, run: Path, tmp_path: Path) -> None:
    (run / "state/a/store/link").symlink_to("index.json")
    assert shell("export", run, tmp_path / "kept.tar") == Exit.DONE
    assert (
        "1 links, sockets and pipes of indexes were left out (the first is state/a/store/link)" in shell.err
    )


def test_private_sources_leave_only_where_that_was_meant(shell: Shell, tmp_path: Path) -> None:
    run = finished_run(tmp_path, private=True).run
    assert shell("export", run, tmp_path / "kept.tar") == Exit.BAD_INPUT
    assert "--include-private" in shell.err and "store" in shell.err
    assert shell("export", run, tmp_path / "kept.tar", "--include-private") == Exit.DONE


def test_a_renamed_run_is_verified_reported_and_complete(shell: Shell, run: Path, tmp_path: Path) -> None:
    moved = tmp_path / "elsewhere" / "renamed"
    moved.parent.mkdir()
    run.rename(moved)
    assert shell("verify", moved) == Exit.DONE
    assert shell("rescore", moved) == Exit.DONE
    assert shell("report", moved, "--format", "json") == Exit.DONE
    assert shell("resume", moved) == Exit.DONE
    assert "nothing to run" in shell.err


@pytest.mark.parametrize(("relocatable", "again"), [(True, 2), (False, OPERATIONS)])
def test_a_moved_run_with_failures_goes_on_as_its_index_allows(
    shell: Shell, tmp_path: Path, relocatable: bool, again: int
) -> None:
    marker = tmp_path / "mended"
    scene = make_scene(tmp_path, per_intent=1)
    query = next(case.query for case in api.read_bank(scene.cases).cases if case.intent == "symbol_lookup")
    broken = fake("a", relocatable=relocatable, faults={query: "exit_3"}, until=str(marker))
    ran = run_new(campaign(scene, broken), tmp_path / "run")
    marker.touch()
    ran.run.rename(tmp_path / "moved")
    assert shell("resume", tmp_path / "moved") == Exit.DONE
    assert shell.err.count("✔ accepted") == again


def test_clean_shows_first_and_frees_on_yes(shell: Shell, run: Path) -> None:
    assert shell("clean", run) == Exit.BAD_INPUT
    assert shell("clean", run, "--state") == Exit.DONE
    assert shell.out.count("stays complete") == 2 and f"{OPERATIONS}/{OPERATIONS}" in shell.out
    assert f"boresight clean {run} --state --yes" in shell.err
    assert (run / "state/a/store/index.json").is_file()

    assert shell("clean", run, "--state", "--yes") == Exit.DONE
    assert shell.out.splitlines()[-1].startswith("Freed ")
    assert not list((run / "state").rglob("index.json"))
    assert shell("rescore", run) == Exit.DONE
    assert shell("report", run) == Exit.DONE
    assert shell("verify", run) == Exit.DONE
    assert shell("resume", run) == Exit.DONE
    assert "nothing to run" in shell.err
    assert shell("clean", run, "--state") == Exit.DONE
    assert shell.out == "This run holds no indexes.\n"


def test_clean_says_which_cells_would_be_indexed_again(shell: Shell, tmp_path: Path) -> None:
    asked = campaign(make_scene(tmp_path, per_intent=1), fake("a", faults={"load_records": "exit_3"}))
    ran = run_new(asked, tmp_path / "run")
    assert shell("clean", ran.run, "--state") == Exit.DONE
    assert f"{OPERATIONS - 2}/{OPERATIONS}" in shell.out
    assert "is indexed and queried again by a resume" in shell.out


@pytest.mark.parametrize("more", [[], ["--yes"]])
def test_clean_is_refused_while_the_run_is_written(shell: Shell, run: Path, more: list[str]) -> None:
    lock = RunLock(run / ".lock")
    lock.acquire()
    try:
        assert shell("clean", run, "--state", *more) == Exit.BUSY
    finally:
        lock.release()
    assert (run / "state/a/store/index.json").is_file()


def test_runs_show_what_they_take_and_what_of_it_are_indexes(shell: Shell, run: Path) -> None:
    (run / "state/a/store/large").write_bytes(os.urandom(3 << 20))
    assert shell("runs", run.parent) == Exit.DONE
    header, line = shell.out.splitlines()
    assert header.endswith("disk     of it indexes") or "of it indexes" in header
    assert line.rstrip().endswith("MiB")
    assert shell("runs", run.parent, "--json") == Exit.DONE
    (told,) = json.loads(shell.out)
    assert told["disk_bytes"] > told["state_bytes"] > 3 << 20
