"""The home screen: what it lists, what it offers for each state, and what its keys do."""

from __future__ import annotations

import csv
import os
import re
import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from textual.widgets import OptionList

from core import api
from core.browse.index import open_index
from core.run.events import Heartbeat, Holder, SourceFrozen
from core.run.layout import RunLayout
from core.run.lock import RunLock
from tests.support.campaigns import Scene, make_scene, run_new
from tests.support.finished import Finished, finished_run
from tests.support.inputs import fake_entry, write_inputs
from tests.support.live import Playing, listening, playing
from tests.support.screens import SIZES, shown, until, unwrapped
from tui import row_actions, wallclock
from tui.app import BoresightApp
from tui.following import Follower
from tui.navigation import (
    Show,
    ShowAttempts,
    ShowFrozenManifest,
    ShowManifest,
    ShowMonitor,
    ShowQueries,
    ShowResults,
)
from tui.runs import Listing, Row
from tui.screens.campaigns import CampaignsScreen
from tui.screens.dialogs import ChoiceDialog, InputDialog, TextDialog
from tui.widgets.filter_bar import FilterBar
from tui.widgets.run_table import RunTable

HOSTILE = (
    "[/foo] bar",
    "[/]",
    "[X=http://a]",
    "a\x1b]52;c;aGk=\x07",
    "b\x1b]0;t\x07",
    "\u202eabc",
    "x" * 200,
)


class Folder:
    """A folder with a campaign file, and one failed run of it."""

    def __init__(self, scene: Scene, run: Path) -> None:
        self.path = scene.folder
        self.manifest = scene.folder / "campaign.toml"
        self.run = run


@pytest.fixture(scope="module")
def _failed_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Path]]:
    yield {"folder": tmp_path_factory.mktemp("failed")}


@pytest.fixture
def failed(_failed_once: dict[str, Path], tmp_path: Path) -> Folder:
    """A campaign whose one run has a failed operation; made once for the module, copied for each test."""
    made = _failed_once["folder"] / "made"
    if not made.exists():
        scene = make_scene(made, per_intent=1)
        faulty = fake_entry("a", faults={"load_records": "exit_3", "Loading": "exit_3"})
        write_inputs(scene, [faulty, fake_entry("b")])
        run_new(api.read_campaign(made / "campaign.toml"), made / "runs" / "test" / "001")
    folder = tmp_path / "folder"
    shutil.copytree(made, folder, symlinks=True)
    scene = Scene(folder, None, folder / "store.jsonl")  # type: ignore[arg-type]
    return Folder(scene, folder / "runs" / "test" / "001")


@pytest.fixture
def finished(tmp_path: Path) -> Finished:
    return finished_run(tmp_path)


async def menu(pilot: object, app: BoresightApp) -> list[str]:
    """Open the menu of the row under the cursor; return its entries."""
    await pilot.press("enter")  # type: ignore[attr-defined]
    await until(pilot, lambda: isinstance(app.screen, ChoiceDialog) and app.screen.query(OptionList))  # type: ignore[arg-type]
    options = app.screen.query_one(OptionList).options
    return [str(option.id) for option in options]


async def choose(pilot: object, app: BoresightApp, choice: str) -> None:
    """Choose an entry of the menu that is open."""
    options = app.screen.query_one(OptionList)
    options.highlighted = options.get_option_index(choice)
    await pilot.press("enter")  # type: ignore[attr-defined]


@pytest.mark.parametrize("size", SIZES)
async def test_a_first_start_offers_the_sample_a_bank_and_opening_something(
    tmp_path: Path, size: tuple[int, int], asked: list[Show]
) -> None:
    app = BoresightApp(tmp_path)
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: "Try the built-in sample" in shown(app))
        await until(pilot, lambda: "0 campaigns · 0 runs" in shown(app))
        await pilot.press("down", "enter")
        await until(pilot, lambda: asked == [ShowManifest(None)])
        await pilot.press("escape", "down", "enter")
        await until(pilot, lambda: isinstance(app.screen, InputDialog))
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, CampaignsScreen))


async def test_what_lies_elsewhere_can_be_opened(tmp_path: Path, failed: Folder, asked: list[Show]) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    app = BoresightApp(empty)
    expected: dict[str, Show] = {
        str(failed.manifest): ShowManifest(failed.manifest),
        str(failed.run): ShowMonitor(failed.run),
        str(failed.path / "store.jsonl"): ShowManifest(empty / "campaign.toml"),
    }
    async with app.run_test(size=(160, 50)) as pilot:
        await until(pilot, lambda: "Try the built-in sample" in shown(app))
        for typed, wanted in expected.items():
            app.open_elsewhere()
            await until(pilot, lambda: bool(app.screen.query("InputDialog Input")))
            app.screen.query_one("Input").value = typed  # type: ignore[attr-defined]
            await pilot.press("enter")
            await until(pilot, lambda wanted=wanted: asked[-1:] == [wanted])  # type: ignore[misc]
            await pilot.press("1")
        draft = (empty / "campaign.toml").read_text()
        assert 'label = "store"' in draft and "WHERE-IS/store" in draft
        app.open_elsewhere()
        await until(pilot, lambda: bool(app.screen.query("InputDialog Input")))
        app.screen.query_one("Input").value = "/nowhere"  # type: ignore[attr-defined]
        await pilot.press("enter")
        await until(pilot, lambda: "no such file" in shown(app))


