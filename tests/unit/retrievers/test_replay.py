from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from core import api
from core.errors import InputError, ProblemsError
from core.reports.trec import run_lines
from core.retrievers.protocol import AnswerError, Place, Recorded, Retriever
from core.retrievers.registry import create_retriever
from core.retrievers.replay import create
from core.scoring.matching import target_ranks
from tests.support.finished import CASES, finished_run

PLACE = Place(Path("/r"), Path("/s"), Path("/c"))


def entry(**config: Any) -> dict[str, Any]:
    return {"id": "old", "retriever": "replay", "config": config}


def made(base: Path, **config: Any) -> Any:
    return create(entry(**config), base, "candidates[0]")


@pytest.mark.parametrize(
    ("config", "told"),
    [
        ({}, "found neither run_file nor run"),
        ({"run_file": "a", "run": "b"}, "found both run_file and run"),
        ({"run": "b"}, "config.candidate: found nothing"),
        ({"run": "b", "candidate": "c", "level": "exact"}, "config.level: the run itself tells"),
        ({"run": "b", "candidate": "c", "channels": ["emb"]}, "config.channels: the run itself tells"),
        ({"run_file": "a"}, "config.level: found nothing, expected exact, span or file"),
        ({"run_file": "a", "level": "exact", "candidate": "c"}, "config.candidate: goes with run"),
        ({"run_file": "a", "level": "exact", "colour": 1}, "config.colour: unknown key"),
    ],
)
def test_a_bad_entry_names_the_field(config: dict[str, Any], told: str) -> None:
    with pytest.raises(ProblemsError) as caught:
        made(Path("/"), **config)
    assert told in str(caught.value)


def test_it_starts_nothing_and_says_so(tmp_path: Path) -> None:
    replay = create_retriever(entry(run_file="old.run", level="span", channels=["emb"]), tmp_path, "x")
    assert isinstance(replay, Retriever)
    features = replay.features
    assert (features.executes, features.indexes, features.probe, features.session) == (False,) * 4
    assert features.level == "span" and features.channels == {"emb"}
    assert replay.index(PLACE) == ()


def test_a_run_file_is_kept_as_it_stands_and_absent_queries_find_nothing(tmp_path: Path) -> None:
    (tmp_path / "old.run").write_text("q1 Q0 a.py:3:symbol 1 2 t\nq1 Q0 b.py:-:- 2 1 t\n")
    replay = made(tmp_path, run_file="old.run", level="exact")
    recorded: object = replay
    assert isinstance(recorded, Recorded)
    assert replay.recorded_queries() == {"q1": None}
    kept = replay.recorded_answer("q1")
    assert kept == b"q1 Q0 a.py:3:symbol 1 2 t\nq1 Q0 b.py:-:- 2 1 t\n"
    answer = replay.read_ranking(kept, PLACE, 1)
    assert [each.path for each in answer.ranking] == ["a.py"] and answer.surplus == 1
    assert replay.read_ranking(replay.recorded_answer("q2"), PLACE, 5).ranking == ()
    assert replay.verify_index(PLACE).units == 1


def test_a_changed_run_file_is_another_candidate(tmp_path: Path) -> None:
    path = tmp_path / "old.run"
    path.write_text("q1 Q0 a.py:3:symbol 1 2 t\n")
    before = made(tmp_path, run_file="old.run", level="exact").fingerprint()
    path.write_text("q1 Q0 a.py:4:symbol 1 2 t\n")
    after = made(tmp_path, run_file="old.run", level="exact").fingerprint()
    assert before != after
    assert str(tmp_path) not in json.dumps([before, after])


def test_what_was_exported_is_ranked_the_same_when_it_is_replayed(tmp_path: Path) -> None:
    run = finished_run(tmp_path).run
    reader = api.RunReader(run)
    rows = [
        (reader.cases[str(seen.planned.operation.case)], reader.ranking(seen))
        for seen in reader.observations()
        if seen.planned.operation.kind == "primary" and seen.planned.operation.candidate == "a"
    ]
    assert len(rows) == CASES
    (tmp_path / "a.run").write_text("".join(run_lines("a", rows, "exact", ())))
    replay = made(tmp_path, run_file="a.run", level="exact")
    for case, ranking in rows:
        again = replay.read_ranking(replay.recorded_answer(case.id), PLACE, 10).ranking
        assert target_ranks(again, case.targets, "exact") == target_ranks(ranking, case.targets, "exact")
        assert [each.path for each in again] == [each.path for each in ranking]


def test_a_finished_runs_answers_are_its_own_rankings(tmp_path: Path) -> None:
    run = finished_run(tmp_path).run
    reader = api.RunReader(run)
    expected = {
        str(seen.planned.operation.case): reader.ranking(seen)
        for seen in reader.observations()
        if seen.planned.operation.kind == "primary" and seen.planned.operation.candidate == "b"
    }
    replay = made(tmp_path, run="run", candidate="b")
    assert replay.features.level == "exact" and replay.features.channels == {"emb", "docs"}
    assert replay.recorded_depth == 10
    assert replay.recorded_queries() == {name: reader.cases[name].query for name in expected}
    for name, ranking in expected.items():
        assert replay.read_ranking(replay.recorded_answer(name), PLACE, 10).ranking == ranking
    with pytest.raises(AnswerError):
        replay.recorded_answer("another")


def test_a_run_that_was_moved_is_the_same_candidate(tmp_path: Path) -> None:
    run = finished_run(tmp_path).run
    before = made(tmp_path, run="run", candidate="b")
    told = (before.fingerprint(), before.configuration().identity)
    shutil.move(run, tmp_path / "moved")
    after = made(tmp_path, run="moved", candidate="b")
    assert (after.fingerprint(), after.configuration().identity) == told


def test_another_candidate_of_the_run_is_named(tmp_path: Path) -> None:
    finished_run(tmp_path)
    with pytest.raises(InputError, match="choose from a, b"):
        made(tmp_path, run="run", candidate="c").features  # noqa: B018


def test_evidence_that_was_changed_is_not_replayed(tmp_path: Path) -> None:
    run = finished_run(tmp_path).run
    stdout = next(path for path in run.glob("operations/b/store/primary-*/attempt-0001/stdout"))
    stdout.write_bytes(stdout.read_bytes() + b" ")
    with pytest.raises(InputError, match="1 files differ from their digests"):
        made(tmp_path, run="run", candidate="b").fingerprint()


def test_a_run_that_is_not_finished_is_not_replayed(tmp_path: Path) -> None:
    run = finished_run(tmp_path).run
    shutil.rmtree(next(run.glob("operations/b/store/primary-*")))
    with pytest.raises(InputError, match="1 queries of 'b' have no finished attempt"):
        made(tmp_path, run="run", candidate="b").fingerprint()


def test_a_folder_that_is_no_run_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no run directory"):
        made(tmp_path, run="nothing", candidate="b").fingerprint()
