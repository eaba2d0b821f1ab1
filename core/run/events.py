"""The engine's narration: typed events, their file, and readers that may be slow.

Events never carry query text or a tool's words, and nothing is ever decided from them.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections import deque
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from core.text import printable

Phase = Literal["freezing", "indexing", "verifying", "querying", "probing", "scoring"]
State = Literal["waiting", "running", "paused", "stopping", "stalled", "interrupted", "failed", "complete"]
QUEUE_LIMIT = 1024
LONGEST_PATH = 4096
INDEX_FAILED = "index_failed"  # error class of what is never asked, as its cell's index failed
NOT_CHOSEN = "not_chosen"  # error class of what a retry of other operations leaves as it is


class Progress(BaseModel):
    """Operations counted; `reused` are among the completed, and so are the `failed`.

    `unasked` are those of the failed that were never asked, as their cell's index failed.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    completed: int = 0
    planned: int = 0
    reused: int = 0
    failed: int = 0
    unasked: int = 0


class Holder(BaseModel):
    """The run that measures on this machine while others wait; its path is absolute."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    run: str = Field(max_length=LONGEST_PATH)
    pid: int
    progress: Progress = Progress()

    def __str__(self) -> str:
        """Say which run it is, and how far it is."""
        done = f", {self.progress.completed} of {self.progress.planned} operations"
        return f"{printable(self.run)} (pid {self.pid}{done if self.progress.planned else ''})"


def holder_text(holder: Holder | None) -> str:
    """Say what a run waits for, as far as that is known."""
    return str(holder) if holder is not None else "another campaign on this machine"


class _Event(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    at: datetime = Field(default_factory=lambda: datetime.now(UTC))
    sequence: int = 0


class _OfCell(_Event):
    candidate: str
    repository: str


class CampaignStarted(_Event):
    """The engine has the lock and begins, or goes on."""

    type: Literal["campaign_started"] = "campaign_started"
    identity: str
    name: str
    candidates: tuple[str, ...]
    repositories: tuple[str, ...]
    resumed: bool
    progress: Progress


class _OfOperation(_OfCell):
    phase: Phase
    operation: str
    intent: str | None = None
    channel: str | None = None
    attempt: int
    progress: Progress


class SourceFrozen(_Event):
    """A repository's tree stands in the run."""

    type: Literal["source_frozen"] = "source_frozen"
    repository: str
    commit: str
    files: int
    bytes: int


class OperationStarted(_OfOperation):
    """One attempt begins."""

    type: Literal["operation_started"] = "operation_started"


class Heartbeat(_Event):
    """Every second while the engine lives; elapsed seconds are those of the operation under way.

    `waits_for` is there while another campaign measures on this machine that says which it is.
    """

    type: Literal["heartbeat"] = "heartbeat"
    state: State = "running"
    waits_for: Holder | None = None
    candidate: str | None = None
    repository: str | None = None
    phase: Phase | None = None
    elapsed_s: float = 0.0
    sampled_rss_bytes: int | None = None
    progress: Progress


class OperationFinished(_OfOperation):
    """One attempt ended, or a verified success was taken over."""

    type: Literal["operation_finished"] = "operation_finished"
    outcome: Literal["accepted", "reused", "failed", "stopped", "not_run"]
    error_class: str | None = None
    elapsed_s: float | None = None
    sampled_peak_rss_bytes: int | None = None


class CellFinished(_OfCell):
    """All that can be done for one candidate on one repository is done."""

    type: Literal["cell_finished"] = "cell_finished"
    completed: int
    planned: int
    failed: int


class Paused(_Event):
    """The engine waits between two operations (`paused`), or goes on (not `paused`)."""

    type: Literal["paused"] = "paused"
    paused: bool
    progress: Progress


class CampaignFinished(_Event):
    """The engine's last event."""

    type: Literal["campaign_finished"] = "campaign_finished"
    state: State
    progress: Progress


class Gap(_Event):
    """This reader was too slow and missed events: read the run again."""

    type: Literal["gap"] = "gap"
    missed: int


