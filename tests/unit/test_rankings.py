"""Outcomes are read back out of a run's files alone."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path

import pytest

from core import api
from core.campaign.plan import Planned
from core.canonical import sha256, sha256_of
from core.errors import IdentityError, InputError
from core.rankings import Observation, RunReader
from core.retrievers import registry
from core.retrievers.protocol import AnswerError, Configuration, Features
from core.run.evidence import (
    Acceptance,
    Validation,
    begin_attempt,
    publish_accepted,
    publish_attempt,
)
from core.run.layout import Operation
from tests.support.campaigns import campaign, fake, make_scene, run_new
from tests.support.finished import CASES, OPERATIONS, Finished, finished_run

INDEX = Operation("a", "store", "index")


@pytest.fixture
def finished(tmp_path: Path) -> Finished:
    return finished_run(tmp_path)


def statuses(reader: RunReader) -> Counter[str]:
    return Counter(seen.status for seen in reader.observations())


def first_query(reader: RunReader) -> Planned:
    return next(
        item
        for item in reader.plan
        if item.operation.kind == "primary"
        and item.operation.candidate == "a"
        and item.intent == "symbol_lookup"
    )


def test_every_operation_of_a_complete_run_is_observed_in_the_plans_order(finished: Finished) -> None:
    reader = RunReader(finished.run)
    seen = list(reader.observations())
    assert [item.planned for item in seen] == list(reader.plan)
    assert {item.status for item in seen} == {"accepted"}
    assert len(seen) == 2 * OPERATIONS
    assert reader.changed == []


def test_an_accepted_query_has_its_ranking_and_measurement(finished: Finished) -> None:
    reader = RunReader(finished.run)
    seen = reader.observe(first_query(reader))
    case = reader.cases[str(seen.planned.operation.case)]
    first = reader.ranking(seen)[0]
    assert (first.path, first.line) == (case.targets[0].path, case.targets[0].line)
    assert seen.elapsed_s is not None and seen.elapsed_s > 0
    assert not seen.timed_out
    assert seen.error_class is None


def test_an_accepted_index_tells_its_units_and_a_probe_its_context(finished: Finished) -> None:
    reader = RunReader(finished.run)
    index = reader.observe(Planned(INDEX))
    assert index.units is not None and index.units > 0
    probe = next(item for item in reader.plan if item.operation.kind == "ctx")
    assert reader.context(reader.observe(probe)).ranking


def test_what_was_never_tried_is_missing_and_has_no_ranking(finished: Finished) -> None:
    reader = RunReader(finished.run)
    planned = first_query(reader)
    shutil.rmtree(reader.layout.operation(planned.operation))
    seen = reader.observe(planned)
    assert (seen.status, seen.elapsed_s, seen.error_class) == ("missing", None, None)
    with pytest.raises(AnswerError, match="no accepted attempt"):
        reader.ranking(seen)


def failed_attempt(finished: Finished, status: str, error_class: str | None) -> Observation:
    reader = RunReader(finished.run)
    planned = first_query(reader)
    reader.layout.result(planned.operation).unlink()
    attempt = begin_attempt(reader.layout, planned.operation, {})
    measured = {"outcome": "timed_out", "elapsed_s": 2.5, "sampled_peak_rss_bytes": 7}
    publish_attempt(attempt, measured, Validation(status, error_class))
    begin_attempt(reader.layout, planned.operation, {})
    return reader.observe(planned)


def test_a_failed_query_tells_why_whatever_was_interrupted_since(finished: Finished) -> None:
    seen = failed_attempt(finished, "failed", "timeout")
    assert (seen.status, seen.error_class, seen.timed_out) == ("failed", "timeout", True)
    assert (seen.elapsed_s, seen.sampled_peak_rss_bytes) == (2.5, 7)
    assert seen.stdout == b""


def test_a_stopped_query_is_missing(finished: Finished) -> None:
    assert failed_attempt(finished, "stopped", None).status == "missing"


def test_queries_of_an_index_that_was_replaced_are_missing(finished: Finished) -> None:
    layout = RunReader(finished.run).layout
    attempt = begin_attempt(layout, INDEX, {})
    bound = Acceptance(RunReader(finished.run).record.cell("a", "store"))
    publish_accepted(layout, attempt, {"outcome": "exited"}, Validation("accepted", units=3), bound)

    reader = RunReader(finished.run)
    assert statuses(reader) == {"accepted": 1 + OPERATIONS, "missing": 2 * CASES}
    assert reader.changed == []


@pytest.mark.parametrize("name", ["stdout", "measurement.json"])
def test_changed_evidence_is_named_and_counts_as_nothing(finished: Finished, name: str) -> None:
    reader = RunReader(finished.run)
    planned = first_query(reader)
    with open(reader.layout.attempt(planned.operation, 1) / name, "ab") as stream:
        stream.write(b" ")
    assert statuses(reader)["accepted"] == 2 * OPERATIONS - 1
    assert f"{planned.operation}/attempt-0001/{name}: changed since it was recorded" in reader.changed


@pytest.mark.parametrize("raw", [b"{", b"{}", b'{"format": "boresight-measurement@1"}'])
def test_a_broken_record_of_a_failure_is_named(finished: Finished, raw: bytes) -> None:
    reader = RunReader(finished.run)
    planned = first_query(reader)
    reader.layout.result(planned.operation).unlink()
    (reader.layout.attempt(planned.operation, 1) / "measurement.json").write_bytes(raw)
    assert reader.observe(planned).status == "missing"
    assert len(reader.changed) == 1 and "measurement.json" in reader.changed[0]


def test_a_result_of_another_cell_is_named(finished: Finished) -> None:
    reader = RunReader(finished.run)
    path = reader.layout.result(INDEX)
    path.write_text(json.dumps({**json.loads(path.read_bytes()), "cell": "0" * 64}))
    assert reader.observe(Planned(INDEX)).status == "missing"
    assert reader.changed == ["a/store/index/result.json: belongs to another cell than this one"]


@pytest.mark.parametrize("act", ["drop", "repeat", "other", "broken"])
def test_an_edited_plan_is_refused(finished: Finished, act: str) -> None:
    plan = finished.run / "plan.jsonl"
    lines = plan.read_bytes().splitlines(keepends=True)
    changed = {
        "drop": lines[:-1],
        "repeat": [*lines, lines[-1]],
        "other": [*lines[:-1], lines[-1].replace(b"store-", b"shop-")],
        "broken": [*lines, b"{\n"],
    }[act]
    plan.write_bytes(b"".join(changed))
    with pytest.raises(IdentityError, match=r"plan\.jsonl.* restore"):
        RunReader(finished.run)


def test_a_missing_plan_is_refused(finished: Finished) -> None:
    (finished.run / "plan.jsonl").unlink()
    with pytest.raises(IdentityError, match=r"plan\.jsonl: No such file or directory; restore it"):
        RunReader(finished.run)


def test_a_retriever_that_this_version_lacks_is_bad_input(finished: Finished) -> None:
    path = finished.run / "campaign.json"
    record = json.loads(path.read_bytes())
    record["about"]["candidates"][0]["entry"]["retriever"] = "gone"
    record["digest"] = sha256_of({"identity": record["identity"], "about": record["about"]})
    path.write_text(json.dumps(record))
    with pytest.raises(InputError, match="the retriever 'gone' is not available"):
        RunReader(finished.run)


def test_absolute_paths_are_read_by_the_place_that_the_run_had(finished: Finished) -> None:
    reader = RunReader(finished.run)
    seen = reader.observe(first_query(reader))
    assert seen.place is not None
    assert seen.place.repository != reader.layout.source("store"), "the run was moved since"
    assert seen.place.repository.name == "store"


def test_a_place_is_made_once_for_each_cell_and_root(
    finished: Finished, monkeypatch: pytest.MonkeyPatch
) -> None:
    rendered = []

    def configuration(self: object) -> Configuration:
        rendered.append(self)
        return Configuration(".other", b"")

    reader = RunReader(finished.run)
    monkeypatch.setattr(registry._module("fake").FakeRetriever, "configuration", configuration)
    places = {id(seen.place): seen.place for seen in reader.observations()}
    assert {place.configuration.name for place in places.values() if place} == {"a.json", "b.json"}
    assert len(places) == 2
    assert rendered == []


def test_an_observation_carries_the_digests_of_its_attempt(finished: Finished) -> None:
    reader = RunReader(finished.run)
    seen = reader.observe(first_query(reader))
    assert seen.result is not None
    assert seen.result.stdout_sha256 == sha256(seen.stdout)
    assert (seen.origin, seen.disturbed) == (None, False)


def test_an_adapter_that_changed_since_does_not_rewrite_history(
    finished: Finished, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = api.rescore(finished.run)
    changed = Features(frozenset({"docs"}), False, False, True, False, level="file")
    monkeypatch.setattr(
        registry._module("fake").FakeRetriever, "features", property(lambda retriever: changed)
    )
    reader = RunReader(finished.run)
    assert reader.features["a"] == Features(frozenset({"emb", "docs"}), True, True, False, True, "exact")
    after = api.rescore(finished.run)
    assert after.board == before.board
    assert after.facts == before.facts
    assert (after.board.level, after.unaccepted) == ("exact", 0)


def test_unsupported_channels_and_probes_were_never_planned(tmp_path: Path) -> None:
    scene = make_scene(tmp_path, per_intent=1)
    asked = campaign(scene, fake("a", channels=["emb"], probe=False, session=True))
    reader = RunReader(run_new(asked, tmp_path / "run").run)
    assert statuses(reader) == {"accepted": 1 + CASES - 1}
    assert api.rescore(tmp_path / "run", write=False).board.candidates["a"].counts.unsupported == 1
