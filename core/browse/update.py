"""Brings an index up to date in one transaction: only operations whose folders changed are read."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from core.browse.filling import Filling, IsCancelled, OnProgress, all_indexes
from core.browse.freshness import stamp_of
from core.browse.guard import PATIENCE_S, sole_writer
from core.browse.operations import Pending, Slot, Task, attempt_folder, changed_at
from core.browse.reading import Readers
from core.browse.schema import (
    INDEXES,
    KINDS,
    UNSUPPORTED,
    Names,
    connect,
    names_of,
    read_meta,
    write_meta,
)
from core.browse.writer import Writer
from core.run.layout import Operation
from core.run.record import RunRecord

_SLOT = "SELECT kind, subject, candidate, repository, channel FROM operations"

_Place = tuple[int, int, int]  # kind, subject, candidate


def update(
    record: RunRecord,
    file: Path,
    on_progress: OnProgress,
    is_cancelled: IsCancelled,
    only: Collection[Operation] | None = None,
) -> bool:
    """Read what changed since the index was made, or `only` the operations named.

    Readers see the index as it was until the end. Returns False, with nothing done, where another process
    or thread is updating it already. Raises sqlite3.Error where it is damaged or cannot be written,
    StoppedError where this was cancelled.
    """
    with sole_writer(file, lambda waited_s: waited_s > PATIENCE_S) as mine:
        if not mine:
            return False
        with contextlib.closing(connect(file, writable=True)) as connection:
            connection.execute("PRAGMA cache_spill = OFF")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("BEGIN IMMEDIATE")
            try:
                _update(record, connection, on_progress, is_cancelled, only)
                connection.execute("COMMIT")
            except BaseException:
                with contextlib.suppress(sqlite3.Error):
                    connection.execute("ROLLBACK")
                raise
    return True


def _update(
    record: RunRecord,
    connection: sqlite3.Connection,
    on_progress: OnProgress,
    is_cancelled: IsCancelled,
    only: Collection[Operation] | None,
) -> None:
    stamp = stamp_of(record)
    meta = read_meta(connection)
    names = names_of(meta)
    changed = set(_changed(record, connection, names) if only is None else _named(connection, names, only))
    writer = Writer(connection, names)
    before = _digests(connection)
    for cell, digest in before.items():
        writer.set_index(*cell, digest)
    with Readers(record, len(changed)) as readers:
        filling = Filling(writer, readers, len(changed), on_progress, is_cancelled)
        indexes = [item for item in all_indexes(names) if item.slot[:3] in changed]
        for cell, digest in filling.read_indexes(indexes).items():
            if digest != before[cell]:  # what its queries are worth may have changed without them
                changed.update(_of_cell(connection, *cell))
        changed -= {item.slot[:3] for item in indexes}
        filling.total = len(indexes) + len(changed)
        filling.read(_pending(connection, names, changed))
    if only is None:
        write_meta(connection, [("stamp", stamp)])
    write_meta(connection, [("written", meta["written"] + 1)])


def _digests(connection: sqlite3.Connection) -> dict[tuple[int, int], str | None]:
    found = connection.execute(
        "SELECT candidate, repository, digest FROM operations WHERE kind = ?", (INDEXES,)
    )
    return {(candidate, repository): digest and digest.hex() for candidate, repository, digest in found}


def _changed(record: RunRecord, connection: sqlite3.Connection, names: Names) -> Iterator[_Place]:
    """Yield the operations whose folders are not as they were when they were read."""
    root = str(record.layout.operations)
    found = connection.execute(
        "SELECT o.kind, o.subject, o.candidate, o.repository, o.newest, o.folder_ns, o.attempt_ns, c.id"
        " FROM operations o LEFT JOIN cases c ON o.kind > ? AND c.number = o.subject WHERE o.status <> ?",
        (INDEXES, UNSUPPORTED),
    )
    for kind, subject, candidate, repository, newest, folder_ns, attempt_ns, case in found:
        name = KINDS[kind] if kind == INDEXES else f"{KINDS[kind]}-{case}"
        folder = f"{root}/{names.candidates[candidate]}/{names.repositories[repository]}/{name}"
        if changed_at(folder) != folder_ns or (
            attempt_ns and changed_at(attempt_folder(folder, newest)) != attempt_ns
        ):
            yield kind, subject, candidate


def _named(connection: sqlite3.Connection, names: Names, operations: Iterable[Operation]) -> Iterator[_Place]:
    """Yield the places of operations; those that no run has, as a hint may be wrong, are passed over."""
    for operation in operations:
        if operation.kind not in KINDS or operation.candidate not in names.candidates:
            continue
        kind, candidate = KINDS.index(operation.kind), names.candidates.index(operation.candidate)
        if kind == INDEXES and operation.repository in names.repositories:
            yield kind, names.repositories.index(operation.repository), candidate
        for (number,) in connection.execute("SELECT number FROM cases WHERE id = ?", (operation.case,)):
            yield kind, number, candidate


def _of_cell(connection: sqlite3.Connection, candidate: int, repository: int) -> list[_Place]:
    return connection.execute(
        "SELECT kind, subject, candidate FROM operations"
        " WHERE candidate = ? AND repository = ? AND kind > ? AND status <> ?",
        (candidate, repository, INDEXES, UNSUPPORTED),
    ).fetchall()


def _pending(connection: sqlite3.Connection, names: Names, places: Collection[_Place]) -> Iterator[Pending]:
    for place in sorted(places):
        row = connection.execute(
            f"{_SLOT} WHERE kind = ? AND subject = ? AND candidate = ? AND status <> ?",
            (*place, UNSUPPORTED),
        ).fetchone()
        if row is not None:
            slot = Slot(*row)
            case, targets = connection.execute(
                "SELECT id, targets FROM cases WHERE number = ?", (slot.subject,)
            ).fetchone()
            task = Task(
                names.candidates[slot.candidate],
                names.repositories[slot.repository],
                KINDS[slot.kind],
                case,
                json.loads(targets),
            )
            yield Pending(slot, task)
