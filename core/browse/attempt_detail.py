"""All that is kept of one attempt, read so that no file in it, however broken, can stand in the way."""

from __future__ import annotations

import hashlib
import json
import math
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

from core.browse.command_line import Command, Roots, read_command_value
from core.browse.operations import is_under_way
from core.browse.paging import FileSource, head_of
from core.campaign.frozen import frozen_features
from core.campaign.places import place_of
from core.errors import BoresightError, IdentityError, InputError
from core.run.evidence import (
    COMMAND,
    COMMAND_FORMAT,
    MEASUREMENT,
    MEASUREMENT_FORMAT,
    STDERR,
    STDOUT,
    Origin,
    Result,
    read_result,
)
from core.run.layout import Operation
from core.run.record import RunRecord
from core.text import printable

AttemptStatus = Literal["accepted", "failed", "stopped", "interrupted", "under_way", "unreadable"]
Verdict = Literal["matches", "changed", "missing", "unreadable", "unrecorded"]

LARGEST_RECORD = 16 * 1024 * 1024  # bytes of a command or measurement that is still read
_CHUNK = 1024 * 1024
_LARGEST = 2**62
_STATUSES = ("accepted", "failed", "stopped")


class AttemptFile(NamedTuple):
    """One file of an attempt: its size, None where it is missing, and the digest that holds it."""

    name: str
    path: Path
    bytes: int | None
    recorded_sha256: str | None


class Head(NamedTuple):
    """The first lines of an output as safe text; `is_cut` where there is more of it."""

    lines: tuple[str, ...]
    is_cut: bool


class Measured(NamedTuple):
    """What was measured, as far as it reads; times in seconds, memory in bytes.

    `sampled_peak_rss_bytes` is of the process tree, `largest_process_peak_bytes` of its largest process.
    """

    outcome: str | None = None
    exit_code: int | None = None
    signal: str | None = None
    spawn_error: str | None = None
    elapsed_s: float | None = None
    cpu_user_s: float | None = None
    cpu_system_s: float | None = None
    sampled_peak_rss_bytes: int | None = None
    largest_process_peak_bytes: int | None = None
    samples: int | None = None
    started_at: str | None = None
    stalled_s: float | None = None
    leftover_processes: int | None = None
    unkilled_processes: int | None = None

    @property
    def timed_out(self) -> bool:
        """Whether its time limit ended it."""
        return self.outcome == "timed_out"


class Judgement(NamedTuple):
    """How the attempt's output was read; `message` may quote the tool."""

    error_class: str | None = None
    message: str | None = None
    returned: int | None = None
    duplicates: int | None = None
    surplus: int | None = None
    units: int | None = None


class AttemptDetail(NamedTuple):
    """One attempt. Text in it is as it was found, and not yet safe to show.

    `result` is the number of the attempt that was recorded as the operation's result, which this one may be;
    `problems` names what of it cannot be read.
    """

    operation: Operation
    number: int
    folder: Path
    status: AttemptStatus
    result: int | None
    origin: Origin | None
    disturbed: bool
    measured: Measured
    judgement: Judgement
    command: Command | None
    files: tuple[AttemptFile, ...]
    problems: tuple[str, ...]

    @property
    def is_result(self) -> bool:
        """Whether it is the attempt that was recorded as the operation's result."""
        return self.result == self.number

    def file(self, name: str) -> AttemptFile:
        """Return one of the attempt's files by its name."""
        return next(each for each in self.files if each.name == name)


def read_attempt(record: RunRecord, operation: Operation, number: int) -> AttemptDetail:
    """Read one attempt; what is missing or broken is told in the value, never raised."""
    problems: list[str] = []
    folder = record.layout.attempt(operation, number)
    result = _result(record, operation, problems)
    accepted = result if result is not None and result.attempt == number else None
    measurement, status = _measurement(folder, operation, problems)
    if status == "interrupted" and is_under_way(record.layout, operation, number):
        status = "under_way"
    return AttemptDetail(
        operation=operation,
        number=number,
        folder=folder,
        status=status,
        result=result.attempt if result is not None else None,
        origin=accepted.origin if accepted else None,
        disturbed=measurement.get("disturbed") is True,
        measured=_measured(_part(measurement, "measurement")),
        judgement=_judgement(_part(measurement, "validation")),
        command=_command(record, operation, folder, problems),
        files=_files(folder, measurement, accepted),
        problems=tuple(problems),
    )


def check_file(file: AttemptFile, is_cancelled: Callable[[], bool] = lambda: False) -> Verdict | None:
    """Compare a file with its recorded digest; None where cancelled."""
    try:
        source = FileSource(file.path)
    except InputError:
        return "missing" if not file.path.exists() else "unreadable"
    try:
        if file.recorded_sha256 is None:
            return "unrecorded"
        digest, offset = hashlib.sha256(), 0
        while data := source.read(offset, _CHUNK):
            if is_cancelled():
                return None
            digest.update(data)
            offset += len(data)
    except OSError:
        return "unreadable"
    finally:
        source.close()
    return "matches" if digest.hexdigest() == file.recorded_sha256 else "changed"


