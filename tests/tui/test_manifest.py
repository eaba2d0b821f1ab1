"""Screen 2 as a person uses it: one document by form and by text, problems beside it, saved and run."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import cycle
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Button, Input, Label, OptionList, Select, TabbedContent

from core import api
from core.campaign.starting import Preset
from tests.support.campaigns import Scene, campaign, fake, make_scene, run_new
from tests.support.finished import finished_run
from tests.support.live import playing
from tests.support.screens import SIZES, shown, until, unwrapped
from tui.app import BoresightApp
from tui.navigation import ShowFrozenManifest, ShowManifest
from tui.screens.campaigns import CampaignsScreen
from tui.screens.dialogs import ChoiceDialog, TextDialog
from tui.screens.folders import FolderDialog
from tui.screens.manifest import ManifestScreen
from tui.widgets.field_form import FieldForm, FieldRow
from tui.widgets.outline import Outline
from tui.widgets.problem_list import ProblemList
from tui.widgets.toml_area import TomlArea

sizes = pytest.mark.parametrize("size", SIZES)
HOSTILE = ["[/foo] bar", "[/]", "[X=http://a]", "\x1b]52;c;aGk=\x07", "\u202eabc", "x" * 100_000]
TEXT = """\
# The head
format = "boresight-campaign@1"
name = "test"  # its name
cases = "store.jsonl"
baseline = "lexical"

[[repositories]]
label = "store"
path = "store"

# The first candidate
[[candidates]]
id = "lexical"
retriever = "embedded"
engine = "lexical"

# The second candidate
[[candidates]]
id = "other"
retriever = "embedded"
engine = "lexical"
config = { text_limit = 500 }  # short
"""


class Recorder(BoresightApp):
    """The app, with all that would leave it kept."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.copied: list[str] = []
        self.edited: list[Path] = []
        self.handed: list[tuple[Path, Path | None]] = []

    def copy(self, text: str) -> None:
        self.copied.append(text)

    def edit(self, path: Path) -> None:
        self.edited.append(path)

    def start(self, manifest: Path, reuse: Path | None = None) -> None:  # type: ignore[override]
        self.handed.append((manifest, reuse))


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    made = make_scene(tmp_path)
    (tmp_path / "campaign.toml").write_text(TEXT)
    return made


@asynccontextmanager
async def opened(
    folder: Path, size: tuple[int, int] = (160, 50), *, text: str | None = None, wait: bool = True
) -> AsyncIterator[tuple[Pilot[int], Recorder, ManifestScreen]]:
    file = folder / "campaign.toml"
    if text is not None:
        file.write_bytes(text.encode())
    app = Recorder(folder)
    async with app.run_test(size=size, notifications=True) as pilot:
        app.post_message(ShowManifest(file))
        await until(pilot, lambda: isinstance(app.screen, ManifestScreen))
        screen = app.screen
        assert isinstance(screen, ManifestScreen)
        if wait:
            await checked(pilot, app)
        yield pilot, app, screen


async def checked(pilot: Pilot[int], app: Recorder) -> None:
    def done() -> bool:
        text = shown(app)
        return ("ready to run" in text or "to mend" in text) and "…" not in problems_title(app)

    await until(pilot, done)


def problems_title(app: Recorder) -> str:
    return str(app.screen.query_one("#problems-title").render())


def row(screen: ManifestScreen, *place: str | int) -> FieldRow:
    return next(each for each in screen.query(FieldRow) if each.spec.place == place)


def value_in(screen: ManifestScreen, *place: str | int) -> str | None:
    """What a field shows; None while the form is being laid out anew."""
    rows = [each for each in screen.query(FieldRow) if each.spec.place == place]
    shown_in = [field.value for each in rows for field in each.query(Input)]
    return shown_in[0] if shown_in else None


async def choose(pilot: Pilot[int], screen: ManifestScreen, *place: str | int) -> None:
    screen.query_one(Outline).choose(place)
    await until(pilot, lambda: any(each.spec.place[: len(place)] == place for each in screen.query(FieldRow)))


async def type_into(pilot: Pilot[int], screen: ManifestScreen, text: str, *place: str | int) -> None:
    row(screen, *place).query_one(Input).value = text
    await pilot.pause(0.4)


async def pick(pilot: Pilot[int], screen: ManifestScreen, value: str, *place: str | int) -> None:
    await until(pilot, lambda: bool(row(screen, *place).query("SelectCurrent #label")))
    row(screen, *place).query_one(Select).value = value


def told(screen: ManifestScreen) -> str:
    return "\n".join(map(str, screen._problems))


def saved(folder: Path) -> str:
    return (folder / "campaign.toml").read_text()


@sizes
async def test_parts_fields_and_problems_are_shown(scene: Scene, size: tuple[int, int]) -> None:
    async with opened(scene.folder, size) as (pilot, app, _screen):
        text = shown(app)
        assert "Candidates (2)" in text and "lexical ◂ baseline" in text
        assert "ready to run" in text and "saved ·" in text
        await pilot.press("down", "down", "down")
        await until(pilot, lambda: "Repository 1" in shown(app))
        await until(pilot, lambda: "symbol_lookup" in shown(app))
        assert "main " + str(scene.repository.commit)[:12] in shown(app)


