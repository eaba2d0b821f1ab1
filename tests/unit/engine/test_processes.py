"""Sessions, cancellation, and what happens when the engine or the supervisor dies."""

import asyncio
import fcntl
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from core.engine.processes import Limits, Supervisor, kill_marked
from core.errors import InputError
from core.retrievers.protocol import Step
from tests.support.processes import (
    GENEROUS,
    PROGRAMS,
    PYTHON,
    ROOT,
    Stand,
    alive,
    program,
    read_ids,
    wait_until,
)


async def test_a_session_answers_line_after_line_from_one_process(stand: Stand) -> None:
    session = await stand.open(*PYTHON, "-c", "import os\nwhile input(): print(os.getpid(), flush=True)")

    first = await stand.ask(session, b"a")
    answer = stand.stdout
    second = await stand.ask(session, b"b")

    assert first.outcome == second.outcome == "answered"
    assert first.succeeded
    assert answer == stand.stdout
    assert answer.endswith(b"\n")
    assert first.ended_ns <= second.started_ns
    assert (first.exit_code, first.largest_process_peak_bytes) == (None, None)
    assert first.sampled_peak_rss_bytes


async def test_each_answer_gets_what_came_on_stderr_since_the_last(stand: Stand) -> None:
    session = await stand.open()

    await stand.ask(session, b"warn one")
    first = stand.stderr
    await stand.ask(session, b"warn two")

    assert (first, stand.stderr) == (b"ready\none\n", b"two\n")
    assert (stand.folder / "session-1").read_bytes() == b"ready\none\ntwo\n"


async def test_any_bytes_pass_in_both_directions(stand: Stand) -> None:
    session = await stand.open()
    odd = bytes(set(range(256)) - {10})

    measured = await stand.ask(session, b"say " + odd)

    assert measured.outcome == "answered"
    assert stand.stdout == odd + b"\n"


async def test_a_request_larger_than_any_pipe_arrives_whole(stand: Stand) -> None:
    session = await stand.open()

    await stand.ask(session, b"length " + b"x" * 5_000_000)

    assert stand.stdout == b"5000000\n"


async def test_an_answer_of_50_mb_arrives_whole(stand: Stand) -> None:
    session = await stand.open()

    measured = await stand.ask(session, b"long 50", Limits(60.0, 60_000_000))

    assert measured.outcome == "answered"
    assert len(stand.stdout) == 50_000_001
    assert (await stand.ask(session, b"say again")).outcome == "answered"


async def test_an_answer_past_the_limit_ends_the_session_and_keeps_its_beginning(stand: Stand) -> None:
    session = await stand.open()

    measured = await stand.ask(session, b"long 50", Limits(60.0, 1_000_000))

    assert measured.outcome == "output_limit"
    assert stand.stdout == b"x" * 1_000_000
    assert not session.alive


async def test_endless_stderr_is_an_output_limit_too(stand: Stand) -> None:
    session = await stand.open()

    measured = await stand.ask(session, b"chatter", Limits(60.0, 1_000_000))

    assert measured.outcome == "output_limit"
    assert len(stand.stderr) == 1_000_000


@pytest.mark.parametrize(
    ("request_line", "outcome", "kept"),
    [
        (b"half", "timed_out", b"only half"),
        (b"nothing", "timed_out", b""),
        (b"two", "surplus_output", b"one\ntwo\n"),
        (b"crash", "session_ended", b"before the cra"),
        (b"exit 3", "session_ended", b""),
        (b"deaf", "session_ended", b""),
    ],
)
async def test_a_wrong_answer_ends_the_session_and_says_how(
    stand: Stand, request_line: bytes, outcome: str, kept: bytes
) -> None:
    session = await stand.open()
    await stand.ask(session, b"helper")

    limits = Limits(0.5, 1000) if outcome == "timed_out" else GENEROUS
    measured = await stand.ask(session, request_line, limits)

    assert measured.outcome == outcome
    assert stand.stdout == kept
    assert not session.alive
    with pytest.raises(RuntimeError, match="open another"):
        await stand.ask(session, b"say more")
    assert await session.close() is None
    assert no_descendant(stand)


