"""Keys that come too early, and widgets that go before they have come, end nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from textual.app import App
from textual.command import CommandPalette
from textual.events import Paste
from textual.screen import ModalScreen
from textual.widgets import OptionList, Select
from textual.widgets.option_list import Option

from tests.support.finished import Finished, finished_run
from tests.support.screens import SIZES, shown, until
from tui.app import BoresightApp
from tui.screens.campaigns import CampaignsScreen
from tui.screens.dialogs import Choice, ChoiceDialog, InputDialog, TextDialog
from tui.widgets.patient import PatientList, PatientSelect
from tui.widgets.plain_input import PlainInput
from tui.widgets.tick_list import TickList


@pytest.fixture
def finished(tmp_path: Path) -> Finished:
    return finished_run(tmp_path)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("key", ["pagedown", "pageup"])
async def test_a_page_key_in_a_palette_that_is_not_laid_out_does_nothing(
    tmp_path: Path, size: tuple[int, int], key: str
) -> None:
    app = BoresightApp(tmp_path)
    async with app.run_test(size=size) as pilot:
        app.simulate_key("ctrl+p")
        for _ in range(20):
            app.simulate_key(key)
            await pilot.pause(0.01)
        await until(pilot, lambda: isinstance(app.screen, CommandPalette))
        app.simulate_key(key)
        await pilot.press("escape", "escape")
        await until(pilot, lambda: not isinstance(app.screen, CommandPalette))


@pytest.mark.parametrize("action", ["page_up", "page_down"])
async def test_a_page_key_in_a_list_that_has_no_room_does_nothing(action: str) -> None:
    found = PatientList(Option("one"), Option("two"))
    app: App[Any] = App()
    async with app.run_test() as pilot:
        found.styles.display = "none"
        await app.mount(found)
        found.highlighted = 1
        getattr(found, f"action_{action}")()
        await pilot.pause()
        assert found.highlighted == 1


class Hasty(PatientSelect[int]):
    """Loses its parts before it is mounted, as when its screen is left at once."""

    async def _on_mount(self, event: Any) -> None:  # type: ignore[override]
        await self.query("*").remove()
        super()._on_mount(event)


async def test_a_select_that_is_taken_away_while_it_mounts_ends_nothing() -> None:
    app: App[Any] = App()
    async with app.run_test() as pilot:
        await app.mount(Hasty([("one", 1)], value=1))
        await pilot.pause()
        assert app.is_running


async def test_a_select_that_stays_shows_its_value() -> None:
    app: App[Any] = App()
    async with app.run_test() as pilot:
        await app.mount(PatientSelect([("one", 1), ("two", 2)], value=2, allow_blank=False))
        await pilot.pause()
        assert app.query_one(Select).value == 2
        assert "two" in str(app.query_one("#label").render())


async def test_a_paste_that_is_too_long_is_cut_where_it_is_seen() -> None:
    app: App[Any] = App()
    async with app.run_test() as pilot:
        line = PlainInput(longest=200)
        await app.mount(line)
        line.focus()
        line.post_message(Paste("x" * 100_000))
        await until(pilot, lambda: line.value)
        assert line.value == "x" * 200


async def test_a_list_of_ticks_has_a_line_to_tick_once_it_has_the_keys() -> None:
    app: App[Any] = App()
    async with app.run_test() as pilot:
        ticks = TickList(("one", "1"), ("two", "2"))
        await app.mount(ticks)
        ticks.focus()
        await pilot.press("space")
        await until(pilot, lambda: ticks.selected == ["1"])


def write(app: BoresightApp, *keys: str) -> None:
    """Press keys in one moment, as where one is held down or a line lags."""
    for key in keys:
        app.simulate_key(key)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("keys", [("enter", "enter"), ("enter", "escape"), ("escape", "escape", "escape")])
async def test_a_dialog_is_answered_once(
    tmp_path: Path, size: tuple[int, int], keys: tuple[str, ...]
) -> None:
    app = BoresightApp(tmp_path)
    answers: list[str | None] = []
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        for dialog in (
            ChoiceDialog("Sure?", "", (Choice("yes", "Yes"), Choice("no", "No"))),
            InputDialog("Where?", "a path", "here"),
            TextDialog("Read", "this"),
        ):
            below = list(app.screen_stack)
            app.push_screen(dialog, answers.append)
            await until(pilot, lambda: isinstance(app.screen, ModalScreen) and app.focused)
            write(app, *keys)
            await until(pilot, lambda: not isinstance(app.screen, ModalScreen))
            await pilot.pause(0.1)
            assert list(app.screen_stack) == below
    expected: dict[tuple[str, ...], list[str | None]] = {("enter", "enter"): ["yes", "here", None]}
    assert answers == expected.get(keys, [None, None, None])  # esc stands over what is not answered yet


@pytest.mark.parametrize("key", ["4", "5", "6"])
async def test_a_screen_is_left_once_by_a_key_that_comes_twice(finished: Finished, key: str) -> None:
    app = BoresightApp(finished.folder)
    async with app.run_test(size=SIZES[0]) as pilot:
        await until(pilot, lambda: "complete" in shown(app))
        await pilot.press(key)
        await until(pilot, lambda: not isinstance(app.screen, CampaignsScreen))
        write(app, "escape", "escape")
        await until(pilot, lambda: isinstance(app.screen, CampaignsScreen))
        await pilot.pause(0.1)
        assert app.is_running


async def test_what_is_chosen_in_the_palette_twice_at_once_is_done_once(finished: Finished) -> None:
    app = BoresightApp(finished.folder)
    async with app.run_test(size=SIZES[0]) as pilot:
        await until(pilot, lambda: "complete" in shown(app))
        await pilot.press("ctrl+p")
        await until(pilot, lambda: isinstance(app.screen, CommandPalette))
        await pilot.press(*"keys")
        await until(pilot, lambda: app.screen.query_one(OptionList).option_count > 0)
        write(app, "enter", "enter", "enter")
        await until(pilot, lambda: not isinstance(app.screen, CommandPalette))
        await pilot.pause(0.2)
        assert app.is_running and len(app.screen_stack) <= 2


async def test_a_list_without_width_has_no_height() -> None:
    found = PatientList(Option("one"), Option("two"))
    app: App[Any] = App()
    async with app.run_test(size=(4, 4)) as pilot:
        found.styles.padding = (0, 3)
        await app.mount(found)
        await pilot.pause()
        assert found.get_content_height(app.size, app.size, 0) == 0
