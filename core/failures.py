"""Which operations of a run failed, and which of them a person means to try again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from core.errors import InputError
from core.rankings import RunReader
from core.run.evidence import evidence_changed
from core.run.layout import Operation
from core.text import printable

_UNKNOWN = "unknown"


class Failure(NamedTuple):
    """A planned operation whose last finished attempt failed, with the word that failures are grouped by."""

    operation: Operation
    error_class: str


class Filters(NamedTuple):
    """What failures to choose: those that match every filter that is not empty.

    An operation is named by its folder (`primary-<case>`) or by its kind (`index`, `primary`, `ctx`).
    """

    candidates: Collection[str] = ()
    repositories: Collection[str] = ()
    operations: Collection[str] = ()
    errors: Collection[str] = ()


def failures(run: Path) -> tuple[Failure, ...]:
    """Return a run's failures in the plan's order; what was never tried, or was interrupted, is none.

    Raises InputError where the folder is no run, IdentityError where its evidence was changed.
    """
    reader = RunReader(run)
    found = tuple(
        Failure(seen.planned.operation, seen.error_class or _UNKNOWN)
        for seen in reader.observations()
        if seen.status == "failed"
    )
    if reader.changed:
        raise evidence_changed(reader.changed, run)
    return found


def choose(found: Sequence[Failure], filters: Filters) -> frozenset[Operation]:
    """Return the failures that match the filters; raises InputError where a filter matches none of them."""
    _demand_known("--candidate", filters.candidates, (each.operation.candidate for each in found))
    _demand_known("--repository", filters.repositories, (each.operation.repository for each in found))
    _demand_known(
        "--operation",
        filters.operations,
        (name for each in found for name in (each.operation.kind, each.operation.name)),
    )
    _demand_known("--error", filters.errors, (each.error_class for each in found))
    chosen = frozenset(each.operation for each in found if _matches(each, filters))
    if found and not chosen:
        raise InputError(
            f"no failure matches all of these filters at once, of {len(found)}: leave one out, or all"
        )
    return chosen


def _matches(failure: Failure, filters: Filters) -> bool:
    operation = failure.operation
    return (
        (not filters.candidates or operation.candidate in filters.candidates)
        and (not filters.repositories or operation.repository in filters.repositories)
        and (
            not filters.operations
            or operation.name in filters.operations
            or operation.kind in filters.operations
        )
        and (not filters.errors or failure.error_class in filters.errors)
    )


def _demand_known(flag: str, wanted: Collection[str], among: Iterable[str]) -> None:
    counts = Counter(among)
    for value in wanted:
        if value not in counts:
            known = ", ".join(f"{printable(name, 60)} ({count})" for name, count in counts.most_common(8))
            raise InputError(
                f"{flag}: found {printable(value, 60)!r}, which no failure has; choose from {known}"
            )
