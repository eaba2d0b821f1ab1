"""The monitor of a run that is going, has ended, was killed, or cannot be read whole."""

from __future__ import annotations

import csv
import json
import os
import re
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from textual.widgets import DataTable, OptionList

from core import api
from core.run.events import CellFinished, Gap, Heartbeat, Holder, Paused, Progress, SourceFrozen
from tests.support.finished import finished_run
from tests.support.live import listening, playing
from tests.support.screens import SIZES, shown, until, unwrapped
from tui import row_actions
from tui.app import BoresightApp
from tui.following import CellView, last_fault
from tui.menus import Checked, check_resume
from tui.navigation import Show, ShowAttempts, ShowMonitor, ShowQueries
from tui.runs import Row
from tui.screens.campaigns import CampaignsScreen
from tui.screens.dialogs import ChoiceDialog, TextDialog
from tui.screens.monitor import MonitorScreen
from tui.widgets.cell_table import COLUMNS, CellTable, _values
from tui.widgets.news_table import NewsTable

LONG_AGO = 1_700_000_000
FAILED = 2  # in the plan: candidate a, symbol_lookup


@pytest.mark.parametrize("size", SIZES)
async def test_cells_show_phase_progress_beat_medians_and_memory(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    with playing(tmp_path) as engine:
        engine.begin()
        engine.tell(engine.started(0), engine.finished(0), engine.started(1), engine.finished(1))
        engine.tell(engine.started(2), engine.finished(2), engine.started(3), engine.beat(3))
        app = BoresightApp(tmp_path, watch=engine.run)
        async with app.run_test(size=size) as pilot:
            await until(pilot, lambda: "300 MiB" in shown(app))
            text = shown(app)
            assert "test / run" in text and "● running" in text and "probing" in text
            assert "3 of 18 operations (16 %)" in " ".join(text.split())
            assert "a × store" in text and "b × store" in text and "2/9" in text and "1/9" in text
            assert "800 ms" in text
            await until(pilot, lambda: "0 s" in shown(app) or "1 s" in shown(app))


@pytest.mark.parametrize("size", SIZES)
async def test_failures_are_listed_as_they_happen_and_can_be_inspected(
    tmp_path: Path, size: tuple[int, int], asked: list[Show]
) -> None:
    with playing(tmp_path) as engine:
        engine.begin()
        engine.tell(engine.started(FAILED), engine.finished(FAILED, failed=1, error="nonzero_exit"))
        app = BoresightApp(tmp_path, watch=engine.run)
        async with app.run_test(size=size) as pilot:
            await until(
                pilot, lambda: "✖ a × store  emb  symbol_lookup  attempt 1  nonzero_exit" in shown(app)
            )
            await until(pilot, lambda: "✖1" in shown(app) and "1 failed" in " ".join(shown(app).split()))
            app.screen.query_one(NewsTable).focus()
            await pilot.press("end", "enter")
            await until(pilot, lambda: len(asked) == 2)
            assert asked[-1] == ShowAttempts(engine.run, engine.plan[FAILED].operation)
            await pilot.press("escape", "f")
            await until(pilot, lambda: isinstance(app.screen, ChoiceDialog))
            assert "Failures of run" in shown(app)
            await pilot.press("enter")
            await until(pilot, lambda: len(asked) == 3)
            assert asked[-1] == asked[-2]


async def test_enter_on_a_cell_shows_its_failures_or_its_repositorys_queries(
    tmp_path: Path, asked: list[Show]
) -> None:
    with playing(tmp_path) as engine:
        engine.begin()
        engine.tell(engine.finished(FAILED, failed=1, error="timeout"), engine.finished(1))
        app = BoresightApp(tmp_path, watch=engine.run)
        async with app.run_test(size=(160, 50)) as pilot:
            await until(pilot, lambda: "✖1" in shown(app))
            await pilot.press("enter")
            await until(pilot, lambda: len(asked) == 2)
            found = asked[-1]
            assert isinstance(found, ShowAttempts) and found.candidate == "a"
            await pilot.press("escape", "down", "enter")
            await until(pilot, lambda: len(asked) == 3)
            last = asked[-1]
            assert isinstance(last, ShowQueries) and last.filters.repositories == ("store",)


@pytest.mark.parametrize("size", SIZES)
async def test_keys_put_words_to_the_engine(tmp_path: Path, size: tuple[int, int]) -> None:
    with playing(tmp_path) as engine:
        engine.begin()
        app = BoresightApp(tmp_path, watch=engine.run)
        async with listening(engine.run) as words, app.run_test(size=size, notifications=True) as pilot:
            await until(pilot, lambda: "running" in shown(app))
            for key, word in (("p", "pause"), ("c", "continue"), ("ctrl+c", "stop"), ("ctrl+c", "stop-now")):
                await pilot.press(key)
                await until(pilot, lambda word=word: words[-1:] == [word])  # type: ignore[misc]
                await until(pilot, lambda: not [each for each in app.workers if each.group == "say"])
            assert words == ["pause", "continue", "stop", "stop-now"]


async def test_keys_say_so_where_nobody_listens(tmp_path: Path) -> None:
    with playing(tmp_path) as engine:
        engine.begin()
        app = BoresightApp(tmp_path, watch=engine.run)
        async with app.run_test(size=(160, 40), notifications=True) as pilot:
            await until(pilot, lambda: "running" in shown(app))
            for key in ("p", "c", "ctrl+c"):
                await pilot.press(key)
                await until(pilot, lambda: "nobody listens" in shown(app))
                app.clear_notifications()
                await until(pilot, lambda: "nobody listens" not in shown(app))


def offered(app: BoresightApp) -> set[str]:
    """Return the keys' names that the screen offers to steer a run."""
    names = {active.binding.description for active in app.screen.active_bindings.values() if active.enabled}
    return names & {"Pause", "Continue", "Stop", "Resume", "Run beside it"}


@pytest.mark.parametrize("size", SIZES)
async def test_a_waiting_run_says_for_which_and_is_let_run_beside_it(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    progress = Progress(completed=40, planned=204)
    with playing(tmp_path) as engine:
        engine.begin()
        holder = Holder(run="/data/runs/big/007", pid=4321, progress=progress)
        engine.tell(Heartbeat(state="waiting", waits_for=holder, progress=engine.progress(0)))
        app = BoresightApp(tmp_path, watch=engine.run)
        async with listening(engine.run) as words, app.run_test(size=size) as pilot:
            wanted = "It waits for /data/runs/big/007 (pid 4321, 40 of 204 operations)."
            await until(pilot, lambda: wanted in shown(app) and "… waiting" in shown(app))
            assert offered(app) == {"Run beside it", "Stop"}
            await pilot.press("c", "p", "t")
            await until(pilot, lambda: words == ["together"])
            engine.tell(engine.started(0), engine.beat(0))
            await until(pilot, lambda: "It waits for" not in shown(app))
            assert offered(app) == {"Pause", "Continue", "Stop"}
            engine.tell(Heartbeat(state="waiting", progress=engine.progress(0)))
            await until(pilot, lambda: "It waits for another campaign on this machine" in shown(app))
            await pilot.press("ctrl+c")
            await until(pilot, lambda: words == ["together", "stop"])


async def test_a_run_that_has_only_begun_does_not_say_that_it_waits(tmp_path: Path) -> None:
    with playing(tmp_path) as engine:
        app = BoresightApp(tmp_path, watch=engine.run)
        async with app.run_test() as pilot:
            await until(pilot, lambda: "… waiting" in shown(app))
            assert "It waits for" not in shown(app) and "Run beside it" not in offered(app)


@pytest.mark.parametrize("size", SIZES)
async def test_an_interrupted_run_is_resumed_right_there(
    tmp_path: Path, size: tuple[int, int], asked: list[Show], hosted: list[api.OpenRun]
) -> None:
    with playing(tmp_path) as engine:
        engine.begin()
    app = BoresightApp(tmp_path, watch=engine.run)
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: "◐ interrupted" in shown(app) and "r resumes it" in shown(app))
        assert offered(app) == {"Resume"}
        await pilot.press("p", "c", "ctrl+c", "r")
        await until(pilot, lambda: [opened.layout.root for opened in hosted] == [engine.run])
        await until(pilot, lambda: asked == [ShowMonitor(engine.run)] * 2)
        assert isinstance(app.screen, MonitorScreen) and len(app.screen_stack) == 2


def change_source(run: Path) -> None:
    """Change a file that the run was frozen with, for which every resume is refused."""
    source = run / "repositories/store/store/records.py"
    source.chmod(0o644)
    source.write_text("")


@pytest.mark.parametrize("is_listed", [True, False])
async def test_where_a_resume_would_be_refused_the_monitor_offers_what_home_does(
    tmp_path: Path, hosted: list[api.OpenRun], asked: list[Show], *, is_listed: bool
) -> None:
    with playing(tmp_path) as engine:
        engine.begin()
    change_source(engine.run)
    folder = tmp_path if is_listed else tmp_path / "elsewhere"
    folder.mkdir(exist_ok=True)
    app = BoresightApp(folder, watch=engine.run)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "◐ interrupted" in shown(app))
        await pilot.press("r")
        await until(pilot, lambda: isinstance(app.screen, ChoiceDialog) and app.screen.query(OptionList))
        assert "frozensourceswere" in unwrapped(app)
        options = app.screen.query_one(OptionList)
        assert [option.id for option in options.options][:2] == ["reuse", "fix"]
        assert options.get_option("resume").disabled and not hosted
        options.highlighted = options.get_option_index("attempts")
        await pilot.press("enter")
        await until(pilot, lambda: asked[1:] == [ShowAttempts(engine.run)])