@sizes
async def test_a_field_is_changed_checked_and_saved_with_comments_kept(
    scene: Scene, size: tuple[int, int]
) -> None:
    async with opened(scene.folder, size) as (pilot, app, screen):
        await choose(pilot, screen, "candidates", 1)
        await pilot.press("enter")
        await until(pilot, lambda: screen.query_one(FieldForm).place == ("candidates", 1, "id"))
        await pilot.press("end", "2")
        await until(pilot, lambda: "● not saved" in shown(app))
        await type_into(pilot, screen, "64", "candidates", 1, "config", "batch_size")
        await checked(pilot, app)
        await pilot.press("ctrl+s")
        await until(pilot, lambda: "saved ·" in shown(app))
        expected = TEXT.replace('"other"', '"other2"').replace(
            "text_limit = 500", "text_limit = 500, batch_size = 64"
        )
        assert saved(scene.folder) == expected


@sizes
async def test_problems_come_while_typing_and_lead_to_their_field(
    scene: Scene, size: tuple[int, int]
) -> None:
    async with opened(scene.folder, size) as (pilot, app, screen):
        await choose(pilot, screen, "candidates", 1)
        await type_into(pilot, screen, "many", "candidates", 1, "config", "max_tokens")
        await until(pilot, lambda: "1 to mend" in shown(app))
        assert "expected a whole number" in told(screen)
        assert "other ✖1" in shown(app)
        screen.query_one(Outline).choose(("campaign",))
        await until(pilot, lambda: "Candidate 2" not in shown(app))
        screen.query_one(ProblemList).focus()
        await pilot.press("home", "enter")
        await until(
            pilot,
            lambda: screen.query_one(FieldForm).place == ("candidates", 1, "config", "max_tokens"),
        )
        await type_into(pilot, screen, "", "candidates", 1, "config", "max_tokens")
        await until(pilot, lambda: "ready to run" in shown(app))
        assert screen._keeper is not None and not screen._keeper.is_changed


@sizes
async def test_f8_walks_through_the_problems(scene: Scene, size: tuple[int, int]) -> None:
    text = TEXT.replace('name = "test"', 'name = "a b"').replace('engine = "lexical"\n\n', 'engine = "x"\n\n')
    async with opened(scene.folder, size, text=text) as (pilot, _app, screen):
        form = screen.query_one(FieldForm)
        await pilot.press("f8")
        await until(pilot, lambda: form.place == ("name",))
        await pilot.press("f8")
        await until(pilot, lambda: form.place == ("candidates", 0, "engine"))


@sizes
async def test_form_and_text_are_one_document(scene: Scene, size: tuple[int, int]) -> None:
    async with opened(scene.folder, size) as (pilot, app, screen):
        await type_into(pilot, screen, "renamed", "name")
        await pilot.press("ctrl+t")
        area = screen.query_one(TomlArea)
        await until(pilot, lambda: 'name = "renamed"  # its name' in area.text)
        area.text = area.text.replace('"renamed"', '"again"') + "# added by hand\n"
        await until(pilot, lambda: "● not saved" in shown(app))
        await pilot.press("ctrl+t")
        await until(pilot, lambda: row(screen, "name").query_one(Input).value == "again")
        await pilot.press("ctrl+s")
        await until(pilot, lambda: "saved ·" in shown(app))
        assert saved(scene.folder) == TEXT.replace('"test"', '"again"') + "# added by hand\n"


@sizes
async def test_text_that_is_no_toml_says_where_and_the_form_keeps_the_last_good(
    scene: Scene, size: tuple[int, int]
) -> None:
    async with opened(scene.folder, size) as (pilot, app, screen):
        await pilot.press("ctrl+t")
        area = screen.query_one(TomlArea)
        area.text = TEXT.replace('cases = "store.jsonl"', "cases = [")
        await until(pilot, lambda: "not valid TOML" in shown(app))
        await pilot.press("f8")
        await until(pilot, lambda: area.has_focus)
        problem = screen._problems[0]
        assert problem.line is not None and area.cursor_location[0] == problem.line - 1
        await pilot.press("ctrl+t")
        await until(pilot, lambda: "the form shows the last valid text" in shown(app))
        await until(pilot, lambda: row(screen, "name").query_one(Input).disabled)
        assert row(screen, "name").query_one(Input).value == "test"
        await pilot.press("ctrl+t")
        area.text = TEXT
        await until(pilot, lambda: "ready to run" in shown(app))
        await pilot.press("ctrl+t")
        await until(pilot, lambda: not row(screen, "name").query_one(Input).disabled)


