"""The app as a person uses it, at the smallest and at a large size."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from textual.pilot import Pilot

from core import api
from tests.support.campaigns import campaign, fake, make_scene, run_new
from tui.app import BoresightApp
from tui.screens.campaigns import CampaignsScreen
from tui.screens.dialogs import ChoiceDialog, TextDialog
from tui.screens.monitor import MonitorScreen

SIZES = [(80, 24), (160, 50)]


async def until(pilot: Pilot[int], condition: object, seconds: float = 20.0) -> None:
    for _ in range(int(seconds / 0.05)):
        if condition():  # type: ignore[operator]
            return
        await pilot.pause(0.05)
    raise AssertionError("waited in vain")


def shown(app: BoresightApp) -> str:
    """Return the text on the screen."""
    return "\n".join(strip.text for strip in app.screen._compositor.render_strips())


@pytest.mark.parametrize("size", SIZES)
async def test_an_empty_folder_says_what_to_do(tmp_path: Path, size: tuple[int, int]) -> None:
    app = BoresightApp(tmp_path)
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: "boresight quickstart" in shown(app))


@pytest.mark.parametrize("size", SIZES)
async def test_runs_are_listed_with_state_and_opened_by_a_menu(tmp_path: Path, size: tuple[int, int]) -> None:
    scene = make_scene(tmp_path)
    await asyncio.to_thread(run_new, campaign(scene, fake("a"), fake("b")), tmp_path / "runs" / "one")
    app = BoresightApp(tmp_path)
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: "✔ complete" in shown(app))
        assert "runs/one" in shown(app) and "34/34" in shown(app)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, ChoiceDialog))
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, TextDialog))
        assert "Known-target results" in shown(app)
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, CampaignsScreen))


@pytest.mark.parametrize("size", SIZES)
async def test_the_monitor_shows_cells_failures_and_the_end(tmp_path: Path, size: tuple[int, int]) -> None:
    scene = make_scene(tmp_path)
    asked = campaign(scene, fake("a", faults={"load_records": "exit_3"}), fake("b"))
    await asyncio.to_thread(run_new, asked, tmp_path / "run")
    app = BoresightApp(tmp_path, watch=tmp_path / "run")
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: isinstance(app.screen, MonitorScreen))
        await until(pilot, lambda: "✖ failed" in shown(app))
        assert "34 of 34 operations (100 %)" in shown(app)
        assert "nonzero_exit" in shown(app)
        await pilot.press("f")
        await until(pilot, lambda: isinstance(app.screen, TextDialog))
        assert "Failures of run" in shown(app)
        await pilot.press("escape", "escape")
        await until(pilot, lambda: isinstance(app.screen, CampaignsScreen))


async def test_keys_say_so_where_nobody_listens(tmp_path: Path) -> None:
    scene = make_scene(tmp_path)
    await asyncio.to_thread(run_new, campaign(scene, fake("a")), tmp_path / "run")
    app = BoresightApp(tmp_path, watch=tmp_path / "run")
    async with app.run_test(size=(160, 40), notifications=True) as pilot:
        await until(pilot, lambda: isinstance(app.screen, MonitorScreen))
        await pilot.press("p")
        await until(pilot, lambda: "nobody" in shown(app))


async def test_a_refused_resume_says_why_before_it_is_chosen(tmp_path: Path) -> None:
    scene = make_scene(tmp_path)
    opened = await asyncio.to_thread(api.create_run, campaign(scene, fake("a")), tmp_path / "run")
    opened.close()
    source = tmp_path / "run/repositories/store/store/records.py"
    source.chmod(0o644)
    source.write_text("")
    app = BoresightApp(tmp_path)
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: "◐ interrupted" in shown(app))
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, ChoiceDialog))
        assert "frozen sources were changed" in shown(app)
        assert "records.py" in shown(app)
