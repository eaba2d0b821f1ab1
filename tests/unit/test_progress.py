"""Progress on stderr: lines or a bar, never a query."""

from __future__ import annotations

import io

import pytest

from core.progress import BarDisplay, LineDisplay, QuietDisplay, display_for
from core.run.events import (
    CampaignFinished,
    CampaignStarted,
    Event,
    Gap,
    Heartbeat,
    Holder,
    OperationFinished,
    OperationStarted,
    Paused,
    Progress,
    SourceFrozen,
)

HOSTILE = ("[red]bold[/red]", "[/]", "[", "\x1b[2J\x07", "a" * 500, "two\nlines", "‮override", "")


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Gone(io.StringIO):
    """A pipe whose reader left."""

    def write(self, text: str) -> int:
        raise BrokenPipeError


def counts(completed: int = 1, reused: int = 0, failed: int = 0) -> Progress:
    return Progress(completed=completed, planned=10, reused=reused, failed=failed)


def beat(**fields: object) -> Heartbeat:
    return Heartbeat.model_validate(
        {"candidate": "a", "repository": "store", "phase": "querying", "progress": counts(), **fields}
    )


def ended(outcome: str = "accepted", **fields: object) -> OperationFinished:
    return OperationFinished.model_validate(
        {
            "candidate": "a",
            "repository": "store",
            "phase": "querying",
            "operation": "primary-store-symbol_lookup-00000000000000000001",
            "intent": "symbol_lookup",
            "channel": "emb",
            "attempt": 1,
            "outcome": outcome,
            "elapsed_s": 0.25,
            "progress": counts(),
            **fields,
        }
    )


def begun(phase: str = "indexing", **fields: object) -> OperationStarted:
    return OperationStarted.model_validate(
        {
            "candidate": "a",
            "repository": "store",
            "phase": phase,
            "operation": "index",
            "attempt": 1,
            "progress": counts(0),
            **fields,
        }
    )


STARTED = CampaignStarted(
    identity="0" * 64,
    name="test",
    candidates=("a",),
    repositories=("store",),
    resumed=False,
    progress=counts(0),
)
EVERYTHING: tuple[Event, ...] = (
    SourceFrozen(repository="store", commit="1" * 40, files=3, bytes=9),
    STARTED,
    STARTED.model_copy(update={"resumed": True}),
    begun(),
    beat(sampled_rss_bytes=2**20),
    beat(candidate=None, repository=None, phase=None),
    ended(),
    ended("reused", progress=counts(2, reused=1)),
    ended("failed", error_class="timeout", progress=counts(3, failed=1)),
    ended("not_run", error_class="index_failed", elapsed_s=None),
    ended("stopped"),
    Paused(paused=True, progress=counts()),
    Paused(paused=False, progress=counts()),
    Gap(missed=3),
    CampaignFinished(state="failed", progress=counts(10, failed=1)),
)


def lines(*events: Event) -> list[str]:
    stream = io.StringIO()
    display = LineDisplay(stream, Clock())
    for event in events:
        display.show(event)
    display.close()
    return stream.getvalue().splitlines()


# Lines


def test_each_transition_is_a_line() -> None:
    assert lines(
        SourceFrozen(repository="store", commit="1" * 40, files=3, bytes=9),
        STARTED,
        begun(),
        ended(phase="indexing", operation="index", intent=None, channel=None),
        ended(),
        ended("failed", error_class="timeout", attempt=2),
        ended("not_run", error_class="index_failed", elapsed_s=None),
        Paused(paused=True, progress=counts()),
        Paused(paused=False, progress=counts()),
        CampaignFinished(state="failed", progress=counts(10, failed=2)),
    ) == [
        "froze store at 111111111111: 3 files",
        "[0/10] a × store indexing started",
        "[1/10] a × store indexing ✔ accepted in 0.250 s",
        "[1/10] a × store querying emb symbol_lookup ✔ accepted in 0.250 s",
        "[1/10] a × store querying emb symbol_lookup attempt 2 ✖ failed (timeout) in 0.250 s",
        "[1/10] a × store querying emb symbol_lookup ✖ not_run (index_failed)",
        "paused",
        "going on",
        "[10/10] failed, 2 failed",
    ]


def test_the_beginning_of_a_query_is_not_told() -> None:
    assert lines(begun("querying", intent="symbol_lookup", channel="emb")) == []