async def test_a_crashed_session_reports_its_status(stand: Stand) -> None:
    crashed = await stand.ask(await stand.open(), b"crash")
    left = await stand.ask(await stand.open(), b"exit 3")

    assert (crashed.signal, crashed.exit_code) == ("SIGSEGV", None)
    assert (left.signal, left.exit_code) == (None, 3)


async def test_a_second_line_that_comes_later_spoils_the_next_answer(stand: Stand) -> None:
    session = await stand.open()

    first = await stand.ask(session, b"late 0.2")
    await asyncio.sleep(0.6)
    second = await stand.ask(session, b"say hello")

    assert (first.outcome, second.outcome) == ("answered", "surplus_output")
    assert stand.stdout == b"two\n"
    assert not session.alive


async def test_an_answer_counts_though_its_process_ends_right_after(stand: Stand) -> None:
    session = await stand.open()

    last = await stand.ask(session, b"last")
    after = await stand.ask(session, b"say hello")

    assert last.outcome == "answered"
    assert (after.outcome, after.exit_code) == ("session_ended", 0)


async def test_a_session_that_cannot_be_started_fails_its_first_request(stand: Stand) -> None:
    session = await stand.open("/does/not/exist")

    measured = await stand.ask(session, b"say hello")

    assert measured.outcome == "spawn_failed"
    assert measured.spawn_error is not None
    assert measured.spawn_error.code == "ENOENT"
    assert (stand.stdout, stand.stderr) == (b"", b"")
    assert not session.alive
    assert await session.close() is None


async def test_closing_a_session_measures_its_whole_life(stand: Stand) -> None:
    session = await stand.open()
    await stand.ask(session, b"spin 0.3")

    measured = await session.close()

    assert measured is not None
    assert (measured.outcome, measured.exit_code) == ("exited", 0)
    assert measured.cpu_user_s + measured.cpu_system_s >= 0.3
    assert measured.largest_process_peak_bytes
    assert not session.alive


async def test_a_session_that_lingers_after_its_input_ended_is_killed(stand: Stand) -> None:
    session = await stand.open(environment={"LINGER": "1"})
    await stand.ask(session, b"helper")

    measured = await session.close()

    assert measured is not None
    assert (measured.outcome, measured.signal) == ("timed_out", "SIGKILL")
    assert no_descendant(stand)


async def test_the_cpu_time_of_an_answer_is_its_own(stand: Stand) -> None:
    session = await stand.open()

    await stand.ask(session, b"spin 0.2")
    busy = await stand.ask(session, b"spin 0.4")
    idle = await stand.ask(session, b"say hello")

    assert 0.35 <= busy.cpu_user_s + busy.cpu_system_s <= 0.6
    assert idle.cpu_user_s + idle.cpu_system_s <= 0.05


async def test_killing_one_session_spares_another_and_its_orphans(stand: Stand) -> None:
    first, second = await stand.open(), await stand.open()
    await stand.ask(first, b"orphan")
    orphan_of_first = int(stand.stderr.split()[-1])
    await stand.ask(second, b"orphan")
    orphan_of_second = int(stand.stderr.split()[-1])

    await stand.ask(first, b"two")

    assert not alive(orphan_of_first)
    assert alive(orphan_of_second)
    assert (await stand.ask(second, b"say hello")).outcome == "answered"
    assert (await stand.run("true")).leftover_processes == 0
    assert alive(orphan_of_second)


async def test_requests_of_two_lines_are_refused(stand: Stand) -> None:
    session = await stand.open()
    with pytest.raises(ValueError, match="one line"):
        await stand.ask(session, b"say a\nsay b")
    assert session.alive


