"""Fix and continue: a new run takes over what an earlier one has measured in cells that are equal."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from core.banks.case import Bank
from core.campaign.identity import differences
from core.campaign.plan import Planned
from core.engine.cell import Cell, make_cell
from core.engine.checkpoint import cell_name, index_stands, verified_results
from core.errors import BusyError
from core.retrievers.protocol import Retriever
from core.run.evidence import (
    COMMAND,
    MEASUREMENT,
    STDERR,
    STDOUT,
    Origin,
    Result,
    evidence_changed,
    read_result,
    result_bytes,
    verify_result,
)
from core.run.layout import INDEX, Operation, RunLayout
from core.run.lock import is_held
from core.run.record import RunRecord, read_cases, read_run
from core.text import printable

_SHOWN_DIFFERENCES = 3


class TakenCell(NamedTuple):
    """What one cell of a new run took over; `reason` says why it was not everything."""

    candidate: str
    repository: str
    taken: int
    planned: int
    reason: str | None = None


class TakenOver(NamedTuple):
    """What a new run took over from another."""

    source: Path
    cells: tuple[TakenCell, ...]

    @property
    def taken(self) -> int:
        """Operations taken over."""
        return sum(cell.taken for cell in self.cells)

    @property
    def planned(self) -> int:
        """Operations that the new run plans."""
        return sum(cell.planned for cell in self.cells)


class Source(NamedTuple):
    """A run that is only read, with its bank."""

    record: RunRecord
    bank: Bank


class _Choice(NamedTuple):
    results: Mapping[Operation, Result]
    with_state: bool
    reason: str | None


def open_source(path: Path) -> Source:
    """Open a run to take over from it; its lock is not taken.

    Raises InputError and IdentityError where it cannot be trusted, BusyError while it is being written.
    """
    record = read_run(path)
    if is_held(record.layout.lock):
        raise BusyError(
            f"{path}: a process writes to this run, so nothing can be taken over from it yet; "
            f"wait until it ends, or stop it: boresight stop {path}"
        )
    return Source(record, read_cases(record))


def take_over(
    source: Source,
    record: RunRecord,
    layout: RunLayout,
    bank: Bank,
    plan: Sequence[Planned],
    retrievers: Mapping[str, Retriever],
) -> TakenOver:
    """Copy the verified successes of equal cells into the run that is being made in `layout`.

    Cells are equal whose candidate, repository, depths and runtime are the same, by the same names, and
    whose limits were at most raised. Of these, the accepted attempts of operations are copied byte for byte,
    under their numbers, whose case is the same in both banks. An index comes along where its retriever lets
    it be moved; without it a cell is taken over only where that completes it, as nothing will be asked of it.

    Raises IdentityError that names evidence that differs from its digest, and OSError.
    """
    cells: dict[str, Cell] = {}
    reasons: dict[str, str] = {}
    for name, label in ((name, label) for label in record.repositories for name in record.candidates):
        reason = _difference(source.record, record, name, label)
        if reason is None:
            cells[f"{name}/{label}"] = make_cell(source.record, name, label, retrievers[name])
        else:
            reasons[f"{name}/{label}"] = reason
    earlier = {case.id: case for case in source.bank.cases}
    same = {None, *(case.id for case in bank.cases if earlier.get(case.id) == case)}
    wanted = [item for item in plan if cell_name(item.operation) in cells and item.operation.case in same]
    verified = verified_results(cells, wanted, earlier)

    taken = []
    for key in record.cells:
        planned = [item.operation for item in plan if cell_name(item.operation) == key]
        choice = _Choice({}, False, reasons.get(key))
        if key in cells:
            held = {operation: verified[operation] for operation in planned if operation in verified}
            choice = _choose(cells[key], planned, held)
            _copy(source.record, record, layout, cells[key], choice)
        candidate, _, label = key.partition("/")
        taken.append(TakenCell(candidate, label, len(choice.results), len(planned), choice.reason))
    # One sync for tens of thousands of small files: a sync of each would take minutes.
    os.sync()
    return TakenOver(source.record.layout.root, tuple(taken))


def _difference(old: RunRecord, new: RunRecord, candidate: str, label: str) -> str | None:
    """Return why a cell of the new run is not equal to the earlier one's, or None."""
    if f"{candidate}/{label}" not in old.cells:
        return "the earlier run has no such cell"
    found = list(differences(_bound(old.controls, candidate, label), _bound(new.controls, candidate, label)))
    before, now = old.controls["limits"], new.controls["limits"]
    found += [
        f"limits.{name}: lowered: {before.get(name)} → {value}"
        for name, value in now.items()
        if before.get(name) is None or value < before[name]
    ]
    if not found:
        return None
    more = f" and {len(found) - _SHOWN_DIFFERENCES} more" if len(found) > _SHOWN_DIFFERENCES else ""
    return "; ".join(islice(found, _SHOWN_DIFFERENCES)) + more


def _bound(controls: Mapping[str, Any], candidate: str, label: str) -> dict[str, Any]:
    return {
        "candidates": {candidate: controls["candidates"][candidate]},
        "repositories": {label: controls["repositories"][label]},
        "depth": controls["depth"],
        "probe_depth": controls["probe_depth"],
        "runtime": controls["runtime"],
    }


def _choose(cell: Cell, planned: Sequence[Operation], held: Mapping[Operation, Result]) -> _Choice:
    """Decide what of a cell may stand in the new run: all that holds, nothing, or all without its index."""
    operation = Operation(cell.candidate, cell.repository, INDEX)
    index = held.get(operation)
    if index is None:
        accepted = read_result(cell.layout, operation) is not None
        why = "its index would be built by another command now" if accepted else "its index was not accepted"
        return _Choice({}, False, why)
    whole = len(held) == len(planned)
    missing = None if whole else f"{len(planned) - len(held)} of its operations have no success here"
    if cell.retriever.features.relocatable and index_stands(cell, index):
        return _Choice(held, True, missing)
    if whole:
        return _Choice(held, False, None)
    if cell.retriever.features.relocatable:
        return _Choice({}, False, f"{missing}, and its index is gone or incomplete")
    return _Choice({}, False, f"{missing}, and its retriever's index cannot be moved")


def _copy(old: RunRecord, new: RunRecord, layout: RunLayout, cell: Cell, choice: _Choice) -> None:
    changed: list[str] = []
    for operation, found in choice.results.items():
        origin = found.origin or Origin(
            old.identity, printable(old.layout.root.name, 200), found.cell, found.attempt
        )
        result = found._replace(cell=new.cell(cell.candidate, cell.repository), origin=origin)
        target = layout.attempt(operation, result.attempt)
        target.mkdir(parents=True, mode=0o700)
        for name in (COMMAND, STDOUT, STDERR, MEASUREMENT):
            # Copied, never linked: evidence of one run must not change with another's.
            shutil.copyfile(old.layout.attempt(operation, found.attempt) / name, target / name)
        layout.result(operation).write_bytes(result_bytes(operation, result))
        changed += verify_result(layout, operation, result).changed
    if changed:
        raise evidence_changed(changed, old.layout.root)
    if choice.with_state:
        copy_state(cell.place.state, layout.state(cell.candidate, cell.repository))


def copy_state(source: Path, target: Path) -> None:
    """Copy a cell's state folder; sockets and pipes, which hold nothing, are left out. Raises OSError."""
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    shutil.copytree(source, target, symlinks=True, ignore=_without_content)


def _without_content(folder: str, names: list[str]) -> list[str]:
    return [name for name in names if not _holds_content(Path(folder, name).lstat().st_mode)]


def _holds_content(mode: int) -> bool:
    return stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode)
