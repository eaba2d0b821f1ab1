"""The window moves by lines, wrapped or cut, and never leaves the file."""

from __future__ import annotations

from core.browse.paging import BLOCK, BytesSource
from core.browse.viewport import Viewport


def viewport(data: bytes, width: int = 20, height: int = 5) -> Viewport:
    made = Viewport(BytesSource(data))
    made.width, made.height = width, height
    return made


def texts(window: Viewport) -> list[str]:
    return [line.text for line in window.page().lines]


LINES = b"".join(b"line %d\n" % number for number in range(1, 101))


def test_it_moves_down_and_up_and_stops_at_both_ends() -> None:
    window = viewport(LINES)
    assert texts(window) == [f"line {number}" for number in range(1, 6)]
    window.move(3)
    assert texts(window)[0] == "line 4"
    window.move(-99)
    assert texts(window)[0] == "line 1"
    window.move(1000)
    assert texts(window) == [f"line {number}" for number in range(96, 101)]
    assert window.page().percent == 100


def test_lines_have_numbers_and_pages_positions() -> None:
    window = viewport(LINES)
    window.move(10)
    page = window.page()
    assert [line.number for line in page.lines] == [11, 12, 13, 14, 15]
    assert LINES[page.start : page.stop] == b"line 11\nline 12\nline 13\nline 14\nline 15\n"


def test_the_end_fills_the_window() -> None:
    window = viewport(LINES)
    window.to_end()
    assert texts(window)[-1] == "line 100" and len(texts(window)) == 5
    small = viewport(b"only\n")
    small.to_end()
    assert texts(small) == ["only"]
    assert texts(viewport(b"")) == []


def test_wrapped_lines_are_walked_one_by_one() -> None:
    window = viewport(b"a" * 50 + b"\nb\n" + b"c" * 45, width=20, height=3)
    window.wraps = True
    assert texts(window) == ["a" * 20, "a" * 20, "a" * 10]
    window.move(1)
    assert texts(window) == ["a" * 20, "a" * 10, "b"]
    window.move(99)
    assert texts(window) == ["c" * 20, "c" * 20, "c" * 5]
    window.move(-1)
    assert texts(window) == ["b", "c" * 20, "c" * 20]
    assert [line.is_first for line in window.page().lines] == [True, True, False]


def test_wide_characters_wrap_by_their_width() -> None:
    window = viewport("漢".encode() * 12, width=10, height=5)
    window.wraps = True
    assert texts(window) == ["漢" * 5, "漢" * 5, "漢" * 2]


def test_a_cut_row_says_so_with_its_bytes_and_can_be_walked_along() -> None:
    window = viewport(b"0123456789" * 10 + b"\nshort\n", width=20)
    long, short = window.page().lines
    assert (long.text, long.cut, short.cut) == ("01234567890123456789", 100, 0)
    window.sideways(95)
    long, short = window.page().lines
    assert (long.text, long.before, long.cut) == ("56789", True, 0)
    assert short.text == ""
    window.sideways(1000)
    assert window.column == 99
    window.sideways(-1000)
    assert window.column == 0


def test_a_found_place_is_brought_into_view() -> None:
    data = b"x\n" * 1000 + b"y" * 500 + b"HERE" + b"y" * 500 + b"\n" + b"z\n" * 1000
    window = viewport(data, width=40, height=9)
    window.to_offset(data.index(b"HERE"))
    assert "HERE" in "\n".join(texts(window)) and texts(window)[0] == ""
    window.wraps, window.column = True, 0
    window.to_offset(data.index(b"HERE"))
    assert "HERE" in "".join(texts(window))


def test_a_line_of_many_blocks_is_shown_in_rows_that_say_they_go_on() -> None:
    window = viewport(b"n" * (3 * BLOCK - 9) + b"\nend\n")
    lines = window.page().lines
    assert [line.is_first for line in lines] == [True, False, False, True]
    assert [line.number for line in lines] == [1, None, None, 2]
    assert lines[0].cut == BLOCK
    assert lines[-1].text == "end"
