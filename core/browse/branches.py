"""The tree of a run's operations, a branch at a time: failures by class first, then every cell."""

from __future__ import annotations

from collections import Counter
from typing import Literal, NamedTuple

from core.browse.index import RunIndex
from core.browse.operation_queries import OperationFilters, OperationSort
from core.browse.operations import Attempt, is_under_way
from core.browse.rows import OperationRow
from core.run.lock import is_executed

PAGE = 200  # operations below one branch at a time

BranchKind = Literal["class", "changed", "missing", "candidate", "cell", "operation", "attempt", "page"]


class View(NamedTuple):
    """What of the tree is shown, and in what order operations stand."""

    text: str = ""
    only_failures: bool = False
    sort: OperationSort = "status"


class Branch(NamedTuple):
    """One branch; what is below is found by `branches_of`. Text in it is not yet safe to show.

    `key` is the same whenever the tree is built again. `filters` are those of the operations below, of which
    there are `size`; a page's begin at `offset`. `failed` counts the failures below a candidate or a cell of
    one. `executed` says that the run was being executed as the branch was found, `under_way` that the
    operation's newest attempt was being made.
    """

    key: str
    kind: BranchKind
    name: str = ""
    filters: OperationFilters | None = None
    size: int = 0
    offset: int = 0
    row: OperationRow | None = None
    attempt: Attempt | None = None
    failed: int = 0
    executed: bool = False
    under_way: bool = False


def top_branches(index: RunIndex, view: View) -> tuple[Branch, ...]:
    """Return the topmost branches: classes of failures, changed evidence, what lacks a result, candidates."""
    found = [*_classes(index, view)]
    changed = _counted(index, view, Branch("changed", "changed", filters=OperationFilters(status="changed")))
    found += [changed] if changed.size else []
    if view.only_failures:
        return tuple(found)
    without = Branch(
        "missing", "missing", filters=OperationFilters(status="missing"), executed=_is_executed(index)
    )
    missing = _counted(index, view, without)
    found += [missing] if missing.size else []
    for name in index.candidates:
        branch = Branch(f"candidate:{name}", "candidate", name, OperationFilters(candidate=name))
        counted = _counted(index, view, branch)
        found += [_with_failures(index, counted)] if counted.size else []
    return tuple(found)


def branches_of(index: RunIndex, branch: Branch, view: View) -> tuple[Branch, ...]:
    """Return what stands below a branch; of an attempt, nothing."""
    if branch.kind == "class":
        return _cells_of_class(index, branch, view)
    if branch.kind == "candidate":
        return _cells_of_candidate(index, branch, view)
    if branch.row is not None and branch.kind == "operation":
        return _attempts(index, branch, branch.row)
    if branch.filters is not None:
        return _operations(index, branch, branch.filters, view)
    return ()


def operation_branch(index: RunIndex, row: OperationRow, above: str) -> Branch:
    """Return the branch of an operation."""
    unsettled = row.status == "missing"
    return Branch(
        f"{above}/{row.operation}",
        "operation",
        str(row.operation),
        size=row.attempts,
        row=row,
        executed=unsettled and _is_executed(index),
        under_way=unsettled and is_under_way(index.record.layout, row.operation, row.attempts),
    )


def _is_executed(index: RunIndex) -> bool:
    return is_executed(index.record.layout.lock)


def _classes(index: RunIndex, view: View) -> list[Branch]:
    counts: Counter[str] = Counter()
    for group in index.failures_by_class():
        counts[group.error_class] += group.failed
    branches = (
        Branch(f"class:{name}", "class", name, OperationFilters(status="failed", error_class=name), count)
        for name, count in counts.most_common()
    )
    if not view.text:
        return list(branches)
    return [counted for branch in branches if (counted := _counted(index, view, branch)).size]


def _cells_of_class(index: RunIndex, branch: Branch, view: View) -> tuple[Branch, ...]:
    cells = (
        Branch(
            f"{branch.key}/{group.candidate}/{group.repository}",
            "cell",
            f"{group.candidate} × {group.repository}",
            OperationFilters(group.candidate, group.repository, None, "failed", group.error_class),
            group.failed,
        )
        for group in index.failures_by_class()
        if group.error_class == branch.name
    )
    if not view.text:
        return tuple(cells)
    return tuple(counted for cell in cells if (counted := _counted(index, view, cell)).size)


def _cells_of_candidate(index: RunIndex, branch: Branch, view: View) -> tuple[Branch, ...]:
    cells = (
        Branch(f"{branch.key}/{label}", "cell", label, OperationFilters(branch.name, label))
        for label in index.repositories
    )
    found = (_counted(index, view, cell) for cell in cells)
    return tuple(_with_failures(index, counted) for counted in found if counted.size)


def _with_failures(index: RunIndex, branch: Branch) -> Branch:
    failed = (branch.filters or OperationFilters())._replace(status="failed")
    return branch._replace(failed=index.count_operations(failed))


def _operations(index: RunIndex, branch: Branch, filters: OperationFilters, view: View) -> tuple[Branch, ...]:
    """Return a page of operations, with the pages before and after it where there are any."""
    wanted = filters._replace(text=view.text or None)
    sort = "attempts" if filters.status == "missing" and view.sort == "status" else view.sort
    rows = index.operations(wanted, branch.offset, PAGE, sort)
    above = branch.key.partition("#")[0]
    found = [operation_branch(index, row, above) for row in rows]
    if branch.offset > 0:
        found.insert(0, _page(branch, above, max(branch.offset - PAGE, 0)))
    if branch.offset + len(rows) < branch.size:
        found.append(_page(branch, above, branch.offset + PAGE))
    return tuple(found)


def _page(branch: Branch, above: str, offset: int) -> Branch:
    return branch._replace(key=f"{above}#{offset}", kind="page", offset=offset)


def _attempts(index: RunIndex, branch: Branch, row: OperationRow) -> tuple[Branch, ...]:
    return tuple(
        Branch(f"{branch.key}/{attempt.number}", "attempt", row=row, attempt=_as_it_is(index, row, attempt))
        for attempt in reversed(index.attempts(row.operation))
    )


def _as_it_is(index: RunIndex, row: OperationRow, attempt: Attempt) -> Attempt:
    """Return an attempt without a measurement as under way where the run is making it just now."""
    if attempt.status != "interrupted":
        return attempt
    going = is_under_way(index.record.layout, row.operation, attempt.number)
    return attempt._replace(status="under_way") if going else attempt


def _counted(index: RunIndex, view: View, branch: Branch) -> Branch:
    filters = (branch.filters or OperationFilters())._replace(text=view.text or None)
    return branch._replace(size=index.count_operations(filters))
