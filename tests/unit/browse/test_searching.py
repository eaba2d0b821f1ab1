"""A search finds what stands across chunks, in both directions, and can be ended."""

from __future__ import annotations

import pytest

from core.browse.paging import BytesSource
from core.browse.searching import CHUNK, Needle


def find(text: str, data: bytes, start: int = 0) -> int | None:
    return Needle(text).find(BytesSource(data), start, lambda: False, lambda done: None)


def find_before(text: str, data: bytes, stop: int) -> int | None:
    return Needle(text).find_before(BytesSource(data), stop, lambda: False, lambda done: None)


@pytest.mark.parametrize("shift", [-5, -4, -3, -2, -1, 0, 1])
@pytest.mark.parametrize("text", ["needle", "Needle", "nädel"])
def test_a_place_across_the_seam_of_two_chunks_is_found_from_both_sides(shift: int, text: str) -> None:
    at = CHUNK + shift
    data = b"." * at + text.encode() + b"." * CHUNK
    assert find(text, data) == find_before(text, data, len(data)) == at


def test_each_place_is_found_in_turn() -> None:
    data = b"ab-ab-ab"
    assert [find("ab", data, start) for start in (0, 1, 4, 7)] == [0, 3, 6, None]
    assert [find_before("ab", data, stop) for stop in (8, 6, 3, 0)] == [6, 3, 0, None]


def test_small_letters_match_capitals_and_capitals_match_themselves() -> None:
    assert find("timeout", b"a TimeOut") == 2
    assert find("TimeOut", b"a timeout") is None
    assert find("über", "x ÜBER".encode()) == 2
    assert find("Über", "x ÜBER".encode()) is None


def test_text_is_no_pattern() -> None:
    assert find("a.c[", b"abc a.c[") == 4


def test_places_are_found_in_what_is_shown() -> None:
    assert Needle("ab").places_in("xAB ab") == [(1, 3), (4, 6)]
    assert Needle("AB").places_in("xAB ab") == [(1, 3)]


def test_a_cancelled_search_stops_and_progress_is_told() -> None:
    told: list[int] = []
    source = BytesSource(b"." * (4 * CHUNK))
    assert Needle("x").find(source, 0, lambda: len(told) >= 2, told.append) is None
    assert told == [CHUNK, 2 * CHUNK]
    assert Needle("x").find_before(source, 4 * CHUNK, lambda: len(told) >= 3, told.append) is None
    assert len(told) == 3


def test_half_a_character_can_be_asked_for() -> None:
    assert find("\ud800", b"abc") is None
