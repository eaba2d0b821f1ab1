"""The tables of `index.sqlite`, and whether a file that claims to hold them may be believed.

`operations` has one row for each planned operation. `subject` is the case's number, or for an index that of
its repository. `answers` has one row for each case and, for each candidate, its primary query's status, the
rank of the first hit at each level, and its seconds: a filter over candidates then reads one row a case.
"""

from __future__ import annotations

import json
import os
import sqlite3
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from core.errors import InputError
from core.ranking import LEVELS, Level

SCHEMA = 2
STATUSES = ("missing", "answered", "empty", "failed", "unsupported", "changed")
MISSING, ANSWERED, EMPTY, FAILED, UNSUPPORTED, CHANGED = range(len(STATUSES))
KINDS = ("index", "primary", "ctx")
INDEXES, PRIMARIES, PROBES = range(len(KINDS))
RANKS: dict[Level, str] = {"exact": "exact", "span": "span", "file": "file"}
MOST_CANDIDATES = 300  # five columns each, and SQLite holds 2,000
UNREADABLE = (sqlite3.Error, OSError, ValueError, KeyError, TypeError)

PATIENCE_MS = 5000  # how long a connection waits for another process that writes

_HEADER = b"SQLite format 3\0"
_TABLES = (
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE cases (number INTEGER PRIMARY KEY, id TEXT NOT NULL, repository INTEGER NOT NULL,"
    " intent INTEGER NOT NULL, channel TEXT NOT NULL, query TEXT NOT NULL, targets TEXT NOT NULL,"
    " searched TEXT NOT NULL)",
    "CREATE TABLE operations (kind INTEGER, subject INTEGER, candidate INTEGER, repository INTEGER NOT NULL,"
    " channel TEXT, status INTEGER NOT NULL, error_class TEXT, attempt INTEGER, newest INTEGER NOT NULL,"
    " elapsed_s REAL, rss INTEGER, units INTEGER, returned INTEGER, timed_out INTEGER NOT NULL,"
    " disturbed INTEGER NOT NULL, digest BLOB, folder_ns INTEGER NOT NULL, attempt_ns INTEGER NOT NULL,"
    " PRIMARY KEY (kind, subject, candidate)) WITHOUT ROWID",
    "CREATE TABLE attempts (kind INTEGER, subject INTEGER, candidate INTEGER, number INTEGER,"
    " status TEXT NOT NULL, error_class TEXT, outcome TEXT, exit_code INTEGER, signal TEXT, elapsed_s REAL,"
    " started_at TEXT, PRIMARY KEY (kind, subject, candidate, number)) WITHOUT ROWID",
    "CREATE TABLE problems (kind INTEGER, subject INTEGER, candidate INTEGER, position INTEGER,"
    " told TEXT NOT NULL, PRIMARY KEY (kind, subject, candidate, position)) WITHOUT ROWID",
)
TIMED = f"kind <> {INDEXES} AND status IN ({ANSWERED}, {EMPTY}) AND elapsed_s NOT NULL"
WRONG = f"status IN ({FAILED}, {CHANGED})"
LOOKUPS = (
    "CREATE UNIQUE INDEX cases_by_id ON cases (id)",
    f"CREATE INDEX failures ON operations (status, error_class, candidate, repository) WHERE {WRONG}",
    "CREATE INDEX cells ON operations (candidate, repository, kind, status)",
    f"CREATE INDEX seconds ON operations (candidate, repository, channel, elapsed_s, status) WHERE {TIMED}",
)


class Names(NamedTuple):
    """What the numbers in the tables stand for, and the finest level that all candidates support."""

    candidates: tuple[str, ...]
    repositories: tuple[str, ...]
    intents: tuple[str, ...]
    level: Level


class Key(NamedTuple):
    """What an index is made of: it holds for no other run, schema or way of reading."""

    run: str
    reading: str


def rank_column(level: Level, candidate: int) -> str:
    """Return the column of `answers` with a candidate's first rank at a level."""
    return f"{RANKS[level]}{candidate:d}"


def tables(candidates: int) -> tuple[str, ...]:
    """Return the statements that make the tables; raises InputError for more candidates than they hold."""
    if candidates > MOST_CANDIDATES:
        raise InputError(
            f"{candidates} candidates are more than the {MOST_CANDIDATES} that can be browsed side by side; "
            "`boresight report` tells of all of them"
        )
    columns = "".join(
        f", status{at} INTEGER NOT NULL, {', '.join(f'{rank_column(level, at)} INTEGER' for level in LEVELS)}"
        f", elapsed{at} REAL"
        for at in range(candidates)
    )
    answers = (
        "CREATE TABLE answers (number INTEGER PRIMARY KEY, repository INTEGER NOT NULL,"
        f" intent INTEGER NOT NULL{columns})"
    )
    return (*_TABLES, answers)


def connect(file: Path, *, writable: bool = False) -> sqlite3.Connection:
    """Open an index for one thread at a time; nothing in its schema is run. Raises sqlite3.Error."""
    mode = "rw" if writable else "ro"
    connection = sqlite3.connect(
        f"{file.absolute().as_uri()}?mode={mode}", uri=True, check_same_thread=False, isolation_level=None
    )
    try:
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute(f"PRAGMA busy_timeout = {PATIENCE_MS:d}")
        connection.execute("PRAGMA cell_size_check = ON")
        connection.execute("PRAGMA mmap_size = 0")
    except BaseException:
        connection.close()
        raise
    return connection


def read_meta(connection: sqlite3.Connection) -> dict[str, Any]:
    """Return the facts that an index holds of itself; raises sqlite3.Error or ValueError."""
    return {key: json.loads(value) for key, value in connection.execute("SELECT key, value FROM meta")}


def write_meta(connection: sqlite3.Connection, values: Iterable[tuple[str, Any]]) -> None:
    """Set facts."""
    rows = [(key, json.dumps(value)) for key, value in values]
    connection.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", rows)


def names_of(meta: dict[str, Any]) -> Names:
    """Return the names in an index's facts; raises ValueError, KeyError or TypeError."""
    candidates, repositories, intents = (
        tuple(str(name) for name in meta[field]) for field in ("candidates", "repositories", "intents")
    )
    level = meta["level"]
    if level not in LEVELS:
        raise ValueError("no level")
    return Names(candidates, repositories, intents, level)


def is_plain_file(file: Path) -> bool:
    """Tell whether a path is a file of this user's own: a link or a stranger's file is not believed."""
    try:
        status = file.lstat()
    except OSError:
        return False
    return stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid()


def changes(file: Path) -> int:
    """Return how often the file was written, as SQLite counts; raises ValueError where it is cut or no index.

    Closing the file drops this process's locks on it, so nothing of this process may be writing to it.
    """
    with open(file, "rb") as stream:
        header = stream.read(100)
        size = os.fstat(stream.fileno()).st_size
    if len(header) < 100 or not header.startswith(_HEADER):
        raise ValueError("no SQLite file")
    page = int.from_bytes(header[16:18], "big")
    counter, pages = (int.from_bytes(header[at : at + 4], "big") for at in (24, 28))
    if size != (65536 if page == 1 else page) * pages or header[92:96] != header[24:28]:
        raise ValueError("cut or written to by a stranger")
    return counter


def holds(connection: sqlite3.Connection, key: Key) -> bool:
    """Tell whether an open index is of this schema and run.

    Every statement of the schema must be ours, so that a stranger's triggers and views are never run.
    """
    try:
        meta = read_meta(connection)
        names = names_of(meta)
        found = {row[0] for row in connection.execute("SELECT sql FROM sqlite_master WHERE sql NOT NULL")}
    except UNREADABLE:
        return False
    return (
        meta.get("schema") == SCHEMA
        and (meta.get("run"), meta.get("reading")) == key
        and len(names.candidates) <= MOST_CANDIDATES
        and found == {*tables(len(names.candidates)), *LOOKUPS}
    )
