"""The app itself: moving between screens, help, leaving, and what becomes of a defect."""

from __future__ import annotations

import asyncio
import os
import pty
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import ClassVar

import pytest
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import Input, Static
from textual.widgets._footer import FooterKey

import tui.app
from core import api
from core.errors import InputError
from core.run import control
from core.run.lock import is_executed
from tests.support.campaigns import Scene, make_scene
from tests.support.finished import Finished, finished_run
from tests.support.live import listening, playing
from tests.support.screens import SIZES, shown, until, unwrapped
from tui import leaving, navigation
from tui.app import BoresightApp, open_app
from tui.navigation import MAIN_SCREENS, Show, ShowAttempts, ShowFile, ShowManifest, ShowQueries, ShowResults
from tui.screens.campaigns import CampaignsScreen
from tui.screens.dialogs import Choice, ChoiceDialog, HelpDialog, InputDialog, TextDialog
from tui.screens.monitor import MonitorScreen

LEXICAL = '{id = "words", retriever = "embedded", engine = "lexical", model = "bm25", version = "1"}'


@pytest.fixture
def finished(tmp_path: Path) -> Finished:
    return finished_run(tmp_path)


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return make_scene(tmp_path, per_intent=1)


@pytest.mark.parametrize("size", SIZES)
async def test_number_keys_show_the_main_screens_of_the_run_under_the_cursor(
    finished: Finished, size: tuple[int, int], asked: list[Show]
) -> None:
    app = BoresightApp(finished.folder)
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: "✔ complete" in shown(app))
        for number, name in enumerate(MAIN_SCREENS[1:], start=2):
            await pilot.press(str(number))
            await until(pilot, lambda number=number: len(asked) == number - 1)  # type: ignore[misc]
            assert navigation.name_of(asked[-1]) == name
            assert getattr(asked[-1], "run") == finished.run  # noqa: B009
            assert len(app.screen_stack) == 2
        await pilot.press("6")
        await pilot.press("1")
        await until(pilot, lambda: isinstance(app.screen, CampaignsScreen))
        assert len(asked) == len(MAIN_SCREENS) - 1 and len(app.screen_stack) == 1


async def test_number_keys_say_so_where_no_run_is_chosen(tmp_path: Path, asked: list[Show]) -> None:
    app = BoresightApp(tmp_path)
    async with app.run_test(size=(100, 30), notifications=True) as pilot:
        for number in range(3, 7):
            await pilot.press(str(number))
            await until(pilot, lambda name=MAIN_SCREENS[number - 1]: f"{name}: no run" in shown(app))  # type: ignore[misc]
            app.clear_notifications()
        assert asked == []
        await pilot.press("2")
        await until(pilot, lambda: asked == [ShowManifest(None)])


async def test_screens_of_a_kind_replace_each_other_and_esc_goes_back(
    finished: Finished, asked: list[Show]
) -> None:
    run = finished.run
    app = BoresightApp(finished.folder)
    async with app.run_test(size=(100, 30)) as pilot:
        for message in (ShowResults(run), ShowQueries(run), ShowAttempts(run)):
            app.post_message(message)
            await until(pilot, lambda message=message: asked[-1:] == [message])  # type: ignore[misc]
        assert len(app.screen_stack) == 4
        for _ in range(5):
            app.post_message(ShowQueries(run, case="again"))
            app.post_message(ShowAttempts(run, candidate="again"))
        await until(pilot, lambda: len(asked) == 13)
        assert len(app.screen_stack) == 4
        for left in (3, 2, 1):
            await pilot.press("escape")
            await until(pilot, lambda left=left: len(app.screen_stack) == left)  # type: ignore[misc]


