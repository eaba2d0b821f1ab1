"""Screens that come and go at once, under keys, at moments drawn by chance: nothing ends the app."""

from __future__ import annotations

import asyncio
import random

import pytest

from tests.support.pictured import Pictured, pictured
from tests.support.screens import until
from tui import navigation
from tui.app import BoresightApp
from tui.screens.campaigns import CampaignsScreen

TRIES = 15
KEYS = "123456/?nfs]"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Pictured:
    return pictured(tmp_path_factory.mktemp("pictured") / "work")


def _screens(made: Pictured) -> list[navigation.Show | navigation.ShowFile | navigation.ShowGates]:
    run = made.failed
    return [
        navigation.ShowManifest(made.campaign),
        navigation.ShowMonitor(run),
        navigation.ShowResults(run),
        navigation.ShowQueries(run),
        navigation.ShowAttempts(run),
        navigation.ShowGates(run),
        navigation.ShowFile(run / "campaign.json", "the run"),
    ]


@pytest.mark.parametrize("seed", range(2))
async def test_screens_come_and_go_at_any_moment(made: Pictured, seed: int) -> None:
    chance = random.Random(seed)
    app = BoresightApp(made.folder)
    async with app.run_test() as pilot:
        await until(pilot, lambda: isinstance(app.screen, CampaignsScreen))
        for _ in range(TRIES):
            app.post_message(chance.choice(_screens(made)))
            if chance.random() < 0.5:
                for _ in range(chance.randrange(120)):
                    await asyncio.sleep(0)
            else:
                await asyncio.sleep(chance.random() / 3)
            app.simulate_key("escape")
            app.simulate_key(chance.choice(KEYS))
        assert app.is_running
        app.exit(5)  # in the midst of that
        app.post_message(chance.choice(_screens(made)))
        await until(pilot, lambda: not app.is_running)
    assert app.return_value == 5
