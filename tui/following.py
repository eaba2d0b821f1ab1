"""Follows one run for the monitor: a thread gathers, and hands out views that no thread changes any more."""

from __future__ import annotations

import os
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from core.campaign.plan import read_plan
from core.errors import BoresightError
from core.regular import open_regular
from core.reports.wording import counted, failed_words
from core.run.events import (
    INDEX_FAILED,
    CampaignFinished,
    CampaignStarted,
    CellFinished,
    Event,
    Gap,
    OperationFinished,
    Paused,
    Phase,
    Progress,
    SourceFrozen,
    State,
    holder_text,
)
from core.run.follow import EventTail
from core.run.layout import INDEX, Operation, RunLayout
from core.run.live import LiveCell, LiveRun
from core.run.lock import is_executed
from core.run.record import read_run
from core.status import STALLED_AFTER_SECONDS, RunStatus, run_status

POLL_SECONDS = 0.1
VIEW_SECONDS = 0.2
KEPT_NEWS = 500
CHANNELS = ("emb", "docs", "ctx")
SAMPLES = 8
_CONSOLE_BYTES = 16 * 1024
_FAULT = "boresight: "  # how the line begins that tells what an execution ended with
_ENDED = frozenset({"complete", "failed", "interrupted"})


class CellView(NamedTuple):
    """One candidate on one repository at a moment; medians are seconds, in the order of `CHANNELS`."""

    candidate: str
    repository: str
    planned: int
    completed: int
    failed: int
    unasked: int  # of the failed, those never asked as the index failed
    phase: str | None  # what is done of it now, or how it was left
    is_current: bool
    medians: tuple[float | None, ...]
    rss: tuple[int, ...]

    @property
    def name(self) -> str:
        """What people call it."""
        return f"{self.candidate} × {self.repository}"


class News(NamedTuple):
    """A line of the events panel; `operation` is there where one can be inspected."""

    number: int
    at: datetime
    text: str
    is_failure: bool = False
    operation: Operation | None = None


class RunView(NamedTuple):
    """A run at a moment. `problems` say what of it cannot be read; `sequence` grows with every view."""

    sequence: int
    name: str
    held: bool
    told_state: State
    held_since: datetime | None
    phase: Phase | None
    progress: Progress
    started_at: datetime | None
    last_at: datetime | None
    cells: tuple[CellView, ...]
    news: tuple[News, ...]
    problems: tuple[str, ...]
    is_caught_up: bool
    failed: int = 0
    unasked: int = 0  # of the failed, those never asked as their cell's index failed
    waits_for: str | None = None  # another campaign, where it waits for one

    def state(self, now: datetime) -> State:
        """Return how the run fares, told from its lock and its last sign of life."""
        if not self.held:
            return self.told_state if self.told_state in {"complete", "failed"} else "interrupted"
        signs = [sign for sign in (self.last_at, self.held_since) if sign is not None and sign <= now]
        if signs and (now - max(signs)).total_seconds() > STALLED_AFTER_SECONDS:
            return "stalled"
        return "waiting" if self.told_state in _ENDED else self.told_state

    def elapsed_s(self, now: datetime) -> float:
        """Return how long the present or last execution has gone on."""
        if self.started_at is None:
            return 0.0
        end = now if self.held else self.last_at or now
        return max((end - self.started_at).total_seconds(), 0.0)