@pytest.mark.parametrize("size", SIZES)
async def test_a_complete_run_leads_to_its_results_first(
    finished: Finished, size: tuple[int, int], asked: list[Show]
) -> None:
    app = BoresightApp(finished.folder)
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: "✔ complete" in shown(app) and "18/18" in shown(app))
        await until(pilot, lambda: "1 campaign · 1 run" in shown(app))
        assert (await menu(pilot, app))[0] == "results"
        await pilot.press("enter")
        await until(pilot, lambda: asked == [ShowResults(finished.run)])
        for choice, wanted in (
            ("queries", ShowQueries(finished.run)),
            ("attempts", ShowAttempts(finished.run)),
            ("frozen", ShowFrozenManifest(finished.run)),
            ("monitor", ShowMonitor(finished.run)),
        ):
            await pilot.press("1")
            await menu(pilot, app)
            await choose(pilot, app, choice)
            await until(pilot, lambda wanted=wanted: asked[-1] == wanted)  # type: ignore[misc]


async def test_rescore_report_clean_and_export_of_a_run(finished: Finished) -> None:
    app = BoresightApp(finished.folder)
    async with app.run_test(size=(160, 50), notifications=True) as pilot:
        await until(pilot, lambda: "✔ complete" in shown(app))
        await pilot.press("b")
        await until(pilot, lambda: RunLayout(finished.run).summary.exists())
        await until(
            pilot, lambda: "rescored: all 18 operations have a result" in " ".join(shown(app).split())
        )
        await until(pilot, lambda: "R@5" in shown(app))
        await menu(pilot, app)
        await choose(pilot, app, "report")
        await until(
            pilot, lambda: isinstance(app.screen, TextDialog) and "Known-target results" in shown(app)
        )
        await pilot.press("escape")
        await menu(pilot, app)
        await choose(pilot, app, "archive")
        await until(pilot, (finished.folder / "run.tar.gz").exists)
        await menu(pilot, app)
        await choose(pilot, app, "clean")
        await until(pilot, lambda: "indexes take" in shown(app))
        await pilot.press("enter")
        await until(pilot, lambda: not any((finished.run / "state").glob("*/*")))
        await until(pilot, lambda: "freed" in shown(app))


@pytest.fixture
def private(tmp_path: Path) -> Finished:
    return finished_run(tmp_path, private=True)


async def test_a_private_run_is_exported_only_after_asking(tmp_path: Path, private: Finished) -> None:
    app = BoresightApp(tmp_path)
    async with app.run_test(size=(160, 50)) as pilot:
        await until(pilot, lambda: "✔ complete" in shown(app))
        await menu(pilot, app)
        await choose(pilot, app, "archive")
        await until(pilot, lambda: "private repositories: store" in shown(app))
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, CampaignsScreen))
        assert not (private.folder / "run.tar.gz").exists()
        await menu(pilot, app)
        await choose(pilot, app, "archive")
        await until(pilot, lambda: "private repositories: store" in shown(app))
        await pilot.press("down", "enter")
        await until(pilot, (private.folder / "run.tar.gz").exists)


@pytest.mark.parametrize("size", SIZES)
async def test_a_failed_run_offers_inspection_fixing_and_trying_again(
    failed: Folder, size: tuple[int, int], asked: list[Show], hosted: list[api.OpenRun]
) -> None:
    app = BoresightApp(failed.path)
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: "✖ failed" in shown(app))
        await until(pilot, lambda: "1 campaign · 1 run" in shown(app) and "▤ campaign" in shown(app))
        assert (await menu(pilot, app))[:3] == ["attempts", "fix", "retry"]
        await pilot.press("enter")
        await until(pilot, lambda: asked == [ShowAttempts(failed.run)])
        await pilot.press("1")
        await menu(pilot, app)
        await choose(pilot, app, "retry")
        await until(pilot, lambda: asked[-1] == ShowMonitor(failed.run))
        assert hosted[0].only is not None and len(hosted[0].only) == 1
        assert failed.run in app.started


@pytest.mark.parametrize("size", SIZES)
async def test_fix_and_continue_opens_the_campaign_and_then_offers_the_new_run(
    failed: Folder, size: tuple[int, int], asked: list[Show], hosted: list[api.OpenRun]
) -> None:
    app = BoresightApp(failed.path)
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: "✖ failed" in shown(app))
        await menu(pilot, app)
        await choose(pilot, app, "fix")
        await until(pilot, lambda: asked == [ShowManifest(failed.manifest)])
        text = failed.manifest.read_text()
        mended = text.replace('"load_records" = "exit_3", "Loading" = "exit_3"', "")
        failed.manifest.write_text(mended if mended != text else text.replace("exit_3", "exit_4"))
        await pilot.press("escape")
        await until(pilot, lambda: "take over every success" in " ".join(shown(app).split()))
        assert "Without what is taken over:" in shown(app) and "Operations: " in shown(app)
        await pilot.press("enter")
        await until(pilot, lambda: asked[-1] == ShowMonitor(failed.path / "runs/test/002"))
        taken = hosted[0].taken_over
        assert taken is not None and taken.source == failed.run and taken.taken > 0