@sizes
async def test_candidates_are_duplicated_made_baseline_and_removed(
    scene: Scene, size: tuple[int, int]
) -> None:
    async with opened(scene.folder, size) as (pilot, app, screen):
        await choose(pilot, screen, "candidates", 1)
        screen.query_one(Outline).focus()
        await pilot.press("d")
        await until(pilot, lambda: "other-2" in shown(app) and "Candidates (3)" in shown(app))
        assert screen.query_one(Outline).place == ("candidates", 2)
        await pilot.press("b")
        await until(pilot, lambda: "other-2 ◂ baseline" in shown(app))
        await choose(pilot, screen, "candidates", 0)
        await pilot.press("delete")
        await until(pilot, lambda: "Remove the candidate lexical?" in shown(app))
        await pilot.press("down", "enter")
        await until(pilot, lambda: "Candidates (2)" in shown(app))
        await pilot.press("ctrl+s")
        await until(pilot, lambda: "saved ·" in shown(app))
        found = api.read_campaign(scene.folder / "campaign.toml")
        assert [each.id for each in found.candidates] == ["other", "other-2"]
        assert found.baseline == "other-2"
        assert "# The first candidate" in saved(scene.folder) and "# short" in saved(scene.folder)


@sizes
@pytest.mark.parametrize(
    ("place", "named"), [(("candidates", 0), "candidate lexical"), (("repositories", 0), "repository store")]
)
async def test_nothing_is_removed_unasked(
    scene: Scene, size: tuple[int, int], place: tuple[str, int], named: str
) -> None:
    async with opened(scene.folder, size) as (pilot, app, screen):
        await choose(pilot, screen, *place)
        screen.query_one(Outline).focus()
        await pilot.press("delete")
        await until(pilot, lambda: f"Remove the {named}?" in shown(app))
        assert ("It is the baseline" in shown(app)) == (place[0] == "candidates")
        await pilot.press("enter")  # the first answer is the harmless one
        await until(pilot, lambda: app.screen is screen)
        assert screen.query_one(Outline).has_focus and screen.query_one(Outline).place == place
        assert screen._keeper is not None and not screen._keeper.is_changed


async def test_pressing_delete_twice_asks_once(scene: Scene) -> None:
    async with opened(scene.folder) as (pilot, app, screen):
        await choose(pilot, screen, "candidates", 1)
        screen.query_one(Outline).focus()
        await pilot.pause()
        app.simulate_key("delete")
        app.simulate_key("delete")
        await until(pilot, lambda: "Remove the candidate other?" in shown(app))
        await pilot.press("down", "enter")
        await until(pilot, lambda: app.screen is screen and "Candidates (1)" in shown(app))
        assert screen._keeper is not None
        assert [each["id"] for each in screen._keeper.snapshot.data["candidates"]] == ["lexical"]


async def test_a_part_that_was_not_asked_about_is_not_removed(scene: Scene) -> None:
    async with opened(scene.folder) as (pilot, app, screen):
        await choose(pilot, screen, "candidates", 1)
        screen.query_one(Outline).focus()
        await pilot.press("delete")
        await until(pilot, lambda: "Remove the candidate other?" in shown(app))
        asked_about = screen._keeper
        theirs = TEXT.replace('"other"', '"theirs"')
        (scene.folder / "campaign.toml").write_text(theirs)
        await until(pilot, lambda: screen._keeper is not asked_about)
        await pilot.press("down", "enter")
        await until(
            pilot, lambda: any("other was not removed" in said.message for said in app._notifications)
        )
        assert screen._keeper is not None and screen._keeper.text == theirs


@sizes
async def test_a_candidate_is_added_from_what_there_is(scene: Scene, size: tuple[int, int]) -> None:
    async with opened(scene.folder, size) as (pilot, app, screen):
        screen.query_one(Outline).choose(("candidates",))
        await until(pilot, lambda: "Add a candidate" in shown(app))
        await pilot.press("a")
        await until(pilot, lambda: "built in: words" in shown(app))
        await pilot.press("enter")
        await until(pilot, lambda: "Candidates (3)" in shown(app))
        assert "lexical-2" in shown(app)


@sizes
async def test_another_retriever_brings_its_own_options(scene: Scene, size: tuple[int, int]) -> None:
    async with opened(scene.folder, size) as (pilot, app, screen):
        await choose(pilot, screen, "candidates", 1)
        for retriever, has_engine in (("fake", False), ("embedded", True)):
            await pick(pilot, screen, retriever, "candidates", 1, "retriever")
            await until(
                pilot,
                lambda wanted=has_engine: (
                    wanted  # type: ignore[misc]
                    == any(each.spec.name == "engine" for each in screen.query(FieldRow))
                ),
            )
        assert row(screen, "candidates", 1, "id").query_one(Input).value == "other"
        await checked(pilot, app)


@sizes
async def test_a_repository_is_added_by_its_folder(scene: Scene, size: tuple[int, int]) -> None:
    async with opened(scene.folder, size) as (pilot, app, screen):
        screen.query_one(Outline).choose(("repositories",))
        await until(pilot, lambda: "Add a repository" in shown(app))
        await pilot.press("a")
        await until(pilot, lambda: isinstance(app.screen, FolderDialog) and "store" in shown(app))
        await pilot.press("down", "s")
        await until(pilot, lambda: "Repositories (2)" in shown(app))
        await checked(pilot, app)
        assert "no case of the bank asks about it" in told(screen)
        assert screen._keeper is not None
        added = screen._keeper.snapshot.data["repositories"][1]
        assert added == {"label": "store-2", "path": "store", "commit": scene.repository.commit}


