"""Whether a Codira index can answer: counted in its own two databases, not in what its command printed.

`.codira/index.db` holds the structure: `embeddings` has a row for each symbol and documentation artifact that
was embedded, with the hash of its text. `.codira/embeddings.db` holds the vectors: a row of `vector_bindings`
ties a stable id to a hash, a row of `vector_payloads` ties the hash to a vector, and the vectors themselves
lie in the tables of a sqlite-vec index. All of it belongs to a vector set, of which a sound index has one.
"""

from __future__ import annotations

import hashlib
import sqlite3
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from core.retrievers.protocol import AnswerError, Completeness
from core.text import printable

FOLDER = ".codira"
STRUCTURE = "index.db"
VECTORS = "embeddings.db"

_BUSY_SECONDS = 5.0
_LONGEST_SECONDS = 600.0  # a database can be made so that a query never ends
_STEPS_BETWEEN_LOOKS = 100_000

# Text is read as bytes: what is no UTF-8 is counted like all else.
_INVENTORY = """
WITH inventory AS (
    SELECT e.object_type, coalesce(s.stable_id, d.stable_id) AS stable_id, e.content_hash
    FROM embeddings AS e
    LEFT JOIN symbol_index AS s ON e.object_type = 'symbol' AND s.id = e.object_id
    LEFT JOIN documentation_artifacts AS d ON e.object_type = 'documentation' AND d.id = e.object_id
)
SELECT i.object_type = 'documentation', count(*), sum(i.stable_id IS NULL),
    sum(i.stable_id IS NOT NULL AND b.stable_id IS NULL), sum(b.stable_id IS NOT NULL AND r.rowid IS NULL)
FROM inventory AS i
LEFT JOIN vectors.vector_bindings AS b ON b.vector_set_id = :set AND b.object_type = i.object_type
    AND b.stable_id = i.stable_id AND b.content_hash = i.content_hash
LEFT JOIN vectors.vector_payloads AS p ON p.vector_set_id = :set AND p.content_hash = i.content_hash
LEFT JOIN {rowids} AS r ON r.rowid = p.id
GROUP BY 1 ORDER BY 1
"""
_NO_VECTORS = "(SELECT 0 AS rowid WHERE 0)"
_SETS = """
SELECT id FROM vectors.vector_sets UNION SELECT vector_set_id FROM vectors.vector_bindings
UNION SELECT vector_set_id FROM vectors.vector_payloads
"""
_PENDING = (("main", "pending_embeddings"), ("vectors", "pending_vectors"))
# What queries read, without the row numbers that a rebuild may change.
_READ_BY_QUERIES = (
    """SELECT e.object_type, coalesce(s.stable_id, d.stable_id), e.content_hash, e.backend, e.version, e.dim
    FROM embeddings AS e
    LEFT JOIN symbol_index AS s ON e.object_type = 'symbol' AND s.id = e.object_id
    LEFT JOIN documentation_artifacts AS d ON e.object_type = 'documentation' AND d.id = e.object_id
    ORDER BY 1, 2, 3""",
    """SELECT s.stable_id, s.name, s.type, s.module_name, s.lineno, f.path, f.hash
    FROM symbol_index AS s LEFT JOIN files AS f ON f.id = s.file_id ORDER BY 1, 2, 3, 4, 5, 6""",
    """SELECT d.stable_id, d.kind, d.source_format, d.lineno, d.end_lineno, d.title, d.text, f.path, f.hash
    FROM documentation_artifacts AS d LEFT JOIN files AS f ON f.id = d.file_id ORDER BY 1""",
    "SELECT object_type, stable_id, content_hash FROM vectors.vector_bindings ORDER BY 1, 2, 3",
    "SELECT id, content_hash FROM vectors.vector_payloads ORDER BY 1",
)


class _Counts(NamedTuple):
    """Of one type of object: its embedded rows, and those of them that cannot be found by a query."""

    rows: int
    orphans: int  # that belong to no symbol or documentation
    unbound: int  # without a binding of the same hash
    unpaid: int  # bound, but without a vector


def verify(state: Path) -> Completeness:
    """Count the index below `state`.

    Details are `symbol_embeddings`, `documentation_embeddings` and `vector_sets`. The digest covers what
    queries read, vectors included. Raises AnswerError: `unreadable_index`, `empty_index`, `incomplete_index`
    and `two_vector_sets`, each with numbers.
    """
    with _open(state) as database:
        _refuse_empty(database)
        vector_set = _only_set(database)
        tables = _vector_tables(database, vector_set)
        symbols, documentation = _counted(database, vector_set, tables)
        _refuse_incomplete(symbols, documentation, _pending(database))
        units = symbols.rows + documentation.rows
        details = {
            "symbol_embeddings": symbols.rows,
            "documentation_embeddings": documentation.rows,
            "vector_sets": 1,
        }
        return Completeness(units, details, _digest(database, tables))


