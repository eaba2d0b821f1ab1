"""What a resume may take over: successes whose command, output and index still hold."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from core.banks.case import Case
from core.campaign.plan import Planned
from core.engine.cell import Cell
from core.errors import IdentityError
from core.retrievers.protocol import AnswerError, UnpassableError
from core.run.evidence import Result, evidence_changed, read_measurement, read_result, verify_result
from core.run.layout import INDEX, Operation, state_attempt


def reusable_results(
    cells: Mapping[str, Cell],
    plan: Sequence[Planned],
    cases: Mapping[str, Case],
    is_stopped: Callable[[], bool] = lambda: False,
) -> dict[Operation, Result]:
    """Return the accepted results that stand: their evidence holds, and so does their index.

    An index stands where its state is still complete (and still at its place, unless it may be moved).
    Where the state was freed, or was never brought along, a cell stands if it is whole, as nothing will be
    asked of its index. Others run again under new numbers. Raises IdentityError that names every piece of
    evidence that differs from its digest.
    """
    verified = verified_results(cells, plan, cases, is_stopped)
    planned = Counter(cell_name(item.operation) for item in plan)
    held = Counter(cell_name(operation) for operation in verified)
    standing = {
        name
        for name, cell in cells.items()
        if (index := verified.get(_index_of(cell))) is not None
        and (index_stands(cell, index) or (held[name] == planned[name] and not cell.place.state.exists()))
    }
    return {operation: result for operation, result in verified.items() if cell_name(operation) in standing}


def verified_results(
    cells: Mapping[str, Cell],
    plan: Sequence[Planned],
    cases: Mapping[str, Case],
    is_stopped: Callable[[], bool] = lambda: False,
) -> dict[Operation, Result]:
    """Return the accepted results whose evidence holds, whatever became of the cell's state since.

    Digests match, the command is as it would be now, the output reads, and queries belong to the index
    that holds. Raises IdentityError that names every piece of evidence that differs from its digest.
    """
    verified: dict[Operation, Result] = {}
    changed: list[str] = []
    for planned in plan:
        if is_stopped():
            return {}
        operation = planned.operation
        cell = cells[cell_name(operation)]
        case = cases[operation.case] if operation.case is not None else None
        try:
            result = _verified(cell, operation, case, verified.get(_index_of(cell)), changed)
        except IdentityError as error:
            changed.append(str(error))
            result = None
        if result is not None:
            verified[operation] = result
    if changed:
        layout = next(iter(cells.values())).layout
        raise evidence_changed(changed, layout.root)
    return verified


def index_stands(cell: Cell, index: Result) -> bool:
    """Tell whether a cell's state is complete, and where its retriever can use it."""
    moved = index.root != str(cell.layout.root) and not cell.retriever.features.relocatable
    if moved or not cell.place.state.exists():
        return False
    if state_attempt(cell.place.state) != index.attempt:
        return False  # a later attempt began to replace it
    try:
        found = cell.retriever.verify_index(cell.place)
    except AnswerError:
        return False
    record = read_measurement(cell.layout.attempt(_index_of(cell), index.attempt))
    recorded = record["validation"].get("state_digest")
    return recorded is None or found.digest == recorded


def cell_name(operation: Operation) -> str:
    """Return the cell of an operation as `candidate/repository`."""
    return f"{operation.candidate}/{operation.repository}"


def _index_of(cell: Cell) -> Operation:
    return Operation(cell.candidate, cell.repository, INDEX)


def _verified(
    cell: Cell, operation: Operation, case: Case | None, index: Result | None, changed: list[str]
) -> Result | None:
    result = read_result(cell.layout, operation)
    if result is None:
        return None
    verified = verify_result(cell.layout, operation, result)
    changed.extend(verified.changed)
    if result.cell != cell.identity:
        changed.append(f"{operation}/result.json: belongs to another cell than this one")
    if verified.changed or result.cell != cell.identity:
        return None
    if not _same_command(cell, operation, case, verified.command):
        return None
    if case is not None and (index is None or result.index_measurement_sha256 != index.measurement_sha256):
        return None
    return result if _reads(cell, operation.kind, verified.stdout) else None


def _reads(cell: Cell, kind: str, stdout: bytes) -> bool:
    if kind != INDEX:
        return cell.read(kind, stdout).status == "accepted"
    try:
        cell.retriever.read_index(stdout, cell.place)
    except AnswerError:
        return False
    return True


def _same_command(cell: Cell, operation: Operation, case: Case | None, recorded: bytes) -> bool:
    try:
        expected = cell.expected_command(operation, case)
    except UnpassableError:
        return False
    return bool(json.loads(recorded)["command"] == expected)