async def test_who_leaves_the_monitor_meanwhile_is_asked_nothing(
    tmp_path: Path, hosted: list[api.OpenRun], monkeypatch: pytest.MonkeyPatch
) -> None:
    with playing(tmp_path) as engine:
        engine.begin()
    change_source(engine.run)
    is_looking, may_look = threading.Event(), threading.Event()

    def late(row: Row, is_stopped: Callable[[], bool]) -> Checked:
        is_looking.set()
        assert may_look.wait(20)
        return check_resume(row, is_stopped)

    monkeypatch.setattr(row_actions, "check_resume", late)
    app = BoresightApp(tmp_path, watch=engine.run)
    async with app.run_test(notifications=True) as pilot:
        await until(pilot, lambda: "◐ interrupted" in shown(app))
        await pilot.press("r")
        await until(pilot, is_looking.is_set)
        assert "Looking at whether run can be resumed …" in toasts(app)
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.home and app.home.wish is None)
        may_look.set()
        await until(pilot, lambda: not [each for each in app.workers if each.group == "offer"])
        await pilot.pause()
        assert isinstance(app.screen, CampaignsScreen) and not hosted


async def test_a_complete_run_offers_nothing_to_steer(tmp_path: Path) -> None:
    finished = finished_run(tmp_path)
    app = BoresightApp(tmp_path, watch=finished.run)
    async with app.run_test() as pilot:
        await until(pilot, lambda: "✔ complete" in shown(app))
        assert offered(app) == set()