async def test_one_operation_runs_at_a_time(stand: Stand) -> None:
    running = asyncio.create_task(stand.run("sleep", "0.3"))
    await asyncio.sleep(0.05)
    with pytest.raises(RuntimeError, match="one operation at a time"):
        await stand.run("true")
    assert (await running).succeeded


async def test_stop_kills_the_operation_in_progress(stand: Stand) -> None:
    ids = stand.folder / "ids"
    running = asyncio.create_task(stand.run(*program("swarm.py", 5, ids, "stay")))
    await asyncio.to_thread(wait_until, lambda: len(read_ids(ids)) == 5)

    await stand.supervisor.stop()

    assert (await running).outcome == "stopped"
    assert not [pid for pid in read_ids(ids) if alive(pid)]
    await stand.supervisor.stop()
    assert (await stand.run("true")).succeeded


async def test_cancelling_the_engines_task_kills_the_operation_first(stand: Stand) -> None:
    ids = stand.folder / "ids"
    running = asyncio.create_task(stand.run(*program("swarm.py", 5, ids, "stay")))
    await asyncio.to_thread(wait_until, lambda: len(read_ids(ids)) == 5)

    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    assert not [pid for pid in read_ids(ids) if alive(pid)]
    assert (await stand.run("true")).succeeded


async def test_a_cancelled_request_ends_its_session(stand: Stand) -> None:
    session = await stand.open()
    asking = asyncio.create_task(stand.ask(session, b"nothing"))
    await asyncio.sleep(0.1)

    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking

    assert not session.alive
    assert no_descendant(stand)


async def test_closing_the_supervisor_leaves_nothing(stand: Stand) -> None:
    ids = stand.folder / "ids"
    session = await stand.open()
    await stand.ask(session, b"orphan")
    orphan = int(stand.stderr.split()[-1])
    running = asyncio.create_task(stand.run(*program("swarm.py", 5, ids, "clean")))
    await asyncio.to_thread(wait_until, lambda: len(read_ids(ids)) == 5)

    await stand.supervisor.close()

    assert (await running).outcome == "stopped"
    assert not [pid for pid in [orphan, *read_ids(ids)] if alive(pid)]
    with pytest.raises(RuntimeError, match="not running"):
        await stand.run("true")


async def test_a_terminated_supervisor_stops_everything_first(stand: Stand) -> None:
    ids = stand.folder / "ids"
    running = asyncio.create_task(stand.run(*program("swarm.py", 5, ids, "clean")))
    await asyncio.to_thread(wait_until, lambda: len(read_ids(ids)) == 5)

    os.kill(stand.supervisor.pid or 0, signal.SIGTERM)

    assert (await running).outcome == "stopped"
    assert not [pid for pid in read_ids(ids) if alive(pid)]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP])
async def test_a_terminals_signals_do_not_reach_the_supervisor(stand: Stand, number: int) -> None:
    running = asyncio.create_task(stand.run("sleep", "0.3"))
    await asyncio.sleep(0.1)

    os.kill(stand.supervisor.pid or 0, number)

    assert (await running).succeeded
    assert os.getsid(stand.supervisor.pid or 0) == stand.supervisor.pid


async def test_a_lost_supervisor_is_noticed_and_leaves_nothing(stand: Stand) -> None:
    ids = stand.folder / "ids"
    running = asyncio.create_task(stand.run(*program("swarm.py", 5, ids, "stay")))
    await asyncio.to_thread(wait_until, lambda: len(read_ids(ids)) == 5)

    os.kill(stand.supervisor.pid or 0, signal.SIGKILL)
    measured = await running

    assert measured.outcome == "supervisor_lost"
    assert measured.elapsed_s > 0
    assert (measured.exit_code, measured.largest_process_peak_bytes, measured.samples) == (None, None, 0)
    assert not [pid for pid in read_ids(ids) if alive(pid)]
    assert not stand.supervisor.alive
    await stand.supervisor.start(None, "again")
    assert (await stand.run("true")).succeeded


