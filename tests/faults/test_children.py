"""Retrievers that misbehave: each fails its own operation, leaves no process, and a resume asks again."""

from __future__ import annotations

from pathlib import Path

import pytest

from core import api
from core.run.layout import RunLayout
from tests.support.campaigns import Ran, campaign, fake, make_scene, run_again, run_new
from tests.support.faults import FULL, OPERATIONS, measured, prepared, scores, strays

LARGE = 1_000_000_000 if FULL else 20_000_000


def misbehaved(folder: Path, session: bool, fault: str, limits: api.Limits) -> Ran:
    """Run a campaign whose first answer about `load_records` goes wrong, once."""
    config = {"faults": {"load_records": fault}, "once": str(folder / "happened")}
    asked = campaign(make_scene(folder, per_intent=1), fake("a", session=session, **config), limits=limits)
    return run_new(asked, folder / "run")


def demand_mended(ran: Ran) -> None:
    """Check that only one operation failed, that nothing was left, and that a resume mends it."""
    assert strays(ran.run) == []
    assert ran.outcomes() == {"accepted": OPERATIONS - 1, "failed": 1}
    before = measured(ran.run)
    again = run_again(ran.run)
    assert again.outcomes() == {"reused": OPERATIONS - 1, "accepted": 1}
    assert {path: content for path, content in measured(ran.run).items() if path in before} == before
    assert scores(ran.run)["a"]["micro"] == prepared().scores["shots"]["micro"]


MISDEEDS = [
    ("stubborn", False, "timeout"),  # ignores every polite signal
    ("swarm", True, "timeout"),  # forks 200 children, each in a session of its own
    ("deaf", False, "timeout"),  # closes its output early, and stays
    ("deaf", True, "session_ended"),
    ("lingers", True, "timeout"),  # hangs after its answer, which counts: the next query fails
]
MORE_MISDEEDS = [("stubborn", True, "timeout"), ("swarm", False, "timeout"), ("lingers", False, "timeout")]


@pytest.mark.parametrize(("fault", "session", "error_class"), MISDEEDS + MORE_MISDEEDS * FULL)
def test_a_retriever_that_misbehaves_fails_its_operation_alone(
    tmp_path: Path, fault: str, session: bool, error_class: str
) -> None:
    ran = misbehaved(tmp_path, session, fault, api.Limits(query_timeout=1.5))
    assert ran.errors() == {error_class}
    demand_mended(ran)


@pytest.mark.parametrize("session", [False, True])
def test_endless_output_is_cut_at_the_limit_and_kept_that_far(tmp_path: Path, session: bool) -> None:
    limits = api.Limits(query_timeout=120.0, max_output_bytes=LARGE)
    ran = misbehaved(tmp_path, session, "flood", limits)
    assert ran.errors() == {"output_limit"}
    kept = max(path.stat().st_size for path in RunLayout(ran.run).operations.rglob("stdout"))
    assert kept == LARGE
    demand_mended(ran)
