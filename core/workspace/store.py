"""Keeps an index: one SQLite file, and beside it the vectors, where there are any.

`workspace.sqlite` holds the units, their words (FTS5) and the completeness record. `vectors.f32` holds
one row of little-endian float32 for each unit, in the order of the units, without a header: read whole,
it is one contiguous matrix, so that exact search is one matrix product over a slice of rows. (As SQLite
blobs, 20,000 rows would have to be gathered one by one before each process's first product.)

Units are numbered from 1, code before documentation, so that each channel is one range of rows.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, cast

from core.canonical import canonical_json, load_json, sha256, sha256_file
from core.durable import sync_directory
from core.ranking import CHANNELS, Channel, Kind
from core.workspace.errors import IndexStateError, WorkspaceError
from core.workspace.tokens import tokens
from core.workspace.units import Unit, excerpt

DATABASE = "workspace.sqlite"
VECTORS = "vectors.f32"
STORE_FORMAT = "boresight-workspace@1"
EXCERPT_LIMIT = 1_500
FLOAT_BYTES = 4

# Columns: name, path and scope, summary, source. The tokens are made here, so that FTS5 only has to
# part them at spaces and keep the rest: `ascii` takes every character beyond ASCII as part of a word.
_SCHEMA = """
CREATE TABLE record (json TEXT NOT NULL);
CREATE TABLE units (
    id INTEGER PRIMARY KEY, channel TEXT NOT NULL, kind TEXT NOT NULL, path TEXT NOT NULL,
    line INTEGER, end_line INTEGER, excerpt TEXT NOT NULL
);
CREATE VIRTUAL TABLE emb_words
    USING fts5(name, place, summary, source, content='', tokenize="ascii tokenchars '_'");
CREATE VIRTUAL TABLE docs_words
    USING fts5(name, place, summary, source, content='', tokenize="ascii tokenchars '_'");
"""
_INSERT_UNIT = "INSERT INTO units VALUES (?, ?, ?, ?, ?, ?, ?)"
_INSERT_WORDS: Mapping[Channel, str] = {
    "emb": "INSERT INTO emb_words (rowid, name, place, summary, source) VALUES (?, ?, ?, ?, ?)",
    "docs": "INSERT INTO docs_words (rowid, name, place, summary, source) VALUES (?, ?, ?, ?, ?)",
}
_COUNT_WORDS: Mapping[Channel, str] = {
    "emb": "SELECT count(*) FROM emb_words_docsize",
    "docs": "SELECT count(*) FROM docs_words_docsize",
}


class Record(NamedTuple):
    """What a complete index holds: units per channel, and its vectors' count, dimension and digest."""

    emb: int
    docs: int
    vectors: int = 0
    dimension: int = 0
    vectors_sha256: str = ""

    @property
    def units(self) -> int:
        """Units of both channels."""
        return self.emb + self.docs

    def rows(self, channel: Channel) -> range:
        """Return the rows of a channel's units in the vectors, counted from 0."""
        return range(self.emb) if channel == "emb" else range(self.emb, self.units)


class StoredUnit(NamedTuple):
    """A unit as answers show it."""

    id: int
    kind: Kind
    path: str
    line: int | None
    end_line: int | None
    excerpt: str


class Vectors(NamedTuple):
    """The rows of `vectors.f32`: one after another, each of `dimension` little-endian float32."""

    dimension: int
    data: bytes


def write_store(state: Path, units: Sequence[Unit], vectors: Vectors | None) -> Record:
    """Write an index into an empty state folder; the database's name appears last, once all is there.

    Raises WorkspaceError where the folder already holds an index.
    """
    if (state / DATABASE).exists():
        raise WorkspaceError(f"{state} already holds an index; empty it, or name another folder")
    state.mkdir(parents=True, exist_ok=True)
    record = _record(units, vectors)
    partial = {name: state / f".{name}.partial" for name in (DATABASE, VECTORS)}
    try:
        if vectors is not None:
            partial[VECTORS].write_bytes(vectors.data)
            _publish(partial[VECTORS], state / VECTORS)
        partial[DATABASE].unlink(missing_ok=True)
        _write_database(partial[DATABASE], units, record)
        _publish(partial[DATABASE], state / DATABASE)
    finally:
        for path in partial.values():
            path.unlink(missing_ok=True)
    sync_directory(state)
    return record