@pytest.mark.parametrize("size", SIZES)
async def test_a_campaign_is_run_into_the_next_free_folder(
    failed: Folder, size: tuple[int, int], asked: list[Show], hosted: list[api.OpenRun]
) -> None:
    app = BoresightApp(failed.path)
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: "▤ campaign" in shown(app))
        await pilot.press("slash", *"campaign.toml", "enter")
        assert (await menu(pilot, app))[:2] == ["run", "manifest"]
        await pilot.press("enter")
        await until(pilot, lambda: "Operations: 10" in shown(app))
        await choose(pilot, app, "run")
        await until(pilot, lambda: asked == [ShowMonitor(failed.path / "runs/test/002")])
        assert hosted[0].taken_over is None and (failed.path / "runs/.gitignore").exists()


async def test_an_error_at_the_start_is_shown_and_the_app_stays_up(failed: Folder) -> None:
    (failed.path / "store.jsonl").unlink()
    app = BoresightApp(failed.path)
    async with app.run_test(size=(160, 50)) as pilot:
        await until(pilot, lambda: "▤ campaign" in shown(app))
        app.start(failed.manifest)
        await until(pilot, lambda: "campaign.toml was not run" in shown(app) and "store.jsonl" in shown(app))
        assert not (failed.path / "runs/test/002").exists()
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, CampaignsScreen))


@pytest.mark.parametrize("size", SIZES)
async def test_an_interrupted_run_is_resumed(
    tmp_path: Path, size: tuple[int, int], asked: list[Show], hosted: list[api.OpenRun]
) -> None:
    with playing(tmp_path) as engine:
        engine.begin()
    app = BoresightApp(tmp_path)
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: "◐ interrupted" in shown(app))
        assert (await menu(pilot, app))[0] == "resume"
        await pilot.press("enter")
        await until(pilot, lambda: asked == [ShowMonitor(engine.run)])
        await pilot.press("1", "r")
        await until(pilot, lambda: len(asked) == 2)
        assert [opened.layout.root for opened in hosted] == [engine.run, engine.run]


async def test_who_turned_to_something_else_is_not_taken_to_the_run_that_was_begun(
    tmp_path: Path, asked: list[Show], monkeypatch: pytest.MonkeyPatch
) -> None:
    is_beginning, may_begin = threading.Event(), threading.Event()

    def late(opened: api.OpenRun) -> int:
        is_beginning.set()
        assert may_begin.wait(20)
        opened.close()
        return 1

    monkeypatch.setattr(api, "detach", late)
    with playing(tmp_path) as engine:
        engine.begin()
    app = BoresightApp(tmp_path)
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: "◐ interrupted" in shown(app))
        await pilot.press("r")
        await until(pilot, is_beginning.is_set)
        await pilot.press("a")
        await until(pilot, lambda: asked == [ShowAttempts(engine.run)])
        may_begin.set()
        await until(pilot, lambda: any("is under way" in said.message for said in app._notifications))
        await pilot.pause()
        assert engine.run in app.started and asked == [ShowAttempts(engine.run)]


@pytest.mark.parametrize("size", SIZES)
async def test_a_waiting_run_is_watched_let_run_beside_or_stopped(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    with playing(tmp_path) as engine:
        engine.begin()
        holder = Holder(run="/data/other", pid=4321)
        engine.tell(Heartbeat(state="waiting", waits_for=holder, progress=engine.progress(0)))
        app = BoresightApp(tmp_path)
        async with listening(engine.run) as words, app.run_test(size=size) as pilot:
            await until(pilot, lambda: "waits for /data/other (pid 4321)." in shown(app))
            for moves, word in ((["down"], "together"), (["down", "down"], "stop")):
                assert (await menu(pilot, app))[:3] == ["monitor", "together", "stop"]
                await pilot.press(*moves, "enter")
                await until(pilot, lambda word=word: words[-1:] == [word])  # type: ignore[misc]


@pytest.mark.parametrize("size", SIZES)
async def test_a_refused_resume_names_the_change_and_offers_the_new_run(
    failed: Folder, size: tuple[int, int], asked: list[Show], hosted: list[api.OpenRun]
) -> None:
    source = failed.run / "repositories/store/store/records.py"
    source.chmod(0o644)
    source.write_text("")
    app = BoresightApp(failed.path)
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: "✖ failed" in shown(app))
        for key in ("enter", "r"):
            await pilot.press(key)
            await until(pilot, lambda: isinstance(app.screen, ChoiceDialog))
            await until(pilot, lambda: "records.py" in shown(app))
            assert "frozen sources were" in " ".join(shown(app).replace("█", " ").split())
            options = app.screen.query_one(OptionList)
            assert options.options[0].id == "reuse"
            assert options.get_option("resume").disabled
            await pilot.press("escape")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, ChoiceDialog))
        await pilot.press("enter")
        await until(pilot, lambda: "Operations: 10" in shown(app))
        assert app.screen.query_one(OptionList).options[0].id == "reuse"
        await pilot.press("enter")
        await until(pilot, lambda: asked == [ShowMonitor(failed.path / "runs/test/002")])
        assert hosted[0].taken_over is not None and hosted[0].taken_over.source == failed.run