def test_heartbeats_are_told_only_after_fifteen_silent_seconds() -> None:
    stream, clock = io.StringIO(), Clock()
    display = LineDisplay(stream, clock)
    told = []
    for _second in range(1, 47):
        clock.now += 1
        display.show(beat(phase="indexing", elapsed_s=clock.now - 100))
        told.append(stream.getvalue().count("\n"))
    assert told[13:15] == [0, 1]
    assert told[28:30] == [1, 2]
    assert told[43:46] == [2, 3, 3]
    assert stream.getvalue().splitlines()[0] == "[1/10] a × store indexing for 15 s"


def test_waiting_says_at_once_for_which_campaign() -> None:
    stream, clock = io.StringIO(), Clock()
    display = LineDisplay(stream, clock)
    holder = Holder(run="/data/\x1bother", pid=4321)
    display.show(Heartbeat(state="waiting", waits_for=holder, progress=Progress(planned=10)))
    display.show(Heartbeat(state="waiting", waits_for=holder, progress=Progress(planned=10)))
    (line,) = stream.getvalue().splitlines()
    assert line.startswith("waits for /data/") and "other (pid 4321) " in line and "\x1b" not in line
    assert "boresight continue --together" in line


def test_a_transition_puts_the_next_heartbeat_off() -> None:
    stream, clock = io.StringIO(), Clock()
    display = LineDisplay(stream, clock)
    clock.now += 14
    display.show(ended())
    clock.now += 14
    display.show(beat())
    assert stream.getvalue().count("\n") == 1
    clock.now += 1
    display.show(beat(candidate=None, repository=None, phase=None))
    assert stream.getvalue().splitlines()[-1] == "[1/10] waiting for 0 s"


def test_reuse_is_summed_up_in_one_line() -> None:
    reused = [ended("reused", progress=counts(number, reused=number)) for number in range(1, 8)]
    assert lines(STARTED, *reused, ended(progress=counts(8, reused=7))) == [
        "↺ 7 verified results reused",
        "[8/10] a × store querying emb symbol_lookup ✔ accepted in 0.250 s",
    ]


def test_reuse_is_summed_up_also_where_events_were_missed() -> None:
    assert lines(
        ended("reused", progress=counts(1, reused=1)),
        Gap(missed=5),
        CampaignFinished(state="complete", progress=counts(10, reused=10)),
    ) == ["↺ 10 verified results reused", "[10/10] complete, 0 failed"]


@pytest.mark.parametrize("error_class", HOSTILE)
def test_a_line_stays_one_line_whatever_a_retriever_calls_its_error(error_class: str) -> None:
    (line,) = lines(ended("failed", error_class=error_class))
    assert "\x1b" not in line and "‮" not in line
    assert len(line) < 160


def test_a_reader_that_left_does_not_end_the_campaign() -> None:
    display = LineDisplay(Gone(), Clock())
    for event in EVERYTHING:
        display.show(event)
    display.close()


# The bar


def bar(*events: Event) -> str:
    stream = io.StringIO()
    display = BarDisplay(stream, force_terminal=True)
    try:
        for event in events:
            display.show(event)
    finally:
        display.close()
    return stream.getvalue()


def test_the_bar_shows_every_event_and_leaves_failures_on_the_screen() -> None:
    drawn = bar(*EVERYTHING)
    assert "a × store querying emb symbol_lookup ✖ failed (timeout)" in drawn
    assert "not_run (index_failed)" in drawn


@pytest.mark.parametrize("error_class", HOSTILE)
def test_the_bar_draws_whatever_a_retriever_calls_its_error(error_class: str) -> None:
    drawn = bar(ended("failed", error_class=error_class))
    assert "✖ failed" in drawn
    assert "\x07" not in drawn and "‮" not in drawn
    if error_class.startswith("[red]"):
        assert "[red]bold[/red]" in drawn


@pytest.mark.parametrize("name", ["[red]x[/red]", "[/]"])
def test_names_are_no_markup(name: str) -> None:
    assert name in bar(begun(candidate=name), ended("failed", candidate=name, error_class="timeout"))


# Which one


def test_the_display_fits_the_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    assert isinstance(display_for(io.StringIO(), quiet=False), LineDisplay)
    drawn = display_for(Terminal(), quiet=False)
    assert isinstance(drawn, BarDisplay)
    drawn.close()
    monkeypatch.setenv("TERM", "dumb")
    assert isinstance(display_for(Terminal(), quiet=False), LineDisplay)


def test_quiet_is_quiet() -> None:
    stream = Terminal()
    display = display_for(stream, quiet=True)
    assert isinstance(display, QuietDisplay)
    for event in EVERYTHING:
        display.show(event)
    display.close()
    assert stream.getvalue() == ""