@sizes
async def test_parts_are_filtered_by_name(scene: Scene, size: tuple[int, int]) -> None:
    async with opened(scene.folder, size) as (pilot, app, screen):
        await pilot.press("slash", "o", "t", "h")
        await until(pilot, lambda: "lexical ◂" not in shown(app) and "other" in shown(app))
        await pilot.press("enter")
        await until(pilot, lambda: screen.query_one(Outline).has_focus)
        await pilot.press("escape")
        await until(pilot, lambda: "lexical ◂" in shown(app))
        assert app.screen is screen


@sizes
@pytest.mark.parametrize("answer", ["save", "discard", "stay"])
async def test_leaving_with_changes_asks(scene: Scene, size: tuple[int, int], answer: str) -> None:
    async with opened(scene.folder, size) as (pilot, app, screen):
        row(screen, "name").query_one(Input).value = "changed"
        await pilot.press("escape")
        await until(pilot, lambda: "Discard the changes" in shown(app))
        await pilot.press(*{"save": ["enter"], "discard": ["down", "enter"], "stay": ["escape"]}[answer])
        left = CampaignsScreen if answer != "stay" else ManifestScreen
        await until(pilot, lambda: isinstance(app.screen, left))
        assert ('"changed"' in saved(scene.folder)) == (answer == "save")


@sizes
async def test_changes_are_kept_where_leaving_is_called_off_after_they_were_to_be_discarded(
    scene: Scene, size: tuple[int, int]
) -> None:
    with playing(scene.folder / "other") as engine:
        async with opened(scene.folder, size) as (pilot, app, screen):
            app.started.add(engine.run)
            row(screen, "name").query_one(Input).value = "changed"
            await pilot.press("q")
            await until(pilot, lambda: "Discard the changes" in shown(app))
            await pilot.press("down", "enter")
            await until(pilot, lambda: "is going" in shown(app))
            await pilot.press("end", "enter")
            await until(pilot, lambda: app.screen is screen and "● not saved" in shown(app))
            await type_into(pilot, screen, "more", "name")
            await pilot.press("escape")
            await until(pilot, lambda: "Discard the changes" in shown(app))
            await pilot.press("escape")
            await until(pilot, lambda: app.screen is screen)
            await pilot.press("ctrl+s")
            await until(pilot, lambda: "saved ·" in shown(app))
            assert saved(scene.folder) == TEXT.replace('"test"', '"more"')


async def test_leaving_without_changes_does_not_ask(scene: Scene) -> None:
    async with opened(scene.folder) as (pilot, app, _screen):
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, CampaignsScreen))


@sizes
@pytest.mark.parametrize("answer", ["stay", "reload", "overwrite"])
async def test_a_file_changed_meanwhile_is_not_overwritten_unasked(
    scene: Scene, size: tuple[int, int], answer: str
) -> None:
    async with opened(scene.folder, size) as (pilot, app, screen):
        await type_into(pilot, screen, "mine", "name")
        theirs = TEXT.replace('"test"', '"theirs"')
        (scene.folder / "campaign.toml").write_text(theirs)
        await until(pilot, lambda: "changed on disk" in shown(app))
        await pilot.press("ctrl+s")
        await until(pilot, lambda: isinstance(app.screen, ChoiceDialog))
        await pilot.press(*["down"] * ["stay", "reload", "overwrite"].index(answer), "enter")
        await until(pilot, lambda: app.screen is screen)
        if answer == "overwrite":
            await until(pilot, lambda: '"mine"' in saved(scene.folder))
            return
        if answer == "reload":
            await until(pilot, lambda: value_in(screen, "name") == "theirs")
        assert saved(scene.folder) == theirs


@sizes
@pytest.mark.parametrize("key", ["ctrl+s", "ctrl+r", "escape"])
async def test_a_document_whose_file_is_gone_is_written_back_if_that_is_wanted(
    scene: Scene, size: tuple[int, int], key: str
) -> None:
    file = scene.folder / "campaign.toml"
    async with opened(scene.folder, size) as (pilot, app, screen):
        file.unlink()
        await until(pilot, lambda: "changed on disk" in shown(app))
        await pilot.press(key)
        if key == "escape":
            await until(pilot, lambda: "was removed or changed on disk" in " ".join(shown(app).split()))
            await pilot.press("enter")
        await until(pilot, lambda: "Write it back" in shown(app))
        assert not file.exists()
        await pilot.press("enter")
        after = {"ctrl+s": ManifestScreen, "ctrl+r": ChoiceDialog, "escape": CampaignsScreen}[key]
        await until(pilot, lambda: file.exists() and isinstance(app.screen, after))
        assert saved(scene.folder) == TEXT
        if key == "ctrl+s":
            await until(pilot, lambda: app.screen is screen and "saved ·" in shown(app))
        if key == "ctrl+r":
            await until(pilot, lambda: "Run it now" in shown(app))