async def test_a_paused_run_says_so(tmp_path: Path) -> None:
    with playing(tmp_path) as engine:
        engine.begin()
        engine.tell(Paused(paused=True, progress=engine.progress(0)))
        app = BoresightApp(tmp_path, watch=engine.run)
        async with app.run_test() as pilot:
            await until(pilot, lambda: "‖ paused" in shown(app))
            engine.tell(Paused(paused=False, progress=engine.progress(0)))
            await until(pilot, lambda: "● running" in shown(app))


async def test_an_old_heartbeat_shows_its_age_and_then_the_run_is_stalled(tmp_path: Path) -> None:
    with playing(tmp_path) as engine:
        os.utime(engine.run / ".lock", (LONG_AGO, LONG_AGO))
        engine.begin()
        engine.tell(engine.started(0), engine.beat(0, seconds_ago=7.0))
        app = BoresightApp(tmp_path, watch=engine.run)
        async with app.run_test(size=(160, 50)) as pilot:
            await until(pilot, lambda: re.search(r"⚠ \d+ s", shown(app)))
            engine.tell(engine.beat(0, seconds_ago=11.0))
            await until(pilot, lambda: "⚠ stalled" in shown(app))
            engine.tell(engine.beat(0))
            await until(pilot, lambda: "● running" in shown(app))


