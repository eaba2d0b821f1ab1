"""Attempts and accepted results: written once, durably, and verified by their digests ever after."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import stat
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

from core.canonical import canonical_json, sha256
from core.durable import Unnamed, sync_all, sync_directory
from core.errors import IdentityError
from core.run.layout import Operation, RunLayout

COMMAND_FORMAT = "boresight-command@1"
MEASUREMENT_FORMAT = "boresight-measurement@1"
RESULT_FORMAT = "boresight-result@1"
COMMAND, STDOUT, STDERR, MEASUREMENT = "command.json", "stdout", "stderr", "measurement.json"


@dataclass(frozen=True)
class Validation:
    """What became of an attempt: accepted, failed or stopped, and how its output was read."""

    status: str  # "accepted", "failed" or "stopped"
    error_class: str | None = None
    message: str | None = None  # in plain words; may quote the tool, so it never leaves the evidence
    returned: int | None = None
    duplicates: int = 0
    surplus: int = 0
    units: int | None = None
    details: Mapping[str, int] | None = None
    state_digest: str | None = None  # of an index, as its retriever counts it


class Attempt(NamedTuple):
    """An attempt whose folder and command stand, and whose output is being written."""

    operation: Operation
    number: int
    folder: Path

    @property
    def stdout(self) -> Path:
        """The raw standard output."""
        return self.folder / STDOUT

    @property
    def stderr(self) -> Path:
        """The raw standard error."""
        return self.folder / STDERR


class Origin(NamedTuple):
    """Where a taken-over result was measured: a run's identity and name, its cell, the attempt there."""

    run: str
    name: str
    cell: str
    attempt: int


class Result(NamedTuple):
    """Which attempt of an operation was accepted, and the digests that hold it.

    `root` is the run directory that the attempt was made in; `origin` is there where that was another run.
    """

    attempt: int
    cell: str
    command_sha256: str
    stdout_sha256: str
    stderr_sha256: str
    measurement_sha256: str
    root: str
    index_attempt: int | None = None
    index_measurement_sha256: str | None = None
    origin: Origin | None = None


def begin_attempt(layout: RunLayout, operation: Operation, command: Mapping[str, Any]) -> Attempt:
    """Make the next attempt's folder and write its command; raises OSError.

    `command` holds placeholders for the run's own paths; the root that they stood for is kept beside it.
    It is made durable when the attempt is published: one that never is counts as interrupted either way.
    """
    number = max(layout.attempts(operation), default=0) + 1
    folder = layout.attempt(operation, number)
    folder.mkdir(parents=True, mode=0o700)
    record = {"format": COMMAND_FORMAT, "root": str(layout.root), "command": command}
    (folder / COMMAND).write_bytes(canonical_json(record) + b"\n")
    return Attempt(operation, number, folder)


class Acceptance(NamedTuple):
    """What a result is bound to: its cell's identity, and for queries the index that was asked."""

    cell: str
    index_result: Result | None = None


def publish_attempt(
    attempt: Attempt, measurement: Mapping[str, Any], validation: Validation, *, disturbed: bool = False
) -> None:
    """Make an attempt's command and output durable, then its measurement; raises OSError.

    Until the measurement stands the attempt counts as interrupted. `disturbed` records that another
    campaign ran on the machine meanwhile.
    """
    left = _left(attempt)
    record = _measurement_bytes(attempt, left, measurement, validation, disturbed)
    with Unnamed(attempt.folder / MEASUREMENT, record) as measured:
        sync_all([measured.temporary, *left.filled])
        measured.take_name()
    sync_directory(attempt.folder)


def publish_accepted(
    layout: RunLayout,
    attempt: Attempt,
    measurement: Mapping[str, Any],
    validation: Validation,
    bound: Acceptance,
    *,
    disturbed: bool = False,
) -> Result:
    """Publish an attempt, then its operation's result; raises OSError.

    The result gets its name once the measurement has its own for good, and so speaks of what is there.
    """
    left = _left(attempt)
    record = _measurement_bytes(attempt, left, measurement, validation, disturbed)
    result = Result(
        attempt=attempt.number,
        cell=bound.cell,
        command_sha256=left.command.sha256,
        stdout_sha256=left.stdout.sha256,
        stderr_sha256=left.stderr.sha256,
        measurement_sha256=sha256(record),
        root=str(layout.root),
        index_attempt=bound.index_result.attempt if bound.index_result else None,
        index_measurement_sha256=bound.index_result.measurement_sha256 if bound.index_result else None,
    )
    path = layout.result(attempt.operation)
    with (
        Unnamed(attempt.folder / MEASUREMENT, record) as measured,
        Unnamed(path, result_bytes(attempt.operation, result)) as accepted,
    ):
        sync_all([measured.temporary, accepted.temporary, *left.filled])
        measured.take_name()
        sync_all([attempt.folder, path.parent.parent])
        accepted.take_name()
    sync_directory(path.parent)
    return result


