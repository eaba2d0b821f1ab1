"""Reports are derived from retained bytes alone, and the same each time."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from core import api
from core.cli import main
from core.errors import BoresightError, Exit, IdentityError
from core.outcomes import read_outcomes
from core.rankings import RunReader
from core.rescoring import run_facts
from core.retrievers import registry
from core.run.evidence import (
    Acceptance,
    Validation,
    begin_attempt,
    publish_accepted,
    read_result,
)
from core.run.layout import Operation, RunLayout
from core.run.lock import RunLock
from tests.support.campaigns import campaign, fake, make_scene, run_new
from tests.support.finished import CASES, OPERATIONS, Finished, finished_run

REPORTS = ("quality-summary.json", "quality-summary.md")


@pytest.fixture
def finished(tmp_path: Path) -> Finished:
    return finished_run(tmp_path)


def reports(run: Path) -> dict[str, bytes]:
    return {name: (run / name).read_bytes() for name in REPORTS}


def evidence(run: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(run)): path.read_bytes()
        for path in run.rglob("*")
        if path.is_file() and path.name not in {*REPORTS, ".lock"}
    }


def test_a_second_rescore_writes_the_same_bytes_and_touches_nothing_else(finished: Finished) -> None:
    before = evidence(finished.run)
    api.rescore(finished.run, write=True)
    first = reports(finished.run)
    for name in REPORTS:
        (finished.run / name).unlink()
    api.rescore(finished.run, write=True)
    assert reports(finished.run) == first
    assert evidence(finished.run) == before


def test_without_writing_nothing_is_written(finished: Finished) -> None:
    before = evidence(finished.run)
    rescored = api.rescore(finished.run)
    assert rescored.unaccepted == 0
    assert evidence(finished.run) == before
    assert not any((finished.run / name).exists() for name in REPORTS)


def test_no_repository_executable_or_state_is_needed(finished: Finished) -> None:
    api.rescore(finished.run, write=True)
    first = reports(finished.run)
    for folder in ("repositories", "state", "configs"):
        shutil.rmtree(finished.run / folder)
    assert api.rescore(finished.run, write=True).unaccepted == 0
    assert reports(finished.run) == first


def test_scores_are_those_of_the_evidence(finished: Finished) -> None:
    rescored = api.rescore(finished.run)
    score = rescored.board.candidates["a"]
    assert (score.counts.planned, score.counts.answered) == (CASES, CASES)
    assert score.intents["symbol_lookup"].micro[1].hit == 1.0
    assert len(rescored.queries) == 2 * CASES
    assert rescored.facts.name == "test"


def test_ambiguous_cases_are_reported_where_they_were_recorded_of_every_repository(
    finished: Finished,
) -> None:
    reader = RunReader(finished.run)
    record = reader.record

    def ambiguous(notes: dict[str, dict[str, int]] | None) -> int | None:
        about = {key: value for key, value in record.about.items() if key != "bank_notes"}
        reader.record = replace(record, about=about if notes is None else {**about, "bank_notes": notes})
        return run_facts(reader).ambiguous

    whole = {label: {"ambiguous": 2, "cases": 5} for label in record.repositories}
    assert ambiguous(whole) == 2 * len(record.repositories)
    assert ambiguous({"other": {"ambiguous": 2, "cases": 5}}) is None
    assert ambiguous(None) is None


def test_the_command_tells_where_the_results_lie(
    finished: Finished, capsys: pytest.CaptureFixture[str]
) -> None:
    for words in (["rescore", str(finished.run)], ["run", "--output", str(finished.run), "--rescore"]):
        assert main(words) == Exit.DONE
        assert capsys.readouterr().out.endswith(f"Known-target results: {finished.run}\n")
    assert json.loads((finished.run / "quality-summary.json").read_bytes())["models"].keys() == {"a", "b"}


def test_missing_results_are_a_negative_answer(
    finished: Finished, capsys: pytest.CaptureFixture[str]
) -> None:
    layout = RunLayout(finished.run)
    probe = next(item for item in RunReader(finished.run).plan if item.operation.kind == "ctx")
    shutil.rmtree(layout.operation(probe.operation))
    assert main(["rescore", str(finished.run)]) == Exit.NEGATIVE
    said = capsys.readouterr()
    assert f"1 of {2 * OPERATIONS} planned operations have no accepted result" in said.err
    assert said.out.endswith(f"Known-target results: {finished.run}\n")
    assert (finished.run / "quality-summary.md").is_file()


def test_failed_results_are_a_negative_answer(tmp_path: Path) -> None:
    scene = make_scene(tmp_path, per_intent=1)
    ran = run_new(campaign(scene, fake("a", faults={"a": "wrong_shape"}, probe=False)), tmp_path / "run")
    assert ran.state == "failed"
    assert main(["rescore", str(ran.run)]) == Exit.NEGATIVE
    score = api.rescore(ran.run)
    assert score.board.candidates["a"].counts.failed == score.unaccepted > 0


def test_operations_beside_another_campaign_are_counted_and_told(finished: Finished) -> None:
    reader = RunReader(finished.run)
    layout = reader.layout
    seen = next(seen for seen in reader.observations() if seen.planned.operation.kind == "ctx")
    operation = seen.planned.operation
    attempt = begin_attempt(layout, operation, {})
    attempt.stdout.write_bytes(seen.stdout)
    index = read_result(layout, Operation(operation.candidate, operation.repository, "index"))
    bound = Acceptance(reader.record.cell(operation.candidate, operation.repository), index)
    answered, accepted = {"outcome": "answered"}, Validation("accepted")
    publish_accepted(layout, attempt, answered, accepted, bound, disturbed=True)

    rescored = api.rescore(finished.run, write=True)
    assert (rescored.unaccepted, rescored.facts.disturbed) == (0, (1, 2 * OPERATIONS))
    summary = json.loads(reports(finished.run)["quality-summary.json"])
    assert summary["run"]["disturbed"] == {"operations": 1, "planned": 2 * OPERATIONS}
    told = f"1 of {2 * OPERATIONS} operations ran while another campaign was measuring on this machine"
    assert told in reports(finished.run)["quality-summary.md"].decode()


def test_single_queries_are_told_without_paying_for_statistics(
    finished: Finished, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from core import rescoring

    def unwanted(*arguments: object) -> None:
        raise AssertionError("scored")

    monkeypatch.setattr(rescoring, "score", unwanted)
    assert read_outcomes(finished.run).unaccepted == 0
    assert main(["report", str(finished.run), "--format", "csv"]) == Exit.DONE
    assert capsys.readouterr().out.count("\n") == 1 + 2 * CASES
    assert main(["report", str(finished.run), "--format", "trec"]) == Exit.DONE


@pytest.mark.parametrize("form", ["csv", "trec"])
def test_single_queries_of_changed_evidence_are_refused(
    finished: Finished, capsys: pytest.CaptureFixture[str], form: str
) -> None:
    path = next((finished.run / "operations/a/store").glob("ctx-*")) / "attempt-0001" / "stderr"
    path.write_bytes(b"edited")
    assert main(["report", str(finished.run), "--format", form]) == Exit.IDENTITY
    assert capsys.readouterr().out == ""
    assert not (finished.run / "exports").exists()


def test_changed_evidence_is_refused_by_name_and_reports_stay(
    finished: Finished, capsys: pytest.CaptureFixture[str]
) -> None:
    api.rescore(finished.run, write=True)
    before = reports(finished.run)
    path = next((finished.run / "operations/a/store").glob("primary-*")) / "attempt-0001" / "stdout"
    path.write_bytes(path.read_bytes().replace(b"records", b"Records"))
    assert main(["rescore", str(finished.run)]) == Exit.IDENTITY
    said = capsys.readouterr().err
    assert f"{path.parts[-3]}/attempt-0001/stdout: changed since it was recorded" in said
    assert reports(finished.run) == before
    with pytest.raises(IdentityError):
        api.rescore(finished.run)


def test_an_output_that_no_longer_reads_counts_as_failed(
    finished: Finished, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from core.retrievers.protocol import AnswerError

    fakes = registry._module("fake")

    def stricter(*arguments: object) -> None:
        raise AnswerError("wrong_shape", "a newer reader wants more")

    monkeypatch.setattr(fakes.FakeRetriever, "read_ranking", stricter)
    rescored = api.rescore(finished.run)
    assert rescored.unaccepted == 2 * CASES
    assert rescored.board.candidates["a"].counts.failed == CASES
    assert main(["report", str(finished.run), "--format", "trec"]) == Exit.DONE
    assert (finished.run / "exports" / "a.run").read_bytes() == b""


def test_a_run_that_is_being_written_is_not_rescored(
    finished: Finished, capsys: pytest.CaptureFixture[str]
) -> None:
    lock = RunLock(finished.run / ".lock")
    lock.acquire()
    try:
        assert main(["rescore", str(finished.run)]) == Exit.BUSY
        assert not (finished.run / "quality-summary.json").exists()
        assert main(["report", str(finished.run), "--format", "csv"]) == Exit.DONE
    finally:
        lock.release()


def test_reports_that_cannot_be_written_are_told_with_the_remedy(finished: Finished) -> None:
    (finished.run / "quality-summary.json").mkdir()
    with pytest.raises(BoresightError, match=r"reports cannot be written: .* then `boresight rescore`"):
        api.rescore(finished.run, write=True)


def test_private_text_stays_in_the_evidence(tmp_path: Path) -> None:
    finished = finished_run(tmp_path, private=True)
    api.rescore(finished.run, write=True)
    assert main(["report", str(finished.run), "--format", "trec"]) == Exit.DONE
    cases = api.read_bank(finished.run / "cases.jsonl").cases
    secrets = {case.query for case in cases} | {target.path for case in cases for target in case.targets}
    shown = {path for path in finished.run.iterdir() if path.is_file()} - {finished.run / "cases.jsonl"}
    assert {path.name for path in shown} >= {*REPORTS, "events.jsonl", "campaign.json", "plan.jsonl"}
    exports = sorted((finished.run / "exports").iterdir())
    assert [path.name for path in exports] == ["a.run", "b.run", "qrels.txt"]
    for path in (*shown, *exports):
        text = path.read_text()
        assert not [secret for secret in secrets if secret in text], path.name


@pytest.mark.parametrize("form", ["text", "md", "json", "csv", "metrics"])
def test_no_report_tells_private_text(tmp_path: Path, capsys: pytest.CaptureFixture[str], form: str) -> None:
    finished = finished_run(tmp_path, private=True)
    assert main(["report", str(finished.run), "--format", form]) == Exit.DONE
    said = capsys.readouterr()
    cases = api.read_bank(finished.run / "cases.jsonl").cases
    for case in cases:
        assert case.query not in said.out + said.err
        assert all(target.path not in said.out + said.err for target in case.targets)


def test_of_a_public_repository_the_queries_are_told(
    finished: Finished, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", str(finished.run), "--format", "trec"]) == Exit.DONE
    assert (finished.run / "exports" / "qrels.txt").read_text().count("\n") == CASES
    assert "withheld" not in capsys.readouterr().err
