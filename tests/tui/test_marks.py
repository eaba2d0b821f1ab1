"""Bars, sparks and durations."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from tui.text import cell, safe, safe_lines
from tui.widgets.marks import ago, bar, clock, spark

HOSTILE = ["[/foo] bar", "[/]", "[X=http://a]", "\x1b]52;c;aGk=\x07", "\x1b]0;t\x07", "\u202eabc", "a\0b"]


@pytest.mark.parametrize(
    ("done", "total", "text"),
    [(0, 10, "░░░░"), (10, 10, "████"), (9, 10, "███▌"), (0, 0, "░░░░"), (11, 10, "████")],
)
def test_a_bar_is_full_only_when_all_is_done(done: int, total: int, text: str) -> None:
    assert bar(done, total, 4) == text


def test_sparks_keep_the_last_values_and_their_scale() -> None:
    assert spark([0, 0, 1, 2], 3) == "▁▄█"
    assert spark([], 3) == ""
    assert spark([5, 5], 3) == "▁▁"


def test_durations_in_the_largest_unit_that_fits() -> None:
    now = datetime(2024, 1, 2, tzinfo=UTC)
    assert ago(now - timedelta(seconds=3), now) == "3 s ago"
    assert ago(now - timedelta(hours=5), now) == "5 h ago"
    assert ago(now + timedelta(seconds=3), now) == "0 s ago"
    assert ago(None) == "—"
    assert clock(3725) == "01:02:05"


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_neither_markup_nor_control(text: str) -> None:
    for shown in (safe(text).plain, cell(text).plain, safe_lines(text).plain):
        assert not any(ord(character) < 0x20 or character == "\u202e" for character in shown)
    assert safe("[/foo] bar").plain == "[/foo] bar"