class _Left(NamedTuple):
    """What an attempt left in its files, and those of them that hold anything."""

    command: _Found
    stdout: _Found
    stderr: _Found
    filled: tuple[Path, ...]  # an empty file has nothing to lose but its name, which its folder's sync keeps


def _left(attempt: Attempt) -> _Left:
    command = _found(attempt.folder / COMMAND)
    stdout, stderr = (_found(path, missing_ok=True) for path in (attempt.stdout, attempt.stderr))
    files = (attempt.folder / COMMAND, command), (attempt.stdout, stdout), (attempt.stderr, stderr)
    return _Left(command, stdout, stderr, tuple(path for path, found in files if found.bytes))


def _measurement_bytes(
    attempt: Attempt, left: _Left, measurement: Mapping[str, Any], validation: Validation, disturbed: bool
) -> bytes:
    record = {
        "format": MEASUREMENT_FORMAT,
        "operation": str(attempt.operation),
        "attempt": attempt.number,
        "digests": {
            COMMAND: {"sha256": left.command.sha256},
            STDOUT: left.stdout._asdict(),
            STDERR: left.stderr._asdict(),
        },
        "disturbed": disturbed,
        "measurement": measurement,
        "validation": {key: value for key, value in asdict(validation).items() if value is not None},
    }
    return canonical_json(record) + b"\n"


class _Found(NamedTuple):
    """What an attempt left in a file."""

    bytes: int
    sha256: str


def _found(path: Path, *, missing_ok: bool = False) -> _Found:
    """Return size and digest; with `missing_ok` an absent file is made: what never ran printed nothing."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | (os.O_CREAT if missing_ok else 0), 0o600)
    with open(descriptor, "rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
        return _Found(stream.tell(), digest)


def result_bytes(operation: Operation, result: Result) -> bytes:
    """Encode a result as its operation's `result.json`."""
    data = {"format": RESULT_FORMAT, "operation": str(operation), **result._asdict()}
    if result.origin is None:
        del data["origin"]
    else:
        data["origin"] = result.origin._asdict()
    return canonical_json(data) + b"\n"


def read_result(layout: RunLayout, operation: Operation) -> Result | None:
    """Return an operation's accepted result, or None; raises IdentityError where the record is unreadable."""
    path = layout.result(operation)
    try:
        record = _record(_read(path), path, RESULT_FORMAT)
    except FileNotFoundError:
        return None
    result = _parsed_result(record, path)
    if record.get("operation") != str(operation):
        raise IdentityError(f"{path}: belongs to operation {record.get('operation')!r}; {_RESTORE}")
    return result


def read_measurement(folder: Path) -> dict[str, Any]:
    """Return an attempt's measurement record: `digests`, `measurement` and `validation`.

    Raises FileNotFoundError where the attempt was interrupted, IdentityError where the record is unreadable.
    """
    path = folder / MEASUREMENT
    return _whole_measurement(_read(path), path)


def read_command(folder: Path) -> dict[str, Any]:
    """Return an attempt's command record: `command` with placeholders, and `root`.

    Raises FileNotFoundError, and IdentityError where the record is unreadable.
    """
    path = folder / COMMAND
    return _record(_read(path), path, COMMAND_FORMAT)


class Verified(NamedTuple):
    """An accepted attempt's files as read for verification, and what differs from their digests."""

    command: bytes
    stdout: bytes
    measurement: bytes
    changed: tuple[str, ...]


def verify_result(layout: RunLayout, operation: Operation, result: Result) -> Verified:
    """Read an accepted attempt and compare each file with its recorded digest."""
    folder = layout.attempt(operation, result.attempt)
    found: dict[str, bytes] = {}
    changed = []
    for name, expected in (
        (COMMAND, result.command_sha256),
        (STDOUT, result.stdout_sha256),
        (STDERR, result.stderr_sha256),
        (MEASUREMENT, result.measurement_sha256),
    ):
        try:
            if _has_another_size(folder, name):
                found[name] = b""
                changed.append(f"{operation}/{folder.name}/{name}: changed since it was recorded")
                continue
            found[name] = _whole_file(f"{folder}/{name}")
        except OSError as error:
            found[name] = b""
            changed.append(f"{operation}/{folder.name}/{name}: {error.strerror}")
            continue
        if sha256(found[name]) != expected:
            changed.append(f"{operation}/{folder.name}/{name}: changed since it was recorded")
    return Verified(found[COMMAND], found[STDOUT], found[MEASUREMENT], tuple(changed))


