"""What a retry would do, and whether it would be refused: found out before anybody is asked."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from core import api
from core.browse.branches import Branch
from core.browse.index import PAGE, RunIndex
from core.browse.operation_queries import OperationFilters
from core.errors import BoresightError, BusyError
from core.run.layout import INDEX, Operation, RunLayout
from core.run.lock import is_held

_SHOWN_CELLS = 5


class RetryOffer(NamedTuple):
    """The failures that would get new attempts; `refusal` says why they would not, and `notes` what else."""

    operations: frozenset[Operation]
    notes: tuple[str, ...] = ()
    refusal: str | None = None


def retry_offer(run: Path, index: RunIndex, branch: Branch) -> RetryOffer:
    """Return what retrying a branch means; reads disk and takes the run's lock for a moment.

    Raises BoresightError where the index cannot be read.
    """
    operations = failed_operations(index, branch)
    if not operations:
        return RetryOffer(operations)
    return RetryOffer(operations, tuple(_notes(run, operations)), _refusal(run, operations))


def failed_operations(index: RunIndex, branch: Branch) -> frozenset[Operation]:
    """Return the failed operations at or below a branch."""
    if branch.row is not None:
        return frozenset({branch.row.operation} if branch.row.status == "failed" else ())
    filters = (branch.filters or OperationFilters())._replace(status="failed")
    if branch.filters is not None and branch.filters.status not in {None, "failed"}:
        return frozenset()
    found: set[Operation] = set()
    while page := index.operations(filters, len(found)):
        found.update(row.operation for row in page)
        if len(page) < PAGE:
            break
    return frozenset(found)


def _notes(run: Path, operations: frozenset[Operation]) -> list[str]:
    layout = RunLayout(run)
    cells = sorted({(each.candidate, each.repository) for each in operations})
    bare = [cell for cell in cells if not layout.state(*cell).exists()]
    indexes = sorted({(each.candidate, each.repository) for each in operations if each.kind == INDEX})
    notes = []
    if indexes:
        notes.append(f"{_told(indexes)}: the index is built again, and all queries of it run after it.")
    if missing := [cell for cell in bare if cell not in indexes]:
        notes.append(f"{_told(missing)}: no index is here, so it is built again and all its queries run.")
    return notes


def _told(cells: list[tuple[str, str]]) -> str:
    shown = ", ".join(" × ".join(cell) for cell in cells[:_SHOWN_CELLS])
    return shown + (f" and {len(cells) - _SHOWN_CELLS} more" if len(cells) > _SHOWN_CELLS else "")


def _refusal(run: Path, operations: frozenset[Operation]) -> str | None:
    try:
        if is_held(RunLayout(run).lock):
            raise BusyError("another process writes to this run; wait until it ends, or stop it")
        with api.reopen_run(run, only=operations):
            return None
    except BoresightError as error:
        return str(error)