Event = Annotated[
    CampaignStarted
    | SourceFrozen
    | OperationStarted
    | Heartbeat
    | OperationFinished
    | CellFinished
    | Paused
    | CampaignFinished
    | Gap,
    Field(discriminator="type"),
]
_EVENT: TypeAdapter[Event] = TypeAdapter(Event)


class EventStream:
    """One reader's bounded queue.

    A reader that falls behind loses heartbeats first. One that is behind by a whole queue of other
    events finds a single `gap` in their place, as it must read the run again anyway; the newest event
    always arrives, so that a reader never waits for an end that it has missed.
    """

    def __init__(self, limit: int = QUEUE_LIMIT) -> None:
        self._events: deque[Event] = deque()
        self._limit = max(limit, 2)  # a gap and the newest event
        self._arrived = asyncio.Event()

    def offer(self, event: Event) -> None:
        """Hand an event to the reader without ever waiting for it."""
        if len(self._events) >= self._limit:
            if isinstance(event, Heartbeat):
                return
            self._make_room()
        self._events.append(event)
        self._arrived.set()

    async def next(self) -> Event:
        """Return the next event, waiting for it."""
        while not self._events:
            self._arrived.clear()
            await self._arrived.wait()
        return self._events.popleft()

    def _make_room(self) -> None:
        kept = [event for event in self._events if not isinstance(event, Heartbeat)]
        if len(kept) >= self._limit:
            missed = sum(event.missed if isinstance(event, Gap) else 1 for event in kept)
            kept = [Gap(missed=missed, sequence=kept[-1].sequence)]
        self._events = deque(kept)


class EventLog:
    """The writer of `events.jsonl`, and the source of every live reader's stream."""

    def __init__(self, path: Path) -> None:
        self.sequence = _last_sequence(path)
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        self._unfinished = _ends_unfinished(path)
        self._streams: list[EventStream] = []

    def subscribe(self, limit: int = QUEUE_LIMIT) -> EventStream:
        """Return a stream of all events from now on."""
        stream = EventStream(limit)
        self._streams.append(stream)
        return stream

    def emit(self, event: Event) -> Event:
        """Number an event, append it to the file and offer it to every reader; raises OSError."""
        self.sequence += 1
        event = event.model_copy(update={"sequence": self.sequence})
        for stream in self._streams:
            stream.offer(event)
        self._append(event.model_dump_json(exclude_none=True).encode() + b"\n")
        return event

    def _append(self, line: bytes) -> None:
        left = memoryview(b"\n" + line if self._unfinished else line)
        self._unfinished = True
        while left:  # a full disk takes a part and refuses the rest
            left = left[os.write(self._descriptor, left) :]
        self._unfinished = False

    def close(self) -> None:
        """Close the file."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def read_events(path: Path) -> Iterator[Event]:
    """Yield the events of a file, passing over an unfinished last line and lines that are no events."""
    try:
        stream = path.open("rb")
    except FileNotFoundError:
        return
    with stream:
        for line in stream:
            if line.endswith(b"\n") and (event := parse_event(line)) is not None:
                yield event


def parse_event(line: bytes) -> Event | None:
    """Return the event that a line holds, or None where it is not one, or one of a newer version."""
    try:
        return _EVENT.validate_json(line)
    except ValidationError:
        return None


def _last_sequence(path: Path) -> int:
    """Return the highest number in a file, also of events that only a newer version knows."""
    last = 0
    try:
        stream = path.open("rb")
    except FileNotFoundError:
        return last
    with stream:
        for line in stream:
            try:
                sequence = json.loads(line)["sequence"]
            except (ValueError, KeyError, TypeError, RecursionError):
                continue
            if type(sequence) is int:
                last = max(last, sequence)
    return last


def _ends_unfinished(path: Path) -> bool:
    with path.open("rb") as stream:
        if stream.seek(0, os.SEEK_END) == 0:
            return False
        stream.seek(-1, os.SEEK_END)
        return stream.read(1) != b"\n"
