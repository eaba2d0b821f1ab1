"""The index holds what the run's outcomes say, operation by operation."""

from __future__ import annotations

import shutil
import statistics
from collections import Counter
from pathlib import Path

import pytest

from core.browse.filters import DEFAULT_CUTOFF, Filters, OutcomeFilter
from core.browse.index import RunIndex, open_index
from core.browse.operation_queries import OperationFilters
from core.errors import InputError
from core.outcomes import Outcomes, read_outcomes
from core.ranking import LEVELS
from core.rankings import RunReader
from core.reports.examples import first_rank
from core.rescoring import scoring_plan
from core.run.evidence import Validation, begin_attempt
from core.run.layout import Operation, RunLayout
from core.scoring.aggregate import score
from core.scoring.records import QueryScore
from tests.unit.browse.runs import EMPTY_RANKING, add_attempt, primaries, varied_run


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return varied_run(tmp_path)


def status(query: QueryScore) -> str:
    return "empty" if query.status == "answered" and not query.returned else query.status


def assert_holds(index: RunIndex, outcomes: Outcomes) -> None:
    """Compare every primary query, probe and index with the outcomes."""
    for query in outcomes.queries:
        detail = index.case(query.case_id)
        row = detail.primaries[query.candidate]
        assert (row.status, row.error_class) == (status(query), query.error_class)
        assert (row.elapsed_s, row.timed_out) == (query.elapsed_s, query.timed_out)
        assert row.sampled_peak_rss_bytes == query.sampled_peak_rss_bytes
        assert (row.returned or 0) == query.returned
        assert detail.ranks[query.candidate] == {level: first_rank(query, level) for level in LEVELS}
        standing = detail.row.standings[index.candidates.index(query.candidate)]
        assert standing == (row.status, first_rank(query, index.level), query.elapsed_s)
    for probe in outcomes.probes:
        row = index.case(probe.case_id).probes[probe.candidate]
        assert (row.status, row.error_class) == (probe.status, probe.error_class)
        assert (row.elapsed_s, row.timed_out) == (probe.elapsed_s, probe.timed_out)
    cells = {(cell.candidate, cell.repository): cell for cell in index.cells()}
    for built in outcomes.indexes:
        row = cells[built.candidate, built.repository].indexing
        assert (row.status, row.error_class) == (built.status, built.error_class)
        assert (row.units, row.elapsed_s) == (built.units, built.elapsed_s)


def test_every_outcome_is_that_of_the_evidence(run: Path) -> None:
    outcomes = read_outcomes(run)
    assert {status(query) for query in outcomes.queries} == {
        "answered",
        "empty",
        "failed",
        "unsupported",
        "missing",
    }
    with open_index(run) as index:
        assert_holds(index, outcomes)
        assert index.count() == len(outcomes.reader.bank.cases)
        assert [row.id for row in index.page()] == [case.id for case in outcomes.reader.bank.cases]
        assert index.count_operations() == len(outcomes.reader.plan)


def test_hits_and_medians_are_those_of_the_scoreboard(run: Path) -> None:
    outcomes = read_outcomes(run)
    board = score(scoring_plan(outcomes.reader), outcomes.queries, outcomes.probes, outcomes.indexes)
    with open_index(run) as index:
        assert index.level == board.level
        for name, found in board.candidates.items():
            hits = index.count(Filters(outcomes=(OutcomeFilter(name, ("hit",)),)))
            assert hits == round(found.micro[DEFAULT_CUTOFF].hit * index.count())
        for cell in index.cells():
            medians = {kind: each.median_s for kind, each in board.candidates[cell.candidate].latency.items()}
            assert cell.medians == medians  # one repository, so that a cell is a candidate


def test_a_case_tells_its_query_and_targets(run: Path) -> None:
    reader = RunReader(run)
    with open_index(run) as index:
        for case in reader.bank.cases:
            detail = index.case(case.id)
            assert (detail.row.query, detail.row.intent, detail.row.channel) == (
                case.query,
                case.intent,
                case.channel,
            )
            assert detail.targets == case.targets
            assert detail.row.target == f"{case.targets[0].path}:{case.targets[0].line}"
        with pytest.raises(InputError, match="no case"):
            index.case("store-symbol_lookup-none")


def test_cells_count_their_operations_by_status(run: Path) -> None:
    outcomes = read_outcomes(run)
    with open_index(run) as index:
        for cell in index.cells():
            own = Counter(status(query) for query in outcomes.queries if query.candidate == cell.candidate)
            assert cell.primaries == own
            probed = Counter(probe.status for probe in outcomes.probes if probe.candidate == cell.candidate)
            assert cell.probes == probed


def test_failures_are_grouped_and_listed_first(run: Path) -> None:
    outcomes = read_outcomes(run)
    failed = Counter(
        (found.error_class, found.candidate)
        for part in (outcomes.queries, outcomes.probes, outcomes.indexes)
        for found in part
        if found.status == "failed"
    )
    with open_index(run) as index:
        groups = index.failures_by_class()
        assert {(group.error_class, group.candidate): group.failed for group in groups} == failed
        assert [group.failed for group in groups] == sorted(failed.values(), reverse=True)
        for group in groups:
            wanted = OperationFilters(candidate=group.candidate, error_class=group.error_class)
            assert index.count_operations(wanted) == len(index.operations(wanted)) == group.failed
        first = index.operations(limit=sum(failed.values()))
        assert {row.status for row in first} == {"failed"}