@pytest.mark.parametrize("size", SIZES)
async def test_a_run_whose_writer_is_gone_is_interrupted(tmp_path: Path, size: tuple[int, int]) -> None:
    with playing(tmp_path) as engine:
        engine.begin()
        engine.tell(engine.started(0), engine.beat(0))
        app = BoresightApp(tmp_path, watch=engine.run)
        async with app.run_test(size=size) as pilot:
            await until(pilot, lambda: "● running" in shown(app))
            engine.lock.release()
            await until(pilot, lambda: "◐ interrupted" in shown(app) and "r resumes it" in shown(app))


async def test_the_evidence_counts_where_events_are_lost(tmp_path: Path) -> None:
    finished = finished_run(tmp_path)
    events = finished.run / "events.jsonl"
    events.write_bytes(events.read_bytes()[: events.stat().st_size // 2])
    app = BoresightApp(tmp_path, watch=finished.run)
    async with app.run_test(size=(160, 50)) as pilot:
        told = "events.jsonl does not tell all: 18 of 18 operations have an accepted"
        await until(pilot, lambda: "✔ complete" in shown(app) and told in shown(app))
        assert "resume it" not in shown(app)


async def test_what_an_execution_ended_with_is_told(tmp_path: Path) -> None:
    with playing(tmp_path) as engine:
        engine.begin()
        console = engine.run / "console.log"
        console.write_text("[0/18] began\nboresight: run: the disk is full: make room\n  - resume it\n")
        app = BoresightApp(tmp_path, watch=engine.run)
        async with app.run_test(size=(80, 24)) as pilot:
            await until(pilot, lambda: "running" in shown(app) or "waiting" in shown(app))
            assert "disk is full" not in shown(app)  # it may be of an execution before
            engine.lock.release()
            await until(pilot, lambda: "the disk is full: make room" in shown(app))
        console.write_text(console.read_text() + "[18/18] complete, 0 failed\n")
        assert last_fault(console) is None


async def test_a_finished_run_offers_its_results(tmp_path: Path, asked: list[Show]) -> None:
    finished = finished_run(tmp_path)
    app = BoresightApp(tmp_path, watch=finished.run)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "✔ complete" in shown(app) and "4 Results" in shown(app))
        await pilot.press("4")
        await until(pilot, lambda: len(asked) == 2)
        assert [type(item).__name__ for item in asked] == ["ShowMonitor", "ShowResults"]
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, CampaignsScreen))


async def test_news_other_than_failures_are_told(tmp_path: Path) -> None:
    with playing(tmp_path) as engine:
        engine.tell(SourceFrozen(repository="store", commit="a" * 40, files=2, bytes=9))
        engine.begin()
        engine.tell(Gap(missed=7))
        engine.end("complete")
        app = BoresightApp(tmp_path, watch=engine.run)
        async with app.run_test(size=(160, 50)) as pilot:
            for text in ("froze store: 2 files", "began", "7 events were missed", "ended: complete"):
                await until(pilot, lambda text=text: text in shown(app))  # type: ignore[misc]


