"""Answers about cases: how many fulfil filters, a page of them, and one in full."""

from __future__ import annotations

import json
import sqlite3
from typing import Any, cast

from core.browse.filters import Filters, Sort, condition, order
from core.browse.operation_queries import operations_of_case
from core.browse.rows import CaseDetail, CaseRow, OutcomeStatus, Standing
from core.browse.schema import PRIMARIES, PROBES, STATUSES, Names, rank_column
from core.errors import InputError
from core.ranking import LEVELS, Level, Target
from core.text import printable

LARGEST_PAGE = 10_000
LARGEST_OFFSET = 2**40
_STANDING_COLUMNS = 3
_CASE = "c.number, c.id, c.repository, c.intent, c.channel, c.query, c.targets"

# The statements below hold column names and numbers that this package made; all else is bound.


def count_cases(connection: sqlite3.Connection, names: Names, filters: Filters) -> int:
    """Return how many cases fulfil the filters."""
    where = condition(filters, names)
    sql = f"SELECT count(*) FROM {_from(joins=where.joins)} WHERE {where.sql}"  # noqa: S608
    return int(connection.execute(sql, where.values).fetchone()[0])


def case_page(
    connection: sqlite3.Connection, names: Names, filters: Filters, sort: Sort, offset: int, limit: int
) -> tuple[CaseRow, ...]:
    """Return the cases from `offset` on that fulfil the filters, `limit` at most."""
    check_page(offset, limit)
    where = condition(filters, names)
    ordered = order(sort, names, filters.level)
    chosen = connection.execute(
        f"SELECT a.number FROM {_from(joins=where.joins)} WHERE {where.sql}"  # noqa: S608
        f" ORDER BY {ordered} LIMIT ? OFFSET ?",
        (*where.values, limit, offset),
    ).fetchall()
    sql = f"{_row_sql(names, filters.level or names.level)} WHERE a.number = ?"
    return tuple(_row(connection.execute(sql, number).fetchone(), names) for number in chosen)


def case_detail(connection: sqlite3.Connection, names: Names, case_id: str) -> CaseDetail:
    """Return all that is held of a case; raises InputError where the run has none of that id."""
    sql = f"{_row_sql(names, names.level)} WHERE c.id = ?"
    try:
        found = connection.execute(sql, (case_id,)).fetchone()
    except UnicodeEncodeError:
        found = None
    if found is None:
        raise InputError(f"no case {printable(case_id, 80)!r} in this run")
    row = _row(found, names)
    columns = ", ".join(rank_column(level, at) for at in range(len(names.candidates)) for level in LEVELS)
    ranks = connection.execute(
        f"SELECT {columns} FROM answers WHERE number = ?",  # noqa: S608
        (row.number,),
    ).fetchone()
    return CaseDetail(
        row=row,
        targets=_targets(found[6]),
        primaries=operations_of_case(connection, names, PRIMARIES, row.number),
        probes=operations_of_case(connection, names, PROBES, row.number),
        ranks={
            name: dict(zip(LEVELS, ranks[at * len(LEVELS) : (at + 1) * len(LEVELS)], strict=True))
            for at, name in enumerate(names.candidates)
        },
    )


def check_page(offset: int, limit: int) -> None:
    """Refuse a page that would be cut without a word; raises InputError."""
    if not 0 <= offset < LARGEST_OFFSET or not 0 <= limit <= LARGEST_PAGE:
        raise InputError(
            f"a page from {offset} of {limit} rows: expected an offset of at least 0 and at most "
            f"{LARGEST_PAGE} rows"
        )


def _from(*, joins: bool) -> str:
    return "answers a JOIN cases c ON c.number = a.number" if joins else "answers a"


def _row_sql(names: Names, level: Level) -> str:
    standings = ", ".join(
        f"a.status{at}, a.{rank_column(level, at)}, a.elapsed{at}" for at in range(len(names.candidates))
    )
    return f"SELECT {_CASE}, {standings} FROM {_from(joins=True)}"  # noqa: S608


def _row(found: tuple[Any, ...], names: Names) -> CaseRow:
    number, case_id, repository, intent, channel, query, targets = found[:7]
    rest = found[7:]
    return CaseRow(
        number,
        case_id,
        names.repositories[repository],
        names.intents[intent],
        channel,
        query,
        _shown(_targets(targets)),
        tuple(
            Standing(cast(OutcomeStatus, STATUSES[rest[at]]), *rest[at + 1 : at + _STANDING_COLUMNS])
            for at in range(0, len(rest), _STANDING_COLUMNS)
        ),
    )


def _targets(raw: str) -> tuple[Target, ...]:
    return tuple(Target(*target) for target in json.loads(raw))


def _shown(targets: tuple[Target, ...]) -> str:
    first = targets[0]
    place = f"{first.path}:{first.line}" if first.line else first.path
    return f"{place} (and {len(targets) - 1} more)" if len(targets) > 1 else place
