"""Writes rows of the index: cases once, and what became of operations as often as it changes."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any

from core.banks.case import Case
from core.browse.operations import NOTHING, Facts, Slot
from core.browse.schema import (
    ANSWERED,
    INDEXES,
    LOOKUPS,
    MISSING,
    PRIMARIES,
    Names,
    rank_column,
    tables,
)
from core.ranking import LEVELS

_OPERATION_COLUMNS = 18
_ATTEMPT_COLUMNS = 11


class Writer:
    """Writes into an index whose transaction the caller begins and ends."""

    def __init__(self, connection: sqlite3.Connection, names: Names) -> None:
        self._connection = connection
        self._digests: dict[tuple[int, int], str | None] = {}
        columns = [
            ", ".join([f"status{at} = ?", *(f"{rank_column(level, at)} = ?" for level in LEVELS)])
            + f", elapsed{at} = ?"
            for at in range(len(names.candidates))
        ]
        # The text holds column numbers alone.
        self._answers = [f"UPDATE answers SET {each} WHERE number = ?" for each in columns]  # noqa: S608
        self._names = names

    def make_tables(self) -> None:
        """Make the tables of an empty file."""
        for statement in tables(len(self._names.candidates)):
            self._connection.execute(statement)

    def make_lookups(self) -> None:
        """Make the indexes of tables, which costs less once they are full."""
        for statement in LOOKUPS:
            self._connection.execute(statement)

    def add_cases(self, cases: Iterable[Case]) -> None:
        """Add all cases in their order, each missing with every candidate until told otherwise."""
        names = self._names
        repositories = {name: at for at, name in enumerate(names.repositories)}
        intents = {name: at for at, name in enumerate(names.intents)}
        none: tuple[Any, ...] = (MISSING, *(None for _ in LEVELS), None)
        none *= len(names.candidates)
        marks = ", ".join("?" * (3 + len(none)))
        for number, case in enumerate(cases):
            place = (repositories[case.repo], intents[case.intent])
            self._connection.execute(
                "INSERT INTO cases VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (number, case.id, *place, case.channel, case.query, json.dumps(case.targets), searched(case)),
            )
            self._connection.execute(
                f"INSERT INTO answers VALUES ({marks})",  # noqa: S608 - question marks alone
                (number, *place, *none),
            )

    def set_index(self, candidate: int, repository: int, digest: str | None) -> None:
        """Say by which accepted index, if any, a cell's queries must have been answered."""
        self._digests[candidate, repository] = digest

    def put(self, slots: Sequence[Slot], found: Sequence[Facts]) -> None:
        """Set what became of operations; queries of an index that was replaced since are missing."""
        rows = [(slot, self._standing(slot, facts)) for slot, facts in zip(slots, found, strict=True)]
        self._connection.executemany(
            f"INSERT OR REPLACE INTO operations VALUES ({_marks(_OPERATION_COLUMNS)})",  # noqa: S608
            [_operation_row(slot, facts) for slot, facts in rows],
        )
        for table in ("attempts", "problems"):
            self._connection.executemany(
                f"DELETE FROM {table} WHERE kind = ? AND subject = ? AND candidate = ?",  # noqa: S608
                [slot[:3] for slot, _ in rows],
            )
        self._connection.executemany(
            f"INSERT INTO attempts VALUES ({_marks(_ATTEMPT_COLUMNS)})",  # noqa: S608
            [(*slot[:3], *attempt) for slot, facts in rows for attempt in facts.attempts],
        )
        self._connection.executemany(
            "INSERT INTO problems VALUES (?, ?, ?, ?, ?)",
            [(*slot[:3], *told) for slot, facts in rows for told in enumerate(facts.problems)],
        )
        self._put_answers(rows)

    def _standing(self, slot: Slot, facts: Facts) -> Facts:
        if slot.kind == INDEXES or facts.digest is None:
            return facts
        if facts.index_digest == self._digests.get((slot.candidate, slot.repository)):
            return facts
        return NOTHING._replace(
            newest=facts.newest,
            folder_ns=facts.folder_ns,
            attempt_ns=facts.attempt_ns,
            attempts=facts.attempts,
        )

    def _put_answers(self, rows: Sequence[tuple[Slot, Facts]]) -> None:
        by_candidate: dict[int, list[tuple[Any, ...]]] = {}
        for slot, facts in rows:
            if slot.kind == PRIMARIES:
                values = (facts.status, *facts.ranks, facts.elapsed_s, slot.subject)
                by_candidate.setdefault(slot.candidate, []).append(values)
        for candidate, values_of in by_candidate.items():
            self._connection.executemany(self._answers[candidate], values_of)


def searched(case: Case) -> str:
    """Return the text that a search looks through, whatever its letters' case.

    NUL stands between its parts: no search can hold it, so that none matches across two of them.
    """
    return "\0".join((case.id, case.query, *(target.path for target in case.targets))).casefold()


def _operation_row(slot: Slot, facts: Facts) -> tuple[Any, ...]:
    return (
        *slot,
        facts.status,
        facts.error_class,
        facts.attempt,
        facts.newest,
        facts.elapsed_s,
        facts.rss,
        facts.units if facts.status == ANSWERED else None,
        facts.returned,
        facts.timed_out,
        facts.disturbed,
        bytes.fromhex(facts.digest) if facts.digest else None,
        facts.folder_ns,
        facts.attempt_ns,
    )


def _marks(count: int) -> str:
    return ", ".join("?" * count)
