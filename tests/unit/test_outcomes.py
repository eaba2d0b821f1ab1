"""One pass over a run's evidence: how it is told of, ended, and what changed evidence does to it."""

from __future__ import annotations

from pathlib import Path

import pytest

import core.outcomes
from core.errors import IdentityError, StoppedError
from core.outcomes import read_outcomes
from core.rescoring import rescore, score_outcomes
from tests.support.finished import CASES, OPERATIONS, finished_run


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return finished_run(tmp_path).run


def change_one(run: Path) -> None:
    stdout = sorted(run.glob("operations/b/store/primary-*/attempt-0001/stdout"))[0]
    stdout.chmod(0o600)
    stdout.write_bytes(b"{}")


def test_progress_is_told_as_operations_of_the_plan(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(core.outcomes, "TELL_EVERY", 4)
    told: list[tuple[int, int]] = []
    rescore(run, tell=lambda done, total: told.append((done, total)))
    assert told == [(done, 2 * OPERATIONS) for done in range(4, 2 * OPERATIONS + 1, 4)]


def test_who_is_told_can_end_the_pass(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(core.outcomes, "TELL_EVERY", 1)

    def stop(done: int, total: int) -> None:
        raise StoppedError("enough")

    with pytest.raises(StoppedError, match="enough"):
        read_outcomes(run, stop)


def test_changed_evidence_counts_as_missing_and_is_named_where_that_is_asked_for(run: Path) -> None:
    change_one(run)
    with pytest.raises(IdentityError, match="stdout"):
        read_outcomes(run)
    outcomes = read_outcomes(run, pass_over_changed=True)
    assert len(outcomes.reader.changed) == 1 and "stdout" in outcomes.reader.changed[0]
    counts = score_outcomes(outcomes).board.candidates["b"].counts
    assert (counts.planned, counts.answered, counts.missing) == (CASES, CASES - 1, 1)


def test_outcomes_score_as_a_rescore_does(run: Path) -> None:
    assert score_outcomes(read_outcomes(run)).board == rescore(run).board
