"""What a resume may take over: successes whose command, output and index still hold."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence

from core.banks.case import Case
from core.campaign.plan import Planned
from core.engine.cell import Cell
from core.errors import IdentityError
from core.retrievers.protocol import UnpassableError
from core.run.evidence import Result, evidence_changed, read_result, verify_result
from core.run.layout import Operation


def reusable_results(
    cells: Mapping[str, Cell],
    plan: Sequence[Planned],
    cases: Mapping[str, Case],
    on_checked: Callable[[int], None] = lambda count: None,
) -> dict[Operation, Result]:
    """Return the accepted results that stand: digests verified, command as it would be now, output readable.

    An index stands where its state is still complete (and still at its place, unless it may be moved);
    queries stand where they belong to the index that stands. Others run again under new numbers.
    Raises IdentityError that names every piece of evidence that differs from its digest.
    """
    standing: dict[Operation, Result] = {}
    changed: list[str] = []
    for count, planned in enumerate(plan, start=1):
        operation = planned.operation
        cell = cells[f"{operation.candidate}/{operation.repository}"]
        case = cases[operation.case] if operation.case is not None else None
        index = standing.get(Operation(cell.candidate, cell.repository, "index"))
        try:
            result = _standing(cell, operation, case, index, changed)
        except IdentityError as error:
            changed.append(str(error))
            result = None
        if result is not None:
            standing[operation] = result
        on_checked(count)
    if changed:
        layout = next(iter(cells.values())).layout
        raise evidence_changed(changed, layout.root)
    return standing


def _standing(
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
    if case is None:
        moved = result.root != str(cell.layout.root) and not cell.retriever.features.relocatable
        stands = not moved and cell.read("index", verified.stdout).status == "accepted"
        return result if stands else None
    if index is None or result.index_measurement_sha256 != index.measurement_sha256:
        return None
    return result if cell.read(operation.kind, verified.stdout).status == "accepted" else None


def _same_command(cell: Cell, operation: Operation, case: Case | None, recorded: bytes) -> bool:
    try:
        expected = cell.expected_command(operation, case)
    except UnpassableError:
        return False
    return bool(json.loads(recorded)["command"] == expected)
