"""Settings: read with whatever is wrong told, written without losing what a person wrote."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from textual.widgets import OptionList

from tests.support.finished import finished_run
from tests.support.screens import shown, until, unwrapped
from tui.app import BoresightApp
from tui.keys import binding_ids, is_key, key_problem
from tui.screens.campaigns import CampaignsScreen
from tui.screens.dialogs import ChoiceDialog, TextDialog
from tui.settings import SORTS, Settings, read_settings, remember, settings_file
from tui.themes import COLOUR_BLIND, DARK, LIGHT, THEMES


@pytest.fixture
def file(own_settings: Path) -> Path:
    own_settings.parent.mkdir(parents=True)
    return own_settings


def test_the_file_lies_in_the_platforms_configuration_folder(own_settings: Path) -> None:
    assert settings_file().name == "settings.toml" and settings_file().parent.name == "boresight"
    if os.name == "posix" and os.uname().sysname == "Linux":
        assert settings_file() == own_settings


def test_without_a_file_there_are_defaults_and_no_problem(own_settings: Path) -> None:
    assert read_settings(own_settings) == Settings()


def test_everything_is_read(file: Path) -> None:
    file.write_text(
        'theme = "boresight-light"\n[keys]\n"campaigns.resume" = "R,f6"\nmonitor.pause = "ctrl+p"\n'
        '[campaigns]\nsort = "state"\n'
    )
    found = read_settings(file)
    assert found.problems == () and found.whole
    assert found.theme == "boresight-light" and found.sort == "state"
    assert found.keys == {"campaigns.resume": "R,f6", "monitor.pause": "ctrl+p"}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("theme = 3", "theme: found 3"),
        ("keys = 3", "keys: found 3"),
        ('[keys]\na = 7\nb = "ctrl+"\nc = "R"', "keys.a: found 7"),
        ('[keys]\nb = "hyperdrive+x"', "expected keys such as"),
        ('[campaigns]\nsort = "size"', "campaigns.sort: found 'size'"),
        ("colour = 1", "colour: unknown"),
    ],
)
def test_a_bad_entry_is_told_and_the_rest_is_used(file: Path, text: str, told: str) -> None:
    file.write_text(text)
    found = read_settings(file)
    assert any(told in problem for problem in found.problems) and found.whole
    assert found.sort == SORTS[0]
    assert found.keys == ({"c": "R"} if 'c = "R"' in text else {})


@pytest.mark.parametrize(
    "raw",
    [b"theme = \n", b"\xff\xfe", b"a = " + b"[" * 9999, b"x" * 1_100_000],
    ids=["toml", "utf8", "deep", "large"],
)
def test_a_file_that_cannot_be_read_gives_defaults_and_its_place(file: Path, raw: bytes) -> None:
    file.write_bytes(raw)
    found = read_settings(file)
    assert not found.whole and found.theme is None
    assert str(file) in found.problems[0] and "left as it is" in found.problems[0]


def test_remembering_keeps_comments_and_what_is_not_known(file: Path) -> None:
    file.write_text('# mine\ntheme = "boresight-dark" # dark\nfuture = 1\n[keys]\n"app.help" = "h" # help\n')
    remember(file, Settings(theme=LIGHT, sort="name"))
    text = file.read_text()
    assert "# mine" in text and "future = 1" in text and '"app.help" = "h" # help' in text
    assert read_settings(file).theme == LIGHT and read_settings(file).sort == "name"
    assert [path.name for path in file.parent.iterdir()] == [file.name]


def test_remembering_makes_the_file_for_its_owner_alone(own_settings: Path) -> None:
    remember(own_settings, Settings(theme=LIGHT))
    assert own_settings.stat().st_mode & 0o777 == 0o600
    assert read_settings(own_settings).theme == LIGHT


@pytest.mark.parametrize(
    "key", ["a", "R", "/", "f5", "ctrl+r", "escape", "question_mark", "shift+f1", "alt+x"]
)
def test_keys_that_are(key: str) -> None:
    assert is_key(key)


@pytest.mark.parametrize("key", ["", " ", "ctrl+", "+x", "nokey", "ctrl+nokey", "\x1b", "mega+x"])
def test_keys_that_are_not(key: str) -> None:
    assert not is_key(key)
    assert key_problem(f"a,{key}") is not None


def test_every_main_screen_has_bindings_that_can_be_named() -> None:
    found = binding_ids(BoresightApp)
    for name in (
        "app.help",
        "app.leave",
        "campaigns.resume",
        "campaigns.open",
        "monitor.pause",
        "monitor.stop",
    ):
        assert name in found


async def test_a_theme_chosen_in_the_palette_is_remembered(tmp_path: Path, own_settings: Path) -> None:
    app = BoresightApp(tmp_path)
    async with app.run_test(size=(100, 40)) as pilot:
        assert app.theme == DARK
        await pilot.press("ctrl+p")
        await pilot.press(*"theme")
        await until(pilot, lambda: "Change the current theme" in shown(app))
        await pilot.press("down", "enter")
        await pilot.press(*COLOUR_BLIND)
        await until(pilot, lambda: len(app.screen.query(OptionList).last().options) == 1)
        await pilot.press("down", "enter")
        await until(pilot, lambda: app.theme == COLOUR_BLIND)
        await until(pilot, own_settings.exists)
    assert read_settings(own_settings).theme == COLOUR_BLIND
    assert BoresightApp(tmp_path).theme == COLOUR_BLIND


@pytest.mark.parametrize("theme", [theme.name for theme in THEMES])
async def test_every_theme_draws_the_home_screen(tmp_path: Path, file: Path, theme: str) -> None:
    finished = finished_run(tmp_path)
    file.write_text(f'theme = "{theme}"\n')
    app = BoresightApp(finished.folder)
    async with app.run_test() as pilot:
        await until(pilot, lambda: "✔ complete" in shown(app))
        assert app.theme == theme and isinstance(app.screen, CampaignsScreen)


async def test_keys_of_the_settings_are_used(tmp_path: Path, file: Path) -> None:
    finished = finished_run(tmp_path)
    file.write_text('[keys]\n"campaigns.copy" = "Y"\n"campaigns.open" = "o"\n')
    app = BoresightApp(finished.folder)
    async with app.run_test() as pilot:
        await until(pilot, lambda: "✔ complete" in shown(app))
        await pilot.press("Y")
        await until(pilot, lambda: app.clipboard == str(finished.run))
        await pilot.press("o")
        await until(pilot, lambda: isinstance(app.screen, ChoiceDialog))


async def test_what_is_wrong_is_told_at_the_start_and_the_app_goes_on(tmp_path: Path, file: Path) -> None:
    file.write_text('theme = "no-such"\n[keys]\n"campaigns.nothing" = "R"\n"app.help" = "bad key"\n')
    app = BoresightApp(tmp_path)
    async with app.run_test(size=(160, 60)) as pilot:
        words = ("campaigns.nothing:unknown", "app.help", "no-such")
        await until(pilot, lambda: all(word in unwrapped(app) for word in words))
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, CampaignsScreen))
        assert app.theme == DARK


async def test_a_broken_file_is_never_overwritten(tmp_path: Path, file: Path) -> None:
    file.write_text("theme = \n")
    app = BoresightApp(tmp_path)
    async with app.run_test(size=(160, 60), notifications=True) as pilot:
        await until(pilot, lambda: isinstance(app.screen, TextDialog))
        await pilot.press("escape")
        app.theme = LIGHT
        await until(pilot, lambda: "Not remembered" in shown(app))
    assert file.read_text() == "theme = \n"


async def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path, own_settings: Path) -> None:
    own_settings.parent.write_text("a file in its place")
    app = BoresightApp(tmp_path)
    async with app.run_test(size=(160, 60), notifications=True) as pilot:
        await until(pilot, lambda: "No runs" in shown(app) or isinstance(app.screen, TextDialog))
        app.theme = LIGHT
        await until(pilot, lambda: "Not remembered" in shown(app))