def _has_another_size(folder: Path, name: str) -> bool:
    """Tell of a large output that its measurement recorded another size, which spares reading it."""
    if name not in {STDOUT, STDERR}:
        return False
    size = os.stat(f"{folder}/{name}").st_size  # noqa: PTH116 - a path object for each of millions costs
    if size <= _LARGE_BYTES:
        return False
    try:
        return bool(read_measurement(folder)["digests"][name]["bytes"] != size)
    except (OSError, IdentityError, KeyError, TypeError):
        return False


def load_measurement(raw: bytes, operation: Operation) -> dict[str, Any]:
    """Parse the bytes of a measurement that `verify_result` read; raises IdentityError."""
    return _whole_measurement(raw, Path(str(operation), MEASUREMENT))


def evidence_changed(changed: list[str] | tuple[str, ...], run: Path) -> IdentityError:
    """Return the error that refuses work on evidence that is not what was recorded."""
    shown = [f"  - {line}" for line in changed[:20]]
    if len(changed) > 20:
        shown.append(f"  … and {len(changed) - 20} more")
    return IdentityError(
        "\n".join([f"{run}: retained evidence differs from its digests; {_RESTORE}", *shown])
    )


_RESTORE = "restore it from a copy, or begin a new run (nothing was changed)"


_BLOCK_BYTES = 64 * 1024
_LARGE_BYTES = 1024 * 1024
_MEASUREMENT_FIELDS = (("digests", COMMAND), ("measurement", "outcome"), ("validation", "status"))


def _read(path: Path) -> bytes:
    """Read a record; an absent one is the caller's to judge."""
    try:
        return _whole_file(str(path))
    except FileNotFoundError:
        raise
    except OSError as error:
        raise IdentityError(f"{path}: cannot be read: {error.strerror or error}; {_RESTORE}") from None


def _whole_file(path: str) -> bytes:
    """Read a file with the fewest calls: readers of a large run open millions of small ones."""
    # A pipe in a file's place must not keep anyone waiting.
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        parts = []
        while part := os.read(descriptor, _BLOCK_BYTES):
            parts.append(part)
        if not parts and not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "no regular file")
    finally:
        os.close(descriptor)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _whole_measurement(raw: bytes, path: Path) -> dict[str, Any]:
    record = _record(raw, path, MEASUREMENT_FORMAT)
    for field, inner in _MEASUREMENT_FIELDS:
        value = record.get(field)
        if not isinstance(value, dict) or inner not in value:
            raise IdentityError(f"{path}: the field {field!r} is missing or incomplete; {_RESTORE}")
    return record


def _parsed_result(record: Mapping[str, Any], path: Path) -> Result:
    try:
        plain = {field: record[field] for field in Result._fields if field != "origin"}
    except KeyError as error:
        raise IdentityError(f"{path}: the field {error} is missing; {_RESTORE}") from None
    for field, value in plain.items():
        wanted = int if field in {"attempt", "index_attempt"} else str
        optional = field in {"index_attempt", "index_measurement_sha256"}
        if type(value) is not wanted and not (optional and value is None):
            raise IdentityError(f"{path}: the field {field!r} holds {value!r}; {_RESTORE}")
    return Result(**plain, origin=_parsed_origin(record.get("origin"), path))


def _parsed_origin(value: Any, path: Path) -> Origin | None:
    if value is None:
        return None
    kinds = {"run": str, "name": str, "cell": str, "attempt": int}
    if not isinstance(value, dict) or {key: type(inner) for key, inner in value.items()} != kinds:
        raise IdentityError(f"{path}: the field 'origin' holds no origin; {_RESTORE}")
    return Origin(**value)


def _record(raw: bytes, path: Path, expected: str) -> dict[str, Any]:
    try:
        record = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise IdentityError(f"{path}: not readable as JSON ({error}); {_RESTORE}") from None
    found = record.get("format") if isinstance(record, dict) else None
    if found != expected:
        raise IdentityError(f"{path}: format {found!r} where {expected!r} is needed; {_RESTORE}")
    return dict(record)
