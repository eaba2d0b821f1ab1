"""`boresight retry` chooses among failures, says what it does, and ends as the run then stands."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from core import api
from core.errors import Exit
from core.run.layout import RunLayout
from tests.support.campaigns import Ran, campaign, fake, make_scene, run_new
from tests.support.finished import finished_run
from tests.support.shell import Shell


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(capsys)


@pytest.fixture
def failed(tmp_path: Path) -> Ran:
    """A run whose candidates each failed two operations, and would not fail again."""
    marker = str(tmp_path / "mended")
    scene = make_scene(tmp_path, per_intent=1)
    query = next(case.query for case in api.read_bank(scene.cases).cases if case.intent == "symbol_lookup")
    broken = {"faults": {query: "exit_3"}, "until": marker}
    ran = run_new(campaign(scene, fake("a", **broken), fake("b", **broken)), tmp_path / "run")
    Path(marker).touch()
    assert len(api.failures(ran.run)) == 4
    return ran


def left(ran: Ran) -> int:
    return len(api.failures(ran.run))


def test_all_failures_are_tried_again_without_a_filter(shell: Shell, failed: Ran) -> None:
    assert shell("retry", failed.run, "--quiet-progress") == Exit.DONE
    assert "retrying 4 of 4 failures" in shell.err
    assert shell.out.endswith(f"Known-target results: {failed.run}\n")
    assert left(failed) == 0


def test_filters_choose_and_the_rest_stays_failed(shell: Shell, failed: Ran) -> None:
    words = ("--candidate", "a", "--operation", "primary", "--error", "nonzero_exit", "--repository", "store")
    assert shell("retry", failed.run, *words) == Exit.NEGATIVE
    assert "retrying 1 of 4 failures" in shell.err
    assert "not_chosen" not in shell.err
    assert "3 of" in shell.err and left(failed) == 3
    name = api.failures(failed.run)[0].operation.name
    assert shell("retry", failed.run, "--operation", name) == Exit.NEGATIVE
    assert left(failed) < 3


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--candidate", "c"], "--candidate: found 'c', which no failure has; choose from a (2), b (2)"),
        (["--error", "timeout"], "choose from nonzero_exit (4)"),
        (["--operation", "index"], "--operation: found 'index'"),
        (["--repository", "other"], "choose from store (4)"),
    ],
)
def test_a_filter_that_fits_nothing_is_refused_with_what_would(
    shell: Shell, failed: Ran, words: list[str], said: str
) -> None:
    assert shell("retry", failed.run, *words) == Exit.BAD_INPUT
    assert said in shell.err
    assert left(failed) == 4


def test_a_run_without_failures_is_left_alone(shell: Shell, tmp_path: Path) -> None:
    run = finished_run(tmp_path).run
    before = {path: path.stat().st_mtime_ns for path in run.rglob("*")}
    assert shell("retry", run) == Exit.DONE
    assert "nothing to retry" in shell.err
    assert {path: path.stat().st_mtime_ns for path in run.rglob("*")} == before


def test_a_retry_without_an_index_says_that_it_is_built_again(shell: Shell, failed: Ran) -> None:
    shutil.rmtree(RunLayout(failed.run).state("a", "store"))
    assert shell("retry", failed.run, "--candidate", "a", "--operation", "ctx") == Exit.NEGATIVE
    assert "a/store has no index here: it is built again, and all its queries run" in shell.err
    assert left(failed) == 2