def read_head(file: AttemptFile, rows: int, characters: int) -> Head:
    """Return an output's first rows; raises InputError where it cannot be read."""
    source = FileSource(file.path)
    try:
        lines, is_cut = head_of(source, rows, characters)
    except OSError as error:
        raise InputError(f"{printable(str(file.path))}: {error.strerror or error}") from None
    finally:
        source.close()
    return Head(lines, is_cut)


def _result(record: RunRecord, operation: Operation, problems: list[str]) -> Result | None:
    try:
        return read_result(record.layout, operation)
    except (BoresightError, OSError) as error:
        problems.append(str(error))
        return None


def _measurement(
    folder: Path, operation: Operation, problems: list[str]
) -> tuple[Mapping[str, Any], AttemptStatus]:
    if not (folder / MEASUREMENT).exists():
        return {}, "interrupted"
    try:
        found = _document(folder / MEASUREMENT, MEASUREMENT_FORMAT)
    except InputError as error:
        problems.append(str(error))
        return {}, "unreadable"
    if found.get("operation") != str(operation):
        problems.append(f"{MEASUREMENT}: belongs to {found.get('operation')!r}")
    status = _part(found, "validation").get("status")
    return found, status if status in _STATUSES else "unreadable"


def _command(record: RunRecord, operation: Operation, folder: Path, problems: list[str]) -> Command | None:
    try:
        document = _document(folder / COMMAND, COMMAND_FORMAT)
        return read_command_value(document.get("command"), _roots(record, operation))
    except InputError as error:
        problems.append(str(error))
    except ValueError as error:
        problems.append(f"{COMMAND}: {error}")
    return None


def _roots(record: RunRecord, operation: Operation) -> Roots:
    try:
        writes = frozen_features(record)[operation.candidate].writes_repository
    except (IdentityError, KeyError):
        writes = False
    place = place_of(record.layout, operation.candidate, operation.repository, "", writes_repository=writes)
    return Roots(str(record.layout.root), str(place.repository), str(place.state), sys.executable)


def _files(folder: Path, measurement: Mapping[str, Any], accepted: Result | None) -> tuple[AttemptFile, ...]:
    if accepted is not None:
        held: dict[str, Any] = {
            COMMAND: accepted.command_sha256,
            STDOUT: accepted.stdout_sha256,
            STDERR: accepted.stderr_sha256,
            MEASUREMENT: accepted.measurement_sha256,
        }
    else:
        digests = _part(measurement, "digests")
        held = {name: _part(digests, name).get("sha256") for name in (COMMAND, STDOUT, STDERR)}
    return tuple(
        AttemptFile(name, folder / name, _size(folder / name), _optional_text(held.get(name)))
        for name in (STDOUT, STDERR, COMMAND, MEASUREMENT)
    )


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except OSError:
        return None


def _document(path: Path, form: str) -> Mapping[str, Any]:
    """Read a record of the evidence; raises InputError that says what is wrong with it."""
    source = FileSource(path)
    try:
        size = source.size()
        if size > LARGEST_RECORD:
            raise InputError(f"{path.name}: {size} bytes are more than any such record has")
        document = json.loads(source.read(0, size))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path.name}: not readable as JSON: {error}") from None
    except OSError as error:
        raise InputError(f"{path.name}: {error.strerror or error}") from None
    finally:
        source.close()
    if not isinstance(document, dict) or document.get("format") != form:
        raise InputError(f"{path.name}: no record of the format {form}")
    return document


def _measured(found: Mapping[str, Any]) -> Measured:
    spawn = found.get("spawn_error")
    return Measured(
        outcome=_optional_text(found.get("outcome")),
        exit_code=_whole(found.get("exit_code")),
        signal=_optional_text(found.get("signal")),
        spawn_error=_optional_text(spawn.get("text")) if isinstance(spawn, dict) else None,
        elapsed_s=_number(found.get("elapsed_s")),
        cpu_user_s=_number(found.get("cpu_user_s")),
        cpu_system_s=_number(found.get("cpu_system_s")),
        sampled_peak_rss_bytes=_whole(found.get("sampled_peak_rss_bytes")),
        largest_process_peak_bytes=_whole(found.get("largest_process_peak_bytes")),
        samples=_whole(found.get("samples")),
        started_at=_optional_text(found.get("started_at")),
        stalled_s=_number(found.get("stalled_s")),
        leftover_processes=_whole(found.get("leftover_processes")),
        unkilled_processes=_whole(found.get("unkilled_processes")),
    )


def _judgement(found: Mapping[str, Any]) -> Judgement:
    return Judgement(
        _optional_text(found.get("error_class")),
        _optional_text(found.get("message")),
        *(_whole(found.get(name)) for name in ("returned", "duplicates", "surplus", "units")),
    )


def _part(record: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    part = record.get(name)
    return part if isinstance(part, dict) else {}


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < _LARGEST:
        return None
    return float(value) if math.isfinite(value) else None


def _whole(value: Any) -> int | None:
    return value if type(value) is int and abs(value) < _LARGEST else None


def _optional_text(value: Any) -> str | None:
    return value if isinstance(value, str) else None
