"""The command palette reaches every run, campaign, candidate and case."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from textual.command import CommandPalette
from textual.pilot import Pilot
from textual.widgets import OptionList

from core import api
from tests.support.campaigns import make_scene
from tests.support.finished import Finished, finished_run
from tests.support.inputs import write_inputs
from tests.support.live import playing
from tests.support.screens import SIZES, shown, until, unwrapped
from tui.app import BoresightApp
from tui.navigation import Show, ShowAttempts, ShowManifest, ShowQueries, ShowResults
from tui.screens.dialogs import ChoiceDialog, TextDialog


@pytest.fixture
def finished(tmp_path: Path) -> Finished:
    return finished_run(tmp_path)


async def find(pilot: Pilot[int], app: BoresightApp, words: str, wanted: str) -> None:
    """Type into the palette until an entry shows, and choose the first."""
    await pilot.press("ctrl+p")
    await until(pilot, lambda: isinstance(app.screen, CommandPalette))
    await pilot.press(*words)
    await until(pilot, lambda: wanted in first_of(app))
    await pilot.press("enter")


def first_of(app: BoresightApp) -> str:
    """Return the text of the palette's first entry."""
    options = app.screen.query_one(OptionList).options
    return str(options[0].prompt) if options else ""


@pytest.mark.parametrize("size", SIZES)
async def test_runs_and_what_can_be_done_with_them(
    finished: Finished, size: tuple[int, int], asked: list[Show]
) -> None:
    app = BoresightApp(finished.folder)
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: "✔ complete" in shown(app))
        await find(pilot, app, "test run results", "Run test run: Results")
        await until(pilot, lambda: asked == [ShowResults(finished.run)])
        await find(pilot, app, "rescore", "Rescore: verify every digest")
        await until(pilot, (finished.run / "quality-summary.json").exists)


async def test_candidates_lead_to_their_attempts(finished: Finished, asked: list[Show]) -> None:
    app = BoresightApp(finished.folder)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: "✔ complete" in shown(app))
        await find(pilot, app, "candidate b in", "Candidate b in run")
        await until(pilot, lambda: asked == [ShowAttempts(finished.run, candidate="b")])


@pytest.mark.parametrize("size", SIZES)
async def test_cases_are_found_by_their_words_where_an_index_stands(
    finished: Finished, size: tuple[int, int], asked: list[Show]
) -> None:
    app = BoresightApp(finished.folder)
    app.indexes.open(finished.run, lambda done, total: None, lambda: False)
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: "✔ complete" in shown(app))
        await find(pilot, app, "Documentation about", "Case store-docs_lookup")
        await until(pilot, lambda: len(asked) == 1)
        found = asked[0]
        assert isinstance(found, ShowQueries) and str(found.case).startswith("store-docs_lookup")


async def test_campaigns_and_new_ones(tmp_path: Path, asked: list[Show]) -> None:
    app = BoresightApp(tmp_path)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: "▤ campaign" in shown(app))
        await find(pilot, app, "edit the campaign", "Campaign test campaign.toml: Edit")
        await until(pilot, lambda: asked == [ShowManifest(tmp_path / "campaign.toml")])
        await find(pilot, app, "new campaign from", "New campaign from a repository")
        await until(pilot, lambda: asked[-1] == ShowManifest(None))


@pytest.fixture(autouse=True)
def _campaign(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    if request.function is test_campaigns_and_new_ones:
        write_inputs(make_scene(tmp_path, per_intent=1))


@pytest.mark.parametrize("is_refused", [True, False])
@pytest.mark.parametrize("from_monitor", [True, False])
async def test_a_resume_is_checked_first_and_where_refused_shows_homes_menu(
    tmp_path: Path, hosted: list[api.OpenRun], *, is_refused: bool, from_monitor: bool
) -> None:
    with playing(tmp_path) as engine:
        engine.begin()
    if is_refused:
        source = engine.run / "repositories/store/store/records.py"
        source.chmod(0o644)
        source.write_text("")
    app = BoresightApp(tmp_path, watch=engine.run if from_monitor else None)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: bool(app.home.rows) and "◐ interrupted" in shown(app))
        await find(pilot, app, "resume: go on", "Run test run: Resume: go on")
        if is_refused:
            await until(pilot, lambda: isinstance(app.screen, ChoiceDialog) and app.screen.query(OptionList))
            assert "frozensourceswere" in unwrapped(app)
            options = app.screen.query_one(OptionList)
            assert [option.id for option in options.options][:2] == ["reuse", "fix"]
            assert options.get_option("resume").disabled and not hosted
        else:
            await until(pilot, lambda: [opened.layout.root for opened in hosted] == [engine.run])


async def test_a_run_that_is_not_under_the_cursor_is_resumed_all_the_same(
    tmp_path: Path, hosted: list[api.OpenRun]
) -> None:
    with playing(tmp_path) as engine:
        engine.begin()
    runs = [tmp_path / "left", tmp_path / "right"]
    shutil.copytree(engine.run, runs[0], symlinks=True)
    engine.run.rename(runs[1])
    app = BoresightApp(tmp_path)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: "2 runs" in shown(app) and app.home.chosen is not None)
        chosen = app.home.chosen
        assert chosen is not None
        (wanted,) = (run for run in runs if run != chosen.path)
        await find(pilot, app, f"{wanted.name} resume: go on", f"Run test {wanted.name}: Resume: go on")
        await until(pilot, lambda: [opened.layout.root for opened in hosted] == [wanted])


async def test_without_an_index_and_with_hostile_words_nothing_raises(finished: Finished) -> None:
    app = BoresightApp(finished.folder)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: "✔ complete" in shown(app))
        for words in ("[/foo] bar", "[X=http://a]", "%_'\"", "\\"):
            await pilot.press("ctrl+p")
            await until(pilot, lambda: isinstance(app.screen, CommandPalette))
            app.screen.query_one("CommandInput").value = words  # type: ignore[attr-defined]
            await pilot.pause(0.3)
            await pilot.press("escape")
            await until(pilot, lambda: not isinstance(app.screen, CommandPalette))
        assert not (finished.run / "index.sqlite").exists()
        assert not isinstance(app.screen, TextDialog)


async def test_the_same_case_of_two_runs_can_be_told_apart(finished: Finished) -> None:
    other = finished.folder / "runs" / "test" / "run"
    shutil.copytree(finished.run, other, symlinks=True)
    app = BoresightApp(finished.folder)
    for run in (finished.run, other):
        app.indexes.open(run, lambda done, total: None, lambda: False)
    async with app.run_test(size=(160, 50)) as pilot:
        await until(pilot, lambda: "2 runs" in shown(app))
        await pilot.press("ctrl+p")
        await until(pilot, lambda: isinstance(app.screen, CommandPalette))
        await pilot.press(*"Documentation about")
        for where in ("in test run:", "in test runs/test/run:"):
            await until(pilot, lambda where=where: where in shown(app))  # type: ignore[misc]
