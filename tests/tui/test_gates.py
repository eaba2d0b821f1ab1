"""The panel of gates on the results screen, by its keys, at the smallest and at a large size."""

from __future__ import annotations

import csv
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from core.browse.behind import NOT_HIT
from core.browse.filters import OutcomeFilter
from core.run.layout import RunLayout
from tests.support.finished import finished_run
from tests.support.graded import _made as make_graded
from tests.support.graded import graded_run
from tests.support.screens import SIZES, shown, until
from tui import navigation
from tui.app import BoresightApp
from tui.screens.gates import GatesScreen
from tui.screens.results import ResultsScreen

FLOORS = """
[[gate]]
name = "[/foo] bar \\u001b]52;c;aGk=\\u0007"
metric = "hit@10"
each = "query"
above = 0

[[gate]]
metric = "recall@5"
max = 0.25

[[gate]]
metric = "sampled_rss_mib"
max = 1e6
"""


@pytest.fixture(autouse=True)
def _graded_made_outside(_fake_retriever: None) -> None:
    make_graded(os.getpid(), False)


@asynccontextmanager
async def opened(
    run: Path, folder: Path, size: tuple[int, int]
) -> AsyncIterator[tuple[BoresightApp, Pilot[Any]]]:
    app = BoresightApp(folder)
    async with app.run_test(size=size) as pilot:
        app.show(navigation.ShowResults(run))
        await until(pilot, lambda: isinstance(app.screen, ResultsScreen) and app.screen.loaded is not None)
        await pilot.press("g")
        await until(pilot, lambda: isinstance(app.screen, GatesScreen))
        yield app, pilot


def words(app: BoresightApp) -> str:
    return " ".join(shown(app).split())


@pytest.mark.parametrize("size", SIZES)
async def test_floors_of_the_folder_are_held_for_every_candidate(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    run = finished_run(tmp_path).run
    (tmp_path / "floors.toml").write_text(FLOORS)
    async with opened(run, tmp_path, size) as (app, pilot):
        await until(pilot, lambda: "✖ 4 of 8 gates fell. Floors: floors.toml" in words(app))
        await until(pilot, lambda: "✔ holds" in words(app) and "✖ fell" in words(app))
        assert "\x1b" not in shown(app)


@pytest.mark.parametrize("size", SIZES)
async def test_keys_filter_sort_copy_and_edit(
    tmp_path: Path, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = finished_run(tmp_path).run
    (tmp_path / "floors.toml").write_text(FLOORS)
    copied: list[str] = []
    edited: list[Path] = []
    monkeypatch.setattr(BoresightApp, "copy", lambda self, text: copied.append(text))
    monkeypatch.setattr(BoresightApp, "edit", lambda self, path: edited.append(path))
    async with opened(run, tmp_path, size) as (app, pilot):
        await until(pilot, lambda: "8 gates fell" in words(app))
        screen = app.screen
        assert isinstance(screen, GatesScreen)
        await pilot.press("s")
        await until(pilot, lambda: screen.row is not None and not screen.row.held)
        await pilot.press("y", "e")
        assert copied and copied[0].startswith("✖ fell: a, ")
        assert edited == [tmp_path / "floors.toml"]
        await pilot.press("f")
        await until(pilot, lambda: "holds" not in shown(app).split("FOUND")[-1].split("fell:")[0])
        assert all(not row.held for row in screen._rows)
        await pilot.press("x")
        await until(pilot, lambda: list((RunLayout(run).root / "exports").glob("gates*.csv")))
        (file,) = (RunLayout(run).root / "exports").glob("gates*.csv")
        rows = list(csv.DictReader(file.read_text().splitlines()))
        assert len(rows) == 4 and all("fell" in row["outcome"] for row in rows)
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, ResultsScreen))


@pytest.mark.parametrize("size", SIZES)
async def test_enter_opens_the_queries_that_the_candidate_does_not_hit(
    tmp_path: Path, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = finished_run(tmp_path).run
    (tmp_path / "floors.toml").write_text(FLOORS)
    asked: list[navigation.ShowQueries] = []
    async with opened(run, tmp_path, size) as (app, pilot):
        await until(pilot, lambda: "8 gates fell" in words(app))
        monkeypatch.setattr(GatesScreen, "post_message", _noting(asked, GatesScreen.post_message))
        await pilot.press("down", "enter")
        await until(pilot, lambda: asked)
        assert asked[0].run == run
        assert asked[0].filters.outcomes == (OutcomeFilter("a", NOT_HIT),)
        assert asked[0].filters.cutoff == 10


def _noting(asked: list[navigation.ShowQueries], post: Any) -> Any:
    def note(self: GatesScreen, message: Any) -> Any:
        if isinstance(message, navigation.ShowQueries):
            asked.append(message)
            return True
        return post(self, message)

    return note


@pytest.mark.parametrize("size", SIZES)
async def test_graded_runs_have_default_floors_and_t_turns_to_others(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    run = graded_run(tmp_path)
    (tmp_path / "strict.floors.toml").write_text('[[gate]]\nmetric = "mrr"\nmin = 1\n')
    async with opened(run, tmp_path, size) as (app, pilot):
        await until(pilot, lambda: "strict.floors.toml (1 of 2, t turns)" in words(app))
        await pilot.press("t")
        await until(pilot, lambda: "Floors: the default floors of graded runs (2 of 2" in words(app))
        assert "of 18 gates fell" in words(app)


@pytest.mark.parametrize("size", SIZES)
async def test_floors_that_do_not_fit_and_evidence_that_changed_are_told(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    run = finished_run(tmp_path).run
    floors = tmp_path / "floors.toml"
    floors.write_text('[[gate]]\nmetric = "recal@5"\nmin = 0.5\n')
    async with opened(run, tmp_path, size) as (app, pilot):
        await until(pilot, lambda: "mend the floors (e)" in words(app))
        await until(pilot, lambda: "did you mean 'recall@5'" in words(app))
        floors.unlink()
        await pilot.press("f5")
        await until(pilot, lambda: "checked: all 2 candidates are complete" in words(app))
        bank = RunLayout(run).cases
        bank.write_bytes(bank.read_bytes() + b"x")
        await pilot.press("f5")
        await until(pilot, lambda: "✖ no gates can be told" in words(app))
        assert "changed since the run was frozen" in words(app)


@pytest.mark.parametrize(("floors", "told"), [(FLOORS, "these are all"), (None, "there are none")])
async def test_t_says_so_where_there_are_no_other_floors(
    tmp_path: Path, floors: str | None, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = finished_run(tmp_path).run
    if floors is not None:
        (tmp_path / "floors.toml").write_text(floors)
    said: list[str] = []
    monkeypatch.setattr(BoresightApp, "tell", lambda self, text, *, warning=False: said.append(text))
    async with opened(run, tmp_path, SIZES[0]) as (app, pilot):
        await until(pilot, lambda: isinstance(app.screen, GatesScreen) and app.screen.gated is not None)
        await pilot.press("t")
        await until(pilot, lambda: said)
        assert said == [f"No other floors to turn to: {told}; *.floors.toml in this folder adds some"]
