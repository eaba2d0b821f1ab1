"""What the attempts screen reads of a run; call it from threads."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from core.browse.attempt_detail import AttemptDetail, AttemptFile, Head, Verdict, check_file, read_head
from core.browse.branches import Branch, View, operation_branch
from core.browse.index import RunIndex
from core.browse.operation_queries import OperationFilters, OperationSort
from core.browse.rows import OperationRow, OutcomeStatus
from core.errors import BoresightError, InputError
from core.reports.wording import counted, failed_words
from core.run.evidence import STDERR, STDOUT
from core.run.layout import Operation
from core.run.lock import is_executed

CHECKED_AT_ONCE = 64 * 1024 * 1024  # bytes of a file whose digest is compared without being asked
HEAD_ROWS = 12
APART = "  ·  "  # what stands between two facts of the head
HEAD_CHARACTERS = 500
SORTS: Mapping[OperationSort, str] = {
    "status": "failures first",
    "elapsed": "slowest first",
    "memory": "most memory first",
    "attempts": "most attempts first",
}
EXPORTED = (
    "candidate",
    "repository",
    "operation",
    "status",
    "error_class",
    "accepted_attempt",
    "attempts",
    "elapsed_s",
    "sampled_peak_rss_bytes",
    "timed_out",
    "disturbed",
)


class Stamp(NamedTuple):
    """What a file was compared with, and as what it lay there: where that differs, so may the verdict."""

    recorded_sha256: str | None
    bytes: int
    mtime_ns: int


Compared = dict[Path, tuple[Stamp, Verdict]]
"""What was said of large files, which are not compared again for being looked at."""


def head_of_run(index: RunIndex, view: View) -> str:
    """Return how many operations there are, how many failed, and what of them is shown."""
    planned = index.count_operations()
    failed = index.count_operations(OperationFilters(status="failed"))
    changed = index.count_operations(OperationFilters(status="changed"))
    missing = index.count_operations(OperationFilters(status="missing"))
    unasked = _unasked(index) if missing else 0
    parts = [
        f"{index.record.layout.root.name}: {counted(planned, 'operation')}",
        f"{'✖ ' if failed else ''}{failed_words(failed + unasked, unasked)}",
        f"≠ {changed:,} changed" if changed else "",
        f"{missing - unasked:,} without a result" if missing > unasked else "",
        "● being written" if is_executed(index.record.layout.lock) else "",
        "failures alone" if view.only_failures else "",
        f"filter {view.text!r}" if view.text else "",
        SORTS[view.sort] if view.sort != "status" else "",
    ]
    return APART.join(part for part in parts if part)


def _unasked(index: RunIndex) -> int:
    """Count what was never asked, as its cell's index failed."""
    broken = (cell for cell in index.cells() if cell.indexing.status == "failed")
    return sum(many.get("missing", 0) for cell in broken for many in (cell.primaries, cell.probes))


def asked_branches(index: RunIndex, operation: Operation) -> tuple[Branch, ...]:
    """Return the branch of one operation of a run."""
    if operation.kind == "index" or operation.case is None:
        rows = index.operations(OperationFilters(operation.candidate, operation.repository, operation.kind))
        row = rows[0] if rows else None
    else:
        case = index.case(operation.case)
        row = (case.primaries if operation.kind == "primary" else case.probes).get(operation.candidate)
    return (operation_branch(index, row, "asked"),) if row is not None else ()


def query_of(index: RunIndex, operation: Operation) -> tuple[str | None, str | None]:
    """Return the query and the channel of an operation; nothing of an index."""
    if operation.case is None:
        return None, None
    try:
        case = index.case(operation.case)
    except BoresightError:
        return None, None
    return case.row.query, case.row.channel if operation.kind == "primary" else "ctx"


def heads_of(detail: AttemptDetail) -> dict[str, Head | str]:
    """Return the beginnings of an attempt's outputs, or why there is none."""
    heads: dict[str, Head | str] = {}
    for name in (STDOUT, STDERR):
        try:
            heads[name] = read_head(detail.file(name), HEAD_ROWS, HEAD_CHARACTERS)
        except InputError as error:
            heads[name] = str(error)
    return heads


def compared(
    detail: AttemptDetail, is_cancelled: Callable[[], bool], before: Compared, *, all_files: bool
) -> dict[str, Verdict]:
    """Return what comparing files with their digests says; of large ones, unless `all_files`, what it said.

    What is found of large files is kept in `before`.
    """
    verdicts = {} if all_files else said_before(detail, before)
    for file in detail.files:
        is_large = (file.bytes or 0) > CHECKED_AT_ONCE
        if is_large and not all_files:
            continue
        stamp = _stamp(file)
        verdict = check_file(file, is_cancelled)
        if verdict is not None:
            verdicts[file.name] = verdict
            if is_large and stamp is not None:
                before[file.path] = stamp, verdict
    return verdicts


def said_before(detail: AttemptDetail, before: Compared) -> dict[str, Verdict]:
    """Return what was said of large files that still lie there as they did."""
    verdicts: dict[str, Verdict] = {}
    for file in detail.files:
        stamp, verdict = before.get(file.path, (None, None))
        if verdict is not None and stamp == _stamp(file):
            verdicts[file.name] = verdict
    return verdicts


def _stamp(file: AttemptFile) -> Stamp | None:
    try:
        found = file.path.stat()
    except OSError:
        return None
    return Stamp(file.recorded_sha256, found.st_size, found.st_mtime_ns)


def exported_rows(index: RunIndex, view: View) -> Iterator[tuple[str | None, tuple[object, ...]]]:
    """Yield the operations that a view shows, each after the label of its repository."""
    parts: tuple[OutcomeStatus | None, ...] = ("failed", "changed") if view.only_failures else (None,)
    filters = OperationFilters(text=view.text or None)
    for part in parts:
        offset = 0
        while page := index.operations(filters._replace(status=part), offset, sort=view.sort):
            offset += len(page)
            yield from ((row.operation.repository, _cells(row)) for row in page)


def _cells(row: OperationRow) -> tuple[object, ...]:
    operation = row.operation
    return (
        operation.candidate,
        operation.repository,
        operation.name,
        row.status,
        row.error_class,
        row.attempt,
        row.attempts,
        row.elapsed_s,
        row.sampled_peak_rss_bytes,
        row.timed_out,
        row.disturbed,
    )