@pytest.mark.parametrize("broken", ["plan", "events", "identity"])
async def test_what_cannot_be_read_is_said_and_the_rest_shown(tmp_path: Path, broken: str) -> None:
    with playing(tmp_path) as engine:
        engine.begin()
        engine.tell(engine.finished(0))
        expected = {
            "plan": "not a planned operation",
            "events": "2 lines of events.jsonl cannot be read",
            "identity": "made in format",
        }[broken]
        if broken == "plan":
            plan = engine.run / "plan.jsonl"
            plan.write_bytes(b'{"half' + plan.read_bytes()[20:])
        elif broken == "events":
            with open(engine.run / "events.jsonl", "ab") as stream:
                stream.write(
                    b'{"type":"of_a_newer_version","at":"2030-01-01T00:00:00Z"}\n\x00\xff[\n{"type":"hea'
                )
        else:
            campaign = engine.run / "campaign.json"
            record = json.loads(campaign.read_text())
            campaign.write_text(json.dumps({**record, "format": "boresight-run@9"}))
        app = BoresightApp(tmp_path, watch=engine.run)
        async with app.run_test(size=(160, 50)) as pilot:
            await until(pilot, lambda: expected in shown(app) and "1 of 18 operations" in shown(app))
            assert isinstance(app.screen, MonitorScreen)


async def test_a_run_without_events_or_folder_shows_what_is_known(tmp_path: Path) -> None:
    app = BoresightApp(tmp_path, watch=tmp_path / "gone")
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: "no run directory" in shown(app))
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, CampaignsScreen))


async def test_cells_are_filtered_sorted_copied_edited_and_exported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with playing(tmp_path) as engine:
        engine.begin()
        engine.tell(engine.finished(1, failed=1, error="timeout"))
        app = BoresightApp(tmp_path, watch=engine.run)
        async with app.run_test(size=(160, 50), notifications=True) as pilot:
            await until(pilot, lambda: "✖1" in shown(app))
            table = app.screen.query_one(CellTable)
            assert [str(table.get_cell_at((at, 0))) for at in (0, 1)] == ["a × store", "b × store"]  # type: ignore[arg-type]
            await pilot.press("s")
            await until(pilot, lambda: str(table.get_cell_at((0, 0))) == "b × store")  # type: ignore[arg-type]
            await pilot.press("slash", *"a st", "enter")
            await until(pilot, lambda: table.row_count == 1)
            await pilot.press("slash", "escape")
            await until(pilot, lambda: table.row_count == 2)
            await pilot.press("y")
            await until(pilot, lambda: app.clipboard == str(engine.run))
            await pilot.press("e")
            await until(pilot, lambda: isinstance(app.screen, TextDialog))
            await pilot.press("escape", "x")
            await until(pilot, lambda: any((engine.run / "exports").glob("cells-*.csv")))
            (file,) = (engine.run / "exports").glob("cells-*.csv")
            rows = list(csv.DictReader(file.read_text().splitlines()))
            assert [(row["candidate"], row["failed"]) for row in rows] == [("b", "1"), ("a", "0")]


async def test_help_lists_the_keys(tmp_path: Path) -> None:
    app = BoresightApp(tmp_path, watch=finished_run(tmp_path).run)
    async with app.run_test(size=(160, 60)) as pilot:
        await pilot.press("question_mark")
        await until(pilot, lambda: isinstance(app.screen, TextDialog))
        assert "pause after the operation" in shown(app)
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, MonitorScreen))


async def test_thousands_of_events_leave_a_bounded_panel_and_the_last_state(tmp_path: Path) -> None:
    with playing(tmp_path) as engine:
        engine.begin()
        failed = engine.finished(FAILED, failed=1, error="timeout")
        with open(engine.run / "events.jsonl", "ab") as stream:
            line = failed.model_dump_json(exclude_none=True).encode() + b"\n"
            stream.write(line * 5000)
        app = BoresightApp(tmp_path, watch=engine.run)
        async with app.run_test(size=(160, 50)) as pilot:
            news = app.screen.query_one(NewsTable)
            await until(pilot, lambda: news.row_count == 500)
            engine.tell(engine.beat(3))
            await until(pilot, lambda: "300 MiB" in shown(app))
            assert news.row_count == 500
            assert len(app.screen.query(DataTable)) == 2


