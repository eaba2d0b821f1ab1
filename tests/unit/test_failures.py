"""Failures are what failed at last; what never ran, was interrupted or succeeded since is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from core import api
from core.errors import IdentityError, InputError
from core.failures import Failure, Filters, choose, failures
from core.run.evidence import begin_attempt
from core.run.layout import Operation, RunLayout
from tests.support.campaigns import campaign, fake, make_scene, run_again, run_new

INDEX = Failure(Operation("a", "one", "index"), "timeout")
QUERY = Failure(Operation("a", "two", "primary", "x"), "nonzero_exit")
PROBE = Failure(Operation("b", "two", "ctx", "x"), "timeout")
FOUND = (INDEX, QUERY, PROBE)


@pytest.mark.parametrize(
    ("filters", "chosen"),
    [
        (Filters(), FOUND),
        (Filters(candidates=["a"]), (INDEX, QUERY)),
        (Filters(repositories=["two"]), (QUERY, PROBE)),
        (Filters(operations=["index", "ctx-x"]), (INDEX, PROBE)),
        (Filters(operations=["primary"]), (QUERY,)),
        (Filters(errors=["timeout"], candidates=["b"]), (PROBE,)),
    ],
)
def test_filters_narrow_the_choice_together(filters: Filters, chosen: tuple[Failure, ...]) -> None:
    assert choose(FOUND, filters) == {each.operation for each in chosen}


def test_filters_that_fit_nothing_together_are_refused() -> None:
    with pytest.raises(InputError, match="no failure matches all of these filters"):
        choose(FOUND, Filters(candidates=["b"], errors=["nonzero_exit"]))


def test_what_failed_at_last_is_a_failure_with_its_error(tmp_path: Path) -> None:
    marker = tmp_path / "happened"
    scene = make_scene(tmp_path, per_intent=1)
    query = next(case.query for case in api.read_bank(scene.cases).cases if case.intent == "symbol_lookup")
    config = {"faults": {query: "exit_3"}, "once": str(marker)}
    ran = run_new(campaign(scene, fake("a", index="dies"), fake("b", **config)), tmp_path / "run")
    first, second = failures(ran.run)
    assert (str(first.operation), first.error_class) == ("a/store/index", "nonzero_exit")
    assert second.operation.candidate == "b"

    begin_attempt(RunLayout(ran.run), second.operation, {})  # interrupted: the failure before it counts
    assert failures(ran.run) == (first, second)
    run_again(ran.run)
    assert failures(ran.run) == (first,)


def test_changed_evidence_is_refused(tmp_path: Path) -> None:
    ran = run_new(campaign(make_scene(tmp_path, per_intent=1), fake("a")), tmp_path / "run")
    (ran.run / "operations/a/store/index/attempt-0001/stdout").write_text("edited")
    with pytest.raises(IdentityError, match="index/attempt-0001/stdout: changed"):
        api.failures(ran.run)