@pytest.mark.parametrize("key", ["enter", "r"])
async def test_where_evidence_was_damaged_nothing_is_promised_that_it_rules_out(
    failed: Folder, hosted: list[api.OpenRun], key: str
) -> None:
    (damaged, *_) = sorted(failed.run.glob("operations/b/store/primary-*/attempt-0001/measurement.json"))
    damaged.write_bytes(b"")
    app = BoresightApp(failed.path)
    async with app.run_test(size=(100, 40)) as pilot:
        await until(pilot, lambda: "✖ failed" in shown(app))
        await pilot.press(key)
        await until(pilot, lambda: isinstance(app.screen, ChoiceDialog) and app.screen.query(OptionList))
        assert "measurement.json:changedsinceitwasrecorded" in unwrapped(app)
        options = app.screen.query_one(OptionList)
        names = [option.id for option in options.options]
        assert names[:2] == ["attempts", "run"] and names.count("attempts") == 1
        assert options.get_option("resume").disabled
        assert not {"reuse", "fix", "retry"} & set(names)  # they would be refused for the same reason
        assert not hosted


def interrupted_run(folder: Path) -> Path:
    """Return a run of 18 operations that ended when one of candidate `b` was still without a result."""
    run = finished_run(folder).run
    (last, *_) = sorted(run.glob("operations/b/store/primary-*/result.json"))
    last.unlink()
    layout = RunLayout(run)
    layout.exit_status.unlink(missing_ok=True)
    lines = layout.events.read_bytes().splitlines(keepends=True)
    layout.events.write_bytes(b"".join(lines[: len(lines) // 2]))
    return run


@pytest.mark.parametrize(("is_freed", "reusable"), [(False, 17), (True, 9)])
async def test_results_are_promised_to_be_reused_whose_evidence_and_index_stand(
    tmp_path: Path, is_freed: bool, reusable: int
) -> None:
    run = interrupted_run(tmp_path)
    if is_freed:
        shutil.rmtree(run / "state/b")
    app = BoresightApp(tmp_path)
    async with app.run_test(size=(120, 34)) as pilot:
        await until(pilot, lambda: "◐ interrupted" in shown(app) and "17/18" in shown(app))
        assert (await menu(pilot, app))[0] == "resume"
        assert f"Resume will reuse {reusable} verified results." in shown(app)


async def test_an_interrupted_run_whose_evidence_is_gone_promises_no_reuse(tmp_path: Path) -> None:
    run = interrupted_run(tmp_path)
    next(iter(sorted(run.glob("operations/a/store/ctx-*/attempt-0001/measurement.json")))).unlink()
    app = BoresightApp(tmp_path)
    async with app.run_test(size=(120, 34)) as pilot:
        await until(pilot, lambda: "◐ interrupted" in shown(app))
        assert (await menu(pilot, app))[:2] == ["attempts", "duplicate"]
        assert "will reuse" not in shown(app)
        assert "measurement.json:Nosuchfile" in unwrapped(app)


async def test_a_run_that_is_being_verified_can_be_looked_at_and_resumed_later(
    failed: Folder, asked: list[Show]
) -> None:
    lock = RunLock(RunLayout(failed.run).lock, purpose="rescoring")
    lock.acquire()
    app = BoresightApp(failed.path)
    async with app.run_test(size=(100, 40)) as pilot:
        await until(pilot, lambda: "✖ failed" in shown(app))
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, ChoiceDialog) and app.screen.query(OptionList))
        options = app.screen.query_one(OptionList)
        assert next(option.id for option in options.options) == "results"
        assert options.get_option("resume").disabled
        await until(pilot, lambda: "another process" in shown(app))
        await pilot.press("escape")
        lock.release()
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, ChoiceDialog) and app.screen.query(OptionList))
        assert app.screen.query_one(OptionList).options[0].id == "attempts"


@pytest.mark.parametrize("size", SIZES)
async def test_duplicates_are_made_beside_and_opened(
    failed: Folder, size: tuple[int, int], asked: list[Show]
) -> None:
    app = BoresightApp(failed.path)
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: "✖ failed" in shown(app))
        await pilot.press("d")
        await until(pilot, lambda: asked == [ShowManifest(failed.path / "campaign-2.toml")])
        await pilot.press("1")
        await until(pilot, lambda: "campaign-2.toml" in shown(app))
        await pilot.press("slash", *"campaign.toml", "enter", "d")
        await until(pilot, lambda: asked[-1] == ShowManifest(failed.path / "campaign-3.toml"))


@pytest.mark.parametrize("size", SIZES)
async def test_live_runs_are_told_apart(tmp_path: Path, size: tuple[int, int], asked: list[Show]) -> None:
    with playing(tmp_path) as engine:
        engine.begin()
        engine.tell(engine.beat(0))
        app = BoresightApp(tmp_path)
        async with app.run_test(size=size, notifications=True) as pilot:
            await until(pilot, lambda: "● running" in shown(app))
            engine.tell(engine.beat(3))
            await until(pilot, lambda: "3/18" in shown(app))
            engine.tell(engine.beat(3, state="waiting"))
            await until(pilot, lambda: "… waiting" in shown(app))
            await pilot.press("r")
            await until(pilot, lambda: "enter watches it" in shown(app))
            os.utime(engine.run / ".lock", (1, 1))
            engine.tell(engine.beat(3, seconds_ago=20))
            await until(pilot, lambda: "⚠ stalled" in shown(app))
            assert (await menu(pilot, app))[0] == "monitor"
            await pilot.press("enter")
            await until(pilot, lambda: asked == [ShowMonitor(engine.run)])
            await pilot.press("1")
            engine.lock.release()
            await until(pilot, lambda: "◐ interrupted" in shown(app))