class Follower:
    """Reads a run's plan, events and lock; `follow` is for a thread, `view` for any."""

    def __init__(self, run: Path) -> None:
        self.view: RunView | None = None
        self._layout = RunLayout(run.absolute())
        self._name = run.name
        self._problems: list[str] = []
        self._news: deque[News] = deque(maxlen=KEPT_NEWS)
        self._unasked: Counter[tuple[str, str]] = Counter()  # of the cell that is under way
        self._broken: dict[tuple[str, str], OperationFinished] = {}  # how a cell's index failed
        self._numbers = 0
        self._sequence = 0
        self._cells: dict[tuple[str, str], tuple[int, tuple[float | None, ...]]] = {}
        self._evidence: RunStatus | None = None  # of a run at rest
        self._fault: str | None = None  # why its last execution ended
        self._rest_at: tuple[datetime | None, int] | None = None  # the event that it was looked at after

    def follow(self, is_cancelled: Callable[[], bool]) -> None:
        """Read on until cancelled."""
        live = LiveRun(self._planned())
        tail = EventTail(self._layout.events)
        due = 0.0
        is_caught_up = False
        while not is_cancelled():
            changed = False
            for event in self._read(tail):
                live.take(event)
                self._take(event)
                changed = True
                if time.monotonic() >= due:
                    due = self._show(live, tail, is_caught_up=False)
                    if is_cancelled():
                        return
            if changed or not is_caught_up or time.monotonic() >= due:
                is_caught_up = True
                due = self._show(live, tail, is_caught_up=True)
            if self._look_at_evidence():
                due = self._show(live, tail, is_caught_up=True)
            time.sleep(POLL_SECONDS)

    def _look_at_evidence(self) -> bool:
        """Find out how a run at rest stands, as its events may be damaged; tell whether that is news."""
        view = self.view
        at = (view.last_at, view.progress.completed) if view is not None and not view.held else None
        if at == self._rest_at:
            return False
        self._rest_at, self._evidence, self._fault = at, None, None
        if at is not None:
            self._fault = last_fault(self._layout.console)
            with suppress(BoresightError, OSError, ValueError, OverflowError):  # told as a problem already
                self._evidence = run_status(self._layout.root, brief=True)
        return self._evidence is not None or self._fault is not None

    def _planned(self) -> Iterator[tuple[str, str]]:
        try:
            record = read_run(self._layout.root)
            self._name = f"{record.about['name']} / {self._layout.root.name}"
        except BoresightError as error:
            self._problems.append(str(error))
        try:
            cells = Counter(item.operation[:2] for item in read_plan(self._layout.plan))
        except (BoresightError, OSError) as error:
            self._problems.append(str(error))
            return iter(())
        return cells.elements()

    def _read(self, tail: EventTail) -> Iterator[Event]:
        try:
            yield from tail.read()
        except OSError as error:
            problem = f"{self._layout.events}: {error.strerror or error}"
            if problem not in self._problems:
                self._problems.append(problem)

    def _show(self, live: LiveRun, tail: EventTail, *, is_caught_up: bool) -> float:
        problems = list(self._problems)
        if tail.unread:
            told = counted(tail.unread, "line")
            problems.append(f"{told} of events.jsonl cannot be read: damaged, or of a newer version")
        held, state = is_executed(self._layout.lock), live.state
        found = self._evidence
        if not held and self._fault is not None:
            problems.append(self._fault)
        if not held and found is not None and found.state is not None:
            if found.state != (state if state in _ENDED else "interrupted"):
                problems.append(
                    f"events.jsonl does not tell all: {found.accepted} of {found.planned} operations have an "
                    f"accepted result, {failed_words(found.failed, found.unasked)}"
                )
            state = found.state
        counts = found if not held and found is not None and found.state is not None else live.progress
        self._sequence += 1
        self.view = RunView(
            sequence=self._sequence,
            name=self._name,
            held=held,
            told_state=state,
            held_since=self._held_since(),
            phase=live.phase,
            progress=live.progress,
            started_at=live.started_at,
            last_at=live.last_at,
            cells=tuple(self._cell(cell, live.current, held=held) for cell in live.cells.values()),
            news=tuple(self._news),
            problems=tuple(problems),
            is_caught_up=is_caught_up,
            failed=counts.failed,
            unasked=counts.unasked,
            waits_for=holder_text(live.waits_for) if held and live.is_waiting else None,
        )
        return time.monotonic() + VIEW_SECONDS

    def _held_since(self) -> datetime | None:
        try:
            return datetime.fromtimestamp(self._layout.lock.stat().st_mtime, UTC)
        except (OSError, ValueError, OverflowError):
            return None

    def _cell(self, cell: LiveCell, current: LiveCell | None, *, held: bool) -> CellView:
        return CellView(
            cell.candidate,
            cell.repository,
            cell.planned,
            cell.completed,
            cell.failed,
            cell.unasked,
            phase_of(cell, held=held, is_current=cell is current),
            cell is current,
            self._medians(cell),
            tuple(cell.rss)[-SAMPLES:],
        )

    def _medians(self, cell: LiveCell) -> tuple[float | None, ...]:
        """Return a cell's medians, reckoned anew only where operations were added."""
        key = cell.candidate, cell.repository
        known = self._cells.get(key)
        if known is None or known[0] != cell.completed:
            known = cell.completed, tuple(cell.median_s(channel) for channel in CHANNELS)
            self._cells[key] = known
        return known[1]

    def _take(self, event: Event) -> None:
        if isinstance(event, OperationFinished):
            if event.error_class == INDEX_FAILED:
                self._unasked[event.candidate, event.repository] += 1
            elif event.outcome in {"failed", "not_run"}:
                if event.phase == "indexing":
                    self._broken[event.candidate, event.repository] = event
                self._tell(event, failure_line(event), is_failure=True, operation=operation_of(event))
        elif isinstance(event, CampaignStarted):
            self._unasked.clear()
            self._broken.clear()
            self._tell(event, "resumed" if event.resumed else "began")
        elif isinstance(event, CellFinished):
            unasked = self._unasked.pop((event.candidate, event.repository), 0)
            if unasked:
                self._tell_unasked(event, unasked)
            failed = f", {failed_words(event.failed, unasked)}" if event.failed else ""
            self._tell(event, f"✔ {event.candidate} × {event.repository}  {event.completed} done{failed}")
        elif isinstance(event, Paused):
            self._tell(event, "‖ paused" if event.paused else "goes on")
        elif isinstance(event, CampaignFinished):
            self._tell(event, f"ended: {event.state}")
        elif isinstance(event, SourceFrozen):
            self._tell(event, f"froze {event.repository}: {event.files} files")
        elif isinstance(event, Gap):
            self._tell(event, f"{event.missed} events were missed")

    def _tell_unasked(self, event: CellFinished, unasked: int) -> None:
        """Tell in one line how many queries and probes of a cell were never asked, and of which index."""
        index = self._broken.get((event.candidate, event.repository))
        cause = index.error_class if index is not None and index.error_class else "failed"
        text = f"✖ {event.candidate} × {event.repository}  index: {cause} → {unasked:,} not asked"
        operation = Operation(event.candidate, event.repository, INDEX)
        self._tell(event, text, is_failure=True, operation=operation)

    def _tell(
        self, event: Event, text: str, *, is_failure: bool = False, operation: Operation | None = None
    ) -> None:
        self._numbers += 1
        self._news.append(News(self._numbers, event.at, text, is_failure, operation))


