"""In a real terminal, hostile text on every screen neither raises nor reaches the terminal as it is.

Each step of a walk waits for what stands only where the step leads. A key without a trace of its own is
pressed together with the next one that has one; never so a key that moves the focus, as Textual may hand
what follows at once to what had the focus before.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from core.browse.index import open_index
from tests.support.hostile_texts import CONTROLS, HOSTILE, MARKER, HostileRun, hostile_run
from tests.support.screens import SIZES
from tests.support.terminal import TerminalApp

DOWN, RIGHT = "\x1b[B", "\x1b[C"
ENTER, BACKTAB, F5, F8 = "\r", "\x1b[Z", "\x1b[15~", "\x1b[19~"
BROWSE, PALETTE, SAVE, OTHER_TAB = "\x0f", "\x10", "\x13", "\x14"
ESCAPE = "\x1b[27u"  # in the keyboard protocol that cannot be taken for the beginning of another key
HOME = "UPDATED"  # stands on the home screen alone
RUN = "the evidence of 4 operations has changed"  # stands at home while the cursor is on the run


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> HostileRun:
    """Make the run and its index, so that home tells what differs, whichever walk comes first."""
    made = hostile_run(tmp_path_factory.mktemp("hostile"))
    with open_index(made.run, thorough=True):
        return made


@pytest.fixture
def hostile(made: HostileRun) -> Iterator[HostileRun]:
    """Lend the folder, and undo what is written into its campaign file."""
    campaign = made.folder / "campaign.toml"
    text = campaign.read_bytes()
    yield made
    campaign.write_bytes(text)


@pytest.fixture
def environment(tmp_path: Path) -> Mapping[str, str]:
    home = str(tmp_path)
    return {"PATH": os.environ["PATH"], "HOME": home, "XDG_CONFIG_HOME": home}


@pytest.fixture(params=SIZES, ids=str)
def app(
    request: pytest.FixtureRequest, hostile: HostileRun, environment: Mapping[str, str]
) -> Iterator[TerminalApp]:
    """Open the app with the cursor on the run, the last row."""
    with TerminalApp(("--folder", str(hostile.folder)), request.param, environment) as app:
        app.wait_for("interrupted")
        app.press(DOWN * 2, RUN)
        yield app


def walk_campaigns(app: TerminalApp) -> None:
    assert MARKER in app.copy("y")
    app.press("x", "3 rows written to")
    app.press("/", "filter by campaign")
    app.press("[/foo] zzz", "Nothing matches")
    app.press(ESCAPE, "r Resume")
    app.wait_for("interrupted")
    app.press(DOWN * 2, RUN)
    app.press("?", "Every run below this folder")
    app.press_away(ESCAPE, "Every run below this folder")
    app.press(ENTER, "retained evidence differs")
    app.press_away(ESCAPE, "retained evidence differs")
    app.press("b", "run was not rescored")
    app.press_away(ESCAPE, "run was not rescored")
    app.press("s", "Sorted by name")


def walk_palette(app: TerminalApp) -> None:
    app.press(PALETTE, "Search for commands")
    app.press("foo", "Run [/foo] bar")
    app.press_away(DOWN * 3 + ESCAPE, "Run [/foo] bar")


def walk_new_campaign(app: TerminalApp) -> None:
    app.press("n", "not a Git repository")
    app.press(BROWSE, "s choose this folder")
    app.press_away(ESCAPE, "s choose this folder")
    app.press(ESCAPE, HOME)


def walk_frozen_manifest(app: TerminalApp) -> None:
    app.press("2", "frozen: read only")
    app.wait_for("run/cases.jsonl")
    app.press(DOWN * 5, "Candidate 1")
    app.press(OTHER_TAB, "# Made from the run")
    app.press(ESCAPE, HOME)


def walk_manifest(app: TerminalApp) -> None:
    choose(app, "/campaign.toml", "is not valid: name")
    app.press("2", "3 to mend")
    assert MARKER in app.copy("y")
    app.press(BACKTAB + BACKTAB, "y Copy")
    assert "name, line 2" in app.copy(DOWN + "y")
    app.press(F8, '\\u0007PWN7e"')
    app.press(F8, "Candidate 2")
    app.press_away(OTHER_TAB, "esc Back")
    app.press(f"# {MARKER} [/foo]" + ENTER, f"1 # {MARKER} [/foo]")
    app.press_away(SAVE, "not saved")
    app.press(ESCAPE, HOME)


def walk_broken_manifest(app: TerminalApp) -> None:
    choose(app, "broken", "not valid TOML")
    app.press("2", "1 to mend")
    app.press(OTHER_TAB, "name =")
    app.press(ESCAPE, HOME)


def walk_monitor(app: TerminalApp) -> None:
    app.press("3", "Nobody executes this run now")
    app.press("s", "Cells sorted")
    app.press("/", "filter the cells")
    app.press_away("foo", "1/41")
    app.press(ESCAPE, "1/41")
    app.press("f", "Failures of run")
    app.press(ENTER, "What to do")
    app.press(ESCAPE, "Nobody executes this run now")
    app.press("x", "rows written to")


def walk_results(app: TerminalApp) -> None:
    app.press("4", "DECISION")
    app.press("v", "Verdict on run")
    app.press_away(ESCAPE, "Verdict on run")
    for told in ("INTENT", "REPOSITORY", "INDEXING", "@1 @5 @10", "DECISION"):
        app.press("]", told)
    app.press(ENTER, "1–4 of 4")


def walk_gates(app: TerminalApp) -> None:
    app.press("4", "DECISION")
    app.press("g", "retained evidence")
    app.press_away("f", "retained evidence")
    app.press("t", "retained evidence")
    app.press_away("s", "retained evidence")
    app.press(F5, "retained evidence")
    app.press(ESCAPE, "DECISION")


def walk_queries(app: TerminalApp) -> None:
    app.press("5", "1–20 of 20")
    app.press("/", "enter keeps, esc clears")
    app.press("[/foo] bar", "1–16 of 16")
    app.press(ENTER, "f Filter")
    app.press(DOWN * 4, "store-task_lookup")
    assert app.copy("y").startswith("store-task_lookup")
    assert app.copy("Y").endswith(".py:4")
    app.press("x", "16 rows written to")
    app.press("f", "16 cases fulfil this")
    app.press_away(ESCAPE, "16 cases fulfil this")


def walk_case(app: TerminalApp) -> None:
    app.press("5", "1–20 of 20")
    for number, key in enumerate(ENTER + "n" * 19, start=1):
        app.press(key, f"case {number} of 20")
    app.press("mc", "words · 250 ms")
    app.press("o", "▶ other")
    app.press_away("c", "words · 250 ms")
    app.press("a", "attempt 1 of 1")


def walk_attempts(app: TerminalApp) -> None:
    open_attempts(app)
    app.press(DOWN, "10 operations. r")
    app.press(DOWN + RIGHT, "attempt 2 of 2")
    app.press(DOWN * 2, "attempt 1 of 2")
    app.press("v", "Compared just now")
    assert MARKER in app.copy("y")
    app.press("/", "text in error class")
    app.press("[/foo]" + ENTER, "filter '[/foo]'")
    app.press("f", "failures alone")
    app.press("x", "rows written to")


def walk_pager(app: TerminalApp) -> None:
    open_attempts(app)
    app.press("/", "text in error class")
    app.press("store-task" + ENTER, "retries these 2")
    app.wait_for("└ ▶ ✖ ctx task_lookup")
    app.press(DOWN * 2, "attempt 2 of 2")
    app.press("o", "100 %")
    app.press("w", "wrapped")
    app.press_away(" ", "[/foo] bar")
    app.press("/", "search for")
    app.press(MARKER + ENTER, f"'{MARKER}' at byte")
    app.press("J", "no JSON")
    app.press("G", "100 %")
    assert MARKER in app.copy("y")


def choose(app: TerminalApp, name: str, told: str) -> None:
    """Put the cursor on a campaign file at home by filtering for its name."""
    app.press("/", "filter by campaign")
    app.press(name + ENTER, told)
    app.wait_for("r Resume")


def open_attempts(app: TerminalApp) -> None:
    """Show the attempts, and wait until the first branch of their tree stands open with the cursor on it."""
    app.press("6", "retries these 10")
    app.wait_for("▶ ✖ ctx symbol_lookup")


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
    text = json.dumps(HOSTILE)
    settings.write_text(f"theme = {text}\n[keys]\n{text} = {text}\n", encoding="utf-8")
    with TerminalApp(("--folder", str(hostile.folder)), size, environment) as app:
        app.wait_for("keys.")
        app.press_away(ESCAPE, "keys.")
        assert app.leave() == 0, app.tail()
        assert_unharmed(app)


def test_a_terminal_that_is_said_to_be_without_marks_is_drawn_on(
    hostile: HostileRun, environment: Mapping[str, str]
) -> None:
    settings = {**environment, "PYTHONIOENCODING": "ascii"}
    with TerminalApp(("--folder", str(hostile.folder)), (80, 24), settings) as app:
        app.wait_for("? interrupted")
        assert app.leave() == 0, app.tail()


def assert_unharmed(app: TerminalApp) -> None:
    told = app.text()
    for word in ("Traceback", "A defect of Boresight", "internal error"):
        assert word not in told
    for name, control in CONTROLS.items():
        assert control.encode() not in app.output, name
    assert MARKER.encode() in app.output