def test_views_tell_elapsed_time_from_the_clock_only_while_held(tmp_path: Path) -> None:
    from tui.following import Follower

    with playing(tmp_path) as engine:
        engine.begin()
        engine.tell(engine.beat(0))
        follower = Follower(engine.run)
        looks = iter((False, False, True, True))
        follower.follow(lambda: next(looks, True))
        view = follower.view
        assert view is not None and view.started_at is not None
        later = datetime.now(UTC) + timedelta(hours=1)
        assert view.elapsed_s(later) >= 3600
        assert view._replace(held=False).elapsed_s(later) < 60


@pytest.mark.parametrize("size", SIZES)
async def test_what_a_failed_index_kept_from_being_asked_is_one_failure(
    tmp_path: Path, size: tuple[int, int], asked: list[Show]
) -> None:
    with playing(tmp_path) as engine:
        engine.begin()
        cell = [at for at, item in enumerate(engine.plan) if item.operation.candidate == "a"]
        engine.tell(engine.started(cell[0]), engine.finished(cell[0], failed=1, error="nonzero_exit"))
        for unasked, at in enumerate(cell[1:], start=1):
            progress = Progress(completed=unasked + 1, planned=18, failed=unasked + 1, unasked=unasked)
            event = engine.finished(at, error="index_failed")
            engine.tell(event.model_copy(update={"outcome": "not_run", "attempt": 0, "progress": progress}))
        engine.tell(CellFinished(candidate="a", repository="store", completed=9, planned=9, failed=9))
        app = BoresightApp(tmp_path, watch=engine.run)
        async with app.run_test(size=size) as pilot:
            await until(pilot, lambda: "✖ a × store  index: nonzero_exit → 8 not asked" in shown(app))
            await until(pilot, lambda: "complete ✖1 ·8" in " ".join(shown(app).split()))
            words = " ".join(shown(app).split())
            assert "1 failed · 8 not asked (index failed)" in words and "index_failed" not in words
            await pilot.press("f")
            await until(pilot, lambda: isinstance(app.screen, ChoiceDialog))
            assert shown(app).count("not asked (index failed)") >= 1
            await pilot.press("enter")
            await until(pilot, lambda: len(asked) == 2)
            assert asked[-1] == ShowAttempts(engine.run, engine.plan[cell[0]].operation)