@pytest.mark.parametrize("key", ["ctrl+s", "escape"])
async def test_a_document_whose_file_is_gone_stays_open_if_that_is_wanted(scene: Scene, key: str) -> None:
    async with opened(scene.folder) as (pilot, app, screen):
        (scene.folder / "campaign.toml").unlink()
        await until(pilot, lambda: "changed on disk" in shown(app))
        await pilot.press(key)
        await until(pilot, lambda: isinstance(app.screen, ChoiceDialog) and "Stay here" in shown(app))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is screen and "changed on disk" in shown(app))
        assert screen._keeper is not None and screen._keeper.text == TEXT
        assert not (scene.folder / "campaign.toml").exists()


async def test_a_file_that_came_back_while_it_was_asked_about_is_not_overwritten_unasked(
    scene: Scene,
) -> None:
    file = scene.folder / "campaign.toml"
    async with opened(scene.folder) as (pilot, app, _screen):
        file.unlink()
        await until(pilot, lambda: "changed on disk" in shown(app))
        await pilot.press("ctrl+s")
        await until(pilot, lambda: "Write it back" in shown(app))
        file.write_text("theirs = 1\n")
        await pilot.press("enter")
        await until(pilot, lambda: "Overwrite the file" in shown(app))
        assert saved(scene.folder) == "theirs = 1\n"


async def test_saving_writes_nothing_where_a_file_came_back_as_it_was(scene: Scene) -> None:
    file = scene.folder / "campaign.toml"
    async with opened(scene.folder) as (pilot, app, _screen):
        away = file.rename(scene.folder / "away")
        await until(pilot, lambda: "changed on disk" in shown(app))
        away.rename(file)
        before = file.stat()
        await pilot.press("ctrl+s")
        await until(pilot, lambda: "saved ·" in shown(app))
        assert (file.stat().st_ino, file.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


async def test_a_document_is_kept_where_its_file_cannot_be_read_again(scene: Scene) -> None:
    file = scene.folder / "campaign.toml"
    async with opened(scene.folder) as (pilot, app, screen):
        await type_into(pilot, screen, "mine", "name")
        file.write_text("theirs = 1\n")
        await until(pilot, lambda: "changed on disk" in shown(app))
        await pilot.press("ctrl+s")
        await until(pilot, lambda: "Reload the file" in shown(app))
        file.unlink()
        await pilot.press("down", "enter")
        await until(pilot, lambda: isinstance(app.screen, TextDialog) and "nosuchfile" in unwrapped(app))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is screen and "changed on disk" in shown(app))
        assert screen._keeper is not None and '"mine"' in screen._keeper.text


async def test_a_file_changed_meanwhile_is_read_again_where_nothing_would_be_lost(scene: Scene) -> None:
    async with opened(scene.folder) as (pilot, _app, screen):
        (scene.folder / "campaign.toml").write_text(TEXT.replace('"test"', '"theirs"'))
        await until(pilot, lambda: value_in(screen, "name") == "theirs")


@sizes
async def test_a_read_only_file_can_be_saved_elsewhere(scene: Scene, size: tuple[int, int]) -> None:
    (scene.folder / "campaign.toml").chmod(0o444)
    async with opened(scene.folder, size) as (pilot, app, screen):
        await type_into(pilot, screen, "mine", "name")
        await pilot.press("ctrl+s")
        await until(pilot, lambda: "read-only" in shown(app))
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is screen and "saved ·" in shown(app))
        assert saved(scene.folder) == TEXT
        assert '"mine"' in (scene.folder / "campaign-2.toml").read_text()


@sizes
async def test_running_saves_and_shows_what_it_will_cost(scene: Scene, size: tuple[int, int]) -> None:
    async with opened(scene.folder, size) as (pilot, app, screen):
        row(screen, "name").query_one(Input).value = "mine"
        await pilot.press("ctrl+r")
        await until(pilot, lambda: "Smallest" in shown(app))
        text = " ".join(shown(app).replace("█", " ").split())
        assert "Operations: 34 (2 indexes, 16 queries, 16 ctx probes)" in text
        assert "Time: unknown" in text and "Smallest detectable difference" in text
        assert '"mine"' in saved(scene.folder)
        await pilot.press("enter")
        await until(pilot, lambda: bool(app.handed))
        assert app.handed == [(scene.folder / "campaign.toml", None)]


@sizes
async def test_a_campaign_that_would_wait_for_another_says_so(
    scene: Scene, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api, "measuring", lambda: "/data/other (pid 4321, 40 of 204 operations)")
    async with opened(scene.folder, size) as (pilot, app, screen):
        await pilot.press("ctrl+r")
        await until(pilot, lambda: "Run it now" in shown(app))
        text = " ".join(str(label.render()) for label in app.screen.query(Label))
        assert "Another campaign measures on this machine: /data/other (pid 4321, 40 of 204" in text
        assert "This one will wait for it" in text
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is screen)


