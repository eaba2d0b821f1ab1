"""A new campaign on one page: from a repository to something that can be run, by who has read nothing."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from core import api
from tests.support.campaigns import README, SOURCE, Scene, make_scene
from tests.support.repositories import git, make_repository
from tests.support.screens import SIZES, shown, until
from tui.app import BoresightApp
from tui.navigation import ShowManifest
from tui.screens.campaigns import CampaignsScreen
from tui.screens.dialogs import ChoiceDialog, TextDialog
from tui.screens.manifest import ManifestScreen
from tui.screens.new_campaign import NewCampaignScreen
from tui.widgets.tick_list import TickList

sizes = pytest.mark.parametrize("size", SIZES)


class Recorder(BoresightApp):
    """The app, with the runs that it would begin kept."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.handed: list[tuple[Path, Path | None]] = []

    def start(self, manifest: Path, reuse: Path | None = None) -> None:  # type: ignore[override]
        self.handed.append((manifest, reuse))


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    make_repository(tmp_path / "store", {"store/records.py": SOURCE, "README.md": README})
    return tmp_path / "store"


@asynccontextmanager
async def opened(
    folder: Path, size: tuple[int, int] = (160, 50)
) -> AsyncIterator[tuple[Pilot[int], Recorder, NewCampaignScreen]]:
    app = Recorder(folder)
    async with app.run_test(size=size, notifications=True) as pilot:
        app.post_message(ShowManifest(None))
        await until(pilot, lambda: isinstance(app.screen, NewCampaignScreen))
        screen = app.screen
        assert isinstance(screen, NewCampaignScreen)
        await until(pilot, lambda: screen.query_one("#new-candidates", TickList).option_count > 0)
        await until(pilot, lambda: not said(screen, "repository").startswith(("looking …", "reading ")))
        yield pilot, app, screen


def said(screen: NewCampaignScreen, choice: str) -> str:
    return str(screen.query_one(f"#told-{choice}").render())


def field(screen: NewCampaignScreen, name: str) -> Input:
    return screen.query_one(f"#new-{name}", Input)


@sizes
async def test_one_key_makes_a_campaign_and_offers_to_run_it(repository: Path, size: tuple[int, int]) -> None:
    async with opened(repository, size) as (pilot, app, screen):
        await until(pilot, lambda: "4  symbol_lookup" in shown(app) and "lexical" in shown(app))
        assert "main " in said(screen, "repository") and "“A commit”" in said(screen, "repository")
        assert field(screen, "name").value == "store"
        await pilot.press("ctrl+r")
        await until(pilot, lambda: isinstance(app.screen, ChoiceDialog) and "Operations:" in shown(app))
        await pilot.press("enter")
        await until(pilot, lambda: bool(app.handed))
        file = repository / "campaigns" / "store" / "campaign.toml"
        assert app.handed == [(file, None)]
        assert api.read_campaign(file).baseline == "lexical"
        assert isinstance(app.screen, ManifestScreen)


@sizes
async def test_choices_are_followed(repository: Path, size: tuple[int, int]) -> None:
    async with opened(repository, size) as (pilot, app, screen):
        screen.query_one("#new-intents", TickList).deselect_all()
        screen.query_one("#new-intents", TickList).select("symbol_lookup")
        screen.query_one("#new-candidates", TickList).deselect_all()
        screen.query_one("#new-candidates", TickList).select("lexical")
        field(screen, "each").value = "3"
        field(screen, "name").value = "mine"
        await until(pilot, lambda: said(screen, "each").startswith("3 cases"))
        await pilot.press("ctrl+s")
        await until(pilot, lambda: isinstance(app.screen, ManifestScreen) and "ready to run" in shown(app))
        campaign = api.read_campaign(repository / "campaigns" / "mine" / "campaign.toml")
        assert [each.id for each in campaign.candidates] == ["lexical"] and campaign.baseline is None
        assert len(api.read_bank(campaign.cases).cases) == 3
        assert app.handed == []


@sizes
@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("each", "50", "too few for 50 of each"),
        ("each", "0", "at least 1"),
        ("name", "a b", "1 to 64"),
        ("name", "taken", "nothing is overwritten"),
        ("name", "", "1 to 64"),
    ],
)
async def test_what_cannot_be_made_is_said_in_place(
    repository: Path, size: tuple[int, int], name: str, value: str, told: str
) -> None:
    (repository / "campaigns" / "taken").mkdir(parents=True)
    async with opened(repository, size) as (pilot, app, screen):
        field(screen, name).value = value
        await pilot.press("ctrl+s")
        await until(pilot, lambda: told in said(screen, name) and field(screen, name).has_focus)
        assert app.screen is screen
        assert [each.name for each in (repository / "campaigns").iterdir()] == ["taken"]