def phase_of(cell: LiveCell, *, held: bool, is_current: bool) -> str | None:
    """Return what is done of a cell now, or how it was left; None where it has not begun."""
    if cell.completed >= cell.planned > 0:
        return "complete"
    if not held:
        return "interrupted" if cell.completed or cell.phase else None
    if cell.phase == "indexing" and not is_current:
        return "indexed"  # its queries come once every candidate has its index
    return cell.phase


def last_fault(console: Path) -> str | None:
    """Return the error that a run's last execution ended with, from the end of its console; None without."""
    try:
        with open_regular(console) as stream:
            stream.seek(max(stream.seek(0, os.SEEK_END) - _CONSOLE_BYTES, 0))
            lines = stream.read().decode(errors="replace").splitlines()
    except OSError:
        return None
    said = next((line for line in reversed(lines) if line.startswith((_FAULT, "["))), "")
    return said.removeprefix(_FAULT) if said.startswith(_FAULT) else None


def failure_line(event: OperationFinished) -> str:
    """Return what failed, and how, in one line."""
    what = "  ".join(part for part in (event.channel, event.intent) if part)
    return (
        f"✖ {event.candidate} × {event.repository}  {what or event.phase}  "
        f"attempt {event.attempt}  {event.error_class or event.outcome}"
    )


def operation_of(event: OperationFinished) -> Operation:
    """Return the operation that an event tells of."""
    kind, _, case = event.operation.partition("-")
    return Operation(event.candidate, event.repository, kind, case or None)
