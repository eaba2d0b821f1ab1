"""Answers about operations: what became of them, their attempts, and counts by cell and by failure."""

from __future__ import annotations

import sqlite3
import statistics
from collections import defaultdict
from typing import Any, Literal, NamedTuple, cast, get_args

from core.browse.filters import searchable
from core.browse.operations import Attempt
from core.browse.rows import CellRow, FailureGroup, OperationRow, OutcomeStatus, Problem
from core.browse.schema import (
    FAILED,
    INDEXES,
    KINDS,
    PRIMARIES,
    PROBES,
    STATUSES,
    TIMED,
    UNSUPPORTED,
    WRONG,
    Names,
)
from core.errors import InputError
from core.run.layout import Operation
from core.scoring.records import LATENCY_KINDS, LatencyKind
from core.text import printable

UNKNOWN = "unknown"
_COLUMNS = (
    "o.kind, o.candidate, o.repository, c.id, o.status, o.error_class, o.attempt, o.newest, o.elapsed_s,"
    " o.rss, o.units, o.returned, o.timed_out, o.disturbed, o.digest"
)
# The cases are looked through once, not once for each operation.
_HOLDS = (
    "(instr(lower(ifnull(o.error_class, '')), ?) > 0"  # noqa: S608
    f" OR o.kind <> {INDEXES} AND o.subject IN (SELECT number FROM cases WHERE instr(searched, ?) > 0))"
)
_FROM = f"operations o LEFT JOIN cases c ON o.kind <> {INDEXES} AND c.number = o.subject"
_CELL_BY_CELL = "o.candidate, o.repository, o.kind, o.status, o.subject"
OperationSort = Literal["status", "elapsed", "memory", "attempts"]
_LARGEST_FIRST: dict[OperationSort, str] = {
    "elapsed": "o.elapsed_s",
    "memory": "o.rss",
    "attempts": "o.newest",
}


class OperationFilters(NamedTuple):
    """Which operations to show: those that match all that is not None.

    `text` must stand in the error class, or in the case's id, query or targets, whatever its letters' case.
    """

    candidate: str | None = None
    repository: str | None = None
    kind: str | None = None
    status: OutcomeStatus | None = None
    error_class: str | None = None
    text: str | None = None


def count_operations(connection: sqlite3.Connection, names: Names, filters: OperationFilters) -> int:
    """Return how many planned operations match."""
    where, values = _where(filters, names)
    found = connection.execute(f"SELECT count(*) FROM operations o WHERE {where}", values)  # noqa: S608
    return int(found.fetchone()[0])


def operation_page(
    connection: sqlite3.Connection,
    names: Names,
    filters: OperationFilters,
    offset: int,
    limit: int,
    sort: OperationSort = "status",
) -> tuple[OperationRow, ...]:
    """Return planned operations that match, changed and failed ones first, each part cell by cell.

    Sorted by anything else than status, those stand first that took most of it.
    """
    where, values = _where(filters, names)
    if sort != "status":
        rows = connection.execute(
            f"SELECT {_COLUMNS} FROM {_FROM} WHERE {where}"  # noqa: S608
            f" ORDER BY {_largest_first(sort)}, {_CELL_BY_CELL} LIMIT ? OFFSET ?",
            (*values, limit, offset),
        ).fetchall()
        return tuple(_row(row, names) for row in rows)
    wrong = f"{where} AND o.{WRONG}"
    (first,) = connection.execute(f"SELECT count(*) FROM operations o WHERE {wrong}", values).fetchone()  # noqa: S608
    rows = []
    for part, skipped in ((wrong, offset), (f"{where} AND NOT o.{WRONG}", max(offset - first, 0))):
        rows += connection.execute(
            f"SELECT {_COLUMNS} FROM {_FROM} WHERE {part} ORDER BY {_CELL_BY_CELL} LIMIT ? OFFSET ?",  # noqa: S608
            (*values, limit - len(rows), skipped),
        )
    return tuple(_row(row, names) for row in rows)


def operations_of_case(
    connection: sqlite3.Connection, names: Names, kind: int, number: int
) -> dict[str, OperationRow]:
    """Return what became of a case's queries or probes, by candidate."""
    found = connection.execute(
        f"SELECT {_COLUMNS} FROM {_FROM} WHERE o.kind = ? AND o.subject = ? ORDER BY o.candidate",  # noqa: S608
        (kind, number),
    )
    return {row.operation.candidate: row for row in (_row(each, names) for each in found)}


def attempts_of(connection: sqlite3.Connection, names: Names, operation: Operation) -> tuple[Attempt, ...]:
    """Return every attempt of an operation in order, interrupted ones too; none where it never ran."""
    kind, candidate = (
        _number("kind", operation.kind, KINDS),
        _number("candidate", operation.candidate, names.candidates),
    )
    subject = _number("repository", operation.repository, names.repositories)
    if kind != INDEXES:
        case = connection.execute("SELECT number FROM cases WHERE id = ?", (operation.case,)).fetchone()
        if case is None:
            raise InputError(f"no case {printable(str(operation.case), 80)!r} in this run")
        subject = case[0]
    found = connection.execute(
        "SELECT number, status, error_class, outcome, exit_code, signal, elapsed_s, started_at"
        " FROM attempts WHERE kind = ? AND subject = ? AND candidate = ? ORDER BY number",
        (kind, subject, candidate),
    )
    return tuple(Attempt(*row) for row in found)