@pytest.mark.parametrize("size", SIZES)
async def test_keys_that_steer_say_that_nobody_executes_the_run(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    with playing(tmp_path) as engine:
        engine.begin()
    app = BoresightApp(tmp_path, watch=engine.run)
    async with app.run_test(size=size, notifications=True) as pilot:
        await until(pilot, lambda: "◐ interrupted" in shown(app))
        for key, what in (("p", "pause"), ("c", "continue"), ("ctrl+c", "stop")):
            await pilot.press(key)
            told = f"run is not being executed, so there is nothing to {what}; r resumes it"
            await until(pilot, lambda told=told: told in toasts(app))  # type: ignore[misc]
        assert "quit" not in toasts(app)


async def test_a_complete_run_is_neither_stopped_nor_said_to_be_resumable(tmp_path: Path) -> None:
    app = BoresightApp(tmp_path, watch=finished_run(tmp_path).run)
    async with app.run_test(notifications=True) as pilot:
        await until(pilot, lambda: "✔ complete" in shown(app))
        await pilot.press("ctrl+c")
        await until(pilot, lambda: toasts(app).endswith("not being executed, so there is nothing to stop"))


async def test_a_waiting_run_says_that_it_cannot_be_paused(tmp_path: Path) -> None:
    with playing(tmp_path) as engine:
        engine.begin()
        engine.tell(Heartbeat(state="waiting", progress=engine.progress(0)))
        app = BoresightApp(tmp_path, watch=engine.run)
        async with listening(engine.run) as words, app.run_test(notifications=True) as pilot:
            await until(pilot, lambda: "It waits for" in shown(app))
            await pilot.press("p")
            await until(pilot, lambda: "waits, so there is nothing to pause; t runs it beside" in toasts(app))
            assert words == []


def toasts(app: BoresightApp) -> str:
    return "\n".join(each.message for each in app._notifications)


def row_of(app: BoresightApp, cell: str) -> str:
    """Return a cell's row, empty as long as it is not there."""
    return next((line for line in shown(app).splitlines() if line.lstrip().startswith(cell)), "")


async def test_cells_have_bars_and_samples_on_a_small_screen_too(tmp_path: Path) -> None:
    with playing(tmp_path) as engine:
        engine.begin()
        engine.tell(engine.finished(0), engine.finished(2), engine.started(3), engine.beat(3), engine.beat(3))
        app = BoresightApp(tmp_path, watch=engine.run)
        async with app.run_test(size=(80, 24)) as pilot:
            await until(pilot, lambda: "300 MiB ▁▁" in row_of(app, "a × store"))
            assert re.search(r"██▏?░+ 2/9", row_of(app, "a × store")) or "░ 2/9" in row_of(app, "a × store")
            assert "░░░░ 0/9" in row_of(app, "b × store")
            await pilot.resize_terminal(62, 24)
            await until(pilot, lambda: "▉░░░ 2/9" in row_of(app, "a × store"))


async def test_a_phase_ends_with_its_index_and_with_the_run(tmp_path: Path) -> None:
    with playing(tmp_path) as engine:
        engine.begin()
        engine.tell(engine.started(0), engine.finished(0), engine.started(1))
        app = BoresightApp(tmp_path, watch=engine.run)
        async with app.run_test(size=(80, 24)) as pilot:
            await until(pilot, lambda: "indexing" in row_of(app, "b × store"))
            assert "indexed" in row_of(app, "a × store")
            engine.lock.release()
            await until(pilot, lambda: "interrupted" in row_of(app, "a × store"))
            assert "indexing" not in shown(app) and "indexed" not in shown(app)


async def test_what_does_not_fit_ends_with_a_sign_of_it_and_facts_stay_whole(tmp_path: Path) -> None:
    with playing(tmp_path) as engine:
        engine.begin()
        error = "an_error_class_with_a_very_long_name_that_no_line_holds"
        engine.tell(engine.started(FAILED), engine.finished(FAILED, failed=2, error=error))
        app = BoresightApp(tmp_path, watch=engine.run)
        async with app.run_test(size=(80, 24)) as pilot:
            await until(pilot, lambda: re.search(r"attempt 1  an_error_\w*…", shown(app)))
            assert any(line.strip() == "2 failed" or "· 2 failed" in line for line in shown(app).splitlines())
            await pilot.resize_terminal(160, 24)
            await until(pilot, lambda: error in shown(app))


async def test_an_export_holds_the_cells_that_the_filter_lets_through(tmp_path: Path) -> None:
    run = finished_run(tmp_path).run
    app = BoresightApp(tmp_path, watch=run)
    async with app.run_test(size=(160, 50)) as pilot:
        table = app.screen.query_one(CellTable)
        await until(pilot, lambda: table.row_count == 2)
        await pilot.press("slash", *"b st", "enter")
        await until(pilot, lambda: table.row_count == 1)
        await pilot.press("x")
        await until(pilot, lambda: any((run / "exports").glob("cells-*.csv")))
        (file,) = (run / "exports").glob("cells-*.csv")
        assert [row["candidate"] for row in csv.DictReader(file.read_text().splitlines())] == ["b"]


def test_units_stand_closer_where_only_then_bars_have_room() -> None:
    table = CellTable(id="cells")
    cell = CellView(
        "lexical", "click", 137, 30, 0, 0, "querying", True, (0.0486, 0.0266, 0.0674), (356 * 2**20,)
    )
    table._cells = {cell.name: cell}

    def row(width: int) -> list[str]:
        rows = {cell.name: _values(cell, None, datetime.now(UTC), width)}
        table._draw(rows, COLUMNS, width)
        return [value.plain for value in rows[cell.name]]

    assert row(100)[2].startswith("██▏░") and row(100)[4] == "48.6 ms"
    assert row(80)[2] == "█▎░░░░ 30/137" and row(80)[4:] == ["48.6ms", "26.6ms", "67.4ms", "356MiB"]
    assert row(60)[2] == "▉░░░ 30/137" and row(60)[4] == "48.6ms"  # and memory to be scrolled to