@sizes
async def test_a_campaign_with_problems_is_not_run(scene: Scene, size: tuple[int, int]) -> None:
    text = TEXT.replace('path = "store"', 'path = "gone"')
    async with opened(scene.folder, size, text=text) as (pilot, app, screen):
        await pilot.press("ctrl+r")
        await until(pilot, lambda: "1 to mend before it can run" in shown(app))
        await pilot.press("down", "enter")
        await until(pilot, lambda: app.screen is screen)
        assert app.handed == []


async def test_an_earlier_run_of_the_campaign_is_offered_to_take_over_from(scene: Scene) -> None:
    run = scene.folder / "runs" / "test" / "001"
    await asyncio.to_thread(run_new, campaign(scene, fake("a"), fake("b")), run)
    async with opened(scene.folder) as (pilot, app, _screen):
        await pilot.press("ctrl+r")
        await until(pilot, lambda: "taking over from test/001" in shown(app))
        await pilot.press("enter")
        await until(pilot, lambda: bool(app.handed))
        assert app.handed == [(scene.folder / "campaign.toml", run)]


@sizes
async def test_a_frozen_campaign_is_read_only_and_can_be_duplicated(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    finished = finished_run(tmp_path)
    app = Recorder(tmp_path)
    async with app.run_test(size=size, notifications=True) as pilot:
        app.post_message(ShowFrozenManifest(finished.run))
        await until(
            pilot, lambda: isinstance(app.screen, ManifestScreen) and "frozen: read only" in shown(app)
        )
        screen = app.screen
        assert isinstance(screen, ManifestScreen)
        await until(pilot, lambda: bool(screen.query(FieldRow)))
        assert row(screen, "name").query_one(Input).disabled
        assert screen.query_one(TomlArea).read_only
        await pilot.press("d")
        await until(pilot, lambda: (tmp_path / "campaign.toml").exists())
        await until(pilot, lambda: isinstance(app.screen, ManifestScreen) and app.screen.frozen is None)
        await until(pilot, lambda: "campaign.toml" in shown(app))


@sizes
async def test_copying_editing_and_help(scene: Scene, size: tuple[int, int]) -> None:
    async with opened(scene.folder, size) as (pilot, app, screen):
        file = scene.folder / "campaign.toml"
        await pilot.press("y", "e")
        await until(pilot, lambda: app.copied == [str(file)] and app.edited == [file])
        await type_into(pilot, screen, "a b", "name")
        await until(pilot, lambda: "1 to mend" in shown(app))
        await pilot.press("e")
        await until(pilot, lambda: "Save first" in shown(app))
        screen.query_one(ProblemList).focus()
        await pilot.press("home", "y")
        await until(pilot, lambda: len(app.copied) == 2)
        assert app.copied[1].startswith("name, line 3: found")
        await pilot.press("question_mark")
        await until(pilot, lambda: isinstance(app.screen, TextDialog) and "ctrl+s" in shown(app))


async def test_f5_looks_again_for_what_was_missing(scene: Scene) -> None:
    away = scene.repository.path.rename(scene.folder / "away")
    async with opened(scene.folder) as (pilot, app, _screen):
        assert "1 to mend" in shown(app)
        away.rename(scene.repository.path)
        await pilot.press("f5")
        await until(pilot, lambda: "ready to run" in shown(app))


@sizes
async def test_browsing_fills_in_the_folder(scene: Scene, size: tuple[int, int]) -> None:
    shutil.copytree(scene.repository.path, scene.folder / "[X=http:] b")
    async with opened(scene.folder, size) as (pilot, app, screen):
        await choose(pilot, screen, "repositories", 0)
        row(screen, "repositories", 0, "path").go_to()
        await pilot.press("ctrl+o")
        await until(pilot, lambda: isinstance(app.screen, FolderDialog) and "[X=http:] b" in shown(app))
        await pilot.press("down", "s")
        await until(
            pilot,
            lambda: row(screen, "repositories", 0, "path").query_one(Input).value == "[X=http:] b",
        )
        await checked(pilot, app)
        assert "ready to run" in shown(app)


@pytest.mark.parametrize(("text", "size"), zip(HOSTILE, cycle(SIZES), strict=False))
async def test_hostile_values_are_shown_and_never_act(scene: Scene, text: str, size: tuple[int, int]) -> None:
    from core.campaign.document import CampaignDocument

    document = CampaignDocument(TEXT)
    for place in (("name",), ("baseline",), ("repositories", 0, "label"), ("repositories", 0, "path")):
        document.set(place, text)
    document.set(("candidates", 1, "id"), text)
    document.set(("candidates", 0, "retriever"), text)
    document.set(("candidates", 1, "config", "package"), text)
    async with opened(scene.folder, size, text=document.text) as (pilot, app, screen):
        for table, number in (("repositories", 0), ("candidates", 0), ("candidates", 1)):
            await choose(pilot, screen, table, number)
            assert_clean(app)
        await pilot.press("ctrl+t")
        await pilot.pause(0.3)
        assert_clean(app)
        await pilot.press("f8", "f8", "ctrl+r")
        await until(pilot, lambda: isinstance(app.screen, ChoiceDialog))
        assert_clean(app)


async def test_hostile_text_that_is_no_toml_is_kept_and_never_acts(scene: Scene) -> None:
    text = TEXT + "\x1b]0;title\x07 \u202e \x00 [/foo]\n" + "y" * 1_000_000
    async with opened(scene.folder, text=text) as (pilot, app, screen):
        await pilot.press("ctrl+t")
        await pilot.pause(0.3)
        assert_clean(app)
        assert screen._keeper is not None and screen._keeper.text == text
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, CampaignsScreen))


