"""Follows a run's events from its file, whoever writes them, as every screen and `boresight follow` do."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

from core.regular import open_regular
from core.run.events import CampaignFinished, Event, parse_event
from core.run.layout import RunLayout
from core.run.lock import is_held

POLL_SECONDS = 0.2
_BLOCK_BYTES = 1024 * 1024


class EventTail:
    """Reads what was appended to `events.jsonl` since the last look; an unfinished line waits for its end.

    `unread` counts the lines so far that are no events, or events of a newer version.
    """

    def __init__(self, path: Path, *, from_end: bool = False) -> None:
        self._path = path
        self._offset = path.stat().st_size if from_end and path.exists() else 0
        self._rest = b""
        self.unread = 0

    def read(self) -> Iterator[Event]:
        """Yield the events that were written since the last call; lines that are none are passed over."""
        try:
            stream = open_regular(self._path)
        except FileNotFoundError:
            return
        with stream:
            stream.seek(self._offset)
            while data := stream.read(_BLOCK_BYTES):
                self._offset += len(data)
                lines = (self._rest + data).split(b"\n")
                self._rest = lines.pop()
                for line in lines:
                    event = parse_event(line)
                    if event is not None:
                        yield event
                    else:
                        self.unread += bool(line)


def follow_run(layout: RunLayout) -> Iterator[Event]:
    """Yield a run's events from its current execution on, until it finishes or nobody writes any more."""
    tail = EventTail(layout.events)
    backlog = list(tail.read())
    starts = [at for at, event in enumerate(backlog) if event.type in {"source_frozen", "campaign_started"}]
    pending = backlog[starts[-1] :] if starts else backlog
    while True:
        for event in pending:
            yield event
            if isinstance(event, CampaignFinished) and not is_held(layout.lock):
                return
        if not is_held(layout.lock):
            yield from tail.read()
            return
        time.sleep(POLL_SECONDS)
        pending = list(tail.read())
