"""Progress without events: a redrawn line on a terminal, a line now and then elsewhere, nothing if quiet."""

from __future__ import annotations

import io

import pytest

from core.commands.ticker import LINE_SECONDS, REDRAW_SECONDS, Ticker


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize(
    ("stream", "every", "said"),
    [(Terminal(), REDRAW_SECONDS, "\r\x1b[K2\r\x1b[K"), (io.StringIO(), LINE_SECONDS, "2\n")],
)
def test_only_the_newest_is_told_where_it_is_time(stream: io.StringIO, every: float, said: str) -> None:
    clock = Clock()
    with Ticker(stream, clock=clock) as ticker:
        ticker.tell(lambda: "1")
        clock.now += every
        ticker.tell(lambda: "2")
        ticker.tell(lambda: "3")
    assert stream.getvalue() == said


def test_a_screen_is_left_clean_also_by_an_error_and_quiet_says_nothing() -> None:
    stream, clock = Terminal(), Clock()
    with pytest.raises(ValueError, match="x"), Ticker(stream, clock=clock) as ticker:
        clock.now = 1
        ticker.tell(lambda: "1")
        raise ValueError("x")
    assert stream.getvalue().endswith("\r\x1b[K")
    silent = Terminal()
    with Ticker(silent, quiet=True, clock=clock) as ticker:
        clock.now = 100
        ticker.tell(lambda: "1")
    assert silent.getvalue() == ""
