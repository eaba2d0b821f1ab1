"""A full disk at every kind of write: what is told and left, and that a resume goes on once there is room."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from core import api
from core.errors import BoresightError, InputError
from core.run.layout import RunLayout
from core.run.lock import is_held
from tests.support.campaigns import SOURCE, Scene, campaign, fake, make_scene, run_new
from tests.support.disks import SmallDisk, small_disk
from tests.support.faults import (
    FULL,
    candidates,
    demand_recovered,
    frozen_copy,
    measured,
    prepared,
    scores,
    strays,
)
from tests.support.repositories import make_repository

REMEDY = re.compile(
    r"cannot be written: No space left on device. What was finished until now is kept; "
    r"make room \(or give the rights back\), then resume the run: boresight resume "
)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    with small_disk(tmp_path / "small") as mounted:
        yield mounted


def execute(run: Path) -> api.Ended:
    return asyncio.run(api.execute(api.reopen_run(run)))


def demand_told(run: Path, expected: re.Pattern[str] = REMEDY) -> None:
    """Execute a run whose disk becomes full, and check what a person is told, and what is left."""
    with pytest.raises(BoresightError, match=expected):
        execute(run)
    assert strays(run) == []
    assert not is_held(RunLayout(run).lock)
    assert api.run_status(run).state in {"interrupted", "complete"}
    assert api.verify_run(run).problems == ()


WRITES = [
    ("the mark of what is started", "core.engine.executor.end_remains", 1),
    ("a command", "core.engine.engine.begin_attempt", 4),
    ("a measurement and its result", "core.engine.engine.publish_accepted", 4),
    ("a retriever's state", "core.engine.engine.prepare_state", 2),
]
MORE_WRITES = [
    ("the result of an index", "core.engine.engine.publish_accepted", 1),
    ("the measurement of a warm-up", "core.engine.engine.publish_attempt", 1),
    ("a session's errors", "core.engine.executor.child_environment", 3),
]


def follow_links(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a link in a run, otherwise refused, aim the small disk at one of its files."""
    monkeypatch.setattr("core.campaign.jobs.refuse_links", lambda layout: None)


@pytest.mark.parametrize(("write", "place", "at"), WRITES + MORE_WRITES * FULL)
def test_a_disk_that_is_full_for_one_write_ends_the_run_and_a_resume_goes_on(
    disk: SmallDisk, monkeypatch: pytest.MonkeyPatch, write: str, place: str, at: int
) -> None:
    run = frozen_copy(disk.folder)
    module, _, name = place.rpartition(".")
    whole = getattr(__import__(module, fromlist=[name]), name)
    monkeypatch.setattr(place, disk.filling(whole, at))

    demand_told(run)

    before = measured(run)
    disk.free()
    monkeypatch.setattr(place, whole)
    demand_recovered(run, before)


def test_reports_that_a_full_disk_refuses_are_written_by_a_rescore(
    disk: SmallDisk, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = frozen_copy(disk.folder)
    monkeypatch.setattr("core.engine.host.rescore", disk.filling(api.rescore))
    demand_told(
        run,
        re.compile(
            "reports cannot be written: No space left on device; .* make room, then `boresight rescore`"
        ),
    )
    assert not RunLayout(run).summary.exists()
    assert api.run_status(run).state == "complete"

    disk.free()
    assert api.rescore(run, write=True).unaccepted == 0
    assert scores(run) == prepared().scores


@pytest.mark.parametrize("where", ["the index", "the output of a command", "the answer of a session"])
def test_a_retriever_that_fills_the_disk_ends_the_run_and_a_resume_goes_on(
    tmp_path: Path, disk: SmallDisk, where: str
) -> None:
    fault = {"faults": {"load_records": "fills"}}
    config = {"ballast": str(disk.ballast), "once": str(tmp_path / "happened")}
    name = "talks" if where == "the answer of a session" else "shots"
    first = fake(
        name, session=name == "talks", **config, **({"index": "fills"} if where == "the index" else fault)
    )
    run = disk.folder / "run"
    asked = campaign(make_scene(tmp_path, per_intent=1), first)
    api.create_run(asked, run).close()

    demand_told(run)

    before = measured(run)
    disk.free()
    assert execute(run).state == "complete"
    assert {path: content for path, content in measured(run).items() if path in before} == before
    assert scores(run)[name] == prepared().scores[name]


def test_a_full_disk_under_the_events_ends_the_run_and_they_go_on_by_a_resume(
    tmp_path: Path, disk: SmallDisk, monkeypatch: pytest.MonkeyPatch
) -> None:
    follow_links(monkeypatch)
    run = frozen_copy(tmp_path)
    events = disk.folder / "events.jsonl"
    events.write_bytes(b" " * 4000 + b"\n")  # the rest of a page is all that it can still take
    RunLayout(run).events.symlink_to(events)
    disk.fill()

    demand_told(run)

    assert not events.read_bytes().endswith(b"\n"), "the last event was cut by the full disk"
    disk.free()
    demand_recovered(run, measured(run))
    numbers = [event.sequence for event in api.read_events(RunLayout(run).events)]
    assert numbers == sorted(set(numbers))


def test_a_console_that_cannot_be_written_does_not_end_the_run(
    tmp_path: Path, disk: SmallDisk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is said there is also told by the events; a night's measurements are worth more."""
    follow_links(monkeypatch)
    run = frozen_copy(tmp_path)
    console = disk.folder / "console.log"
    console.write_bytes(b" " * 4095 + b"\n")
    RunLayout(run).console.symlink_to(console)
    disk.fill()

    assert execute(run).state == "complete"

    assert console.stat().st_size == 4096
    assert scores(run) == prepared().scores
    assert RunLayout(run).exit_status.read_text() == "0\n"


def test_a_disk_that_is_too_small_for_the_sources_is_told_and_nothing_is_left(tmp_path: Path) -> None:
    scene = large_scene(tmp_path)
    with small_disk(tmp_path / "small", kibibytes=512) as disk:
        with pytest.raises(InputError, match="the disk is full; free some space and try again"):
            api.create_run(campaign(scene, fake("a")), disk.folder / "runs" / "first")
        assert list(disk.folder.iterdir()) == []

        disk.remount("size=8m")
        assert run_new(campaign(scene, fake("a")), disk.folder / "runs" / "first").state == "complete"


def large_scene(folder: Path) -> Scene:
    make_repository(folder / "large", {"data.bin": b"0123456789abcdef" * 65536, "records.py": SOURCE})
    entry = api.RepositoryEntry(label="large", path=folder / "large")
    api.build_bank([entry], 1, ("symbol_lookup",), folder / "large.jsonl")
    return Scene(folder, entry, folder / "large.jsonl")


@pytest.mark.parametrize("reused", [False, True])
def test_a_disk_that_is_full_once_the_sources_are_frozen_leaves_no_half_of_a_run(
    tmp_path: Path, disk: SmallDisk, reused: bool
) -> None:
    scene = make_scene(tmp_path, per_intent=1)
    asked = campaign(scene, *candidates())
    earlier = run_new(asked, tmp_path / "earlier").run if reused else None
    output = disk.folder / "run"
    with pytest.raises(
        InputError, match="No space left on device; nothing was left behind: make room, or name"
    ):
        api.create_run(asked, output, on_frozen=lambda source: disk.fill(), reuse=earlier)
    assert [path.name for path in disk.folder.iterdir()] == ["ballast"]

    disk.free()
    opened = api.create_run(asked, output, reuse=earlier)
    assert asyncio.run(api.execute(opened)).state == "complete"
    assert scores(output) == prepared().scores