@pytest.mark.parametrize("size", SIZES)
async def test_keys_of_the_home_screen(
    failed: Folder, size: tuple[int, int], asked: list[Show], own_settings: Path
) -> None:
    app = BoresightApp(failed.path)
    async with app.run_test(size=size, notifications=True) as pilot:
        await until(pilot, lambda: "✖ failed" in shown(app))
        await pilot.press("a")
        await until(pilot, lambda: asked == [ShowAttempts(failed.run)])
        await pilot.press("1", "y")
        await until(pilot, lambda: app.clipboard == str(failed.run))
        await pilot.press("s")
        await until(pilot, lambda: own_settings.exists() and 'sort = "name"' in own_settings.read_text())
        await pilot.press("n")
        await until(pilot, lambda: isinstance(app.screen, ChoiceDialog))
        await pilot.press("down", "enter")
        await until(pilot, lambda: asked[-1] == ShowManifest(None))
        await pilot.press("1", "e")
        await until(pilot, lambda: "$EDITOR" in shown(app))
        await pilot.press("escape", "x")
        await until(pilot, lambda: any((failed.path / "exports").glob("campaigns-*.csv")))
        (file,) = (failed.path / "exports").glob("campaigns-*.csv")
        rows = list(csv.DictReader(file.read_text().splitlines()))
        assert {row["state"] for row in rows} == {"failed", "campaign"}
        await pilot.press("question_mark")
        await until(pilot, lambda: "rescore: verify" in shown(app))
        await pilot.press("escape")


async def test_the_filter_narrows_and_says_so(failed: Folder) -> None:
    app = BoresightApp(failed.path)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "✖ failed" in shown(app))
        await pilot.press("slash", *"nothing of this")
        await until(pilot, lambda: "Nothing matches" in shown(app))
        await pilot.press("escape")
        await until(pilot, lambda: "✖ failed" in shown(app))


async def test_a_run_that_cannot_be_read_says_why(finished: Finished) -> None:
    campaign_file = finished.run / "campaign.json"
    campaign_file.write_text(campaign_file.read_text().replace("boresight-run@1", "boresight-run@7"))
    app = BoresightApp(finished.folder)
    async with app.run_test(size=(160, 50)) as pilot:
        await until(pilot, lambda: "? unreadable" in shown(app))
        await pilot.press("enter")
        await until(pilot, lambda: "use the newer version that made it" in shown(app))


async def test_nothing_is_offered_before_the_first_look_has_ended(
    finished: Finished, monkeypatch: pytest.MonkeyPatch
) -> None:
    may_look, look = threading.Event(), Listing.look

    def late(listing: Listing, *arguments: Any, **options: Any) -> list[Row]:
        may_look.wait(20)
        return look(listing, *arguments, **options)

    monkeypatch.setattr(Listing, "look", late)
    app = BoresightApp(finished.folder)
    async with app.run_test() as pilot:
        await pilot.resize_terminal(100, 30)
        await pilot.press("enter")
        await pilot.pause(0.2)
        assert "Looking at" in shown(app) and "built-in sample" not in shown(app)
        may_look.set()
        await until(pilot, lambda: "✔ complete" in shown(app))
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, ChoiceDialog))


async def test_the_folder_is_listed_without_waiting_for_a_refresh(
    finished: Finished, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tui.screens.campaigns.REFRESH_SECONDS", 3600.0)
    app = BoresightApp(finished.folder)
    async with app.run_test() as pilot:
        await until(pilot, lambda: "✔ complete" in shown(app))


async def test_a_campaign_that_is_not_valid_is_listed_with_its_problem(tmp_path: Path) -> None:
    (tmp_path / "campaign.toml").write_text("name = \n")
    app = BoresightApp(tmp_path)
    async with app.run_test(size=(160, 50)) as pilot:
        await until(pilot, lambda: "⚠ not valid" in shown(app) and "not valid TOML" in shown(app))
        assert (await menu(pilot, app))[0] == "manifest"


async def test_hostile_names_are_shown_and_harm_nothing(finished: Finished) -> None:
    for name in HOSTILE:
        shutil.copytree(finished.run, finished.folder / name, symlinks=True)
    app = BoresightApp(finished.folder)
    async with app.run_test(size=(160, 50)) as pilot:
        await until(pilot, lambda: "8 runs" in shown(app))
        assert not any(
            (ord(character) < 0x20 and character != "\n") or character == "\u202e" for character in shown(app)
        )
        for _ in HOSTILE:
            await pilot.press("down")
            assert await menu(pilot, app)
            await pilot.press("escape")


async def test_many_runs_are_cut_with_their_number_said(
    finished: Finished, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tui.widgets import run_table

    monkeypatch.setattr(run_table, "LARGEST", 3)
    for number in range(4):
        shutil.copytree(finished.run, finished.folder / f"r{number}", symlinks=True)
    app = BoresightApp(finished.folder)
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: "1–3 of 5" in shown(app))


async def test_runs_that_appear_and_go_are_noticed_and_the_cursor_stays(finished: Finished) -> None:
    app = BoresightApp(finished.folder)
    async with app.run_test(size=(160, 50)) as pilot:
        await until(pilot, lambda: "✔ complete" in shown(app))
        shutil.copytree(finished.run, finished.folder / "another", symlinks=True)
        await pilot.press("f5")
        await until(pilot, lambda: "2 runs" in shown(app))
        home = app.home
        assert home.chosen is not None and home.chosen.path == finished.run
        shutil.rmtree(finished.folder / "another")
        await until(pilot, lambda: "1 run" in shown(app) and "2 runs" not in shown(app))
        assert home.chosen is not None and home.chosen.path == finished.run


async def test_the_cursor_comes_back_to_the_run_that_was_shown(finished: Finished, asked: list[Show]) -> None:
    other = finished.folder / "another"
    shutil.copytree(finished.run, other, symlinks=True)
    app = BoresightApp(finished.folder)
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: "2 runs" in shown(app))
        for run in (finished.run, other):
            app.post_message(ShowResults(run))
            await until(pilot, lambda: not isinstance(app.screen, CampaignsScreen))
            await pilot.press("escape")
            await until(pilot, lambda run=run: app.home.chosen is not None and app.home.chosen.path == run)  # type: ignore[misc]