def test_every_attempt_is_told_and_interrupted_ones_too(run: Path) -> None:
    layout = RunLayout(run)
    operation = primaries(run, "a")[0]
    layout.result(operation).unlink()
    add_attempt(run, operation, Validation("failed", "exit", "no"))
    add_attempt(run, operation, Validation("stopped"))
    begin_attempt(layout, operation, {})
    with open_index(run) as index:
        found = index.attempts(operation)
        assert [(each.number, each.status, each.error_class) for each in found] == [
            (1, "accepted", None),
            (2, "failed", "exit"),
            (3, "stopped", None),
            (4, "interrupted", None),
        ]
        assert (found[1].outcome, found[1].exit_code, found[1].elapsed_s) == ("exited", 0, 1.5)
        assert found[1].started_at == "2025-01-02T03:04:05.000000+00:00"
        row = index.case(str(operation.case)).primaries["a"]
        assert (row.status, row.attempt, row.attempts) == ("failed", None, 4)
        assert index.attempts(Operation("d", "store", "ctx", operation.case)) == ()
        with pytest.raises(InputError, match="no candidate"):
            index.attempts(operation._replace(candidate="nobody"))


def test_an_accepted_answer_that_does_not_read_is_a_failure_by_its_kind(run: Path) -> None:
    operation = primaries(run, "a")[0]
    add_attempt(run, operation, Validation("accepted"), b"not JSON", accept=True)
    outcomes = read_outcomes(run)
    with open_index(run) as index:
        assert index.case(str(operation.case)).primaries["a"].error_class == "invalid_json"
        assert_holds(index, outcomes)


def test_answers_of_an_index_that_was_replaced_are_missing(run: Path) -> None:
    add_attempt(run, Operation("a", "store", "index"), Validation("accepted", units=9), b"{}", accept=True)
    outcomes = read_outcomes(run)
    with open_index(run) as index:
        assert_holds(index, outcomes)
        assert {row.standings[0].status for row in index.page()} == {"missing"}


@pytest.mark.parametrize("name", ["stdout", "stderr", "command.json", "measurement.json"])
def test_changed_evidence_is_named_and_never_scored(run: Path, name: str) -> None:
    operation = primaries(run, "a")[0]
    path = RunLayout(run).attempt(operation, 1) / name
    path.write_bytes(path.read_bytes() + b" ")
    with open_index(run) as index:
        detail = index.case(str(operation.case))
        assert detail.primaries["a"].status == "changed"
        assert set(detail.ranks["a"].values()) == {None}
        (problem,) = index.problems()
        assert index.count_problems() == 1
        assert problem.operation == operation
        assert f"attempt-0001/{name}: changed since it was recorded" in problem.told
        assert index.count(Filters(outcomes=(OutcomeFilter("a", ("changed",)),))) == 1
        assert index.operations(limit=1)[0].operation == operation


def test_records_of_nonsense_are_told_as_changed_or_left_out(run: Path) -> None:
    first, second, third = primaries(run, "a")[:3]
    layout = RunLayout(run)
    layout.result(first).write_text("{")
    layout.result(second).unlink()
    add_attempt(run, second, Validation("failed", "exit"))
    measurement = layout.attempt(second, 2) / "measurement.json"
    wild = '"elapsed_s":{"a":1},"exit_code":99999999999999999999999,"signal":["\\ud800"]'
    measurement.write_text(measurement.read_text().replace('"elapsed_s":1.5,"exit_code":0', wild))
    shutil.rmtree(layout.operation(third))
    with open_index(run) as index:
        assert index.case(str(first.case)).primaries["a"].status == "changed"
        row = index.case(str(second.case)).primaries["a"]
        assert (row.status, row.elapsed_s) == ("failed", None)
        assert index.attempts(second)[1].exit_code is None
        assert index.case(str(third.case)).primaries["a"].status == "missing"


def test_an_empty_ranking_is_empty_and_a_miss_to_a_disagreement(run: Path) -> None:
    operation = primaries(run, "b")[0]
    add_attempt(run, operation, Validation("accepted"), EMPTY_RANKING, accept=True)
    with open_index(run) as index:
        assert index.case(str(operation.case)).primaries["b"].status == "empty"
        assert_holds(index, read_outcomes(run))


def test_medians_are_over_what_answered(run: Path) -> None:
    outcomes = read_outcomes(run)
    with open_index(run) as index:
        cell = next(cell for cell in index.cells() if cell.candidate == "b")
    expected = [
        query.elapsed_s
        for query in outcomes.queries
        if query.candidate == "b" and query.channel == "emb" and query.status == "answered"
    ]
    assert cell.medians["emb"] == statistics.median([each for each in expected if each is not None])
