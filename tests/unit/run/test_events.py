"""The narration: its file, and readers of any speed."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest

from core.run.events import (
    CampaignFinished,
    Event,
    EventLog,
    EventStream,
    Gap,
    Heartbeat,
    Paused,
    Progress,
    SourceFrozen,
    read_events,
)

BEAT = Heartbeat(progress=Progress())
END = CampaignFinished(state="complete", progress=Progress())


def frozen(number: int) -> SourceFrozen:
    return SourceFrozen(repository="store", commit="0" * 40, files=number, bytes=1)


def offer(stream: EventStream, *events: Event) -> None:
    for event in events:
        stream.offer(event)


async def drain(stream: EventStream) -> list[Event]:
    found = []
    while True:
        try:
            found.append(await asyncio.wait_for(stream.next(), 0.01))
        except TimeoutError:
            return found


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "events.jsonl"


def written(path: Path, *events: Event) -> list[dict[str, Any]]:
    log = EventLog(path)
    for event in events:
        log.emit(event)
    log.close()
    return [json.loads(line) for line in path.read_bytes().splitlines()]


async def test_a_reader_gets_events_in_order_and_waits_for_the_next() -> None:
    stream = EventStream()
    waiting = asyncio.create_task(stream.next())
    await asyncio.sleep(0)
    assert not waiting.done()
    first = frozen(1)
    offer(stream, first, BEAT, frozen(2))
    assert await waiting == first
    assert [event.type for event in await drain(stream)] == ["heartbeat", "source_frozen"]


async def test_a_slow_reader_loses_heartbeats_first() -> None:
    stream = EventStream(limit=3)
    events = [frozen(1), frozen(2)]
    offer(stream, events[0], BEAT, BEAT, events[1], BEAT, BEAT)
    found = await drain(stream)
    assert [event for event in found if not isinstance(event, Heartbeat)] == events
    assert len(found) <= 3


async def test_then_it_gets_one_gap_for_all_that_it_missed_and_goes_on() -> None:
    stream = EventStream(limit=3)
    events = [frozen(number).model_copy(update={"sequence": number}) for number in range(1, 8)]
    offer(stream, *events, BEAT)
    found = await drain(stream)
    assert len(found) <= 3
    assert isinstance(found[0], Gap)
    kept = [event for event in found[1:] if not isinstance(event, Heartbeat)]
    assert found[0].missed + len(kept) == 7
    assert found[0].sequence == found[0].missed, "the gap's number is that of the last event it stands for"
    assert kept == events[-len(kept) :]
    offer(stream, frozen(9))
    assert [event.type for event in await drain(stream)] == ["source_frozen"]


async def test_the_last_event_reaches_even_a_reader_that_never_read() -> None:
    stream = EventStream(limit=2)
    offer(stream, *(frozen(number) for number in range(100)), END)
    assert (await drain(stream))[-1] == END


def test_events_are_numbered_and_kept_a_line_each(path: Path) -> None:
    lines = written(path, frozen(1), BEAT, END)
    assert [line["sequence"] for line in lines] == [1, 2, 3]
    assert [line["type"] for line in lines] == ["source_frozen", "heartbeat", "campaign_finished"]
    assert all(line["at"].endswith("Z") for line in lines)
    assert [event.sequence for event in read_events(path)] == [1, 2, 3]


async def test_a_live_reader_gets_what_the_file_gets(path: Path) -> None:
    log = EventLog(path)
    stream = log.subscribe()
    log.emit(frozen(1))
    log.emit(END)
    log.close()
    assert await drain(stream) == list(read_events(path))


def test_an_unfinished_last_line_is_ignored_and_ended_by_the_next_writer(path: Path) -> None:
    written(path, frozen(1), frozen(2))
    with open(path, "ab") as stream:
        stream.write(b'{"type":"paused","sequ')
    assert [event.sequence for event in read_events(path)] == [1, 2]

    log = EventLog(path)
    log.emit(END)
    log.close()

    assert [event.sequence for event in read_events(path)] == [1, 2, 3]
    assert path.read_bytes().endswith(b"\n")


def test_unknown_types_and_further_fields_are_passed_over_and_their_numbers_count(path: Path) -> None:
    later = {"type": "weather", "sequence": 7, "at": "2030-01-01T00:00:00Z"}
    known = {
        **json.loads(Paused(paused=True, progress=Progress()).model_dump_json()),
        "sequence": 8,
        "why": 1,
    }
    path.write_text("".join(json.dumps(line) + "\n" for line in (later, known)) + "no JSON\n\n[]\n")

    (event,) = read_events(path)
    assert isinstance(event, Paused) and event.sequence == 8
    path.write_text(json.dumps(later) + "\n")
    assert EventLog(path).emit(END).sequence == 8


def test_a_file_that_is_not_there_has_no_events(path: Path) -> None:
    assert list(read_events(path)) == []


def test_a_line_that_a_full_disk_cut_is_ended_before_the_next(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = EventLog(path)
    write = os.write
    with monkeypatch.context() as patch:
        room = [20]

        def nearly_full(descriptor: int, data: bytes) -> int:
            if not room[0]:
                raise OSError(28, "No space left on device")
            taken = write(descriptor, bytes(data)[: room[0]])
            room[0] -= taken
            return taken

        patch.setattr(os, "write", nearly_full)
        with pytest.raises(OSError, match="No space left"):
            log.emit(frozen(1))
    log.emit(END)
    log.close()
    assert [event.type for event in read_events(path)] == ["campaign_finished"]
