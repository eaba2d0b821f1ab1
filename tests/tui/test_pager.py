"""Outputs of any size are read a page at a time, by keys, at the smallest and at a large size."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from core.browse.paging import Source
from core.browse.searching import Needle, OnSearched
from tests.support.screens import SIZES, shown, until, unwrapped
from tui.app import BoresightApp
from tui.screens.pager import PagerScreen, pretty_json
from tui.widgets.pager import Pager

MIB = 1024**2
HOSTILE = [
    b"[/foo] bar",
    b"[/]",
    b"[X=http://a]",
    b"\x1b]52;c;cHduZWQ=\x07",
    b"\x1b]0;title\x07",
    "\u202eabc\u2066".encode(),
    b"nul \x00 del \x7f",
    b"latin \xe9\xff",
    "漢字 ü é".encode(),
    b"x" * MIB,
]


class Opened:
    """A pager on a file in an app."""

    def __init__(self, path: Path) -> None:
        self.app = BoresightApp(path.parent)
        self.screen = PagerScreen(path, "stdout of attempt 1")

    async def ready(self, pilot: Pilot[int]) -> None:
        await until(pilot, lambda: self.app.screen_stack)
        self.app.push_screen(self.screen)
        await until(pilot, lambda: self.app.screen is self.screen and self.page is not None)

    @property
    def page(self):  # type: ignore[no-untyped-def]
        found = self.screen.query(Pager)
        return found.first().page if found else None

    def top(self) -> str:
        return str(self.page.lines[0].text)

    def bottom(self) -> str:
        return str(self.page.lines[-1].text)


def lines(path: Path, count: int = 1000) -> Path:
    path.write_bytes(b"".join(b"line %d\n" % number for number in range(1, count + 1)))
    return path


@pytest.mark.parametrize("size", SIZES)
async def test_every_key_moves_as_it_says(tmp_path: Path, size: tuple[int, int]) -> None:
    opened = Opened(lines(tmp_path / "out"))
    async with opened.app.run_test(size=size) as pilot:
        await opened.ready(pilot)
        await until(pilot, lambda: "line 1" in shown(opened.app))
        height = len(opened.page.lines)
        assert height > size[1] - 6
        for key, top in [
            ("down", "line 2"),
            ("j", "line 3"),
            ("up", "line 2"),
            ("k", "line 1"),
            ("space", f"line {height}"),
            ("b", "line 1"),
            ("pagedown", f"line {height}"),
            ("pageup", "line 1"),
            ("d", f"line {height // 2 + 1}"),
            ("u", "line 1"),
            ("G", f"line {1001 - height}"),
            ("g", "line 1"),
            ("end", f"line {1001 - height}"),
            ("home", "line 1"),
        ]:
            await pilot.press(key)
            await until(pilot, lambda top=top: opened.top() == top)  # type: ignore[misc]
        await pilot.press("G")
        await until(pilot, lambda: "100 %" in shown(opened.app))
        assert "1000  line 1000" in shown(opened.app)
        await pilot.press("escape")
        await until(pilot, lambda: opened.app.screen is not opened.screen)


@pytest.mark.parametrize("size", SIZES)
async def test_search_goes_forwards_and_backwards_and_esc_leaves_it_first(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    opened = Opened(lines(tmp_path / "out"))
    async with opened.app.run_test(size=size) as pilot:
        await opened.ready(pilot)
        await pilot.press("n")
        await until(pilot, lambda: "nothing is searched for yet" in shown(opened.app))
        await pilot.press("slash", *"LINE", "enter")
        await until(pilot, lambda: "'LINE': no place after" in shown(opened.app))
        await pilot.press("slash")
        field = opened.screen.query_one(Input)
        field.value = "line 50"
        await pilot.press("enter")
        await until(pilot, lambda: "line 50" in [line.text for line in opened.page.lines])
        await pilot.press("n")
        await until(pilot, lambda: "line 500" in [line.text for line in opened.page.lines])
        await pilot.press("N")
        await until(pilot, lambda: "line 50" in [line.text for line in opened.page.lines])
        await pilot.press("slash", "escape")
        await until(pilot, lambda: not field.display)
        assert opened.app.screen is opened.screen


@pytest.mark.parametrize("size", SIZES)
async def test_long_lines_are_walked_along_or_wrapped(tmp_path: Path, size: tuple[int, int]) -> None:
    path = tmp_path / "out"
    path.write_bytes(b"".join(b"%07d," % number for number in range(5000)) + b"\nnext\n")
    opened = Opened(path)
    async with opened.app.run_test(size=size) as pilot:
        await opened.ready(pilot)
        await until(pilot, lambda: "›40,000 B" in shown(opened.app))
        await pilot.press("right")
        await until(pilot, lambda: opened.page.column > 0)
        assert "column" in shown(opened.app)
        await pilot.press("left")
        await until(pilot, lambda: opened.page.column == 0)
        await pilot.press("w")
        await until(pilot, lambda: "wrapped" in shown(opened.app) and "↳" in shown(opened.app))
        await pilot.press("G")
        await until(pilot, lambda: opened.bottom() == "next")


def found_never(
    needle: Needle, source: Source, start: int, is_cancelled: Callable[[], bool], on_searched: OnSearched
) -> None:
    """Search until it is given up, so that no test depends on how fast a search is."""
    on_searched(0)
    while not is_cancelled():
        time.sleep(0.01)


async def test_a_gibibyte_opens_at_once_and_its_end_and_search_are_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "out"
    with path.open("wb") as stream:
        stream.truncate(1024 * MIB)
        stream.write(b"first\n")
        stream.seek(1024 * MIB - 30)
        stream.write(b"\nneedle at the very end\n")
    opened = Opened(path)
    async with opened.app.run_test(size=(80, 24)) as pilot:
        await opened.ready(pilot)
        await until(pilot, lambda: opened.top() == "first")
        await pilot.press("G")
        await until(pilot, lambda: "needle at the very end" in shown(opened.app))
        await pilot.press("g", "slash", *"needle", "enter")
        await until(pilot, lambda: "'needle' at byte 1,073," in shown(opened.app), 60)
        monkeypatch.setattr(Needle, "find", found_never)
        await pilot.press("g", "slash", *"nowhere", "enter")
        await until(pilot, lambda: "searching…" in shown(opened.app))
        await pilot.press("escape")
        await until(pilot, lambda: "search ended" in shown(opened.app))
        assert opened.app.screen is opened.screen


async def test_one_line_of_two_hundred_megabytes_is_read_in_rows(tmp_path: Path) -> None:
    path = tmp_path / "out"
    with path.open("wb") as stream:
        for _ in range(200):
            stream.write(b"y" * MIB)
    opened = Opened(path)
    async with opened.app.run_test(size=(80, 24)) as pilot:
        await opened.ready(pilot)
        await until(pilot, lambda: "›65,536 B" in shown(opened.app) and "↳" in shown(opened.app))
        for key in ("w", "G", "up", "b", "g", "w", "right", "G"):
            await pilot.press(key)
        await until(pilot, lambda: "100 %" in shown(opened.app))


@pytest.mark.parametrize("size", SIZES)
async def test_nothing_in_a_file_can_act(tmp_path: Path, size: tuple[int, int]) -> None:
    path = tmp_path / "out"
    path.write_bytes(b"\n".join(HOSTILE))
    opened = Opened(path)
    async with opened.app.run_test(size=size) as pilot:
        await opened.ready(pilot)
        await until(pilot, lambda: "[X=http://a]" in shown(opened.app))
        text = shown(opened.app)
        assert "[/foo] bar" in text and "␛]52;c;" in text and "\\u202eabc" in text
        assert "latin \\xe9\\xff" in text and "漢字" in text
        for key in ("w", "G", "g", "w", "right", "left"):
            await pilot.press(key)
        await pilot.press("slash", *"[/foo]", "enter")
        await until(pilot, lambda: "'[/foo]' at byte 0" in shown(opened.app))
        assert not {"\x1b", "\x07", "\x00", "\x7f", "\u202e"} & set(shown(opened.app))


async def test_a_growing_file_is_followed(tmp_path: Path) -> None:
    path = lines(tmp_path / "out", 100)
    opened = Opened(path)
    async with opened.app.run_test(size=(80, 24)) as pilot:
        await opened.ready(pilot)
        await pilot.press("F")
        await until(pilot, lambda: opened.bottom() == "line 100")
        with path.open("ab") as stream:
            stream.write(b"line 101\n")
        await until(pilot, lambda: opened.bottom() == "line 101")
        assert "following" in shown(opened.app)
        await pilot.press("up")
        await until(pilot, lambda: "following" not in shown(opened.app))


async def test_what_becomes_of_the_file_is_told(tmp_path: Path) -> None:
    path = lines(tmp_path / "out", 100)
    opened = Opened(path)
    async with opened.app.run_test(size=(80, 24)) as pilot:
        await opened.ready(pilot)
        path.unlink()
        await until(pilot, lambda: "⚠ removed since it was opened" in shown(opened.app))
        assert "line 1" in shown(opened.app)
    gone = Opened(path)
    async with gone.app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: gone.app.screen_stack)
        gone.app.push_screen(gone.screen)
        await until(pilot, lambda: "nosuchfile" in unwrapped(gone.app))


@pytest.mark.parametrize("size", SIZES)
async def test_json_is_laid_out_and_back(tmp_path: Path, size: tuple[int, int]) -> None:
    path = tmp_path / "out"
    path.write_bytes(b'{"results": [{"path": "[/foo]", "line": 3}]}')
    opened = Opened(path)
    async with opened.app.run_test(size=size) as pilot:
        await opened.ready(pilot)
        await pilot.press("J")
        await until(pilot, lambda: '"path": "[/foo]",' in shown(opened.app))
        await pilot.press("J")
        await until(pilot, lambda: opened.top().startswith('{"results"'))
        path.write_bytes(b"no json")
        await pilot.press("J")
        await until(pilot, lambda: "no JSON" in shown(opened.app))


@pytest.mark.parametrize("size", SIZES)
async def test_an_empty_file_says_so_and_keys_do_no_harm(tmp_path: Path, size: tuple[int, int]) -> None:
    (tmp_path / "out").touch()
    opened = Opened(tmp_path / "out")
    async with opened.app.run_test(size=size) as pilot:
        await opened.ready(pilot)
        await until(pilot, lambda: "empty: 0 bytes" in shown(opened.app))
        for key in ("G", "g", "down", "space", "right", "w", "F", "J"):
            await pilot.press(key)
        await pilot.press("slash", "x", "enter")
        await until(pilot, lambda: "no place" in shown(opened.app))


def test_json_that_would_take_too_much_room_is_refused() -> None:
    from core.browse.paging import BytesSource
    from core.errors import InputError

    deep = b"[" * 900 + b"0," * 200_000 + b"0" + b"]" * 900
    for data, said in [(deep, "too much room"), (b"[" * 100_000, "no JSON"), (b"1" * 5000, "no JSON")]:
        with pytest.raises(InputError, match=said):
            pretty_json(BytesSource(data))