class Store:
    """An index that is read and never written; a context manager that closes it."""

    def __init__(self, state: Path) -> None:
        self._state = state
        path = state / DATABASE
        if not path.is_file():
            raise IndexStateError("missing_index", f"{state} holds no index; run the index step first")
        # Immutable: no lock, journal or shared memory file appears beside an index that is only read.
        self._database = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)
        try:
            self.record = self._read_record()
        except BaseException:
            self._database.close()
            raise

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._database.close()

    def rows(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return the rows of one statement."""
        return self._database.execute(statement, values).fetchall()

    def units(self, ids: Iterable[int]) -> list[StoredUnit]:
        """Return units by number, in the order of the numbers given."""
        found = []
        for number in ids:
            (row,) = self.rows(
                "SELECT id, kind, path, line, end_line, excerpt FROM units WHERE id = ?", (number,)
            )
            found.append(StoredUnit(*row))
        return found

    def vectors(self) -> bytes:
        """Return the bytes of all vectors; raises IndexStateError where they are not as many as recorded."""
        try:
            data = (self._state / VECTORS).read_bytes()
        except OSError as error:
            raise IndexStateError("incomplete_index", f"the vectors cannot be read: {error}") from None
        expected = self.record.vectors * self.record.dimension * FLOAT_BYTES
        if len(data) != expected:
            raise IndexStateError(
                "incomplete_index", f"{VECTORS}: found {len(data)} bytes, expected {expected}"
            )
        return data

    def _read_record(self) -> Record:
        try:
            ((text,),) = self.rows("SELECT json FROM record")
            document = load_json(text)
            if document.pop("format") != STORE_FORMAT:
                raise IndexStateError("damaged_index", f"{DATABASE} is of another format than {STORE_FORMAT}")
            return Record(**document)
        except (sqlite3.Error, ValueError, TypeError, KeyError, AttributeError) as error:
            raise IndexStateError("damaged_index", f"{DATABASE} cannot be read: {error}") from None


def verify_store(state: Path) -> Record:
    """Return what an index holds, counted from its own rows and bytes rather than from what it says.

    Raises IndexStateError: `missing_index`, `damaged_index`, `incomplete_index` or `empty_index`.
    """
    try:
        with Store(state) as store:
            record = store.record
            ((health,),) = store.rows("PRAGMA quick_check(1)")
            counted = _count(store)
    except sqlite3.Error as error:
        raise IndexStateError("damaged_index", f"{DATABASE} cannot be read: {error}") from None
    if health != "ok":
        raise IndexStateError("damaged_index", f"{DATABASE} is damaged: {health}")
    expected = {"emb": record.emb, "docs": record.docs, "emb words": record.emb, "docs words": record.docs}
    for name, count in counted.items():
        if count != expected[name]:
            raise IndexStateError("incomplete_index", f"{name}: found {count}, expected {expected[name]}")
    if record.units == 0:
        raise IndexStateError("empty_index", "the index holds no units")
    _verify_vectors(state, record)
    return record


def _verify_vectors(state: Path, record: Record) -> None:
    if record.vectors not in (0, record.units):
        raise IndexStateError(
            "incomplete_index",
            f"vectors: found {record.vectors}, expected one for each of {record.units} units",
        )
    if record.vectors == 0:
        return
    path = state / VECTORS
    expected = record.vectors * record.dimension * FLOAT_BYTES
    size = path.stat().st_size if path.is_file() else 0
    if size != expected:
        raise IndexStateError("incomplete_index", f"{VECTORS}: found {size} bytes, expected {expected}")
    if sha256_file(path) != record.vectors_sha256:
        raise IndexStateError("damaged_index", f"{VECTORS} is not what was indexed: its SHA-256 differs")


def _count(store: Store) -> dict[str, int]:
    counted: dict[str, int] = {}
    for channel in CHANNELS:
        ((units,),) = store.rows("SELECT count(*) FROM units WHERE channel = ?", (channel,))
        ((words,),) = store.rows(_COUNT_WORDS[channel])
        counted[channel] = cast("int", units)
        counted[f"{channel} words"] = cast("int", words)
    return counted


def _record(units: Sequence[Unit], vectors: Vectors | None) -> Record:
    emb = sum(unit.channel == "emb" for unit in units)
    record = Record(emb=emb, docs=len(units) - emb)
    if vectors is None:
        return record
    return record._replace(
        vectors=len(vectors.data) // (vectors.dimension * FLOAT_BYTES),
        dimension=vectors.dimension,
        vectors_sha256=sha256(vectors.data),
    )


def _write_database(path: Path, units: Sequence[Unit], record: Record) -> None:
    with closing(sqlite3.connect(path)) as database:
        # The file has no name that anything reads before it is whole, so a journal would guard nothing.
        database.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;" + _SCHEMA)
        for number, unit in enumerate(units, start=1):
            database.execute(
                _INSERT_UNIT,
                (
                    number,
                    unit.channel,
                    unit.kind,
                    unit.path,
                    unit.line,
                    unit.end_line,
                    excerpt(unit.source, EXCERPT_LIMIT),
                ),
            )
            texts = (unit.name, f"{unit.path} {unit.scope}", unit.summary, unit.source)
            database.execute(
                _INSERT_WORDS[unit.channel], (number, *(" ".join(tokens(text)) for text in texts))
            )
        document = canonical_json({"format": STORE_FORMAT, **record._asdict()}).decode()
        database.execute("INSERT INTO record VALUES (?)", (document,))
        database.execute("INSERT INTO emb_words (emb_words) VALUES ('optimize')")
        database.execute("INSERT INTO docs_words (docs_words) VALUES ('optimize')")
        database.commit()


def _publish(partial: Path, final: Path) -> None:
    with open(partial, "rb") as stream:
        os.fsync(stream.fileno())
    partial.replace(final)