async def test_the_cursor_stays_where_it_is_when_a_menu_is_closed(
    finished: Finished, asked: list[Show]
) -> None:
    other = finished.folder / "another"
    shutil.copytree(finished.run, other, symlinks=True)
    app = BoresightApp(finished.folder)
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: "2 runs" in shown(app))
        app.post_message(ShowResults(finished.run))
        await until(pilot, lambda: not isinstance(app.screen, CampaignsScreen))
        await pilot.press("escape")
        await until(pilot, lambda: app.home.chosen is not None and app.home.chosen.path == finished.run)
        await pilot.press("up" if app.home.query_one(RunTable).cursor_row else "down")
        await menu(pilot, app)
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, CampaignsScreen))
        await pilot.pause()
        assert app.home.chosen is not None and app.home.chosen.path == other


async def test_rows_fit_after_a_resize(finished: Finished) -> None:
    app = BoresightApp(finished.folder)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "✔ complete" in shown(app))
        assert "BEST AGAINST BASELINE" not in shown(app)
        await pilot.resize_terminal(200, 60)
        await until(pilot, lambda: "BEST AGAINST BASELINE" in shown(app))
        await pilot.resize_terminal(80, 24)
        await until(pilot, lambda: "BEST AGAINST BASELINE" not in shown(app))


async def test_leaving_the_campaign_to_fix_unchanged_does_not_propose_to_run_it(
    failed: Folder, asked: list[Show], hosted: list[api.OpenRun]
) -> None:
    app = BoresightApp(failed.path)
    async with app.run_test(size=SIZES[0]) as pilot:
        await until(pilot, lambda: "✖ failed" in shown(app))
        await menu(pilot, app)
        await choose(pilot, app, "fix")
        await until(pilot, lambda: asked == [ShowManifest(failed.manifest)])
        await until(pilot, lambda: failed.manifest in app._text_before)
        await pilot.press("escape")
        await until(pilot, lambda: "Nothing was changed" in " ".join(shown(app).split()))
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, CampaignsScreen))
        assert hosted == [] and asked == [ShowManifest(failed.manifest)]


async def test_an_empty_list_offers_nothing_for_a_row(tmp_path: Path) -> None:
    app = BoresightApp(tmp_path)
    async with app.run_test(size=SIZES[1]) as pilot:
        await until(pilot, lambda: "quickstart --sample" in shown(app))
        await until(pilot, lambda: "n New" in shown(app) and "Resume" not in shown(app))
        assert "Rescore" not in shown(app) and "Attempts" not in shown(app)


# Looks that take long


class Held:
    """What a look at disk gives, held back until it may come."""

    def __init__(self, look: Callable[..., Any]) -> None:
        self.may_come = threading.Event()
        self.looks = 0
        self._look = look

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        self.looks += 1
        assert self.may_come.wait(20)
        return self._look(*arguments, **options)


def held_back(monkeypatch: pytest.MonkeyPatch, name: str) -> Held:
    """Hold back what the home screen finds out by a function of its module."""
    held = Held(getattr(row_actions, name))
    monkeypatch.setattr(row_actions, name, held)
    return held


async def let_come(pilot: object, app: BoresightApp, held: Held) -> None:
    """Let a look go on, and wait until it and all that follows from it is over."""
    held.may_come.set()
    await until(pilot, lambda: not [each for each in app.workers if each.group == "offer"])  # type: ignore[arg-type]
    await pilot.pause()  # type: ignore[attr-defined]


@pytest.mark.parametrize("key", ["enter", "r"])
async def test_what_is_being_looked_at_is_said_at_once(
    failed: Folder, monkeypatch: pytest.MonkeyPatch, hosted: list[api.OpenRun], key: str
) -> None:
    held = held_back(monkeypatch, "check_resume")
    app = BoresightApp(failed.path)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "✖ failed" in shown(app))
        await pilot.press(key)
        await until(pilot, lambda: "Looking at whether test 001 can be resumed …" in shown(app))
        await pilot.press("f5")
        await until(pilot, lambda: not app.home._looking and "can be resumed …" in shown(app))
        await pilot.press("escape")
        await until(pilot, lambda: "1 of 10 operations failed. Inspect them" in shown(app))
        await let_come(pilot, app, held)
        assert isinstance(app.screen, CampaignsScreen) and held.looks == 1 and not hosted