async def test_a_killed_engine_leaves_nothing_and_its_lock_is_held_until_then(tmp_path: Path) -> None:
    lock, ids = tmp_path / "lock", tmp_path / "ids"
    arguments = [PROGRAMS / "lone_engine.py", lock, ids, tmp_path, f"lone-{tmp_path.name}"]
    engine = subprocess.Popen(
        [sys.executable, *map(str, arguments)], cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}
    )
    assert await asyncio.to_thread(wait_until, lambda: len(read_ids(ids)) == 5)

    freed_too_early: list[int] = []
    engine.kill()
    killed = time.monotonic()
    with open(lock) as file:
        while True:
            living = [pid for pid in read_ids(ids) if alive(pid)]
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                assert time.monotonic() - killed < 2.0, f"still locked, with {living}"
                await asyncio.sleep(0.001)
                continue
            freed_too_early = [pid for pid in living if alive(pid)]
            break
    engine.wait()

    assert freed_too_early == []
    assert not [pid for pid in read_ids(ids) if alive(pid)]


async def test_retrievers_do_not_inherit_the_lock(tmp_path: Path) -> None:
    lock = os.open(tmp_path / "lock", os.O_RDWR | os.O_CREAT)
    supervisor = Supervisor()
    await supervisor.start(lock, f"lock-{tmp_path.name}")
    try:
        held = {str(path.readlink()) for path in Path(f"/proc/{supervisor.pid}/fd").iterdir()}
        stand = Stand(supervisor, tmp_path)
        await stand.run("sh", "-c", "ls -l /proc/self/fd")
    finally:
        await supervisor.close()
        os.close(lock)

    assert str(tmp_path / "lock") in held
    assert b"lock" not in stand.stdout
    assert b"socket" not in stand.stdout


async def test_samples_never_block_on_an_engine_that_does_not_read(stand: Stand) -> None:
    running = asyncio.create_task(stand.run("sleep", "1.2"))
    await asyncio.sleep(0.01)
    time.sleep(1.5)  # the engine is what is busy

    measured = await running

    assert measured.succeeded
    assert 1.2 <= measured.elapsed_s < 1.45


def test_marked_processes_are_found_and_others_left(tmp_path: Path) -> None:
    token = f"marked-{tmp_path.name}-{os.getpid()}"
    ours = subprocess.Popen(["sleep", "1000"], env={"A": "1", "BORESIGHT_OPERATION": f"{token}:7"})
    other = subprocess.Popen(["sleep", "1000"], env={"BORESIGHT_OPERATION": f"{token}-other:7"})
    try:
        found = kill_marked(token)
        assert found == 1
        assert ours.wait(10) == -signal.SIGKILL
        assert other.poll() is None
    finally:
        for process in (ours, other):
            process.kill()
            process.wait()


@pytest.mark.parametrize(("platform", "release"), [("darwin", "23.1"), ("linux", "4.19.0-generic")])
async def test_an_unfit_system_is_refused(
    monkeypatch: pytest.MonkeyPatch, platform: str, release: str
) -> None:
    names = os.uname()
    monkeypatch.setattr(sys, "platform", platform)
    fields = [names.sysname, names.nodename, release, names.version, names.machine]
    monkeypatch.setattr(os, "uname", lambda: os.uname_result(fields))

    with pytest.raises(InputError, match=r"Linux 5\.4 or newer"):
        await Supervisor().start(None, "unfit")


async def test_a_step_adds_to_the_common_environment(stand: Stand) -> None:
    stand.environment = {"PATH": os.environ["PATH"], "COMMON": "1", "BOTH": "common"}
    step = Step(("sh", "-c", "echo $COMMON $BOTH $OWN"), stand.folder, {"BOTH": "step", "OWN": "2"})

    await stand.steps([step])

    assert stand.stdout == b"1 step 2\n"


def no_descendant(stand: Stand) -> bool:
    """Tell whether the supervisor has no child at all, zombies included."""
    pid = stand.supervisor.pid
    return Path(f"/proc/{pid}/task/{pid}/children").read_text() == ""
