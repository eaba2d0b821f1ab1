"""Counts what a NeuralMind index holds, from its own files, and digests what its queries read.

In the repository: `graphify-out/graph.json` holds the nodes; `.neuralmind/neuralmind_turbovec/` holds each
node's text in `store.sqlite` and all vectors in `index.tvim`; the rest of `.neuralmind/` is what was learned
(`synapses.db`), word indexes, and logs. Without vectors, a search answers `[]` and exits with 0.
"""

from __future__ import annotations

import json
import os
import sqlite3
import struct
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from core.canonical import sha256_file, sha256_of
from core.retrievers.protocol import AnswerError, Completeness
from core.text import printable

GRAPH = Path("graphify-out", "graph.json")
STATE = Path(".neuralmind")
STORE = STATE / "neuralmind_turbovec" / "store.sqlite"
VECTORS = STATE / "neuralmind_turbovec" / "index.tvim"

_INCOMPLETE, _UNREADABLE = "incomplete_index", "unreadable_index"

# Of the one layout of `index.tvim` that is known here: what it begins with, which holds the vectors'
# dimension and bits a component, and where it counts them.
_KNOWN_LAYOUT = b"TV8\x00\x01\x04\x01\x00\x80\x01\x00\x00"
_COUNT_OFFSET = 164

# What every query appends to, and what says only that a database is open.
_LOGS = ("audit_events", "audit_write_failures")
_LOG_FOLDERS = frozenset({"metrics"})
_OPEN = ("-shm", ".lock")


class _Node(NamedTuple):
    identifier: str
    file: str
    kind: str


class _Store(NamedTuple):
    nodes: frozenset[str]
    bytes_a_vector: int  # at the least


def verify(repository: Path) -> Completeness:
    """Count an index in a repository; raises AnswerError.

    `empty_index`: the graph holds no node. `incomplete_index`: a part is missing, or nodes lack their text
    or their vector. `unreadable_index`: a part cannot be read.
    """
    nodes = _graph(repository / GRAPH)
    if not nodes:
        raise AnswerError("empty_index", f"{GRAPH} holds no node: graphify found no code in the repository")
    store = _store(repository / STORE)
    missing = len({node.identifier for node in nodes} - store.nodes)
    if missing:
        raise AnswerError(_INCOMPLETE, f"{missing} of {len(nodes)} nodes of the graph are not in {STORE}")
    _require_vectors(repository / VECTORS, store)
    return Completeness(
        units=len(nodes),
        details={
            "files": len({node.file for node in nodes if node.file}),
            "code": sum(node.kind == "code" for node in nodes),
            "documents": sum(node.kind == "document" for node in nodes),
            "stored": len(store.nodes),
        },
        digest=digest(repository),
    )


def digest(repository: Path) -> str:
    """Return the SHA-256 over all files that queries read and must not change; raises AnswerError.

    Left out are logs that each query appends to, and what comes and goes while a database is open.
    """
    try:
        found = {
            path.relative_to(repository).as_posix(): sha256_file(path)
            for path in (repository / GRAPH, *_learned(repository / STATE))
        }
    except OSError as error:
        raise AnswerError(_UNREADABLE, f"{_named(error)}: {error.strerror}") from None
    return sha256_of(found)


def _learned(state: Path) -> Iterator[Path]:
    for place, folders, names in os.walk(state):
        folders[:] = [name for name in folders if name not in _LOG_FOLDERS]
        for name in names:
            path = Path(place, name)
            if name.startswith(_LOGS) or name.endswith(_OPEN):
                continue
            if name.endswith("-wal") and path.stat().st_size == 0:
                continue
            yield path


def _graph(path: Path) -> list[_Node]:
    try:
        document = json.loads(path.read_bytes())
        rows = document["nodes"]
        nodes = {str(row["id"]): row for row in rows}
    except FileNotFoundError:
        raise AnswerError(_INCOMPLETE, f"there is no {GRAPH}") from None
    except OSError as error:
        raise AnswerError(_UNREADABLE, f"{GRAPH}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, RecursionError):
        raise AnswerError(_UNREADABLE, f"{GRAPH} holds no graph") from None
    return [
        _Node(identifier, str(row.get("source_file") or ""), str(row.get("file_type")))
        for identifier, row in nodes.items()
    ]


def _store(path: Path) -> _Store:
    if not path.is_file():
        raise AnswerError(_INCOMPLETE, f"there is no {STORE}")
    try:
        with closing(sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True)) as database:
            nodes = frozenset(str(row[0]) for row in database.execute("SELECT node_id FROM nodes"))
            meta = dict(database.execute("SELECT key, value FROM meta WHERE key IN ('dim', 'bit_width')"))
        return _Store(nodes, int(meta.get("dim", 0)) * int(meta.get("bit_width", 0)) // 8)
    except (sqlite3.Error, ValueError, TypeError) as error:
        raise AnswerError(_UNREADABLE, f"{STORE}: {printable(str(error), 200)}") from None


def _require_vectors(path: Path, store: _Store) -> None:
    try:
        with path.open("rb") as stream:
            head = stream.read(_COUNT_OFFSET + 4)
        size = path.stat().st_size
    except FileNotFoundError:
        raise AnswerError(_INCOMPLETE, f"there is no {VECTORS}: no search would find anything") from None
    except OSError as error:
        raise AnswerError(_UNREADABLE, f"{VECTORS}: {error.strerror}") from None
    expected = len(store.nodes)
    if head.startswith(_KNOWN_LAYOUT) and len(head) == _COUNT_OFFSET + 4:
        (found,) = struct.unpack_from("<I", head, _COUNT_OFFSET)
        if found != expected:
            raise AnswerError(_INCOMPLETE, f"{VECTORS} holds {found} vectors, expected {expected}")
    if size < expected * store.bytes_a_vector:
        raise AnswerError(
            _INCOMPLETE,
            f"{VECTORS} is {size} bytes long, less than {expected} vectors of {store.bytes_a_vector} bytes",
        )


def _named(error: OSError) -> str:
    return printable(Path(str(error.filename)).name, 80)