@pytest.mark.parametrize("keys", [["a"], ["a", "escape"], ["down"], ["1", "n", "escape"]])
async def test_no_menu_opens_over_what_a_person_turned_to_meanwhile(
    failed: Folder, monkeypatch: pytest.MonkeyPatch, asked: list[Show], keys: list[str]
) -> None:
    held = held_back(monkeypatch, "check_resume")
    app = BoresightApp(failed.path)
    async with app.run_test() as pilot:
        await until(pilot, lambda: "✖ failed" in shown(app) and "▤ campaign" in shown(app))
        await pilot.press("enter")
        await until(pilot, lambda: "can be resumed …" in shown(app))
        before = app.home.chosen
        for key in keys:
            await pilot.press(key)
            await pilot.pause()
        await until(pilot, lambda: app.home.wish is None)
        await let_come(pilot, app, held)
        assert not isinstance(app.screen, ChoiceDialog)
        assert asked == ([ShowAttempts(failed.run)] if "a" in keys else [])
        assert (app.home.chosen == before) == ("down" not in keys)


@pytest.mark.parametrize("keys", [["enter"], ["n", "enter"]])
async def test_what_a_run_will_cost_is_shown_before_it_begins(
    failed: Folder, hosted: list[api.OpenRun], keys: list[str]
) -> None:
    app = BoresightApp(failed.path)
    async with app.run_test(size=(100, 40)) as pilot:
        await until(pilot, lambda: "▤ campaign" in shown(app))
        await pilot.press("slash", *"campaign.toml", "enter")
        await pilot.press(keys[0])
        await until(pilot, lambda: isinstance(app.screen, ChoiceDialog))
        await pilot.press("enter")
        await until(pilot, lambda: "Smallest detectable difference" in shown(app))
        assert "Operations: 10" in shown(app) and "taking over from test/001" in shown(app)
        await choose(pilot, app, "stay")
        await until(pilot, lambda: isinstance(app.screen, CampaignsScreen))
        assert not hosted and not (failed.path / "runs/test/002").exists()


async def test_a_campaign_that_cannot_be_run_says_why_in_place_of_its_cost(
    failed: Folder, hosted: list[api.OpenRun]
) -> None:
    app = BoresightApp(failed.path)
    async with app.run_test(size=(100, 40)) as pilot:
        await until(pilot, lambda: "▤ campaign" in shown(app))
        await pilot.press("slash", *"campaign.toml", "enter")
        await menu(pilot, app)
        (failed.path / "store.jsonl").unlink()
        await pilot.press("enter")
        wanted = "1tomendbeforeitcanrun", "store.jsonl:thereisnosuchfile"
        await until(pilot, lambda: all(text in unwrapped(app) for text in wanted))
        assert app.screen.query_one(OptionList).get_option("run").disabled


async def test_a_look_at_the_cost_that_was_let_be_asks_nothing(
    failed: Folder, monkeypatch: pytest.MonkeyPatch, hosted: list[api.OpenRun]
) -> None:
    held = held_back(monkeypatch, "_ahead_of")
    app = BoresightApp(failed.path)
    async with app.run_test() as pilot:
        await until(pilot, lambda: "▤ campaign" in shown(app))
        await pilot.press("slash", *"campaign.toml", "enter")
        await menu(pilot, app)
        await pilot.press("enter")
        await until(pilot, lambda: "Looking at what campaign.toml will cost …" in shown(app))
        await pilot.press("escape")
        await until(pilot, lambda: app.home.wish is None)
        await let_come(pilot, app, held)
        assert isinstance(app.screen, CampaignsScreen) and not hosted


@pytest.mark.parametrize(
    ("work", "slow", "wanted"),
    [
        ("rescore", "rescore_run", "001: verifying every digest, then rebuilding its reports"),
        ("resume", "reopen_run", "001: verifying what it holds, then it goes on"),
        ("retry_failed", "failures", "001: looking for what failed, to try it again"),
    ],
)
async def test_what_takes_long_is_told_when_it_begins(
    failed: Folder,
    monkeypatch: pytest.MonkeyPatch,
    hosted: list[api.OpenRun],
    work: str,
    slow: str,
    wanted: str,
) -> None:
    held = Held(getattr(api, slow))
    monkeypatch.setattr(api, slow, held)
    told: list[str] = []
    monkeypatch.setattr(BoresightApp, "tell", lambda app, text, **options: told.append(text))
    app = BoresightApp(failed.path)
    async with app.run_test() as pilot:
        await until(pilot, lambda: "✖ failed" in shown(app))
        getattr(app, work)(failed.run)
        await until(pilot, lambda: wanted in told and held.looks == 1)
        held.may_come.set()
        if work == "rescore":
            await until(pilot, lambda: "001 rescored: 1 of 10 operations has no result" in told)
        else:
            await until(pilot, lambda: len(hosted) == 1)


# What the table and the line below it say


async def test_a_run_whose_evidence_is_known_to_have_changed_shows_that_in_place_of_its_verdict(
    finished: Finished,
) -> None:
    api.rescore_run(finished.run)
    index_all(finished.run)
    app = BoresightApp(finished.folder)
    async with app.run_test(size=(160, 50)) as pilot:
        await until(pilot, lambda: "✔ complete" in shown(app) and "R@5" in shown(app))
        assert "≠" not in shown(app)
        result = next(iter(sorted(finished.run.glob("operations/b/store/primary-*/attempt-0001/stdout"))))
        kept = result.read_bytes()
        result.write_bytes(b"[]")
        index_all(finished.run)
        await until(pilot, lambda: "≠ 1 changed" in shown(app) and "R@5" not in shown(app))
        await until(pilot, lambda: "the evidence of 1 operation has changed since" in shown(app))
        result.write_bytes(kept)
        index_all(finished.run)
        await until(pilot, lambda: "R@5" in shown(app) and "≠" not in shown(app))


