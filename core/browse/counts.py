"""How far a run is, as its index knows without a look at the evidence: for lists of many or large runs."""

from __future__ import annotations

import contextlib
import sqlite3
from collections import Counter
from typing import NamedTuple

from core.browse import places
from core.browse.opening import is_current, is_sound
from core.browse.schema import (
    ANSWERED,
    CHANGED,
    EMPTY,
    FAILED,
    INDEXES,
    UNREADABLE,
    UNSUPPORTED,
    WRONG,
    connect,
)
from core.run.record import RunRecord

_DOUBTFUL = (
    "SELECT 1 FROM operations o LEFT JOIN attempts a ON a.kind = o.kind AND a.subject = o.subject"  # noqa: S608
    f" AND a.candidate = o.candidate AND a.number = o.newest WHERE o.{WRONG}"
    f" AND (o.status = {CHANGED} OR o.digest NOT NULL OR a.status IS NOT 'failed') LIMIT 1"
)
_COUNTED = (
    "SELECT candidate, repository, kind, status, count(*) FROM operations"  # noqa: S608
    f" WHERE status <> {UNSUPPORTED} GROUP BY candidate, repository, kind, status"
)


class Counts(NamedTuple):
    """Planned operations: accepted, failed or kept from it by a failed index, and left to do.

    `unasked` are those of the failed that were never asked, as their cell's index failed.
    """

    accepted: int
    failed: int
    left: int
    unasked: int = 0


def known_counts(record: RunRecord) -> Counts | None:
    """Return a run's counts from its index, None where there is none that is of the run as it is now.

    An index that found evidence changed, accepted answers unreadable, or a failure whose retry was stopped
    tells nothing: what those count as is for who reads the evidence.
    """
    file = places.inside(record)
    if not is_sound(record, file):
        file = places.cached(record)
        if not is_sound(record, file):
            return None
    if not is_current(record, file):
        return None
    try:
        with contextlib.closing(connect(file)) as connection:
            return None if connection.execute(_DOUBTFUL).fetchone() else _counted(connection)
    except UNREADABLE:
        return None


def _counted(connection: sqlite3.Connection) -> Counts:
    found = connection.execute(_COUNTED).fetchall()
    broken = {row[:2] for row in found if row[2:4] == (INDEXES, FAILED)}
    counts: Counter[str] = Counter()
    for candidate, repository, _, status, number in found:
        if status in {ANSWERED, EMPTY}:
            counts["accepted"] += number
        elif status == FAILED or (candidate, repository) in broken:
            counts["failed"] += number
            counts["unasked"] += number if status != FAILED else 0
        else:
            counts["left"] += number
    return Counts(counts["accepted"], counts["failed"], counts["left"], counts["unasked"])
