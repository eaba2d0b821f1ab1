"""Where things lie in a run, and which folders are runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.run.layout import STAGING_SUFFIX, Operation, RunLayout, find_runs, is_run


def make_run(folder: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / "campaign.json").write_text("{}")
    return folder


def test_an_operation_lies_below_its_candidate_and_repository(tmp_path: Path) -> None:
    layout = RunLayout(tmp_path)
    operation = Operation("a", "store", "primary", "case-1")
    assert str(operation) == "a/store/primary-case-1"
    assert layout.attempt(operation, 12) == tmp_path / "operations/a/store/primary-case-1/attempt-0012"
    assert layout.result(operation) == tmp_path / "operations/a/store/primary-case-1/result.json"
    assert Operation("a", "store", "index").name == "index"


def test_attempts_are_numbers_in_order_whatever_else_lies_there(tmp_path: Path) -> None:
    layout = RunLayout(tmp_path)
    operation = Operation("a", "store", "index")
    for name in ("attempt-10000", "attempt-0002", "attempt-0001", "attempt-1", "attempt-0003.old", "notes"):
        (layout.operation(operation) / name).mkdir(parents=True)
    (layout.operation(operation) / "result.json").touch()
    assert layout.attempts(operation) == (1, 2, 10000)


@pytest.mark.parametrize("left", ["nothing", "a file"])
def test_an_operation_that_never_ran_has_no_attempts(tmp_path: Path, left: str) -> None:
    layout = RunLayout(tmp_path)
    operation = Operation("a", "store", "index")
    if left == "a file":
        layout.operation(operation).parent.mkdir(parents=True)
        layout.operation(operation).touch()
    assert layout.attempts(operation) == ()


def test_a_folder_with_a_campaign_file_is_a_run_and_an_impossible_path_is_none(tmp_path: Path) -> None:
    assert is_run(make_run(tmp_path / "run"))
    assert not is_run(tmp_path)
    assert not is_run(tmp_path / ("x" * 5000))


def test_runs_are_found_in_name_order_to_a_depth_and_never_in_one_another(tmp_path: Path) -> None:
    second = make_run(tmp_path / "b" / "second")
    first = make_run(tmp_path / "a" / "first")
    make_run(first / "inside")
    make_run(tmp_path / "1" / "2" / "3" / "4" / "too-deep")
    deepest = make_run(tmp_path / "c" / "2" / "3" / "deep")
    assert list(find_runs(tmp_path)) == [first, second, deepest]
    assert list(find_runs(first)) == [first]


def test_links_caches_and_runs_still_being_made_are_passed_over(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run")
    (tmp_path / "link").symlink_to(run)
    for folder in (".git", "node_modules", f".new{STAGING_SUFFIX}"):
        make_run(tmp_path / folder / "run")
    make_run(tmp_path / f".other{STAGING_SUFFIX}")
    assert list(find_runs(tmp_path)) == [run]


def test_a_folder_that_is_not_there_holds_no_runs(tmp_path: Path) -> None:
    assert list(find_runs(tmp_path / "absent")) == []
