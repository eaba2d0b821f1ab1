"""What state a run is in, told from its lock, its evidence and the age of its last event."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from pydantic import ValidationError

from core.browse.counts import Counts, known_counts
from core.campaign.plan import Planned, read_plan, unreadable_plan
from core.errors import BoresightError, IdentityError
from core.regular import open_regular
from core.run.events import Holder, State, holder_text
from core.run.evidence import Result, read_measurement, read_result
from core.run.layout import INDEX, Operation, RunLayout, find_runs
from core.run.lock import is_executed
from core.run.record import read_run

STALLED_AFTER_SECONDS = 10.0
LIVE: frozenset[State] = frozenset({"waiting", "running", "paused", "stopping", "stalled"})
_NOT_BEGUN = frozenset({"source_frozen", "campaign_finished"})  # told before an execution or at its end
_BLOCK_BYTES = 64 * 1024
_COUNTED_BYTES = 1024 * 1024


class RunStatus(NamedTuple):
    """A run at a glance; `problem` says why it could not be read, and then its counts are 0.

    `waits_for` says for which campaign a waiting run waits; one that has only not begun yet waits for none.
    `unasked` are those of the failed that were never asked, as their cell's index failed.
    """

    path: Path
    name: str
    state: State | None
    accepted: int
    planned: int
    failed: int
    updated_at: datetime | None
    problem: str | None = None
    waits_for: str | None = None
    unasked: int = 0

    @property
    def ended(self) -> int:
        """How many operations are over, accepted or failed: how far the run is."""
        return self.accepted + self.failed


def list_runs(folder: Path) -> Iterator[RunStatus]:
    """Yield the status of each run in a folder; a run that cannot be read is told, never left out."""
    for path in find_runs(folder):
        try:
            yield run_status(path)
        except (BoresightError, OSError, ValueError, OverflowError) as error:
            yield RunStatus(path, path.name, None, 0, 0, 0, None, str(error))


def run_status(path: Path, *, brief: bool = False) -> RunStatus:
    """Return a run's status; raises InputError or IdentityError where it cannot be read.

    `brief` takes the counts of a run that is being executed from its latest event, and of one at rest from
    its index where that is of the run as it is, rather than from tens of thousands of results.
    """
    record = read_run(path)
    layout = record.layout
    last, turn = _last_events(layout.events)
    updated = datetime.fromisoformat(last["at"]) if last else None
    executed = is_executed(layout.lock)
    counts = None
    if brief:
        counts = _told_counts(last, _lines(layout.plan)) if executed else known_counts(record)
    accepted, failed, untried, unasked = counts or _counts(layout, read_plan(layout.plan))
    planned = accepted + failed + untried
    if executed:
        state = _live(layout.lock, updated, last, turn)
    elif accepted == planned:
        state = "complete"
    else:
        state = "interrupted" if untried else "failed"
    told = state == "waiting" and last is not None and last["type"] == "heartbeat"
    waits_for = holder_text(_holder(last)) if told else None
    return RunStatus(
        path, record.about["name"], state, accepted, planned, failed, updated, None, waits_for, unasked
    )


def _lines(path: Path) -> int:
    """Return how many lines a plan has; raises IdentityError where it cannot be read."""
    try:
        with open(path, "rb") as stream:
            return sum(block.count(b"\n") for block in iter(lambda: stream.read(_COUNTED_BYTES), b""))
    except OSError as error:
        raise unreadable_plan(path, error) from None


def _told_counts(last: Mapping[str, Any] | None, planned: int) -> Counts | None:
    """Return the operations that the latest event tells as accepted, failed and left; None without them."""
    progress = (last or {}).get("progress")
    if not isinstance(progress, dict) or progress.get("planned") != planned:
        return None
    completed, failed = progress.get("completed"), progress.get("failed")
    if type(completed) is not int or type(failed) is not int or not 0 <= failed <= completed <= planned:
        return None
    unasked = progress.get("unasked")
    if type(unasked) is not int or not 0 <= unasked <= failed:
        unasked = 0
    return Counts(completed - failed, failed, planned - completed, unasked)


def _live(
    lock: Path, updated: datetime | None, last: Mapping[str, Any] | None, turn: Mapping[str, Any] | None
) -> State:
    """Tell how a run fares whose lock is held; the lock's own time is when its holder took it.

    `last` is the latest event, `turn` the latest that is no heartbeat.
    """
    taken = _modified(lock)
    now = datetime.now(UTC)
    if updated is not None and taken is not None and taken > now:
        taken = None  # the clock was set back since; the events were told by it as it is now
    signs = [sign for sign in (updated, taken) if sign is not None]
    if signs and (now - max(signs)).total_seconds() > STALLED_AFTER_SECONDS:
        return "stalled"
    if last is None or last["type"] in _NOT_BEGUN:
        return "waiting"
    if last["type"] == "heartbeat":
        if last.get("state") == "waiting":
            return "waiting"
        if last.get("state") == "stopping":
            return "stopping"
    waits = turn is not None and turn["type"] == "paused" and turn.get("paused") is True
    return "paused" if waits else "running"


def _holder(last: Mapping[str, Any] | None) -> Holder | None:
    try:
        return Holder.model_validate((last or {}).get("waits_for"))
    except ValidationError:
        return None


def _modified(path: Path) -> datetime | None:
    try:
        return datetime.fromtimestamp(path.stat().st_mtime, UTC)
    except OSError:
        return None


def _counts(layout: RunLayout, plan: Iterable[Planned]) -> Counts:
    """Count operations accepted, failed, and neither tried nor kept from it by a failed index."""
    accepted = failed = untried = unasked = 0
    broken: set[tuple[str, str]] = set()
    indexes: dict[tuple[str, str], str] = {}
    for planned in plan:
        operation = planned.operation
        cell = operation.candidate, operation.repository
        result = _result(layout, operation)
        if result is not None and operation.kind == INDEX:
            indexes[cell] = result.measurement_sha256
            accepted += 1
        elif result is not None and result.index_measurement_sha256 == indexes.get(cell):
            accepted += 1
        elif result is not None:  # an index that was replaced since had answered it
            untried += 1
        elif (has_failed := _has_failed(layout, operation)) or cell in broken:
            failed += 1
            unasked += not has_failed
            if operation.kind == INDEX:
                broken.add(cell)
        else:
            untried += 1
    return Counts(accepted, failed, untried, unasked)


def _result(layout: RunLayout, operation: Operation) -> Result | None:
    try:
        return read_result(layout, operation)
    except IdentityError:  # told by whoever reads the evidence; a listing goes on
        return None


def _has_failed(layout: RunLayout, operation: Operation) -> bool:
    """Tell whether an operation's last attempt failed; one that was stopped or interrupted did not."""
    attempts = layout.attempts(operation)
    if not attempts:
        return False
    try:
        record = read_measurement(layout.attempt(operation, attempts[-1]))
    except (OSError, IdentityError):
        return False
    return bool(record["validation"]["status"] == "failed")


def _last_events(path: Path) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
    """Return the last event, and the last that is no heartbeat, which says what the engine turned to."""
    last = None
    try:
        with open_regular(path) as stream:
            for line in _lines_backwards(stream):
                event = _event(line)
                last = last or event
                if event is not None and event["type"] != "heartbeat":
                    return last, event
    except OSError:
        pass
    return last, None


def _lines_backwards(stream: BinaryIO) -> Iterator[bytes]:
    """Yield a file's whole lines, the last one first; an unfinished last line is passed over."""
    position = stream.seek(0, os.SEEK_END)
    rest = b""
    ended = False
    while position > 0:
        size = min(_BLOCK_BYTES, position)
        position -= size
        stream.seek(position)
        rest, *lines = (stream.read(size) + rest).split(b"\n")
        if not ended and lines:
            lines.pop()
            ended = True
        elif not ended:
            rest = b""
        yield from reversed(lines)
    if ended:
        yield rest


def _event(line: bytes) -> dict[str, Any] | None:
    try:
        event = json.loads(line)
        known = isinstance(event["type"], str) and datetime.fromisoformat(event["at"]).tzinfo is not None
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return dict(event) if known else None
