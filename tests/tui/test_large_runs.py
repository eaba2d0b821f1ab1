"""A run that takes long to count keeps nobody from the others, and is counted once."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path

import pytest

import tui.runs
from core.browse.index import open_index
from core.status import RunStatus, run_status
from tests.support.finished import finished_run
from tests.support.screens import SIZES, shown, until
from tui.app import BoresightApp
from tui.runs import Listing


@pytest.mark.parametrize("size", SIZES)
async def test_other_runs_are_shown_while_a_large_one_is_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: tuple[int, int]
) -> None:
    run = finished_run(tmp_path).run
    large = tmp_path / "zzz"
    shutil.copytree(run, large)
    counted = threading.Event()

    def slow(path: Path, *, brief: bool = False) -> RunStatus:
        if path == large:
            counted.wait(20)
        return run_status(path, brief=brief)

    monkeypatch.setattr(tui.runs, "LARGE_PLAN", 0)
    monkeypatch.setattr(tui.runs, "run_status", slow)
    app = BoresightApp(tmp_path)
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: "counting the operations of zzz" in shown(app))
        await until(pilot, lambda: shown(app).count("✔ complete") == 1)
        counted.set()
        await until(pilot, lambda: shown(app).count("✔ complete") == 2)
        await until(pilot, lambda: "1 campaign · 2 runs" in shown(app))


def test_a_run_with_an_index_is_not_counted_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = finished_run(tmp_path).run
    before = Listing(tmp_path).look()
    open_index(run).close()
    monkeypatch.setattr("core.status._counts", None)
    assert [row.status for row in Listing(tmp_path).look()] == [row.status for row in before]
