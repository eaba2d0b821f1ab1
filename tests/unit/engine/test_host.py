"""Hosting: control from outside, signals, waiting for the machine, and a host that outlives its starter."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from core import api
from core.engine.environment import child_environment
from core.engine.host import Ended, execute
from core.engine.machine import VARIABLE, Machine, holder, mark, measuring
from core.errors import BoresightError, Exit
from core.run.control import NobodyListensError, ask
from core.run.events import Event
from core.run.evidence import read_measurement
from core.run.layout import RunLayout
from core.run.lock import is_held
from tests.support.campaigns import Scene, campaign, fake, make_scene, run_again
from tests.support.processes import PROGRAMS


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return make_scene(tmp_path)


Steer = Callable[[Path, list[Event]], Awaitable[None]]


def steered(asked: api.Campaign, output: Path, steer: Steer) -> tuple[Ended, list[Event]]:
    """Execute a campaign while `steer` speaks to it from beside."""
    events: list[Event] = []

    async def both() -> Ended:
        hosting = asyncio.create_task(execute(api.create_run(asked, output), events.append))
        await steer(output, events)
        return await hosting

    return asyncio.run(both()), events


async def until(condition: Callable[[], object], seconds: float = 20.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        await asyncio.sleep(0.01)


async def said(run: Path, word: str) -> dict[str, object]:
    return await asyncio.to_thread(ask, run, word)


def finished(events: list[Event]) -> int:
    return sum(event.type == "operation_finished" for event in events)


def test_pause_waits_after_the_operation_under_way_and_continue_goes_on(scene: Scene) -> None:
    async def steer(run: Path, events: list[Event]) -> None:
        await until(lambda: finished(events) > 2)
        await said(run, "pause")
        await until(lambda: any(event.type == "paused" for event in events))
        held = finished(events)
        assert (await said(run, "status"))["state"] == "paused"
        assert api.run_status(run).state == "paused"
        await asyncio.sleep(0.3)
        assert finished(events) == held
        await said(run, "continue")

    ended, _ = steered(campaign(scene, fake("a")), scene.folder / "run", steer)
    assert (ended.state, ended.unaccepted) == ("complete", 0)
    assert (scene.folder / "run" / "exit-status").read_text() == "0\n"


def test_stop_kills_the_operation_under_way_and_resume_goes_on(scene: Scene) -> None:
    marker = scene.folder / "happened"
    asked = campaign(scene, fake("a", faults={"load_records": "orphan"}, once=str(marker)))

    async def steer(run: Path, events: list[Event]) -> None:
        await until(marker.exists)
        await said(run, "stop")

    ended, events = steered(asked, scene.folder / "run", steer)
    assert ended.state == "interrupted" and ended.exit_code == Exit.STOPPED
    assert [event.outcome for event in events if event.type == "operation_finished"][-1] == "stopped"
    assert (scene.folder / "run" / "exit-status").read_text() == "130\n"
    assert api.run_status(scene.folder / "run").state == "interrupted"
    assert not is_held(RunLayout(scene.folder / "run").lock)
    assert run_again(scene.folder / "run", asked).state == "complete"


def test_stop_ends_a_pause(scene: Scene) -> None:
    async def steer(run: Path, events: list[Event]) -> None:
        await until(lambda: finished(events) > 0)
        await said(run, "pause")
        await until(lambda: any(event.type == "paused" for event in events))
        await said(run, "stop")

    ended, _ = steered(campaign(scene, fake("a")), scene.folder / "run", steer)
    assert ended.state == "interrupted"


def test_an_unknown_word_is_refused_and_harms_nothing(scene: Scene) -> None:
    async def steer(run: Path, events: list[Event]) -> None:
        await until(lambda: finished(events) > 0)
        with pytest.raises(BoresightError, match="unknown word 'dance'"):
            await said(run, "dance")

    ended, _ = steered(campaign(scene, fake("a")), scene.folder / "run", steer)
    assert ended.state == "complete"


def test_where_nobody_listens_it_is_said(scene: Scene) -> None:
    with pytest.raises(NobodyListensError, match="boresight resume"):
        ask(scene.folder, "status")


def test_a_second_campaign_waits_for_the_first(scene: Scene) -> None:
    async def both() -> tuple[Ended, list[Event]]:
        machine = Machine()
        assert await machine.try_own()
        events: list[Event] = []
        run = scene.folder / "run"
        hosting = asyncio.create_task(execute(api.create_run(campaign(scene, fake("a")), run), events.append))
        await until(lambda: any(event.type == "heartbeat" for event in events))
        assert (await said(run, "status"))["state"] == "waiting"
        assert finished(events) == 0
        await machine.close()
        return await hosting, events

    ended, events = asyncio.run(both())
    assert ended.state == "complete"
    assert next(event.state for event in events if event.type == "heartbeat") == "waiting"


def disturbed(run: Path) -> set[bool]:
    return {read_measurement(path.parent)["disturbed"] for path in run.rglob("measurement.json")}


def test_campaigns_that_run_together_are_both_marked(scene: Scene) -> None:
    async def both() -> None:
        asked = campaign(scene, fake("a"))
        runs = [api.create_run(asked, scene.folder / name) for name in ("one", "two")]
        first = asyncio.create_task(execute(runs[0]))
        await asyncio.sleep(0.3)
        await execute(runs[1], together=True)
        await first

    asyncio.run(both())
    assert True in disturbed(scene.folder / "one")
    assert True in disturbed(scene.folder / "two")


def test_a_campaign_alone_is_not_marked(scene: Scene) -> None:
    async def alone() -> None:
        await execute(api.create_run(campaign(scene, fake("a")), scene.folder / "run"), together=True)

    asyncio.run(alone())
    assert disturbed(scene.folder / "run") == {False}


def start_hosting(run: Path, hangups: signal.Handlers = signal.SIG_DFL) -> subprocess.Popen[bytes]:
    """Start a host; `hangups` is what it inherits for SIGHUP, whatever this test was started with."""
    return subprocess.Popen(
        [sys.executable, str(PROGRAMS / "host.py"), "resume", str(run)],
        preexec_fn=lambda: signal.signal(signal.SIGHUP, hangups),
    )


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_stops_cleanly(scene: Scene, number: signal.Signals) -> None:
    marker = scene.folder / "happened"
    asked = campaign(scene, fake("a", faults={"load_records": "orphan"}, once=str(marker)))
    opened = api.create_run(asked, scene.folder / "run")
    opened.lock.release()
    process = start_hosting(scene.folder / "run")
    try:
        asyncio.run(until(marker.exists))
        process.send_signal(number)
        assert process.wait(20) == Exit.STOPPED
    finally:
        process.kill()
    assert (scene.folder / "run/exit-status").read_text() == "130\n"
    assert run_again(scene.folder / "run", asked).state == "complete"


def test_a_hangup_that_is_ignored_on_purpose_stops_nothing(scene: Scene) -> None:
    marker = scene.folder / "happened"
    asked = campaign(scene, fake("a", faults={"load_records": "hang_2"}, once=str(marker)))
    api.create_run(asked, scene.folder / "run").lock.release()
    process = start_hosting(scene.folder / "run", signal.SIG_IGN)
    try:
        asyncio.run(until(marker.exists))
        process.send_signal(signal.SIGHUP)
        assert process.wait(30) == Exit.DONE
    finally:
        process.kill()


def test_a_killed_host_leaves_an_interrupted_run_that_can_be_resumed(scene: Scene) -> None:
    marker = scene.folder / "happened"
    asked = campaign(scene, fake("a", faults={"load_records": "orphan"}, once=str(marker)))
    api.create_run(asked, scene.folder / "run").lock.release()
    process = start_hosting(scene.folder / "run")
    asyncio.run(until(marker.exists))
    process.kill()
    process.wait()
    lock = RunLayout(scene.folder / "run").lock
    asyncio.run(until(lambda: not is_held(lock), seconds=5.0))
    assert api.run_status(scene.folder / "run").state == "interrupted"
    again = run_again(scene.folder / "run", asked)
    assert again.state == "complete" and again.outcomes()["reused"] > 0


def test_a_waiting_campaign_says_for_which_and_runs_beside_it_when_told(scene: Scene) -> None:
    first, second = scene.folder / "first", scene.folder / "second"
    held: list[Event] = []
    events: list[Event] = []

    async def both() -> None:
        asked = campaign(scene, fake("a"))
        holding = asyncio.create_task(execute(api.create_run(asked, first), held.append))
        await until(lambda: finished(held) > 1)
        await said(first, "pause")
        await until(lambda: any(event.type == "paused" for event in held))
        waiting = asyncio.create_task(execute(api.create_run(asked, second), events.append))
        await until(lambda: any(event.type == "heartbeat" and event.waits_for for event in events))
        told = await said(second, "status")
        waits_for = told["waits_for"]
        assert told["state"] == "waiting" and isinstance(waits_for, dict)
        assert (waits_for["run"], waits_for["pid"]) == (str(first), os.getpid())
        status = api.run_status(second)
        assert status.state == "waiting" and str(status.waits_for).startswith(f"{first} (pid {os.getpid()}, ")
        with pytest.raises(BoresightError, match=r"waits for .*first .*--together"):
            await said(second, "continue")
        await said(second, "together")
        await until(lambda: finished(events) > 1)
        with pytest.raises(BoresightError, match="waits for no other campaign: it is running"):
            await said(second, "together")
        await said(second, "pause")
        await until(lambda: any(event.type == "paused" for event in events))
        await said(first, "continue")
        await holding
        await said(second, "continue")
        await waiting

    asyncio.run(both())
    assert disturbed(first) == {False, True} and True in disturbed(second)
    assert not any(event.type == "heartbeat" and event.waits_for for event in events if event_runs(event))


def event_runs(event: Event) -> bool:
    return event.type == "heartbeat" and event.state != "waiting"


async def test_a_holder_without_a_name_is_waited_for_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, f"boresight-test-unnamed-{os.getpid()}")
    assert await holder() is None
    older = Machine()  # as one that knows nothing of questions
    assert await older.try_own()
    assert await holder() is None and not await Machine().try_own()
    assert await asyncio.to_thread(measuring) == "another campaign on this machine"
    assert not older.disturbed  # asking is no running beside
    await older.close()
    assert await asyncio.to_thread(measuring) is None


@pytest.mark.parametrize(
    "answer", [b"", b"{}\n", b"[]\n", b"x" * 100_000, b'{"run": 1, "pid": "no"}\n', None]
)
async def test_a_holder_that_speaks_nonsense_or_nothing_stays_unnamed(
    monkeypatch: pytest.MonkeyPatch, answer: bytes | None
) -> None:
    monkeypatch.setenv(VARIABLE, f"boresight-test-nonsense-{os.getpid()}")

    left = asyncio.Event()

    async def tell(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(answer or b"")
        if answer is None:
            await reader.read()  # until whoever asked gives up
        writer.close()
        left.set()

    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(mark() + ".holder")
    server = await asyncio.start_unix_server(tell, sock=listener)
    assert await holder() is None
    await left.wait()
    server.close()


def test_a_mark_of_its_own_reaches_the_host_but_no_retriever(tmp_path: Path) -> None:
    assert mark() == "\0" + os.environ[VARIABLE]
    passed = child_environment({}, tmp_path, tmp_path)
    assert VARIABLE in os.environ and VARIABLE not in passed


def test_a_detached_run_outlives_its_starter_and_answers(scene: Scene, tmp_path: Path) -> None:
    manifest = tmp_path / "repositories.json"
    manifest.write_text(
        json.dumps(
            {
                "schema_version": 1,
                "repositories": [{"label": "store", "path": str(scene.repository.path)}],
            }
        )
    )
    models = tmp_path / "models.json"
    entry = {"id": "words", "retriever": "embedded", "engine": "lexical", "model": "bm25", "version": "1"}
    models.write_text(json.dumps({"models": [entry]}))
    command = [sys.executable, "-m", "core.cli", "run", "--detach", "--together", "--output", "run"]
    command += ["--dataset", str(scene.cases), "--repo-manifest", str(manifest)]
    command += ["--model-manifest", str(models)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    run = tmp_path / "run"
    assert "outlives this terminal" in done.stderr
    asyncio.run(until(lambda: (run / "exit-status").exists()))
    assert (run / "exit-status").read_text() == "0\n"
    assert "complete" in (run / "console.log").read_text()
    first, second, *_ = api.read_events(run / "events.jsonl")
    assert first.type == "source_frozen" and first.repository == "store"
    assert second.type == "campaign_started" and not second.resumed
    followed = subprocess.run(
        [sys.executable, "-m", "core.cli", "follow", str(run)], capture_output=True, text=True, check=False
    )
    assert followed.returncode == 0 and "complete" in followed.stdout
