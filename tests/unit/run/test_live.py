"""The present of a run, gathered from its events."""

from __future__ import annotations

from pathlib import Path

from core import api
from core.run.live import LiveRun
from tests.support.campaigns import campaign, fake, make_scene, run_new


def test_a_finished_run_is_told_whole(tmp_path: Path) -> None:
    scene = make_scene(tmp_path)
    ran = run_new(campaign(scene, fake("a", faults={"load_records": "exit_3"}), fake("b")), tmp_path / "run")
    plan = api.RunReader(ran.run).plan
    live = LiveRun((item.operation.candidate, item.operation.repository) for item in plan)
    for event in ran.events:
        live.take(event)

    assert (live.state, live.phase, live.current) == ("failed", None, None)
    a, b = live.cells["a", "store"], live.cells["b", "store"]
    assert (a.completed, a.planned, a.failed) == (17, 17, 2)
    assert (b.completed, b.planned, b.failed) == (17, 17, 0)
    assert {event.error_class for event in live.failures} == {"nonzero_exit"}
    assert (b.median_s("emb") or 0) > 0 and (b.median_s("ctx") or 0) > 0
    assert b.median_s("nothing") is None


def test_a_resumed_run_begins_to_count_anew(tmp_path: Path) -> None:
    scene = make_scene(tmp_path)
    ran = run_new(campaign(scene, fake("a")), tmp_path / "run")
    live = LiveRun([("a", "store")] * 17)
    for event in (*ran.events, *ran.events):
        live.take(event)
    assert live.cells["a", "store"].completed == 17
