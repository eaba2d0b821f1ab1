"""Reading events as they are appended."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.run import follow
from core.run.events import EventLog, Heartbeat, Progress
from core.run.follow import EventTail

BEAT = Heartbeat(progress=Progress())


def test_only_what_was_added_is_read_and_an_unfinished_line_waits(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    tail = EventTail(path)
    assert list(tail.read()) == []
    log = EventLog(path)
    log.emit(BEAT)
    assert [event.sequence for event in tail.read()] == [1]
    line = BEAT.model_dump_json().encode()
    with open(path, "ab") as stream:
        stream.write(line[:20])
    assert list(tail.read()) == []
    with open(path, "ab") as stream:
        stream.write(line[20:] + b"\n")
    assert len(list(tail.read())) == 1
    log.close()


@pytest.mark.parametrize("block", [7, 64, 1024])
def test_lines_across_blocks_are_whole_and_others_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    monkeypatch.setattr(follow, "_BLOCK_BYTES", block)
    path = tmp_path / "events.jsonl"
    line = BEAT.model_dump_json().encode() + b"\n"
    path.write_bytes(line * 5 + b"{}\n\n\xff\n" + b'{"type":"newer","at":"2030-01-01T00:00:00Z"}\n' + line)
    tail = EventTail(path)
    assert len(list(tail.read())) == 6
    assert tail.unread == 3


def test_from_the_end_nothing_older_is_read(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_bytes(BEAT.model_dump_json().encode() + b"\n")
    assert list(EventTail(path, from_end=True).read()) == []