@contextmanager
def _open(state: Path) -> Iterator[sqlite3.Connection]:
    """Open both databases without being able to change them, and turn SQLite's errors into AnswerError."""
    structure, vectors = (_database(state / FOLDER / name) for name in (STRUCTURE, VECTORS))
    reading = STRUCTURE
    try:
        connection = sqlite3.connect(structure, uri=True, timeout=_BUSY_SECONDS)
        try:
            connection.text_factory = bytes
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
            reading = VECTORS
            connection.execute("ATTACH DATABASE ? AS vectors", (vectors,))
            connection.execute("SELECT count(*) FROM vectors.sqlite_master").fetchone()
            reading = f"{STRUCTURE} or {VECTORS}"
            end = time.monotonic() + _LONGEST_SECONDS
            connection.set_progress_handler(lambda: int(time.monotonic() > end), _STEPS_BETWEEN_LOOKS)
            yield connection
        finally:
            connection.close()
    except sqlite3.Error as error:
        raise AnswerError(
            "unreadable_index", f"{FOLDER}/{reading} cannot be read: {printable(str(error), 200)}"
        ) from None


def _database(path: Path) -> str:
    """Return the address that opens a database for reading only; a link or a pipe is never opened."""
    try:
        is_file = stat.S_ISREG(path.lstat().st_mode)
    except OSError as error:
        raise AnswerError(
            "unreadable_index", f"{FOLDER}/{path.name} cannot be read: {error.strerror}"
        ) from None
    if not is_file:
        raise AnswerError("unreadable_index", f"{FOLDER}/{path.name} is no plain file")
    return f"file:{quote(str(path))}?mode=ro"


def _refuse_empty(database: sqlite3.Connection) -> None:
    rows, files = (
        database.execute(f"SELECT count(*) FROM {table}").fetchone()[0]  # noqa: S608 - of a fixed pair
        for table in ("embeddings", "files")
    )
    if not rows:
        raise AnswerError("empty_index", f"the index holds 0 embeddings of {files:,} files")


def _only_set(database: sqlite3.Connection) -> int:
    """Return the number of the one vector set; raises AnswerError where there is none, or another."""
    sets = [row[0] for row in database.execute(_SETS)]
    if len(sets) > 1:
        bindings = database.execute("SELECT count(*) FROM vectors.vector_bindings").fetchone()[0]
        raise AnswerError(
            "two_vector_sets",
            f"found {len(sets)} vector sets with {bindings:,} bindings, expected exactly one set",
        )
    if not sets:
        rows = database.execute("SELECT count(*) FROM embeddings").fetchone()[0]
        raise AnswerError("incomplete_index", f"found no vector set for {rows:,} embedded rows")
    if type(sets[0]) is not int:
        raise AnswerError("unreadable_index", "the vector set has no number")
    return sets[0]


def _vector_tables(database: sqlite3.Connection, vector_set: int) -> tuple[str, ...]:
    """Return the plain tables in which sqlite-vec keeps a set's vectors; none where the index is gone."""
    prefix = f"vector_payload_index_{vector_set}_"
    found = database.execute(
        "SELECT name FROM vectors.sqlite_master WHERE type = 'table' AND substr(name, 1, ?) = ? ORDER BY 1",
        (len(prefix), prefix),
    )
    names = [bytes(name).decode("utf-8", "replace") for (name,) in found]
    return tuple(name for name in names if name.isidentifier())


def _counted(
    database: sqlite3.Connection, vector_set: int, tables: tuple[str, ...]
) -> tuple[_Counts, _Counts]:
    rowids = f"vector_payload_index_{vector_set}_rowids"
    query = _INVENTORY.format(rowids=f'vectors."{rowids}"' if rowids in tables else _NO_VECTORS)
    found = {bool(row[0]): _Counts(*row[1:]) for row in database.execute(query, {"set": vector_set})}
    nothing = _Counts(0, 0, 0, 0)
    return found.get(False, nothing), found.get(True, nothing)


def _pending(database: sqlite3.Connection) -> int:
    """Return the rows that still wait to be embedded; a version without these tables has none."""
    waiting = 0
    for schema, table in _PENDING:
        master = f"SELECT count(*) FROM {schema}.sqlite_master WHERE type = 'table' AND name = ?"  # noqa: S608
        if database.execute(master, (table,)).fetchone()[0]:
            waiting += database.execute(f"SELECT count(*) FROM {schema}.{table}").fetchone()[0]  # noqa: S608
    return waiting


def _refuse_incomplete(symbols: _Counts, documentation: _Counts, pending: int) -> None:
    rows, orphans, unbound, unpaid = (one + other for one, other in zip(symbols, documentation, strict=True))
    faults = []
    if orphans:
        faults.append(f"{orphans:,} belong to no symbol or documentation")
    if unbound:
        faults.append(
            f"{unbound:,} have no vector binding ({symbols.unbound:,} symbols,"
            f" {documentation.unbound:,} documentation)"
        )
    if unpaid:
        faults.append(
            f"{unpaid:,} are bound to a vector that is not there ({symbols.unpaid:,} symbols,"
            f" {documentation.unpaid:,} documentation)"
        )
    if pending:
        faults.append(f"{pending:,} more still wait to be embedded")
    if faults:
        raise AnswerError("incomplete_index", f"of {rows:,} embedded rows, {'; '.join(faults)}")


def _digest(database: sqlite3.Connection, tables: tuple[str, ...]) -> str:
    """Return the SHA-256 over what queries read: a rebuild from the same vectors leaves it as it was."""
    digest = hashlib.sha256()
    vectors = (f'SELECT * FROM vectors."{table}" ORDER BY 1' for table in tables)  # noqa: S608 - identifiers
    for query in (*_READ_BY_QUERIES, *vectors):
        digest.update(b"\n")
        for row in database.execute(query):
            digest.update(repr(row).encode())
    return digest.hexdigest()
