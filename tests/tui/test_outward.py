"""Copying, editing and exporting: what leaves the app."""

from __future__ import annotations

import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from core.errors import InputError
from tests.support.finished import Finished, finished_run
from tests.support.screens import shown, until
from tui import clipboard
from tui.app import BoresightApp
from tui.clipboard import Program, program_for, put
from tui.editor import editor_command
from tui.screens.dialogs import TextDialog


@pytest.fixture
def finished(tmp_path: Path) -> Finished:
    return finished_run(tmp_path)


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is all of PATH; programs in it keep what they were given in `got`."""
    folder = tmp_path / "programs"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder


def program(folder: Path, name: str, body: str = "") -> Path:
    path = folder / name
    path.write_text(f"#!{sys.executable}\nimport sys, time\n{body or _KEEP.format(folder=folder)}\n")
    path.chmod(0o755)
    return path


_KEEP = """
open('{folder}/got', 'wb').write(sys.stdin.buffer.read())
open('{folder}/args', 'w').write(repr(sys.argv[1:]))
"""


@pytest.mark.parametrize(
    ("environment", "there", "name"),
    [
        ({"TMUX": "x", "DISPLAY": ":0"}, ("tmux", "xclip"), "tmux"),
        ({"WAYLAND_DISPLAY": "w"}, ("wl-copy", "xclip"), "wl-copy"),
        ({"DISPLAY": ":0"}, ("xclip", "xsel"), "xclip"),
        ({"DISPLAY": ":0"}, ("xsel",), "xsel"),
        ({}, ("xclip", "pbcopy"), "pbcopy"),
    ],
)
def test_the_program_is_one_that_is_there_and_reaches_this_display(
    programs: Path, environment: dict[str, str], there: tuple[str, ...], name: str
) -> None:
    for each in there:
        program(programs, each)
    found = program_for(environment)
    assert found is not None and found.name == name
    assert put("a\nb é", found) is None
    assert (programs / "got").read_bytes() == "a\nb é".encode()


def test_no_program_is_none(programs: Path) -> None:
    assert program_for({"DISPLAY": ":0", "TMUX": "x"}) is None


def test_what_goes_wrong_with_a_program_is_said(programs: Path) -> None:
    program(programs, "slow", "time.sleep(60)")
    program(programs, "fails", "sys.exit(3)")
    assert "did not answer" in str(put("a", Program("slow", ("slow",)), timeout_s=0.2))
    assert put("a", Program("fails", ("fails",))) == "fails ended with status 3"
    assert "No such file" in str(put("a", Program("gone", ("gone",))))


def told(app: BoresightApp) -> str:
    """Return the news that the app tells, whole: a toast breaks its lines."""
    return "\n".join(item.message for item in app._notifications)


async def test_copying_says_how(finished: Finished, programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    app = BoresightApp(finished.folder)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        app.copy("hello [/]")
        await until(pilot, lambda: "Copied 9 characters by the terminal (OSC 52)" in shown(app))
        assert app.clipboard == "hello [/]"
        program(programs, "tmux")
        monkeypatch.setenv("TMUX", "x")
        app.copy("more")
        await until(pilot, lambda: "and tmux" in shown(app))
        assert (programs / "args").read_text() == "['load-buffer', '-w', '-']"
        app.copy("name \udcff \udc80")
        await until(pilot, lambda: app.clipboard.startswith("name"))


async def test_what_is_too_long_for_the_terminal_needs_a_program(
    finished: Finished, programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clipboard, "TERMINAL_LIMIT", 10)
    monkeypatch.setattr("tui.outward.TERMINAL_LIMIT", 10)
    app = BoresightApp(finished.folder)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        app.copy("x" * 11)
        await until(pilot, lambda: "Not copied: too long for the terminal" in shown(app))
        assert app.clipboard == ""


def test_the_editor_is_visual_before_editor_with_its_words(tmp_path: Path) -> None:
    file = tmp_path / "a file"
    file.touch()
    assert editor_command(file, {"EDITOR": "vi"}) == ["vi", str(file)]
    assert editor_command(file, {"VISUAL": "code --wait 'x y'", "EDITOR": "vi"}) == [
        *("code", "--wait", "x y", str(file))
    ]
    assert editor_command(file, {"VISUAL": " ", "EDITOR": "vi"}) == ["vi", str(file)]


def test_what_no_editor_can_open_is_refused_with_what_to_do(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    for path, environment, told in (
        (file, {}, "set \\$VISUAL or \\$EDITOR"),
        (file, {"EDITOR": "vi 'x"}, "mend its quotes"),
        (tmp_path / "gone", {"EDITOR": "vi"}, "is not there"),
        (tmp_path, {"EDITOR": "vi"}, "is a folder"),
        (Path("/a\0b"), {"EDITOR": "vi"}, "is not there"),
    ):
        with pytest.raises(InputError, match=told):
            editor_command(path, environment)


async def test_editing_hands_the_terminal_over_and_says_what_failed(
    finished: Finished, programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = BoresightApp(finished.folder)
    suspended: list[bool] = []

    @contextmanager
    def suspend() -> Iterator[None]:
        suspended.append(True)
        yield

    file = finished.run / "campaign.json"
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        monkeypatch.setenv("EDITOR", "edits -w")
        app.edit(file)
        await until(pilot, lambda: "cannot be handed" in shown(app))
        monkeypatch.setattr(app, "suspend", suspend)
        app.edit(file)
        await until(pilot, lambda: "cannot be started" in shown(app))
        await pilot.press("escape")
        program(programs, "edits", f"open('{programs}/args','w').write(repr(sys.argv[1:])); sys.exit(2)")
        app.edit(file)
        await until(pilot, lambda: "edits ended with status 2" in shown(app))
        assert (programs / "args").read_text() == repr(["-w", str(file)])
        assert len(suspended) == 2


@pytest.fixture
def private(tmp_path: Path) -> Finished:
    return finished_run(tmp_path, private=True)


async def test_exporting_says_where_and_what_was_withheld(tmp_path: Path, private: Finished) -> None:
    finished = private
    app = BoresightApp(finished.folder)
    async with app.run_test(size=(200, 40), notifications=True) as pilot:
        rows = [("store", ["secret", 1]), (None, ["all", 2])]
        app.export(finished.run, "queries", ["case", "rank"], iter(rows))
        await until(pilot, lambda: "1 row of private repositories withheld" in told(app))
        (file,) = (finished.run / "exports").iterdir()
        assert file.read_text() == "case,rank\nall,2\n"
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        app.export(tmp_path / "gone", "queries", ["case"], [])
        await until(pilot, lambda: isinstance(app.screen, TextDialog))