def index_all(run: Path) -> None:
    """Let all evidence of a run be compared with its digests again, as Attempts does where that is asked."""
    with open_index(run, thorough=True):
        pass


async def test_progress_counts_what_ended_and_the_line_below_what_was_accepted(failed: Folder) -> None:
    app = BoresightApp(failed.path)
    async with app.run_test() as pilot:
        await until(pilot, lambda: "✖ failed" in shown(app) and "10/10" in shown(app))
        await until(pilot, lambda: "1 of 10 operations failed." in shown(app))


async def test_only_what_was_looked_at_is_promised_of_a_resume(tmp_path: Path) -> None:
    with playing(tmp_path) as engine:
        engine.begin()
    app = BoresightApp(tmp_path)
    async with app.run_test(size=(120, 34)) as pilot:
        await until(pilot, lambda: "interrupted at 0 of 18. Resume goes on with the 18 with" in shown(app))
        assert "will reuse" not in shown(app)
        await menu(pilot, app)
        assert "Resume will reuse 0 verified results." in shown(app)


def frozen() -> SourceFrozen:
    return SourceFrozen(repository="store", commit="0" * 40, files=1, bytes=1)


@pytest.mark.parametrize(
    ("tell", "state"),
    [
        (lambda engine: None, "waiting"),
        (lambda engine: engine.tell(frozen()), "waiting"),
        (lambda engine: engine.begin(), "running"),
        (lambda engine: engine.tell(engine.beat(0, state="waiting")), "waiting"),
        (lambda engine: engine.tell(engine.beat(0), engine.started(1)), "running"),
    ],
    ids=["opened", "frozen", "begun", "waiting", "querying"],
)
def test_the_list_and_the_monitor_tell_the_same_state(
    tmp_path: Path, tell: Callable[[Playing], None], state: str
) -> None:
    with playing(tmp_path) as engine:
        tell(engine)
        follower = Follower(engine.run)
        follower.follow(lambda: follower.view is not None and follower.view.is_caught_up)
        assert follower.view is not None
        (row,) = (row for row in Listing(tmp_path).look() if row.status is not None)
        assert row.state == follower.view.state(wallclock.now()) == state


async def test_a_run_that_has_not_begun_offers_no_way_to_run_beside_another(tmp_path: Path) -> None:
    with playing(tmp_path):
        app = BoresightApp(tmp_path)
        async with app.run_test() as pilot:
            await until(pilot, lambda: "has not begun its operations yet" in shown(app))
            assert "together" not in await menu(pilot, app)


@pytest.mark.parametrize("size", [(80, 24), (120, 34), (160, 50)])
async def test_campaigns_and_runs_have_columns_and_none_is_off_the_screen(
    failed: Folder, size: tuple[int, int]
) -> None:
    deep = failed.path / "campaigns" / "requests"
    deep.mkdir(parents=True)
    text = (
        failed.manifest.read_text()
        .replace('"test"', '"requests"')
        .replace("store.jsonl", "../../store.jsonl")
    )
    (deep / "campaign.toml").write_text(text)
    app = BoresightApp(failed.path)
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: "✖ failed" in shown(app) and " requests" in shown(app))
        lines = shown(app).splitlines()
        assert re.search(r"FAILED +UPDATED", lines[1])
        (run,) = (line for line in lines if "✖ failed" in line)
        (file,) = (line for line in lines if line.startswith(" requests"))
        assert re.match(r" test {6,}001 ", run) and " ago" in run and " ago" in file
        assert re.match(r" requests  \S*campaign\.toml ", file)
        assert run.index("001") == 11


async def test_a_run_that_cannot_be_read_is_no_campaign(finished: Finished) -> None:
    (finished.run / "campaign.json").write_text("{}")
    app = BoresightApp(finished.folder)
    async with app.run_test() as pilot:
        await until(pilot, lambda: "0 campaigns · 1 run" in shown(app))


async def test_a_campaign_that_is_not_valid_has_the_name_that_it_gives_itself(tmp_path: Path) -> None:
    (tmp_path / "campaign.toml").write_text('name = "shelf"\nseed = "none"\n')
    app = BoresightApp(tmp_path)
    async with app.run_test() as pilot:
        await until(pilot, lambda: "⚠ not valid" in shown(app) and " shelf  campaign.toml" in shown(app))


async def test_what_to_open_is_asked_in_the_middle(tmp_path: Path) -> None:
    app = BoresightApp(tmp_path)
    async with app.run_test(size=(120, 34)) as pilot:
        await until(pilot, lambda: "Try the built-in sample" in shown(app))
        app.open_elsewhere()
        await until(pilot, lambda: bool(app.screen.query("InputDialog Input")))
        left, top, width, height = app.screen.query_one(".dialog").region
        assert abs(120 - width - 2 * left) <= 1 and abs(34 - height - 2 * top) <= 1


async def test_escape_in_the_list_shows_all_rows_again(failed: Folder) -> None:
    app = BoresightApp(failed.path)
    async with app.run_test() as pilot:
        await until(pilot, lambda: "✖ failed" in shown(app))
        await pilot.press("slash", *"campaign.toml", "enter")
        await until(pilot, lambda: "✖ failed" not in shown(app))
        await pilot.press("escape")
        await until(pilot, lambda: "✖ failed" in shown(app))
        assert not app.home.query_one(FilterBar).display
