"""Many operations are read by other processes, and the facts are the same as if they were read here."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from core import api
from core.browse import reading
from core.browse.index import open_index
from core.outcomes import read_outcomes
from tests.support.campaigns import campaign, make_scene, run_new
from tests.unit.browse.runs import Readings
from tests.unit.browse.test_contents import assert_holds


@pytest.fixture(scope="module")
def lexical_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a run of a real retriever, as the fake one of tests is known to this process alone."""
    folder = tmp_path_factory.mktemp("lexical")
    entry = {"id": "lexical", "retriever": "embedded", "engine": "lexical"}
    candidate = api.Candidate("lexical", entry, folder, "candidates (lexical)")
    return run_new(campaign(make_scene(folder, 1), candidate), folder / "run").run


@pytest.fixture(autouse=True)
def _always_beside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "WORTH_A_PROCESS", 0)
    monkeypatch.setattr(reading, "BATCH", 2)


def test_other_processes_read_the_same_facts(lexical_run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    readings = Readings(monkeypatch)
    with open_index(lexical_run, thorough=True) as index:
        assert readings.take() == []  # nothing was read here
        assert_holds(index, read_outcomes(lexical_run))


@pytest.mark.parametrize("program", ["/bin/false", "/nonexistent/python", "/bin/cat"])
def test_processes_that_do_not_answer_are_done_without(
    lexical_run: Path, monkeypatch: pytest.MonkeyPatch, program: str
) -> None:
    monkeypatch.setattr(sys, "executable", program)
    readings = Readings(monkeypatch)
    with open_index(lexical_run, thorough=True) as index:
        assert {*readings.take()} == {item.operation for item in read_outcomes(lexical_run).reader.plan}
        assert_holds(index, read_outcomes(lexical_run))
