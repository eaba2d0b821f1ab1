"""What one operation left, reduced to the row that the index keeps of it."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from core.browse.schema import ANSWERED, CHANGED, EMPTY, FAILED, MISSING
from core.campaign.plan import Planned
from core.errors import IdentityError
from core.ranking import LEVELS, Target
from core.rankings import EvidenceReader, Observation
from core.retrievers.protocol import AnswerError
from core.run.evidence import MEASUREMENT, read_measurement
from core.run.layout import Operation, RunLayout
from core.run.lock import is_executed
from core.scoring.matching import target_ranks_by_level
from core.text import printable

_LARGEST = 2**62
SETTLED_NS = 2_000_000_000  # a file system's clock may tick slowly: what is younger is looked at again
_TOLD_CHARACTERS = 500


class Task(NamedTuple):
    """One operation to read, with the targets of its case (none for indexes and probes)."""

    candidate: str
    repository: str
    kind: str
    case: str | None
    targets: Sequence[Sequence[Any]] = ()  # as `Target`, or as JSON made a list of it

    @property
    def operation(self) -> Operation:
        """The operation to read."""
        return Operation(self.candidate, self.repository, self.kind, self.case)


class Slot(NamedTuple):
    """The place of an operation's row in the index, by numbers, with its case's channel."""

    kind: int
    subject: int
    candidate: int
    repository: int
    channel: str | None


class Pending(NamedTuple):
    """An operation to read, and where its row belongs."""

    slot: Slot
    task: Task


class Attempt(NamedTuple):
    """One attempt; `status` is accepted, failed, stopped, interrupted, or unreadable.

    Who asks while the run is executed may find it to be `under_way` instead of interrupted.
    """

    number: int
    status: str
    error_class: str | None = None
    outcome: str | None = None
    exit_code: int | None = None
    signal: str | None = None
    elapsed_s: float | None = None
    started_at: str | None = None


class Facts(NamedTuple):
    """What the index keeps of one operation.

    `digest` is the measurement's SHA-256 of an accepted result and `index_digest` that of the index
    which it was asked of. `ranks` has the first hit at each of LEVELS. `folder_ns` and `attempt_ns` are
    change times of the operation's folder and of its newest attempt where that was not accepted, 0 where
    they may still move.
    """

    status: int = MISSING
    error_class: str | None = None
    attempt: int | None = None
    newest: int = 0
    elapsed_s: float | None = None
    rss: int | None = None
    units: int | None = None
    returned: int | None = None
    timed_out: bool = False
    disturbed: bool = False
    digest: str | None = None
    index_digest: str | None = None
    folder_ns: int = 0
    attempt_ns: int = 0
    ranks: Sequence[int | None] = (None,) * len(LEVELS)
    attempts: Sequence[Sequence[Any]] = ()  # as `Attempt`
    problems: Sequence[str] = ()


NOTHING = Facts()


def read_facts(reader: EvidenceReader, task: Task) -> Facts:
    """Read what one operation left, comparing every file of an accepted attempt with its digest."""
    now = time.time_ns()
    operation = task.operation
    folder = f"{reader.layout.operations}/{operation}"
    folder_ns = changed_at(folder)
    if folder_ns == 0:
        return NOTHING
    reader.changed.clear()
    try:
        seen = reader.observe(Planned(operation))
    except IdentityError as error:
        reader.changed.append(str(error))
        seen = Observation(Planned(operation), "missing")
    attempts = _attempts(reader, seen)
    newest = max((attempt.number for attempt in attempts), default=0)
    accepted = seen.result.attempt if seen.result else None
    attempt_ns = 0
    if newest and newest != accepted:
        attempt_ns = changed_at(attempt_folder(folder, newest))
    if max(folder_ns, attempt_ns) > now - SETTLED_NS:
        folder_ns = 0
    facts = Facts(newest=newest, folder_ns=folder_ns, attempt_ns=attempt_ns, attempts=attempts)
    if reader.changed:
        told = tuple(_text(printable(problem, _TOLD_CHARACTERS)) for problem in reader.changed)
        return facts._replace(status=CHANGED, problems=told)
    return _judged(reader, task, seen, facts)


def changed_at(folder: str) -> int:
    """Return when a folder's entries last changed, by the clock that nobody can set back; 0 without one."""
    try:
        return os.stat(folder).st_ctime_ns  # noqa: PTH116 - hundreds of thousands at a time
    except OSError:
        return 0