def assert_clean(app: Recorder) -> None:
    for character in shown(app).replace("\n", ""):
        assert character.isprintable(), repr(character)


@pytest.mark.parametrize("table", ["candidates", "repositories"])
async def test_a_thousand_entries_can_be_moved_through_and_edited(scene: Scene, table: str) -> None:
    entries = {
        "candidates": 'id = "c{n}"\nretriever = "embedded"\nengine = "lexical"\n',
        "repositories": 'label = "r{n}"\npath = "gone/{n}"\n',
    }[table]
    more = "".join(f"\n[[{table}]]\n{entries.format(n=n)}" for n in range(1000))
    async with opened(scene.folder, text=TEXT + more, wait=False) as (pilot, app, screen):
        await until(pilot, lambda: f"{table.capitalize()} (1,00" in shown(app))
        screen.query_one(Outline).choose((table, 900))
        await until(pilot, lambda: "901" in shown(app))
        key = "id" if table == "candidates" else "label"
        await type_into(pilot, screen, "changed", table, 900, key)
        await until(pilot, lambda: "  changed" in shown(app))
        await pilot.press("ctrl+s")
        await until(pilot, lambda: f'{key} = "changed"' in saved(scene.folder))


@pytest.mark.parametrize("steps", range(14))
async def test_a_screen_that_is_taken_away_while_it_is_laid_out_leaves_the_app_up(
    scene: Scene, steps: int
) -> None:
    app = Recorder(scene.folder)
    async with app.run_test() as pilot:
        app.push_screen(ManifestScreen(scene.folder, scene.folder / "campaign.toml"))
        for _ in range(steps):
            await asyncio.sleep(0)
        app.pop_screen()
        await until(pilot, lambda: isinstance(app.screen, CampaignsScreen) and "campaign.toml" in shown(app))
        assert app.is_running


@pytest.mark.parametrize("path", [None, "campaign.toml"], ids=str)
@pytest.mark.parametrize("steps", range(-1, 6))
async def test_an_app_that_is_left_while_a_screen_comes_ends_without_a_defect(
    scene: Scene, steps: int, path: str | None
) -> None:
    app = BoresightApp(scene.folder)
    shows = ShowManifest(None if path is None else scene.folder / path)
    async with asyncio.timeout(30), app.run_test() as pilot:
        await until(pilot, lambda: isinstance(app.screen, CampaignsScreen))
        app.post_message(shows)
        while steps >= 0 and not isinstance(app.screen, ManifestScreen):
            await asyncio.sleep(0)
        for _ in range(steps):
            await asyncio.sleep(0)
        app.exit(5)
        app.post_message(ShowManifest(scene.folder / "campaign.toml"))  # as a key pressed meanwhile would
        while app.is_running:
            await asyncio.sleep(0.01)
    assert app.return_value == 5


async def test_a_file_that_cannot_be_read_is_told_and_the_app_stays(scene: Scene) -> None:
    app = Recorder(scene.folder)
    async with app.run_test(size=(80, 24)) as pilot:
        app.post_message(ShowManifest(scene.folder / "gone.toml"))
        await until(pilot, lambda: isinstance(app.screen, TextDialog) and "nosuchfile" in unwrapped(app))
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, CampaignsScreen))


async def test_a_key_pressed_right_after_the_one_for_the_other_tab_changes_nothing(scene: Scene) -> None:
    async with opened(scene.folder) as (pilot, app, screen):
        await choose(pilot, screen, "candidates", 1)
        screen.query_one(Outline).focus()
        await pilot.pause()
        app.simulate_key("ctrl+t")
        app.simulate_key("d")
        await until(pilot, lambda: isinstance(app.focused, TomlArea))
        await pilot.pause(0.5)
        assert screen._keeper is not None and not screen._keeper.is_changed


async def test_the_other_tab_is_reached_by_mouse_too(scene: Scene) -> None:
    async with opened(scene.folder, (80, 24)) as (pilot, app, screen):
        await pilot.click("#--content-tab-toml-tab")
        await until(pilot, lambda: screen.query_one(TabbedContent).active == "toml-tab")
        await until(pilot, lambda: "# The head" in shown(app))


async def test_a_narrow_screen_shows_the_help_of_the_field_that_is_filled_in(scene: Scene) -> None:
    async with opened(scene.folder, (80, 24)) as (pilot, app, screen):
        await choose(pilot, screen, "limits")
        assert "never enforced" not in words(app)
        await pilot.press("enter")
        await until(pilot, lambda: screen.query_one(FieldForm).place == ("limits", "index_timeout"))
        await until(pilot, lambda: "default 3600.0)" in words(app))
        await pilot.press("tab", "tab", "tab")
        await until(pilot, lambda: "never enforced" in words(app))
        assert "default 3600.0)" not in words(app)