class Holding(Screen[None]):
    """A screen with changes to lose."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "app.pop_screen", "Back")]

    def __init__(self) -> None:
        super().__init__()
        self.pending: list[Callable[[], None]] = []

    def leave(self, then: Callable[[], None]) -> None:
        self.pending.append(then)


@pytest.mark.parametrize("key", ["1", "4", "q"])
async def test_a_screen_with_changes_is_asked_before_it_is_left(
    finished: Finished, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    holding = Holding()
    monkeypatch.setattr(
        tui.app, "_made", lambda folder, wanted: holding if isinstance(wanted, ShowManifest) else Screen()
    )
    app = BoresightApp(finished.folder)
    async with app.run_test() as pilot:
        await until(pilot, lambda: "✔ complete" in shown(app))
        app.post_message(ShowManifest(None))
        await until(pilot, lambda: app.screen is holding)
        await pilot.press(key)
        await until(pilot, lambda: len(holding.pending) == 1)
        assert app.screen is holding and app.is_running
        holding.pending.pop()()
        await until(pilot, lambda: app.screen is not holding or app.return_value == 0)


@pytest.mark.parametrize("size", SIZES)
async def test_help_lists_the_screens_keys_and_the_apps(finished: Finished, size: tuple[int, int]) -> None:
    app = BoresightApp(finished.folder)
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: "✔ complete" in shown(app))
        await pilot.press("question_mark")
        await until(pilot, lambda: isinstance(app.screen, TextDialog))
        text = app.screen._text  # type: ignore[attr-defined]
        assert "resume an interrupted" in text and "On every screen" in text
        assert "settings.toml" in text and 'campaigns.resume = "r"' in text
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, CampaignsScreen))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("key", ["q", "ctrl+q"])
async def test_quitting_asks_nothing_where_nothing_of_this_app_is_going(
    tmp_path: Path, size: tuple[int, int], key: str
) -> None:
    with playing(tmp_path):  # another's run
        app = BoresightApp(tmp_path)
        async with app.run_test(size=size) as pilot:
            await pilot.press(key)
            await until(pilot, lambda: app.return_value == 0)


@pytest.mark.parametrize("size", SIZES)
async def test_quitting_offers_to_keep_running_to_stop_and_to_stay(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    with playing(tmp_path) as engine:
        app = BoresightApp(tmp_path)
        app.started.add(engine.run)
        async with listening(engine.run) as words, app.run_test(size=size) as pilot:
            for _ in range(2):
                await pilot.press("q")
                await until(pilot, lambda: isinstance(app.screen, ChoiceDialog))
                assert "run is going" in shown(app)
                await pilot.press("end", "enter")  # stay
                await until(pilot, lambda: isinstance(app.screen, CampaignsScreen))
            await pilot.press("q")
            await until(pilot, lambda: isinstance(app.screen, ChoiceDialog))
            await pilot.press("enter")
            await until(pilot, lambda: app.return_value == 0)
            assert words == [] and is_executed(engine.run / ".lock")


async def test_quitting_while_a_run_is_begun_waits_and_asks_then(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    may_begin, opened = threading.Event(), {"campaign": 0}

    def late(file: Path) -> api.Campaign:
        opened["campaign"] += 1
        may_begin.wait(20)
        raise InputError(f"{file}: not this one")

    monkeypatch.setattr(api, "read_campaign", late)
    with playing(scene.folder / "other") as engine:
        app = BoresightApp(scene.folder)
        async with app.run_test(size=(100, 30)) as pilot:
            app.start(scene.folder / "campaign.toml")
            await until(pilot, lambda: opened["campaign"] == 1)
            await pilot.press("q", "q")
            await until(pilot, lambda: any("is being begun" in said.message for said in app._notifications))
            assert app.is_running and app.return_value is None
            may_begin.set()  # it fails: that is to be read, so nothing is left
            await until(pilot, lambda: "campaign.toml was not run" in shown(app))
            await pilot.pause(0.5)
            assert app.is_running and app.return_value is None
            await pilot.press("escape")
            app.beginning.add(engine.run)
            await pilot.press("q")
            await pilot.pause(0.3)
            assert isinstance(app.screen, CampaignsScreen)
            app._hosted(engine.run, app.screen)
            app.beginning.clear()
            await until(pilot, lambda: "is going" in shown(app) and "Keep running" in shown(app))


async def test_stopping_waits_until_the_run_has_ended(tmp_path: Path) -> None:
    with playing(tmp_path) as engine:
        app = BoresightApp(tmp_path)
        app.started.add(engine.run)
        async with listening(engine.run) as words, app.run_test() as pilot:
            await pilot.press("q")
            await until(pilot, lambda: isinstance(app.screen, ChoiceDialog))
            await pilot.press("down", "enter")
            await until(pilot, lambda: words == ["stop"])
            await pilot.pause(0.5)
            assert app.return_value is None and app.is_running
            engine.lock.release()
            await until(pilot, lambda: app.return_value == 0)


async def test_a_run_that_does_not_stop_is_told_and_can_be_forced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leaving, "STOP_SECONDS", 2.0)
    with playing(tmp_path) as engine:
        app = BoresightApp(tmp_path)
        app.started.add(engine.run)
        async with app.run_test(size=(120, 40)) as pilot:
            await pilot.press("q")
            await until(pilot, lambda: isinstance(app.screen, ChoiceDialog))
            await pilot.press("down", "enter")
            await until(pilot, lambda: "run has not ended" in shown(app))
            assert "nobody listens" in " ".join(shown(app).split())
            async with listening(engine.run) as words:
                await pilot.press("enter")
                await until(pilot, lambda: words == ["stop-now"])
                engine.lock.release()
                await until(pilot, lambda: app.return_value == 0)


async def test_a_run_whose_socket_answers_rubbish_is_told_with_the_remedy_and_can_be_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leaving, "STOP_SECONDS", 0.5)

    async def rubbish(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        writer.write(b"rubbish\n")
        writer.close()

    with playing(tmp_path) as engine:
        app = BoresightApp(tmp_path)
        app.started.add(engine.run)
        server = await asyncio.start_unix_server(rubbish, engine.run / control.NAME)
        async with server, app.run_test(size=(120, 40)) as pilot:
            await pilot.press("q")
            await until(pilot, lambda: isinstance(app.screen, ChoiceDialog))
            await pilot.press("down", "enter")
            await until(pilot, lambda: "run has not ended" in shown(app))
            told = " ".join(shown(app).split())
            assert "answered 'rubbish'" in told and f"kill {os.getpid()}" in told
            await pilot.press("down", "enter")
            await until(pilot, lambda: app.return_value == 0)


@pytest.mark.parametrize("size", SIZES)
async def test_what_was_typed_to_be_opened_is_there_again_once_it_was_refused(
    tmp_path: Path, size: tuple[int, int], asked: list[Show]
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    for manifest in (tmp_path / "elsewhere.toml", folder / "near.toml", Path.home() / "mine.toml"):
        manifest.write_text('name = "campaign"\n')
    typed = {
        f"{tmp_path}/elsewhere.toml": tmp_path / "elsewhere.toml",
        "near.toml": folder / "near.toml",
        "~/mine.toml": Path.home() / "mine.toml",
    }
    app = BoresightApp(folder)

    def line() -> Input | None:
        found = app.screen.query(Input) if isinstance(app.screen, InputDialog) else ()
        return next((each for each in found if each.has_focus), None)

    async def enter(pilot: Pilot[int], path: str) -> None:
        await until(pilot, line)
        app.screen.query_one(Input).value = path
        await pilot.press("enter")

    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: app.screen_stack)
        for path, manifest in typed.items():
            app.open_elsewhere()
            for refused in (path[:-5], "~nobody/there.toml"):
                await enter(pilot, refused)
                await until(pilot, lambda: isinstance(app.screen, TextDialog))
                assert "nosuchfile" in unwrapped(app)
                await pilot.press("escape")
                await until(pilot, lambda refused=refused: (at := line()) and at.value == refused)  # type: ignore[misc]
            await enter(pilot, path)
            await until(pilot, lambda manifest=manifest: asked[-1:] == [ShowManifest(manifest)])  # type: ignore[misc]
            await pilot.press("1")
            await until(pilot, lambda: isinstance(app.screen, CampaignsScreen))


async def test_a_run_started_here_goes_on_in_a_process_of_its_own(scene: Scene) -> None:
    (scene.folder / "campaign.toml").write_text(
        f'name = "words"\ncases = "store.jsonl"\nrepositories = [{{label = "store", path = "store"}}]\n'
        f"candidates = [{LEXICAL}]\n"
    )
    run = scene.folder / "runs/words/001"
    app = BoresightApp(scene.folder)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: "▤ campaign" in shown(app))
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, ChoiceDialog))
        await pilot.press("enter")
        await until(pilot, lambda: "Run it now" in shown(app))
        await pilot.press("enter")
        await until(pilot, lambda: "words / 001" in shown(app), seconds=60)
        await until(pilot, (run / "exit-status").exists, seconds=60)
        await until(pilot, lambda: "✔ complete" in shown(app))
        assert app.started == {run}
    assert api.run_status(run).state == "complete"


class Faulty(Static):
    """A part that fails while it is made, before or after Textual made it."""

    def __init__(self, at: str) -> None:
        if at == "before":
            raise KeyError(at)
        super().__init__()
        if at == "after":
            raise KeyError(at)


class FaultyScreen(Screen[None]):
    """A screen that fails while it is made, or one of whose parts does."""

    def __init__(self, at: str) -> None:
        super().__init__()
        self.at = at
        if at == "itself":
            raise KeyError(at)

    def compose(self) -> ComposeResult:
        yield Faulty(self.at)

    def on_mount(self) -> None:
        raise KeyError(self.at)


@pytest.mark.parametrize("at", ["itself", "before", "after", "mount"])
async def test_a_defect_of_a_screen_that_is_coming_ends_the_app_with_it(tmp_path: Path, at: str) -> None:
    app = BoresightApp(tmp_path)
    with pytest.raises(KeyError, match=at):
        async with asyncio.timeout(30), app.run_test() as pilot:
            await until(pilot, lambda: app.screen_stack)
            app.call_later(lambda: app.push_screen(FaultyScreen(at)))
            while app.is_running:
                await asyncio.sleep(0.02)


async def test_a_defect_in_a_thread_is_shown_and_the_app_stays_up(
    finished: Finished, monkeypatch: pytest.MonkeyPatch, defects: list[str]
) -> None:
    def fail(run: Path) -> None:
        raise RuntimeError("[/] not expected")

    monkeypatch.setattr(api, "rescore_run", fail)
    app = BoresightApp(finished.folder)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await until(pilot, lambda: "✔ complete" in shown(app))
        await pilot.press("b")
        await until(pilot, lambda: isinstance(app.screen, TextDialog))
        assert "RuntimeError: [/] not expected" in shown(app)
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, CampaignsScreen))
        await pilot.press("b")
        await until(pilot, lambda: "Again: RuntimeError: [/] not" in shown(app))
        assert isinstance(app.screen, CampaignsScreen)
    assert [each.partition(":")[0] for each in defects] == ["rescore", "rescore"]
    defects.clear()


@pytest.mark.parametrize(
    ("asked_for", "broken"),
    [
        (navigation.ShowFrozenManifest, "tui.editing.opening.frozen_document"),
        (navigation.ShowQueries, "tui.screens.queries.read_page"),
        (navigation.ShowAttempts, "tui.screens.attempts.head_of_run"),
        (navigation.ShowGates, "tui.screens.gates.read_gates"),
    ],
)
async def test_a_defect_in_a_screens_own_thread_is_shown(
    finished: Finished,
    monkeypatch: pytest.MonkeyPatch,
    defects: list[str],
    asked_for: type[navigation.Show],
    broken: str,
) -> None:
    def fail(*arguments: object) -> None:
        raise RuntimeError("not expected")

    monkeypatch.setattr(broken, fail)
    app = BoresightApp(finished.folder)
    async with app.run_test(size=(120, 40)) as pilot:
        app.post_message(asked_for(finished.run))
        await until(pilot, lambda: "RuntimeError: not expected" in shown(app))
        assert app.is_running
    assert len(defects) == 1
    defects.clear()


def test_a_defect_that_ends_the_app_is_raised_to_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Failing(BoresightApp):
        def run(self) -> int | None:  # type: ignore[override]
            return super().run(headless=True)

        def on_mount(self) -> None:
            raise LookupError("nothing here")

    monkeypatch.setattr(tui.app, "BoresightApp", Failing)
    with pytest.raises(LookupError, match="nothing here"):
        open_app(tmp_path)
    assert "Traceback" not in capsys.readouterr().err


@pytest.fixture
def terminal() -> Iterator[tuple[int, int]]:

    master, slave = pty.openpty()
    yield master, slave
    os.close(master)
    os.close(slave)


@pytest.mark.parametrize("term", ["dumb", ""])
def test_a_terminal_that_cannot_be_drawn_on_is_told_what_to_use(
    tmp_path: Path, terminal: tuple[int, int], term: str
) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "core.cli"],
        stdin=terminal[1],
        stdout=terminal[1],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TERM": term},
        check=False,
    )
    assert done.returncode == 2
    assert "boresight runs" in done.stderr and "boresight report RUN" in done.stderr


def test_without_a_terminal_watching_says_what_to_use(finished: Finished) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "core.cli", "watch", str(finished.run)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2 and "boresight follow RUN" in done.stderr


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_lost_session_ends_the_app_and_leaves_the_terminal_as_it_was(
    tmp_path: Path, terminal: tuple[int, int], number: int
) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "core.cli", "--folder", str(tmp_path)],
        stdin=terminal[1],
        stdout=terminal[1],
        stderr=subprocess.STDOUT,
        env={**os.environ, "TERM": "xterm-256color", "NO_COLOR": "1"},
        start_new_session=True,
        preexec_fn=_hang_ups_end,
    )
    raw = _read_until(terminal[0], b"No runs and no campaigns")
    process.send_signal(number)
    deadline = time.monotonic() + 20
    while process.poll() is None and time.monotonic() < deadline:
        raw += _read(terminal[0])
    raw += _read(terminal[0])
    assert process.wait(1) in {130, 143, 129}
    assert b"\x1b[?1049h" in raw and raw.rstrip().count(b"\x1b[?1049l") >= 1
    assert b"Traceback" not in raw


@pytest.mark.parametrize("ignored", [False, True])
def test_a_terminal_that_vanishes_without_a_signal_ends_the_app(tmp_path: Path, ignored: bool) -> None:
    master, slave = pty.openpty()  # no controlling terminal of the process, which gets no signal of its end
    process = subprocess.Popen(
        [sys.executable, "-m", "core.cli", "--folder", str(tmp_path)],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env={**os.environ, "TERM": "xterm-256color", "NO_COLOR": "1"},
        start_new_session=True,
        preexec_fn=(lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)) if ignored else _hang_ups_end,
    )
    os.close(slave)
    try:
        _read_until(master, b"No runs and no campaigns")
    finally:
        os.close(master)
    try:
        assert process.wait(20) == 130
    finally:
        process.kill()


def _hang_ups_end() -> None:
    """Take SIGHUP as a terminal's programs do, also where the tests themselves run under nohup."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def test_no_color_draws_without_colours(tmp_path: Path, terminal: tuple[int, int]) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "core.cli", "--folder", str(tmp_path)],
        stdin=terminal[1],
        stdout=terminal[1],
        stderr=subprocess.STDOUT,
        env={**os.environ, "TERM": "xterm-256color", "NO_COLOR": "1"},
        start_new_session=True,
    )
    try:
        raw = _read_until(terminal[0], b"No runs and no campaigns")
    finally:
        os.write(terminal[0], b"q")
        process.wait(20)
    import re

    colours = re.findall(rb"\x1b\[[\d;]*?(?:38|48);2;(\d+);(\d+);(\d+)", raw)
    assert all(red == green == blue for red, green, blue in colours)


