"""Rows are the same from wherever one comes, cost a few blocks each, and hide no byte."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.browse.paging import (
    BLOCK,
    COUNTED_BYTES,
    BytesSource,
    FileSource,
    LineNumbers,
    Row,
    Rows,
    head_of,
    safe_text,
)
from core.errors import InputError

GIB = 1024**3


class Counted(BytesSource):
    """A source that counts what is read of it."""

    read_bytes = 0

    def read(self, offset: int, size: int) -> bytes:
        data = super().read(offset, size)
        self.read_bytes += len(data)
        return data


def all_rows(data: bytes) -> list[Row]:
    rows = Rows(BytesSource(data))
    found, row = [], rows.at(0)
    while row is not None:
        found.append(row)
        row = rows.after(row)
    return found


@given(
    st.lists(
        st.one_of(st.integers(0, 40), st.integers(BLOCK - 3, BLOCK + 3), st.integers(0, 4 * BLOCK)),
        max_size=8,
    ),
    st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_rows_cover_every_byte_once_and_are_the_same_upwards_and_from_any_byte(
    lengths: list[int], is_ended: bool
) -> None:
    data = b"\n".join(b"x" * length for length in lengths) + (b"\n" if is_ended else b"")
    found = all_rows(data)
    assert [row.start for row in found] == [0, *(row.end for row in found[:-1])][: len(found)]
    assert (found[-1].end if found else 0) == len(data)
    assert all(row.end - row.start <= 2 * BLOCK for row in found)
    assert sum(row.is_first for row in found) == data.count(b"\n") + (bool(data) and not data.endswith(b"\n"))
    rows = Rows(BytesSource(data))
    upwards, row = [], rows.at(len(data))
    while row is not None:
        upwards.append(row)
        row = rows.before(row)
    assert upwards[::-1] == found
    for row in found:
        assert {rows.at(row.start), rows.at(row.end - 1), rows.at((row.start + row.end) // 2)} == {row}


def test_a_row_of_a_huge_line_costs_two_blocks_wherever_it_is() -> None:
    source = Counted(b"y" * (200 * BLOCK))
    rows = Rows(source)
    row = rows.at(150 * BLOCK + 17)
    assert row is not None and (row.start, row.end) == (150 * BLOCK, 151 * BLOCK)
    assert not row.is_first and row.goes_on
    assert source.read_bytes <= 4 * BLOCK


def test_a_gibibyte_is_opened_at_its_end_without_being_read(tmp_path: Path) -> None:
    path = tmp_path / "big"
    with path.open("wb") as stream:
        stream.truncate(GIB)
        stream.seek(GIB - 6)
        stream.write(b"\nlast\n")
    source = FileSource(path)
    rows = Rows(source)
    row = rows.at(GIB)
    assert row is not None and rows.text(row) == "last"
    above = rows.before(row)
    assert above is not None and rows.text(above, 4)[:4] == "␀␀␀␀"
    assert len(rows._blocks) <= 4
    source.close()


def test_bytes_that_are_no_text_are_visible_and_nothing_can_act() -> None:
    assert safe_text(b"a\xff\x1b[31m\x00\tb\r") == "a\\xff␛[31m␀" + " " * 5 + "b␍"
    assert safe_text("\u202eabc".encode()) == "\\u202eabc"


def test_a_character_across_two_rows_is_shown_once_and_whole() -> None:
    data = b"x" * (BLOCK - 1) + "ü".encode() + b"z" * 10
    rows = Rows(BytesSource(data))
    first, second = all_rows(data)
    assert rows.text(first).endswith("xü")
    assert rows.text(second) == "z" * 10


def test_a_stray_byte_at_a_seam_is_not_lost() -> None:
    data = b"x" * BLOCK + b"\x80" + b"z"
    rows = Rows(BytesSource(data))
    assert "".join(rows.text(row) for row in all_rows(data)) == "x" * BLOCK + "\\x80" + "z"


def test_text_may_be_asked_for_in_part() -> None:
    data = "äöü".encode() * 1000
    rows = Rows(BytesSource(data))
    (row,) = all_rows(data)
    assert rows.text(row, 10)[:10] == "äöüäöüäöüä"
    assert rows.column_of(row, 8) == 4


def test_lines_are_numbered_up_to_a_limit() -> None:
    data = b"a\n" * 1_000_000
    numbers = LineNumbers(BytesSource(data))
    assert [numbers.at(offset) for offset in (0, 2, 3, 1_999_998)] == [1, 2, 2, 1_000_000]
    assert numbers.at(COUNTED_BYTES + 1) is None


def test_nothing_has_no_rows() -> None:
    assert Rows(BytesSource(b"")).at(0) is None
    assert head_of(BytesSource(b""), 5, 5) == ((), False)


def test_a_head_says_whether_it_leaves_anything_out() -> None:
    assert head_of(BytesSource(b"a\nbb\n"), 5, 2) == (("a", "bb"), False)
    assert head_of(BytesSource(b"a\nbb\n"), 1, 2) == (("a",), True)
    assert head_of(BytesSource(b"abc"), 1, 2) == (("ab",), True)


def test_a_file_that_grows_is_seen_to(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"one\n")
    source = FileSource(path)
    with path.open("ab") as stream:
        stream.write(b"two\n")
    rows = Rows(source)
    row = rows.at(rows.size)
    assert row is not None and rows.text(row) == "two"
    assert source.trouble() is None
    source.close()


def test_what_became_of_a_file_is_told(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"one\ntwo\n")
    source = FileSource(path)
    os.truncate(path, 4)
    assert source.trouble() == "cut since it was opened"
    path.unlink()
    assert "removed" in str(source.trouble())
    assert source.read(0, 9) == b"one\n"
    path.write_bytes(b"other")
    assert "replaced" in str(source.trouble())
    source.close()
    source.close()
    with pytest.raises(OSError, match="closed"):
        source.read(0, 1)


@pytest.mark.parametrize("kind", ["missing", "folder", "pipe", "nul"])
def test_what_cannot_be_shown_is_refused_by_name_and_never_waited_for(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "it"
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "nul":
        path = Path(f"{tmp_path}/a\0b")
    with pytest.raises(InputError) as refused:
        FileSource(path)
    assert str(tmp_path) in str(refused.value) and "\0" not in str(refused.value)