@sizes
async def test_bad_repositories_each_have_a_remedy(tmp_path: Path, size: tuple[int, int]) -> None:
    for name in ("plain", "empty", "c", "[X=http:] b"):
        (tmp_path / name).mkdir()
    git(tmp_path / "empty", "init", "--quiet")
    make_repository(tmp_path / "c", {"main.c": b"int main;\n"})
    make_repository(tmp_path / "[X=http:] b", {"a.py": SOURCE})
    async with opened(tmp_path, size) as (pilot, app, screen):
        for name, told in (
            ("plain", "git init"),
            ("empty", "commit something"),
            ("c", "choose a repository with Python"),
            ("gone", "no such folder"),
            ("~nobody-here/x", "no such folder"),
        ):
            field(screen, "repository").value = name
            await until(pilot, lambda told=told: told in said(screen, "repository"))  # type: ignore[misc]
        await pilot.press("ctrl+s")
        await pilot.pause(0.2)
        assert app.screen is screen
        field(screen, "repository").value = "[X=http:] b"
        await until(pilot, lambda: "“A commit”" in said(screen, "repository"))
        assert field(screen, "name").value == "X-http-b"


@sizes
async def test_a_bank_that_exists_is_taken(tmp_path: Path, size: tuple[int, int]) -> None:
    scene: Scene = make_scene(tmp_path)
    async with opened(scene.repository.path, size) as (pilot, app, screen):
        field(screen, "bank").value = "../nothing.jsonl"
        await until(pilot, lambda: "cannot read the bank" in said(screen, "bank"))
        await pilot.press("ctrl+s")
        await until(pilot, lambda: app.focused is field(screen, "bank"))
        assert not (scene.repository.path / "campaigns").exists()
        field(screen, "bank").value = "../store.jsonl"
        await until(pilot, lambda: "8 cases about store" in said(screen, "bank"))
        await until(pilot, lambda: field(screen, "name").value == "store")
        await pilot.press("ctrl+s")
        await until(pilot, lambda: isinstance(app.screen, ManifestScreen) and "ready to run" in shown(app))
        path = scene.repository.path / "campaigns" / "store" / "campaign.toml"
        assert api.read_campaign(path).cases.resolve() == scene.cases


@sizes
async def test_what_is_typed_last_is_looked_at_before_a_campaign_is_made_of_it(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    scene: Scene = make_scene(tmp_path)
    async with opened(scene.repository.path, size) as (pilot, app, screen):
        await until(pilot, lambda: field(screen, "name").value == "store")
        field(screen, "bank").value = "../store.jsonl"
        await pilot.press("ctrl+s")
        await until(pilot, lambda: isinstance(app.screen, ManifestScreen) and "ready to run" in shown(app))
        path = scene.repository.path / "campaigns" / "store" / "campaign.toml"
        assert api.read_campaign(path).cases.resolve() == scene.cases


@sizes
async def test_esc_leaves_without_a_trace_and_f2_begins_by_hand(
    repository: Path, size: tuple[int, int]
) -> None:
    async with opened(repository, size) as (pilot, app, _):
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, CampaignsScreen))
        app.post_message(ShowManifest(None))
        await until(pilot, lambda: isinstance(app.screen, NewCampaignScreen))
        await pilot.press("f2")
        await until(pilot, lambda: isinstance(app.screen, ManifestScreen) and "to mend" in shown(app))
        assert sorted(each.name for each in repository.iterdir()) == [".git", "README.md", "store"]
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, ChoiceDialog))


@sizes
async def test_the_path_is_completed(tmp_path: Path, repository: Path, size: tuple[int, int]) -> None:
    async with opened(tmp_path, size) as (pilot, _, screen):
        box = field(screen, "repository")
        box.value = ""
        await pilot.press("s", "t")
        await until(pilot, lambda: box._suggestion == "store/")
        await pilot.press("right")
        assert box.value == "store/"
        await until(pilot, lambda: "“A commit”" in said(screen, "repository"))


async def test_f1_opens_help_while_something_is_typed(repository: Path) -> None:
    async with opened(repository) as (pilot, app, screen):
        await until(pilot, lambda: isinstance(app.focused, Input) and "f1 Help" in shown(app))
        await pilot.press("f1")
        await until(pilot, lambda: isinstance(app.screen, TextDialog) and "A new campaign" in shown(app))
        await pilot.press("f1")
        await until(pilot, lambda: app.screen is screen)


@sizes
@pytest.mark.parametrize("key", ["escape", "1", "q", "f2"])
@pytest.mark.parametrize("answer", ["stay", "discard"])
async def test_what_was_chosen_is_not_lost_unasked(
    repository: Path, size: tuple[int, int], key: str, answer: str
) -> None:
    async with opened(repository, size) as (pilot, app, screen):
        field(screen, "name").value = "mine"
        screen.query_one("#new-private").focus()
        await pilot.press(key)
        await until(pilot, lambda: isinstance(app.screen, ChoiceDialog) and "Discard" in shown(app))
        if answer == "stay":
            await pilot.press("enter")
            await until(pilot, lambda: app.screen is screen)
            assert field(screen, "name").value == "mine"
            return
        await pilot.press("down", "enter")
        left = {"f2": ManifestScreen, "q": NewCampaignScreen}.get(key, CampaignsScreen)
        await until(pilot, lambda: isinstance(app.screen, left) and (key != "q" or app.return_value == 0))


@pytest.mark.parametrize("choice", ["#new-intents", "#new-candidates", "#new-private"])
async def test_a_tick_counts_as_chosen(repository: Path, choice: str) -> None:
    async with opened(repository) as (pilot, app, screen):
        screen.query_one(choice).focus()
        await pilot.press("down", "space", "escape")
        await until(pilot, lambda: isinstance(app.screen, ChoiceDialog))
        assert "has not been created" in shown(app)
