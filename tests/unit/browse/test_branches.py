"""The tree shows failures first, counts what is below each branch, and pages instead of cutting."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from core.browse import branches
from core.browse.branches import Branch, View, branches_of, top_branches
from core.browse.index import RunIndex, open_index
from core.browse.operation_queries import OperationFilters
from core.errors import InputError
from core.run.layout import RunLayout
from tests.unit.browse.runs import primaries, varied_run


@pytest.fixture
def index(tmp_path: Path) -> Iterator[RunIndex]:
    with open_index(varied_run(tmp_path)) as opened:
        yield opened


def names(found: tuple[Branch, ...]) -> list[tuple[str, str, int]]:
    return [(branch.kind, branch.name, branch.size) for branch in found]


def test_failures_stand_first_by_class_then_what_lacks_a_result_then_candidates(index: RunIndex) -> None:
    tops = top_branches(index, View())
    kinds = [branch.kind for branch in tops]
    assert kinds == sorted(kinds, key=["class", "changed", "missing", "candidate"].index)
    failed = index.count_operations(OperationFilters(status="failed"))
    classes = [branch for branch in tops if branch.kind == "class"]
    assert failed == sum(branch.size for branch in classes) > 0
    assert [branch.size for branch in classes] == sorted((each.size for each in classes), reverse=True)
    assert [branch.name for branch in tops if branch.kind == "candidate"] == ["a", "b", "c", "d"]


def test_failures_alone_leave_everything_else_out(index: RunIndex) -> None:
    assert {branch.kind for branch in top_branches(index, View(only_failures=True))} == {"class"}


def test_a_class_leads_by_its_cells_to_operations_and_their_attempts(index: RunIndex) -> None:
    top = next(each for each in top_branches(index, View()) if each.name == "nonzero_exit")
    cells = branches_of(index, top, View())
    assert sum(cell.size for cell in cells) == top.size
    cell = next(each for each in cells if each.name == "b × store")
    operations = branches_of(index, cell, View())
    assert {each.row.error_class for each in operations if each.row} == {"nonzero_exit"}
    (attempt,) = branches_of(index, operations[0], View())
    assert attempt.attempt is not None and attempt.attempt.exit_code == 3
    assert branches_of(index, attempt, View()) == ()


def test_a_candidate_leads_by_its_repositories_to_all_of_its_operations(index: RunIndex) -> None:
    top = next(each for each in top_branches(index, View()) if each.name == "a")
    (cell,) = branches_of(index, top, View())
    assert (cell.name, cell.size) == ("store", top.size)
    assert len(branches_of(index, cell, View())) == top.size


def test_many_operations_come_in_pages_that_say_what_they_hold(
    index: RunIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(branches, "PAGE", 5)
    top = next(each for each in top_branches(index, View()) if each.name == "a")
    (cell,) = branches_of(index, top, View())
    seen = []
    branch = cell
    while True:
        found = branches_of(index, branch, View())
        seen += [each.name for each in found if each.kind == "operation"]
        pages = [each for each in found if each.kind == "page"]
        assert len(found) <= 7
        assert [page.offset < branch.offset for page in pages] in ([False], [True, False], [True])
        if pages[-1].offset < branch.offset:
            break
        branch = pages[-1]
    assert len(seen) == len(set(seen)) == cell.size


def test_text_is_looked_for_in_class_case_query_and_target(index: RunIndex) -> None:
    assert {branch.name for branch in top_branches(index, View(text="NONZERO"))} >= {"nonzero_exit", "b", "d"}
    tops = top_branches(index, View(text="save_records"))
    candidate = next(branch for branch in tops if branch.name == "a")
    (cell,) = branches_of(index, candidate, View(text="save_records"))
    operations = branches_of(index, cell, View(text="save_records"))
    assert 0 < len(operations) == cell.size < index.count_operations(OperationFilters(candidate="a"))
    assert top_branches(index, View(text="no such text")) == ()


@pytest.mark.parametrize("text", ["%", "_", "'", "[/foo] bar", "\x1b]52;c;x\x07"])
def test_text_is_no_pattern(index: RunIndex, text: str) -> None:
    assert all(branch.size for branch in top_branches(index, View(text=text)))


@pytest.mark.parametrize("text", ["\0", "\ud800"])
def test_text_that_nothing_can_hold_is_refused(index: RunIndex, text: str) -> None:
    with pytest.raises(InputError):
        top_branches(index, View(text=text))


def test_operations_are_sorted_by_what_they_took(index: RunIndex) -> None:
    rows = index.operations(sort="elapsed")
    taken = [row.elapsed_s for row in rows if row.elapsed_s is not None]
    assert taken == sorted(taken, reverse=True)
    assert [row.elapsed_s is None for row in rows] == sorted(row.elapsed_s is None for row in rows)
    assert len({row.operation for row in index.operations(sort="memory")}) == len(rows)
    assert [row.attempts for row in index.operations(sort="attempts")][-1] == 0
    with pytest.raises(InputError, match="not known"):
        index.operations(sort="loudness")  # type: ignore[arg-type]


def test_changed_evidence_has_its_branch(tmp_path: Path) -> None:
    run = varied_run(tmp_path)
    operation = primaries(run, "a")[0]
    (RunLayout(run).attempt(operation, 1) / "stdout").write_bytes(b"other")
    with open_index(run) as index:
        top = next(each for each in top_branches(index, View(only_failures=True)) if each.kind == "changed")
        (branch,) = branches_of(index, top, View())
        assert branch.row is not None and branch.row.operation == operation


def test_interrupted_attempts_stand_before_what_was_never_run(tmp_path: Path) -> None:
    run = varied_run(tmp_path)
    operation = primaries(run, "a")[0]
    layout = RunLayout(run)
    layout.result(operation).unlink()
    (layout.attempt(operation, 1) / "measurement.json").unlink()
    with open_index(run) as index:
        top = next(each for each in top_branches(index, View()) if each.kind == "missing")
        first = branches_of(index, top, View())[0]
        assert first.row is not None and first.row.operation == operation
        (attempt,) = branches_of(index, first, View())
        assert attempt.attempt is not None and attempt.attempt.status == "interrupted"
