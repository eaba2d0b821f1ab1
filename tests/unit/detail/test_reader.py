"""One case in full, read back from the frozen tree and from verified evidence."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.browse.filters import Filters
from core.browse.index import RunIndex, open_index
from core.detail.reader import CaseReader
from core.detail.records import AnswerView, CaseView
from core.detail.source_tree import SourceError
from core.ranking import Level, Target
from core.run.evidence import Validation
from core.run.layout import Operation, RunLayout
from tests.support.finished import finished_run
from tests.unit.browse.runs import add_attempt, varied_run


def view_of(run: Path, text: str, intent: str, level: Level = "exact") -> CaseView:
    with open_index(run) as index:
        return _view(index, text, intent, level)


def _view(index: RunIndex, text: str, intent: str, level: Level = "exact") -> CaseView:
    (row, *_) = index.page(Filters(intents=(intent,), text=text))
    return CaseReader(index.record).read(index.case(row.id), level)


def answers(view: CaseView) -> dict[str, AnswerView]:
    return {answer.candidate: answer for answer in view.answers}


def test_targets_stand_among_their_lines(tmp_path: Path) -> None:
    view = view_of(finished_run(tmp_path).run, "", "symbol_lookup")
    (source,) = view.targets
    assert source.excerpt is not None and source.problem is None
    own = source.excerpt.lines[source.target.line - source.excerpt.first]
    assert own.startswith(("def ", "class "))
    assert source.excerpt.first <= source.target.line


def test_the_witness_is_compared_with_the_source(tmp_path: Path) -> None:
    run = finished_run(tmp_path).run
    view = view_of(run, "", "symbol_lookup")
    assert (view.witness.rule, view.witness.check) == ("python_definition", "matches")
    source = run / "repositories" / "store" / view.targets[0].target.path
    source.chmod(0o644)
    source.write_bytes(source.read_bytes() + b"# changed\n")
    assert view_of(run, "", "symbol_lookup").witness.check == "differs"
    source.unlink()
    gone = view_of(run, "", "symbol_lookup")
    assert gone.witness.check == "unknown"
    assert gone.targets[0].problem == "not in the frozen tree"
    assert gone.overlap is None


def test_an_edited_bank_leaves_the_derivation_untold(tmp_path: Path) -> None:
    run = finished_run(tmp_path).run
    with open_index(run) as index:
        cases = RunLayout(run).cases
        cases.write_bytes(cases.read_bytes().replace(b"load", b"LOAD"))
        view = _view(index, "", "symbol_lookup")
    assert view.witness.rule is None
    assert "changed since the run was frozen" in str(view.witness.problem)
    assert view.answers[0].results


def test_overlap_tells_shared_words_and_those_beyond_the_witness(tmp_path: Path) -> None:
    view = view_of(finished_run(tmp_path).run, "", "task_lookup")
    assert view.overlap is not None and view.overlap.beyond_witness is not None
    assert view.overlap.absent == ()  # a docstring's words stand in the definition that has it
    assert {*view.overlap.beyond_witness} < {*view.overlap.shared}
    assert "where" not in view.overlap.shared  # the intent's own prefix does not count


def test_rankings_mark_hits_and_show_the_first_lines_of_results(tmp_path: Path) -> None:
    view = view_of(varied_run(tmp_path), "save_records", "symbol_lookup")
    answer = answers(view)["a"]
    assert (answer.status, answer.rank) == ("answered", 1)
    assert answer.results[0].hits == (0,)
    assert answer.results[0].excerpt is not None
    assert answer.results[0].excerpt.lines[0] == "def save_records(path, records):"
    assert all(not result.hits for result in answer.results[1:])
    assert answer.elapsed_s is not None and answer.attempts == 1


def test_the_level_decides_what_a_hit_is(tmp_path: Path) -> None:
    run = varied_run(tmp_path)
    fine = answers(view_of(run, "save_records", "symbol_lookup"))["a"]
    coarse = answers(view_of(run, "save_records", "symbol_lookup", "file"))["a"]
    assert sum(bool(result.hits) for result in coarse.results) > sum(
        bool(result.hits) for result in fine.results
    )


def test_ranks_at_the_level_of_files_count_each_file_once(tmp_path: Path) -> None:
    run = finished_run(tmp_path).run
    with open_index(run) as index:
        (row, *_) = index.page(Filters(intents=("symbol_lookup",)))
        rows = b'{"path":"README.md","line":1},{"path":"README.md","line":3},{"path":"store/records.py"}'
        stdout = b'{"format":"boresight-ranking@1","results":[' + rows + b"]}\n"
        operation = Operation("a", "store", "primary", row.id)
        add_attempt(run, operation, Validation("accepted", returned=3), stdout, accept=True)
        answer = answers(CaseReader(index.record).read(index.case(row.id), "file"))["a"]
        index.refresh([operation])
        assert index.case(row.id).ranks["a"]["file"] == answer.rank
    assert (answer.rank, answer.ranked, len(answer.results)) == (2, 2, 3)


def test_each_way_to_have_no_ranking_says_why(tmp_path: Path) -> None:
    run = varied_run(tmp_path)
    symbol = answers(view_of(run, "load_records", "symbol_lookup"))
    assert (symbol["b"].status, symbol["b"].results) == ("empty", ())
    assert symbol["d"].status == "missing"
    failed = answers(view_of(run, "", "task_lookup"))["b"]
    assert failed.status == "failed" and "nonzero_exit" in str(failed.problem)
    documentation = answers(view_of(run, "", "docs_lookup"))["c"]
    assert documentation.status == "unsupported" and "channel" in str(documentation.problem)
    assert documentation.probe is None


def test_changed_evidence_is_not_shown(tmp_path: Path) -> None:
    run = finished_run(tmp_path).run
    with open_index(run) as index:
        (row, *_) = index.page()
        folder = RunLayout(run).attempt(Operation("a", "store", "primary", row.id), 1)
        (folder / "stdout").write_bytes(b"{}")
        answer = answers(CaseReader(index.record).read(index.case(row.id), "exact"))["a"]
    assert answer.status == "changed" and answer.results == ()
    assert "stdout: changed since it was recorded" in str(answer.problem)


def test_an_answer_of_a_replaced_index_no_longer_counts(tmp_path: Path) -> None:
    run = finished_run(tmp_path).run
    index_operation = Operation("a", "store", "index")
    add_attempt(run, index_operation, Validation("accepted", units=3), b'{"units": 3}\n', accept=True)
    answer = answers(view_of(run, "", "symbol_lookup"))["a"]
    assert answer.status == "missing" and "made anew" in str(answer.problem)


def test_a_probe_tells_its_size_and_whether_the_target_is_within(tmp_path: Path) -> None:
    view = view_of(varied_run(tmp_path), "save_records", "symbol_lookup")
    probe = answers(view)["a"].probe
    assert probe is not None and probe.status == "answered"
    assert probe.holds_target and probe.result == 1
    assert probe.characters >= len(probe.text) > 0 and probe.words > 0


def test_results_that_lie_nowhere_say_so(tmp_path: Path) -> None:
    run = finished_run(tmp_path).run
    with open_index(run) as index:
        (row, *_) = index.page()
        rows = b'{"path":"no/where.py"},{"path":"store/records.py","line":99999},{"path":"esc\\u001b[31m.py"}'
        stdout = b'{"format":"boresight-ranking@1","results":[' + rows + b"]}\n"
        operation = Operation("a", "store", "primary", row.id)
        add_attempt(run, operation, Validation("accepted", returned=3), stdout, accept=True)
        answer = answers(CaseReader(index.record).read(index.case(row.id), "exact"))["a"]
    assert [result.problem for result in answer.results][:1] == ["not in the frozen tree"]
    assert "lines only" in str(answer.results[1].problem)
    assert answer.results[2].excerpt is None


def test_a_targets_file_is_found_only_inside_the_tree(tmp_path: Path) -> None:
    run = finished_run(tmp_path).run
    with open_index(run) as index:
        (row, *_) = index.page()
        detail, reader = index.case(row.id), CaseReader(index.record)
        found = reader.target_path(detail)
        assert found == RunLayout(run).source("store") / detail.targets[0].path
        outside = detail._replace(targets=(Target("../../campaign.json", 0, "file"),))
        with pytest.raises(SourceError):
            reader.target_path(outside)