def _read(descriptor: int) -> bytes:
    import select

    ready, _, _ = select.select([descriptor], [], [], 0.2)
    try:
        return os.read(descriptor, 65536) if ready else b""
    except OSError:
        return b""


def _read_until(descriptor: int, wanted: bytes) -> bytes:
    raw = b""
    deadline = time.monotonic() + 30
    while wanted not in raw and time.monotonic() < deadline:
        raw += _read(descriptor)
    assert wanted in raw
    return raw


NARROW = (80, 24)


@pytest.mark.parametrize(
    "show", [ShowResults, ShowQueries, ShowAttempts, navigation.ShowMonitor, navigation.ShowGates, None]
)
async def test_the_footer_always_ends_with_help_and_shows_whole_keys_only(
    finished: Finished, show: Callable[[Path], navigation.Show] | None
) -> None:
    app = BoresightApp(finished.folder)
    async with app.run_test(size=NARROW, notifications=True) as pilot:
        await until(pilot, lambda: "✔ complete" in shown(app))
        home = app.screen
        app.post_message(show(finished.run) if show else ShowFile(finished.run / "cases.jsonl", "cases"))
        await until(pilot, lambda: app.screen is not home and footer(app).endswith("? Help"))
        keys = list(app.screen.query(FooterKey))
        help_key = next(key for key in keys if key.action == "show_help")
        assert len(keys) > 1
        assert all(key is help_key or key.region.right <= help_key.region.x for key in keys)
        await pilot.click(help_key)
        await until(pilot, lambda: isinstance(app.screen, HelpDialog))