async def test_the_help_of_the_last_field_comes_into_view_with_it(scene: Scene) -> None:
    async with opened(scene.folder, (80, 24)) as (pilot, _app, screen):
        await choose(pilot, screen, "candidates", 1)
        last = list(screen.query(FieldRow))[-1]
        last.go_to()
        form = screen.query_one(FieldForm)
        note = last.query_one(".field-help")
        await until(pilot, lambda: note.region.height > 0 and form.region.contains_region(note.region))


def words(app: Recorder) -> str:
    """The text on the screen as if it did not wrap in the form, without what stands beside that."""
    return " ".join(" ".join(line.partition("│")[2] for line in shown(app).splitlines()).split())


@sizes
async def test_esc_goes_from_a_field_to_the_parts_and_only_then_away(
    scene: Scene, size: tuple[int, int]
) -> None:
    async with opened(scene.folder, size) as (pilot, app, screen):
        await choose(pilot, screen, "candidates", 1)
        await pilot.press("enter")
        await until(pilot, lambda: screen.query_one(FieldForm).place is not None)
        await pilot.press("escape")
        await until(pilot, lambda: screen.query_one(Outline).has_focus)
        assert app.screen is screen and screen.query_one(Outline).place == ("candidates", 1)
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, CampaignsScreen))


async def test_keys_are_offered_where_they_act_only(scene: Scene) -> None:
    async with opened(scene.folder) as (pilot, app, screen):
        await until(pilot, lambda: "^s Save" in shown(app))
        assert "a Add" not in shown(app) and "d Duplicate" not in shown(app)
        await choose(pilot, screen, "candidates", 1)
        await until(pilot, lambda: "a Add" in shown(app) and "d Duplicate" in shown(app))
        screen.query_one(Outline).choose(("repositories",))
        await until(pilot, lambda: "a Add" in shown(app) and "d Duplicate" not in shown(app))


async def test_all_buttons_of_a_candidate_are_within_reach_of_the_mouse(scene: Scene) -> None:
    async with opened(scene.folder, (120, 30)) as (pilot, _app, screen):
        await choose(pilot, screen, "candidates", 1)
        form = screen.query_one(FieldForm)
        await until(pilot, lambda: len(form.query(Button)) == 3)
        last = form.query(Button).last()
        await until(pilot, lambda: last.region.width > 0 and form.region.contains_region(last.region))


@sizes
async def test_a_candidate_to_add_says_in_a_sentence_what_it_lacks(
    scene: Scene, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    lacking = "Commands cannot be started:\n  - config.query[0]: no 'rg' is here; install it\n  - more"
    preset = Preset("ripgrep", {"id": "ripgrep"}, "command", lacking)
    monkeypatch.setattr("tui.editing.changing.presets", lambda: (preset,))
    async with opened(scene.folder, size) as (pilot, app, screen):
        screen.query_one(Outline).choose(("candidates",))
        await pilot.press("a")
        await until(pilot, lambda: "not ready" in shown(app))
        list_of_them = app.screen.query_one(OptionList)
        told = str(list_of_them.get_option_at_index(0).prompt)
        assert told.endswith("not ready: Commands cannot be started: config.query[0]: no 'rg' is here")
        assert "␊" not in shown(app)


async def test_fields_of_one_name_are_told_apart_and_an_empty_default_is_none(scene: Scene) -> None:
    async with opened(scene.folder) as (pilot, _app, screen):
        await choose(pilot, screen, "candidates", 1)
        await pick(pilot, screen, "command", "candidates", 1, "retriever")
        await until(pilot, lambda: any(each.spec.name == "index_paths" for each in screen.query(FieldRow)))
        names = [str(label.render()) for label in screen.query(".field-name").results(Label)]
        assert len(set(names)) == len(names) and {"version", "config.version"} <= set(names)
        paths = row(screen, "candidates", 1, "config", "index_paths")
        assert paths.query_one(Input).placeholder == ""
        assert "default" not in str(paths.query_one(".field-help").render())


@sizes
async def test_typing_goes_on_in_a_field_whose_change_brings_another_button(
    scene: Scene, size: tuple[int, int]
) -> None:
    async with opened(scene.folder, size) as (pilot, _app, screen):
        await choose(pilot, screen, "candidates", 0)
        await pilot.press("enter")
        await until(pilot, lambda: screen.query_one(FieldForm).place == ("candidates", 0, "id"))
        await pilot.press("ctrl+u")
        await until(pilot, lambda: bool(screen.query("#do-baseline")))
        await pilot.press("x", "y")
        assert row(screen, "candidates", 0, "id").query_one(Input).value == "xy"
        keeper = screen._keeper
        assert keeper is not None
        await until(pilot, lambda: keeper.snapshot.data["candidates"][0].get("id") == "xy")