def failure_groups(connection: sqlite3.Connection, names: Names) -> tuple[FailureGroup, ...]:
    """Return failed operations counted by error class and cell, the most frequent first."""
    found = connection.execute(
        f"SELECT error_class, candidate, repository, count(*) FROM operations WHERE {WRONG}"  # noqa: S608
        " AND status = ? GROUP BY 1, 2, 3 ORDER BY 4 DESC, 1, 2, 3",
        (FAILED,),
    )
    return tuple(
        FailureGroup(error or UNKNOWN, names.candidates[candidate], names.repositories[repository], many)
        for error, candidate, repository, many in found
    )


def cell_rows(connection: sqlite3.Connection, names: Names) -> tuple[CellRow, ...]:
    """Return every cell, candidate by candidate."""
    counts: dict[tuple[int, int, int], dict[OutcomeStatus, int]] = defaultdict(dict)
    for candidate, repository, kind, status, many in connection.execute(
        "SELECT candidate, repository, kind, status, count(*) FROM operations GROUP BY 1, 2, 3, 4"
    ):
        counts[candidate, repository, kind][_status(status)] = many
    indexes = connection.execute(
        f"SELECT {_COLUMNS} FROM {_FROM} WHERE o.kind = ? ORDER BY o.candidate, o.repository",  # noqa: S608
        (INDEXES,),
    ).fetchall()
    return tuple(
        CellRow(
            names.candidates[row[1]],
            names.repositories[row[2]],
            _row(row, names),
            counts[row[1], row[2], PRIMARIES],
            counts[row[1], row[2], PROBES],
            {kind: _median(connection, row[1], row[2], kind) for kind in LATENCY_KINDS},
        )
        for row in indexes
    )


def problem_page(
    connection: sqlite3.Connection, names: Names, offset: int, limit: int
) -> tuple[Problem, ...]:
    """Return what was found changed or unreadable, in the order of cases."""
    found = connection.execute(
        "SELECT p.kind, p.candidate, o.repository, c.id, p.told FROM problems p"
        " JOIN operations o USING (kind, subject, candidate)"
        " LEFT JOIN cases c ON p.kind > 0 AND c.number = p.subject"
        " ORDER BY p.kind, p.subject, p.candidate, p.position LIMIT ? OFFSET ?",
        (limit, offset),
    )
    return tuple(Problem(_operation(row[0], row[1], row[2], row[3], names), row[4]) for row in found)


def count_problems(connection: sqlite3.Connection) -> int:
    """Return how many problems there are."""
    return int(connection.execute("SELECT count(*) FROM problems").fetchone()[0])


def _median(
    connection: sqlite3.Connection, candidate: int, repository: int, kind: LatencyKind
) -> float | None:
    """Return the median over the operations that answered, as an index of the table holds them in order."""
    channel = None if kind == "ctx" else kind
    where = f"WHERE candidate = ? AND repository = ? AND channel IS ? AND {TIMED}"
    cell = (candidate, repository, channel)
    (count,) = connection.execute(f"SELECT count(*) FROM operations {where}", cell).fetchone()  # noqa: S608
    middle = connection.execute(
        f"SELECT elapsed_s FROM operations {where} ORDER BY elapsed_s LIMIT ? OFFSET ?",  # noqa: S608
        (*cell, 2 - count % 2, max(count - 1, 0) // 2),
    ).fetchall()
    return statistics.median(seconds for (seconds,) in middle) if middle else None


def _where(filters: OperationFilters, names: Names) -> tuple[str, tuple[Any, ...]]:
    parts: dict[str, tuple[Any, ...]] = {}
    if filters.candidate is not None:
        parts["o.candidate = ?"] = (_number("candidate", filters.candidate, names.candidates),)
    if filters.repository is not None:
        parts["o.repository = ?"] = (_number("repository", filters.repository, names.repositories),)
    if filters.kind is not None:
        parts["o.kind = ?"] = (_number("kind", filters.kind, KINDS),)
    if filters.status is not None:
        parts["o.status = ?"] = (_number("status", filters.status, STATUSES),)
    if filters.error_class is not None:
        parts[f"ifnull(o.error_class, '{UNKNOWN}') = ?"] = (filters.error_class,)
    if filters.text:
        parts[_HOLDS] = (searchable(filters.text),) * 2
    if filters.status != STATUSES[UNSUPPORTED]:
        parts["o.status <> ?"] = (UNSUPPORTED,)  # never planned
    return " AND ".join(parts), tuple(value for values in parts.values() for value in values)


def _largest_first(sort: OperationSort) -> str:
    if sort not in _LARGEST_FIRST:
        known = ", ".join(get_args(OperationSort))
        raise InputError(f"sorting operations by {printable(str(sort), 40)!r} is not known: {known}")
    return f"{_LARGEST_FIRST[sort]} IS NULL, {_LARGEST_FIRST[sort]} DESC"


def _row(found: tuple[Any, ...], names: Names) -> OperationRow:
    kind, candidate, repository, case, status, error, attempt, newest, elapsed_s = found[:9]
    rss, units, returned, timed_out, disturbed, digest = found[9:]
    return OperationRow(
        operation=_operation(kind, candidate, repository, case, names),
        status=_status(status),
        error_class=error,
        attempt=attempt,
        attempts=newest,
        elapsed_s=elapsed_s,
        sampled_peak_rss_bytes=rss,
        units=units,
        returned=returned,
        timed_out=bool(timed_out),
        disturbed=bool(disturbed),
        measurement_sha256=digest.hex() if digest else None,
    )


def _operation(kind: int, candidate: int, repository: int, case: str | None, names: Names) -> Operation:
    return Operation(names.candidates[candidate], names.repositories[repository], KINDS[kind], case)


def _status(number: int) -> OutcomeStatus:
    return cast(OutcomeStatus, STATUSES[number])


def _number(what: str, name: str, known: tuple[str, ...]) -> int:
    if name not in known:
        raise InputError(f"no {what} {printable(name, 60)!r} in this run")
    return known.index(name)
