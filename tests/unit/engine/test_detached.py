"""What is handed over to a hosting process."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from core import api
from core.engine import detached, machine
from core.engine.detached import _await_answer, _handed_over, _taken
from core.errors import BoresightError
from core.run.layout import Operation
from tests.support.campaigns import Scene, campaign, make_scene
from tests.support.hosts import end_hosts, hosts_of


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return make_scene(tmp_path, per_intent=1)


def test_chosen_operations_arrive_as_they_were() -> None:
    only = frozenset(
        Operation("a", "store", *rest)
        for rest in (("index",), ("primary", "store-x-1"), ("ctx", "store-x-1"))
    )
    with _handed_over(only) as stream:
        assert not isinstance(stream, int)
        assert _taken(stream) == only


def test_a_host_inherits_the_mark_of_its_starter_and_is_found_by_it(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = f"boresight-test-inherited-{os.getpid()}"
    monkeypatch.setenv(machine.VARIABLE, mark)
    entry = {"id": "words", "retriever": "embedded", "engine": "lexical"}
    asked = campaign(scene, api.Candidate("words", entry, scene.folder, "candidates (words)"))

    async def waits() -> int:
        holder = machine.Machine()
        assert await holder.try_own()
        process = await asyncio.to_thread(api.detach, api.create_run(asked, scene.folder / "run"))
        assert (await asyncio.to_thread(api.ask, scene.folder / "run", "status"))["state"] == "waiting"
        assert list(hosts_of(mark)) == [process] and not list(hosts_of(f"{mark}-other"))
        await asyncio.to_thread(end_hosts, mark)
        await holder.close()
        return process

    process = asyncio.run(waits())
    assert not list(hosts_of(mark)) and process > 0
    assert (scene.folder / "run" / "exit-status").read_text() == "130\n"
    with pytest.raises(ValueError, match="never ended"):
        end_hosts("")


def test_without_a_choice_nothing_is_handed_over() -> None:
    with _handed_over(None) as stream:
        assert stream == subprocess.DEVNULL


@pytest.mark.parametrize(
    ("heeds", "ended_by"),
    [("SIG_DFL", signal.SIGTERM), ("SIG_IGN", signal.SIGKILL)],
    ids=["heeds", "ignores"],
)
def test_a_process_that_never_answers_is_ended_before_its_run_is_said_not_to_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, heeds: str, ended_by: signal.Signals
) -> None:
    monkeypatch.setattr(detached, "START_TIMEOUT_S", 0.2)
    monkeypatch.setattr(detached, "END_TIMEOUT_S", 10.0 if heeds == "SIG_DFL" else 0.2)
    code = (
        f"import signal, sys; signal.signal(signal.SIGTERM, signal.{heeds}); "
        "sys.stdout.write('.'); sys.stdout.flush(); signal.pause()"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stdout.read(1) == b"."
        with pytest.raises(BoresightError, match=r"did not answer within 0\.2 s and was ended"):
            _await_answer(tmp_path, process)
        assert process.poll() == -ended_by
