"""Candidates without an index, and candidates without any process, in whole runs."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from core import api
from core.errors import IdentityError, ProblemsError
from core.run.evidence import read_command, read_measurement
from tests.support.campaigns import Ran, Scene, campaign, fake, make_scene, run_again, run_new
from tests.support.shell import Shell

# Prints each line of a file that holds the query, and exits with 1 where none does, as grep does.
GREP = """\
import pathlib, sys
found = [
    f"{path}:{number}:{line}"
    for path in sorted(pathlib.Path(".").rglob("*.py"))
    for number, line in enumerate(path.read_text().splitlines(), start=1)
    if sys.argv[1] in line
]
print("\\n".join(found))
sys.exit(not found)
"""


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return make_scene(tmp_path, per_intent=1)


def candidate(scene: Scene, name: str, retriever: str, **config: Any) -> api.Candidate:
    entry = {"id": name, "retriever": retriever, "config": config}
    return api.Candidate(name, entry, scene.folder, f"candidates ({name})")


def grep(scene: Scene, **more: Any) -> api.Candidate:
    config = {
        "query": [sys.executable, "-I", "-c", GREP.replace("{", "{{").replace("}", "}}"), "{query}"],
        "level": "exact",
        "answer": {"format": "lines", "pattern": "{path}:{line}:{text}"},
        "empty_exit_codes": [1],
        **more,
    }
    return candidate(scene, "grep", "command", **config)


def index_of(ran: Ran, name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    folder = ran.run / "operations" / name / "store" / "index" / "attempt-0001"
    return read_command(folder)["command"], read_measurement(folder)


def test_a_tool_without_an_index_is_asked_at_once_and_its_indexing_costs_nothing(scene: Scene) -> None:
    ran = run_new(campaign(scene, grep(scene)), scene.folder / "run")
    assert (ran.state, ran.errors()) == ("complete", set())
    command, record = index_of(ran, "grep")
    assert command["steps"] == []
    assert record["measurement"] == {"outcome": "not_started"}
    assert record["validation"]["units"] == 2 and record["validation"]["details"] == {"tracked_files": 2}
    score = api.rescore(ran.run).board.candidates["grep"]
    assert score.indexing.counts.planned == 0 and score.indexing.total_s is None
    assert score.latency["emb"].measured == 3


def test_an_exit_code_that_says_that_nothing_was_found_is_an_empty_ranking(scene: Scene) -> None:
    ran = run_new(campaign(scene, grep(scene)), scene.folder / "run")
    counts = api.rescore(ran.run).board.candidates["grep"].counts
    assert (counts.answered, counts.failed) == (4, 0)
    assert counts.empty == 2  # the questions that stand in no file word for word


def test_the_same_exit_code_fails_the_query_where_it_is_not_declared(scene: Scene) -> None:
    ran = run_new(campaign(scene, grep(scene, empty_exit_codes=[2])), scene.folder / "run")
    assert (ran.state, ran.errors()) == ("failed", {"nonzero_exit"})


def test_results_beside_that_exit_code_fail_the_query(scene: Scene) -> None:
    broken = [sys.executable, "-I", "-c", "print('a.py:1:x'); raise SystemExit(1)", "{query}"]
    ran = run_new(campaign(scene, grep(scene, query=broken)), scene.folder / "run")
    assert ran.errors() == {"nonzero_exit"}


def test_a_resume_takes_over_what_started_nothing(scene: Scene) -> None:
    run = scene.folder / "run"
    asked = campaign(scene, grep(scene))
    run_new(asked, run)
    assert dict(run_again(run, asked).outcomes()) == {"reused": 5}
    assert api.verify_run(run).problems == ()


def test_a_finished_run_and_its_run_file_score_as_the_live_candidate_did(scene: Scene, shell: Shell) -> None:
    first = run_new(campaign(scene, fake("a"), grep(scene)), scene.folder / "first").run
    assert shell("report", first, "--format", "trec", "--output", scene.folder / "trec") == 0
    ran = run_new(
        campaign(
            scene,
            grep(scene),
            candidate(scene, "old", "replay", run="first", candidate="grep"),
            candidate(scene, "file", "replay", run_file="trec/grep.run", level="exact"),
        ),
        scene.folder / "second",
    )
    assert ran.state == "complete"
    board = api.rescore(ran.run).board
    assert board.candidates["old"].macro == board.candidates["grep"].macro
    assert board.candidates["file"].macro == board.candidates["grep"].macro
    for name in ("old", "file"):
        score = board.candidates[name]
        assert all(latency.median_s is None for latency in score.latency.values())
        assert score.sampled_peak_rss_bytes is None and score.indexing.counts.planned == 0
        assert board.comparisons[name].latency["emb"].reason == "nothing was timed"
        assert index_of(ran, name)[0] == {"form": "recorded", "steps": []}
    assert "not executed" in api.markdown_report(ran.run)
    assert not any(
        path.name.startswith("warmup") for path in (ran.run / "operations" / "old" / "store").iterdir()
    )
    assert api.verify_run(ran.run).problems == ()
    assert set(run_again(ran.run).outcomes()) == {"reused"}


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(capsys)


def test_queries_absent_from_a_run_file_are_empty_rankings_and_counted(scene: Scene) -> None:
    case = api.read_bank(scene.cases).cases[0]
    target = case.targets[0]
    line = f"{case.id} Q0 {target.path}:{target.line}:{target.kind} 1 1 t\n"
    (scene.folder / "one.run").write_text(line)
    asked = campaign(scene, candidate(scene, "file", "replay", run_file="one.run", level="exact"))
    ran = run_new(asked, scene.folder / "run")
    score = api.rescore(ran.run).board.candidates["file"]
    assert (score.counts.answered, score.counts.empty, score.counts.failed) == (4, 3, 0)
    assert score.micro[1].hit == 0.25


def test_a_query_that_failed_in_the_older_run_fails_again_by_its_own_name(scene: Scene) -> None:
    bank = api.read_bank(scene.cases)
    broken = fake("a", faults={bank.cases[0].query: "truncated"}, probe=False)
    run_new(campaign(scene, broken), scene.folder / "first")
    ran = run_new(
        campaign(scene, candidate(scene, "old", "replay", run="first", candidate="a")),
        scene.folder / "second",
    )
    assert ran.errors() == {"invalid_json"}
    assert api.rescore(ran.run).board.candidates["old"].counts.failed == 1


def test_a_run_file_of_another_bank_is_refused_before_anything_is_written(scene: Scene) -> None:
    (scene.folder / "other.run").write_text("q1 Q0 a.py:1:symbol 1 1 t\n")
    asked = campaign(scene, candidate(scene, "file", "replay", run_file="other.run", level="exact"))
    with pytest.raises(ProblemsError, match="none of its 1 queries is a case of this bank"):
        api.create_run(asked, scene.folder / "run")
    assert not (scene.folder / "run").exists()


def test_answers_to_fewer_results_than_are_scored_are_refused(scene: Scene) -> None:
    run_new(campaign(scene, fake("a", probe=False)), scene.folder / "first")
    old = candidate(scene, "old", "replay", run="first", candidate="a")
    with pytest.raises(ProblemsError, match="it asked for 10 results each, this campaign scores up to 20"):
        api.create_run(campaign(scene, old, cutoffs=(1, 5, 10, 20)), scene.folder / "run")


def test_a_run_file_that_changed_is_refused_by_a_resume(scene: Scene) -> None:
    case = api.read_bank(scene.cases).cases[0]
    path = scene.folder / "one.run"
    path.write_text(f"{case.id} Q0 a.py:1:symbol 1 1 t\n")
    asked = campaign(scene, candidate(scene, "file", "replay", run_file="one.run", level="exact"))
    run_new(asked, scene.folder / "run")
    path.write_text(f"{case.id} Q0 b.py:1:symbol 1 1 t\n")
    with pytest.raises(IdentityError, match=r"candidates\.file\.fingerprint\.run_file_sha256"):
        api.reopen_run(scene.folder / "run", asked)


def test_older_runs_whose_features_say_nothing_of_this_are_read_as_before(tmp_path: Path) -> None:
    from core.campaign.frozen import frozen_features
    from core.run.record import read_run
    from tests.support.finished import finished_run

    record = read_run(finished_run(tmp_path).run)
    controls = json.loads(json.dumps(record.controls))
    for name in record.candidates:
        for field in ("indexes", "executes"):
            del controls["candidates"][name]["features"][field]
    older = type(record)(record.layout, record.identity, controls, record.cells, record.about)
    assert frozen_features(older) == frozen_features(record)