def footer(app: BoresightApp) -> str:
    return shown(app).splitlines()[-1].rstrip()


async def test_the_footer_shows_more_keys_where_there_is_more_room(finished: Finished) -> None:
    app = BoresightApp(finished.folder)
    async with app.run_test(size=(60, 24)) as pilot:
        await until(pilot, lambda: "r Resume" in footer(app) and footer(app).endswith("? Help"))
        assert "Duplicate" not in footer(app)
        await pilot.resize_terminal(120, 24)
        await until(pilot, lambda: "d Duplicate" in footer(app) and footer(app).endswith("? Help"))


async def test_help_that_wraps_goes_on_in_the_column_of_what_keys_do(finished: Finished) -> None:
    app = BoresightApp(finished.folder)
    async with app.run_test(size=NARROW) as pilot:
        await until(pilot, lambda: "✔ complete" in shown(app))
        app.push_screen(HelpDialog("Keys", MonitorScreen.HELP))
        await until(pilot, lambda: "where it waits" in shown(app))
        lines = shown(app).splitlines()
        at = next(number for number, line in enumerate(lines) if "where it waits" in line)
        column = lines[at].index("where it waits")
        assert lines[at][column - 8 : column].split() == ["t"]
        assert lines[at + 1][column - 8 : column].isspace() and lines[at + 1][column].isalpha()


async def test_a_long_entry_of_a_list_stands_beside_its_mark(finished: Finished) -> None:
    app = BoresightApp(finished.folder)
    async with app.run_test(size=NARROW) as pilot:
        await until(pilot, lambda: "✔ complete" in shown(app))
        app.push_screen(TextDialog("Refused", f"What differs:\n  - {'long' * 30}\nMend it."))
        await until(pilot, lambda: "Mend it." in shown(app))
        assert "  - longlong" in shown(app)


async def test_a_question_leaves_its_text_all_the_room_that_its_answers_do_not_need(
    finished: Finished,
) -> None:
    app = BoresightApp(finished.folder)
    async with app.run_test(size=NARROW) as pilot:
        await until(pilot, lambda: "✔ complete" in shown(app))
        text = "\n".join(f"line {number}" for number in range(1, 30))
        app.push_screen(ChoiceDialog("Run it?", text, (Choice("run", "Run it"), Choice("stay", "Not now"))))
        await until(pilot, lambda: "line 9" in shown(app) and "Not now" in shown(app))
        assert app.screen.query_one(".dialog").region.height <= NARROW[1]
