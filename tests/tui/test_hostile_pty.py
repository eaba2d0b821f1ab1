"""In a real terminal, hostile text on every screen neither raises nor reaches the terminal as it is."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from tests.support.hostile_texts import CONTROLS, HOSTILE, MARKER, HostileRun, hostile_run
from tests.support.screens import SIZES
from tests.support.terminal import TerminalApp

UP, DOWN, RIGHT, LEFT = "\x1b[A", "\x1b[B", "\x1b[C", "\x1b[D"
ENTER, PALETTE, SAVE, OTHER_TAB, F8 = "\r", "\x10", "\x13", "\x14", "\x1b[19~"
ESCAPE = "\x1b[27u"  # in the keyboard protocol that cannot be taken for the beginning of another key
HOME = "UPDATED"  # stands on the home screen alone


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> HostileRun:
    return hostile_run(tmp_path_factory.mktemp("hostile"))


@pytest.fixture
def environment(tmp_path: Path) -> Mapping[str, str]:
    home = str(tmp_path)
    return {"PATH": os.environ["PATH"], "HOME": home, "XDG_CONFIG_HOME": home, "EDITOR": "true"}


@pytest.fixture(params=SIZES, ids=str)
def app(
    request: pytest.FixtureRequest, hostile: HostileRun, environment: Mapping[str, str]
) -> Iterator[TerminalApp]:
    """Open the app with the cursor on the run, the last row."""
    with TerminalApp(("--folder", str(hostile.folder)), request.param, environment) as app:
        app.wait_for("interrupted")
        app.press_until(DOWN * 2, "was interrupted at")
        yield app


def walk_campaigns(app: TerminalApp) -> None:
    app.press("y", "Copied")
    app.press("x", "written")
    app.press("/", "filter by")
    app.press("[/foo] zzz", "Nothing matches")
    app.press(ESCAPE, "Open")
    app.press_until(DOWN * 2, "was interrupted at")
    app.press("?", "Every run below this folder")
    app.press(ESCAPE, HOME)
    app.press(ENTER, "Resume: go on")
    app.press(ESCAPE, HOME)
    app.press("b", "was not rescored")
    app.press(ESCAPE, HOME)
    app.press("s", "Sorted by")


def walk_palette(app: TerminalApp) -> None:
    app.press(PALETTE, "Search for")
    app.press("foo", "Results")
    app.press(DOWN * 3)
    app.press(ESCAPE, HOME)


def walk_frozen_manifest(app: TerminalApp) -> None:
    app.press("2", "frozen: read only")
    app.press(DOWN * 5, "model")
    app.press(OTHER_TAB, "Made from the run")
    app.press(ESCAPE, HOME)


def walk_manifest(app: TerminalApp) -> None:
    app.press(UP, "is not valid")
    app.press("2", "Campaign and bank")
    app.wait_for("to mend")
    app.press(F8)
    app.press(F8)
    app.press("y", "Copied")
    app.press(OTHER_TAB, "[[repositories]]")
    app.press("\x1b[F" + ENTER + f"# {MARKER} [/foo]", MARKER)
    app.press(SAVE, "saved")
    app.press(ESCAPE, HOME)


def walk_broken_manifest(app: TerminalApp) -> None:
    app.press(UP, "is not valid")
    app.press(UP, "not valid TOML")
    app.press("2", "to mend")
    app.press(ESCAPE, HOME)


def walk_monitor(app: TerminalApp) -> None:
    app.press("3", "It has ended")
    app.press("s", "Cells sorted")
    app.press("/", "filter")
    app.press("foo")
    app.press(ESCAPE, "Failures")
    app.press("f", "Failures of")
    app.press(ENTER, "Meaning")
    app.press(ESCAPE, "It has ended")
    app.press("x", "written")


def walk_results(app: TerminalApp) -> None:
    app.press("4", "CANDIDATE")
    app.press("v", "Verdict on")
    app.press(ESCAPE, "CANDIDATE")
    for told in ("symbol", "store", "INDEXING", "@10"):
        app.press("]", told)
    app.press("]", "DECISION")
    app.press(ENTER, "CASE")


def walk_queries(app: TerminalApp) -> None:
    app.press("5", "1–20 of 20")
    app.press("/", "in the id")
    app.press("[/foo] bar", "text: ")
    app.press(ENTER, "Filter")
    app.press(DOWN * 4)
    app.press("y", "Copied")
    app.press("Y", "Copied")
    app.press("x", "written")
    app.press("f", "cases fulfil this")
    app.press(ESCAPE, "CASE")


def walk_case(app: TerminalApp) -> None:
    app.press("5", "1–20 of 20")
    app.press(ENTER, "case 1 of 20")
    for number in range(2, 21):
        app.press("n", f"case {number} of 20")
    app.press("m")
    app.press("c", "words")
    app.press("o", "▶ other")
    app.press("c")
    app.press("a", "attempt 1 of")


def walk_attempts(app: TerminalApp) -> None:
    app.press("6", "without a result")
    app.press(DOWN, "operations")
    app.press(DOWN + RIGHT, "attempt 1")
    app.press(DOWN, "attempt 1")
    app.press("v", "Compared just now")
    app.press("y", "Copied")
    app.press("/", "class")
    app.press("[/foo]" + ENTER, "[/foo]")
    app.press("f", "failures")
    app.press("x", "written")


def walk_pager(app: TerminalApp) -> None:
    app.press("6", "without a result")
    app.press("/", "class")
    app.press("store-task" + ENTER, "store-task")
    app.press(DOWN + DOWN, "attempt 1")
    app.press("o", "of 1,0")
    app.press("w", "wrapped")
    app.press(" ")
    app.press("/", "search for")
    app.press(MARKER + ENTER, "at byte")
    app.press("J", "no JSON")
    app.press("G", "100 %")
    app.press("y", "Copied")


WALKS: Mapping[str, Callable[[TerminalApp], None]] = {
    name.removeprefix("walk_"): walk for name, walk in dict(globals()).items() if name.startswith("walk_")
}


@pytest.mark.parametrize("screen", WALKS)
def test_hostile_text_harms_neither_the_app_nor_the_terminal(app: TerminalApp, screen: str) -> None:
    WALKS[screen](app)
    assert app.leave() == 0, app.tail()
    assert_unharmed(app)


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_hostile_settings_are_told_and_harm_nothing(
    hostile: HostileRun, environment: Mapping[str, str], size: tuple[int, int]
) -> None:
    settings = Path(environment["XDG_CONFIG_HOME"], "boresight", "settings.toml")
    settings.parent.mkdir()
    text = HOSTILE.replace("\0", "").replace("\x07", "").replace("\x1b", "\\u001b").replace("\x9b", "\\u009b")
    settings.write_text(f'theme = "{text}"\n[keys]\n"{text}" = "{text}"\n', encoding="utf-8")
    with TerminalApp(("--folder", str(hostile.folder)), size, environment) as app:
        app.wait_for("keys.")
        app.press(ESCAPE, HOME)
        assert app.leave() == 0, app.tail()
        assert_unharmed(app)


def assert_unharmed(app: TerminalApp) -> None:
    told = app.tail()
    for word in ("Traceback", "A defect of Boresight", "internal error"):
        assert word not in told
    for name, control in CONTROLS.items():
        assert control.encode() not in app.output, name
    assert MARKER.encode() in app.output