def attempt_folder(folder: str, number: int) -> str:
    """Return the folder of an operation's attempt, as `RunLayout` names it."""
    return f"{folder}/attempt-{number:04d}"


def is_under_way(layout: RunLayout, operation: Operation, number: int) -> bool:
    """Tell whether an attempt is being made: begun by the run's present execution, and not measured yet."""
    folder = layout.attempt(operation, number)
    if (folder / MEASUREMENT).exists() or not is_executed(layout.lock):
        return False
    try:
        taken = layout.lock.stat().st_mtime_ns
    except OSError:
        return False
    return changed_at(str(folder)) >= taken  # an older one was interrupted before


def _judged(reader: EvidenceReader, task: Task, seen: Observation, facts: Facts) -> Facts:
    measured = _part(seen.record, "measurement")
    facts = facts._replace(
        status={"accepted": ANSWERED, "failed": FAILED}.get(seen.status, MISSING),
        error_class=_optional_text(seen.error_class) if seen.status == "failed" else None,
        attempt=seen.result.attempt if seen.result else None,
        elapsed_s=_number(measured.get("elapsed_s")),
        rss=_whole(measured.get("sampled_peak_rss_bytes")),
        units=_whole(seen.units),
        timed_out=seen.timed_out,
        disturbed=seen.disturbed,
        digest=seen.result.measurement_sha256 if seen.result else None,
        index_digest=seen.result.index_measurement_sha256 if seen.result else None,
    )
    if task.kind != "primary" or facts.status != ANSWERED:
        return facts
    try:
        ranking = reader.ranking(seen)
    except AnswerError as error:
        return facts._replace(status=FAILED, error_class=_text(error.kind))
    ranks = target_ranks_by_level(ranking, [Target(*target) for target in task.targets])
    return facts._replace(
        status=ANSWERED if ranking else EMPTY,
        returned=len(ranking),
        ranks=tuple(
            min((rank for rank in ranks[level] if rank is not None), default=None) for level in LEVELS
        ),
    )


def _attempts(reader: EvidenceReader, seen: Observation) -> tuple[Attempt, ...]:
    operation = seen.planned.operation
    accepted = seen.result.attempt if seen.result else None
    found = []
    for number in reader.layout.attempts(operation):
        record = seen.record if number == accepted else None
        if record is None:
            try:
                record = read_measurement(reader.layout.attempt(operation, number))
            except FileNotFoundError:
                found.append(Attempt(number, "interrupted"))
                continue
            except IdentityError:
                found.append(Attempt(number, "unreadable"))
                continue
        found.append(_attempt(number, record))
    return tuple(found)


def _attempt(number: int, record: Mapping[str, Any]) -> Attempt:
    measured, validation = _part(record, "measurement"), _part(record, "validation")
    return Attempt(
        number,
        _text(str(validation.get("status"))),
        _optional_text(validation.get("error_class")),
        _optional_text(measured.get("outcome")),
        _whole(measured.get("exit_code")),
        _optional_text(measured.get("signal")),
        _number(measured.get("elapsed_s")),
        _optional_text(measured.get("started_at")),
    )


def _part(record: Mapping[str, Any] | None, name: str) -> Mapping[str, Any]:
    part = record.get(name) if record else None
    return part if isinstance(part, dict) else {}


def _number(value: Any) -> float | None:
    """Return a finite number, as failed attempts are held by no digest and may hold anything."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < _LARGEST:
        return None
    return float(value)


def _whole(value: Any) -> int | None:
    return value if type(value) is int and abs(value) < _LARGEST else None


def _optional_text(value: Any) -> str | None:
    return _text(value) if isinstance(value, str) else None


def _text(value: str) -> str:
    return value.encode("utf-8", "replace").decode("utf-8")
