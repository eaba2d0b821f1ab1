"""Speaking to a run's engine: whatever answers, or does not, ends in an answer or in an error that helps."""

from __future__ import annotations

import contextlib
import json
import os
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from core.cli import main
from core.errors import BoresightError, Exit
from core.run.control import MESSAGE_BYTES, NAME, NobodyListensError, UnreachableError, ask
from core.run.lock import RunLock
from tests.support.finished import finished_run


@contextlib.contextmanager
def answered_by(run: Path, answer: Callable[[socket.socket], None]) -> Iterator[None]:
    """Listen in an engine's place, and let `answer` speak to the one who asks."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(str(run / NAME))
        listener.listen()

        def serve() -> None:
            connection, _ = listener.accept()
            with connection, contextlib.suppress(OSError):  # who asked may leave before the end
                connection.recv(MESSAGE_BYTES)
                answer(connection)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield
        finally:
            thread.join()


@contextlib.contextmanager
def executed(run: Path, told: str | None = None) -> Iterator[None]:
    """Hold a run's lock as an engine does; `told` stands in the lock file in place of what it writes."""
    lock = RunLock(run / ".lock")
    lock.acquire()
    if told is not None:
        (run / ".lock").write_text(told)
    try:
        yield
    finally:
        lock.release()


@pytest.mark.parametrize(
    "line",
    [
        b"rubbish\n",
        b"rubbish",
        b'["ok", true]\n',
        b"1\n",
        b"null\n",
        b"\xff\xfe\n",
        b'{"ok": tr\n',
        b"[" * 20_000 + b"\n",
        b'{"ok": true, "x": "' + b"x" * MESSAGE_BYTES + b'"}\n',
    ],
)
def test_an_answer_that_no_engine_gives_is_quoted_with_the_remedy(tmp_path: Path, line: bytes) -> None:
    with (
        answered_by(tmp_path, lambda connection: connection.sendall(line)),
        pytest.raises(BoresightError, match="no engine of this version says; end the process") as told,
    ):
        ask(tmp_path, "stop")
    assert len(str(told.value)) < 1000 and str(told.value).isprintable()


def test_the_quoted_answer_cannot_act_on_a_terminal(tmp_path: Path) -> None:
    with (
        answered_by(tmp_path, lambda connection: connection.sendall(b"\x1b]52;c;cHduZWQ=\x07\n")),
        pytest.raises(BoresightError, match=re.escape("␛]52;c;cHduZWQ=␇")),
    ):
        ask(tmp_path, "stop")


def test_a_refusal_cannot_act_on_a_terminal_either(tmp_path: Path) -> None:
    refusal = json.dumps({"ok": False, "problem": "\x1b[2Jno"}).encode() + b"\n"
    with (
        answered_by(tmp_path, lambda connection: connection.sendall(refusal)),
        pytest.raises(BoresightError, match=re.escape("␛[2Jno")),
    ):
        ask(tmp_path, "stop")


def test_bytes_that_never_end_a_line_end_with_the_time_that_there_is(tmp_path: Path) -> None:
    def drip(connection: socket.socket) -> None:
        while True:
            connection.sendall(b"x")
            time.sleep(0.01)

    with (
        answered_by(tmp_path, drip),
        pytest.raises(BoresightError, match=re.escape("did not answer within 0.3 s")),
    ):
        ask(tmp_path, "stop", timeout_s=0.3)


def test_a_flood_is_read_no_further_than_an_answer_is_long(tmp_path: Path) -> None:
    sent = 0

    def flood(connection: socket.socket) -> None:
        nonlocal sent
        while True:
            sent += connection.send(b"x" * 4096)

    with answered_by(tmp_path, flood), pytest.raises(BoresightError, match="answered 'xxx"):
        ask(tmp_path, "stop", timeout_s=60)
    assert sent < 2**24


def test_no_answer_at_all_is_nobody_where_nothing_executes_the_run(tmp_path: Path) -> None:
    with (
        answered_by(tmp_path, lambda connection: None),
        pytest.raises(NobodyListensError, match="no engine is running this run now"),
    ):
        ask(tmp_path, "stop")


def test_an_engine_whose_socket_is_gone_is_named_with_how_to_stop_it(tmp_path: Path) -> None:
    with executed(tmp_path):
        with pytest.raises(
            UnreachableError, match=f"its engine is process {os.getpid()}, and SIGTERM"
        ) as told:
            ask(tmp_path, "pause")
        assert f"`kill {os.getpid()}`" in str(told.value) and "no engine is running" not in str(told.value)
        with pytest.raises(NobodyListensError, match="is being executed"):
            ask(tmp_path, "status")


@pytest.mark.parametrize("told", ['{"pid": -1}', '{"pid": 1}', '{"pid": "self"}', "{}", "[]", ""])
def test_no_process_is_named_that_does_not_hold_the_run(tmp_path: Path, told: str) -> None:
    with (
        executed(tmp_path, told),
        pytest.raises(UnreachableError, match="end the process that executes the run with SIGTERM") as error,
    ):
        ask(tmp_path, "pause")
    assert "`kill" not in str(error.value)


def test_a_run_that_is_only_rescored_has_no_engine(tmp_path: Path) -> None:
    lock = RunLock(tmp_path / ".lock", purpose="rescoring")
    lock.acquire()
    try:
        with pytest.raises(NobodyListensError, match="no engine is running this run now"):
            ask(tmp_path, "pause")
    finally:
        lock.release()


@pytest.mark.parametrize("answer", [{}, {"state": "a\x1b[31mb", "pid": [], "reused": None}], ids=str)
def test_status_tells_whatever_an_engine_leaves_out_or_makes_up(
    tmp_path: Path, answer: Mapping[str, object], capsys: pytest.CaptureFixture[str]
) -> None:
    run = finished_run(tmp_path).run
    line = json.dumps({"ok": True, **answer}).encode() + b"\n"
    with answered_by(run, lambda connection: connection.sendall(line)):
        assert main(["status", str(run)]) == Exit.DONE
    told = capsys.readouterr().out
    assert "hosted by process" in told and "operations accepted" in told and "\x1b" not in told


def test_status_of_an_engine_whose_socket_is_gone_says_how_to_stop_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = finished_run(tmp_path).run
    with executed(run):
        assert main(["status", str(run)]) == Exit.DONE
        assert f"`kill {os.getpid()}`" in capsys.readouterr().out
        assert main(["status", str(run), "--json"]) == Exit.DONE
        told = json.loads(capsys.readouterr().out)
        assert told["engine"] is None and f"`kill {os.getpid()}`" in told["engine_problem"]
    assert main(["status", str(run)]) == Exit.DONE
    assert "nobody listens: no engine is running this run now" in capsys.readouterr().out
