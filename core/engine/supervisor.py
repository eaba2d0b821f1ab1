"""Start, measure and end retrievers: a small program of its own, run by path as `python -I -S supervisor.py`.

Arguments: socket descriptor, lock descriptor or -1, the engine's process id, a token unique to this
supervisor. Messages are JSON objects, one a line; one operation at a time. From the engine:

    {"do": "run", "id", "steps": [{"argv", "cwd", "env"}], "stdout", "stderr", "timeout_s",
     "max_output_bytes"}
    {"do": "open", "id", "session", "steps": [one], "stderr", "timeout_s"}
    {"do": "ask", "id", "session", "line", "stdout", "stderr", "timeout_s", "max_output_bytes"}
    {"do": "close", "id", "session", "timeout_s"}
    {"do": "stop", "id"}

`line` holds bytes as Latin-1; an `env` is complete. To the engine: one `ready`, `sample` at most once a
second, and for each operation one `done` with its measurement or one `error` with an errno. The end of the
socket, of the engine's process, or SIGTERM ends every descendant, then the supervisor.

Output limits are enforced by looking at file sizes every tick. RLIMIT_FSIZE would be exact, but it would
also limit the retriever's own index.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import select
import signal
import socket
import sys
import time

TYPE_CHECKING = False  # typing itself would be a twentieth of this program's memory
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

if __name__ == "__main__":  # -I leaves out every path but the standard library's
    sys.path.append(__file__.rsplit(os.sep, 3)[0])

from core.engine.operation import REPORT_NS, TICK_NS, Operation, Session  # noqa: E402
from core.engine.process_tree import FILE_LIMITS, Descendants, Tree, become_subreaper, describe, exec_stamp  # noqa: E402

EXIT_GRACE_NS = 1_000_000_000  # from the end of a session's output to its exit


class Supervisor:
    """The loop, and what it watches."""

    def __init__(self, channel: socket.socket, engine: int, token: str) -> None:
        self._channel = channel
        self._engine = os.pidfd_open(engine)  # a worker that inherited the socket must not keep it alive
        self._token = token
        self._inbox = bytearray()
        self._outbox = bytearray()
        self._operation: Operation | None = None
        self._sessions: dict[int, Session] = {}
        self._descendants = Descendants()
        self._poller = select.poll()
        self._watched: dict[int, int] = {}
        self._wakeup, writer = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        signal.set_wakeup_fd(writer)
        signal.signal(signal.SIGTERM, lambda *_: None)

    def serve(self) -> None:
        """Work until the engine is gone or SIGTERM comes; then leave no descendant."""
        self._send({"type": "ready"})
        while True:
            events = self._wait()
            now = time.monotonic_ns()
            if operation := self._operation:
                try:
                    self._advance(operation, events, now)
                except OSError as problem:  # a full disk under an answer, a process limit at a step
                    self._finish(operation, "stopped", problem)
            if self._engine in events or self._wakeup in events or not self._converse(events):
                break
        if self._operation:
            self._finish(self._operation, "stopped")
        self._descendants.kill(None)

    def _wait(self) -> dict[int, int]:
        talking = select.POLLIN | (select.POLLOUT if self._outbox else 0)
        watched = {self._engine: select.POLLIN, self._wakeup: select.POLLIN, self._channel.fileno(): talking}
        if operation := self._operation:
            watched |= operation.watched()
        if watched != self._watched:
            self._watched = watched
            self._poller = select.poll()
            for descriptor, mask in watched.items():
                self._poller.register(descriptor, mask)
        if not operation:
            return dict(self._poller.poll())
        wake = min(operation.next_tick, operation.deadline) - time.monotonic_ns()
        return dict(self._poller.poll(max(0, -(-wake // 1_000_000))))

    # Talking with the engine

    def _converse(self, events: dict[int, int]) -> bool:
        """Move messages both ways; False once the engine has gone."""
        event = events.get(self._channel.fileno(), 0)
        if event & select.POLLOUT:
            self._flush()
        if not event & ~select.POLLOUT:
            return True
        try:
            data = self._channel.recv(1 << 20)
        except OSError:
            return False
        self._inbox += data
        while (end := self._inbox.find(b"\n")) >= 0:
            message = json.loads(self._inbox[:end])
            del self._inbox[: end + 1]
            self._accept(message)
        return bool(data)

    def _send(self, message: dict[str, Any]) -> None:
        """Queue a message and never wait for the engine: samples are dropped while it lags."""
        if not (self._outbox and message["type"] == "sample"):
            self._outbox += json.dumps(message).encode() + b"\n"
            self._flush()

    def _flush(self) -> None:
        with contextlib.suppress(OSError):  # full for now, or closed, which the loop sees
            while self._outbox:
                del self._outbox[: self._channel.send(self._outbox)]

    def _accept(self, message: dict[str, Any]) -> None:
        if message["do"] == "stop":
            if self._operation and self._operation.id == message["id"]:
                self._finish(self._operation, "stopped")
            return
        name = f"{self._token}:{message['id']}"
        tree: Tree
        if message["do"] == "run":
            tree = Tree(name)
        elif message["do"] == "open":
            tree = self._sessions[message["session"]] = Session(name)
        else:
            tree = self._sessions[message["session"]]
        operation = self._operation = Operation(message, tree)
        self._descendants.current = tree
        if tree not in self._descendants.trees:
            self._descendants.trees.append(tree)
        try:
            self._begin(operation, message)
        except OSError as problem:
            self._finish(operation, "stopped", problem)

    # Beginning an operation

    def _begin(self, operation: Operation, message: dict[str, Any]) -> None:
        tree = operation.tree
        if operation.kind in ("run", "ask"):
            operation.stdout = _new_file(message["stdout"])
            operation.stderr = _new_file(message["stderr"])
        if operation.kind == "run":
            self._begin_step(operation)
        elif isinstance(tree, Session) and operation.kind == "open":
            stderr = _new_file(message["stderr"])
            self._spawn(operation, lambda: tree.open(operation.steps.pop(), stderr))
        elif isinstance(tree, Session) and operation.kind == "ask":
            self._begin_ask(operation, tree, message["line"].encode("latin-1") + b"\n")
        elif isinstance(tree, Session):
            operation.started_ns = tree.started_ns
            tree.close_pipe("stdin")

    def _begin_step(self, operation: Operation) -> None:
        null = os.open(os.devnull, os.O_RDONLY)
        try:
            files = (null, operation.stdout, operation.stderr)
            self._spawn(operation, lambda: operation.tree.spawn(operation.steps.pop(0), files))
        finally:
            os.close(null)

    def _spawn(self, operation: Operation, start: Callable[[], int]) -> None:
        try:
            operation.status_fd = start()
        except OSError as problem:  # no process, or no descriptor, may be had
            operation.spawn_error = describe(problem, "a new process")
            self._finish(operation, "spawn_failed")

    def _begin_ask(self, operation: Operation, session: Session, request: bytes) -> None:
        self._sample(operation)  # before the clock starts: a short answer must not wait for it
        operation.cpu_before = self._descendants.cpu(session)
        early = session.read()  # what comes before its request answers nothing
        operation.begin(time.monotonic_ns())
        if early:
            operation.keep_answer(early)
            self._finish(operation, "surplus_output")
        elif early is None:
            operation.request = session.write(request)

    # While it runs

    def _advance(self, operation: Operation, events: dict[int, int], now: int) -> None:
        """Take what has happened, in the order in which it can have happened, until it ends the operation."""
        tree, session = operation.tree, operation.session
        operation.note_stall(now)  # first: what ends the operation may have waited just as long
        if operation.status_fd in events:
            self._read_status(operation)
        if session and operation.request and session.stdin in events:
            operation.request = session.write(operation.request)
        if session and session.stdout in events:
            self._receive(operation, session, now)
        if self._operation and tree.pidfd in events:
            tree.exited_ns = now
            self._descendants.reap()
        if self._operation and tree.status is not None and operation.status_fd < 0:
            self._leader_exited(operation, now)
        if self._operation:
            self._check_limits(operation, now)

    def _read_status(self, operation: Operation) -> None:
        """Read why the child could not become its command; nothing at the end means that it did."""
        report = os.read(operation.status_fd, 1 << 16)
        operation.status += report
        if report:
            return
        os.close(operation.status_fd)
        operation.status_fd = -1
        if not operation.tree.started_ns and (stamp := exec_stamp()):
            operation.begin(stamp)
            operation.tree.started_ns = stamp
        if operation.status:
            operation.spawn_error = json.loads(operation.status)
            self._finish(operation, "spawn_failed")
        elif operation.kind == "open":
            self._finish(operation, "answered")
        else:
            self._sample(operation)

    def _receive(self, operation: Operation, session: Session, now: int) -> bool:
        """Take what has arrived of an answer; False when that was nothing."""
        data = session.read()
        if data is None:
            return False
        if not data:
            session.close_pipe("stdout")
            operation.ending = True
            operation.ended_ns = now
            operation.deadline = min(operation.deadline, now + EXIT_GRACE_NS)
            return False
        end = data.find(b"\n")
        if end >= 0:
            operation.ended_ns = now
            data += session.read() or b""
        operation.keep_answer(data)
        if operation.answered > operation.max_output:
            self._finish(operation, "output_limit")
        elif 0 <= end < len(data) - 1:
            self._finish(operation, "surplus_output")
        elif end >= 0:
            operation.keep_errors(session)
            self._finish(operation, "answered")
        return True

    def _leader_exited(self, operation: Operation, now: int) -> None:
        tree = operation.tree
        if session := operation.session:
            while self._operation and session.stdout >= 0 and self._receive(operation, session, now):
                pass  # a whole answer counts, though its process ended right after it
            if self._operation:
                operation.ended_ns = operation.ended_ns or tree.exited_ns
                self._finish(operation, "session_ended")
            return
        operation.completed += tree.exit_code == 0
        if tree.exit_code == 0 and operation.steps:
            self._begin_step(operation)
        else:
            self._finish(operation, "exited" if (tree.exit_code or 0) >= 0 else "signaled")

    def _check_limits(self, operation: Operation, now: int) -> None:
        if now >= operation.next_tick:
            operation.next_tick = max(operation.next_tick + TICK_NS, now + 1)
            if operation.status_fd < 0:
                self._sample(operation)
            if self._descendants.orphans:
                self._descendants.reap()
            if operation.output_bytes() > operation.max_output:
                self._finish(operation, "output_limit")
                return
            if now >= operation.next_report:
                operation.next_report = now + REPORT_NS
                elapsed_s = (now - operation.started_ns) / 1e9
                sample = {"rss": operation.rss, "peak": operation.peak, "elapsed_s": elapsed_s}
                self._send({"type": "sample", "id": operation.id, **sample})
        if now >= operation.deadline:
            if operation.session:
                operation.ended_ns = operation.ended_ns or now
            self._finish(operation, "session_ended" if operation.ending else "timed_out")

    def _sample(self, operation: Operation) -> None:
        operation.rss = self._descendants.rss(operation.tree)
        operation.peak = max(operation.peak, operation.rss)
        operation.samples += 1

    # Ending an operation

    def _finish(self, operation: Operation, outcome: str, problem: OSError | None = None) -> None:
        """End the operation, and its processes unless they are a session that goes on; tell the engine."""
        tree, session = operation.tree, operation.session
        cpu = self._descendants.cpu(tree) if session else None
        leftover = unkilled = 0
        if outcome in ("exited", "signaled"):
            leftover = self._descendants.leftover(tree)
        if outcome != "answered":
            unkilled = self._descendants.kill(tree)
            try:
                if outcome in ("exited", "signaled") and operation.output_bytes() > operation.max_output:
                    outcome = "output_limit"
                if session:
                    operation.keep_errors(session)
                elif outcome == "output_limit":
                    operation.cut_output()
            except OSError as later:
                problem = problem or later
        measurement = operation.measure(outcome, cpu)
        measurement |= {"leftover_processes": leftover, "unkilled_processes": unkilled}
        self._release(operation, outcome == "answered")
        if problem:
            where = os.fsdecode(problem.filename) if problem.filename else None
            self._send({"type": "error", "id": operation.id, "errno": problem.errno, "path": where})
        else:
            self._send({"type": "done", "id": operation.id, "measurement": measurement})

    def _release(self, operation: Operation, goes_on: bool) -> None:
        operation.close()
        self._operation = None
        self._descendants.current = None
        if goes_on:
            return
        tree = operation.tree
        self._descendants.trees.remove(tree)
        if isinstance(tree, Session):
            tree.close_all()
            self._sessions = {number: one for number, one in self._sessions.items() if one is not tree}
        tree.close()


def _new_file(path: str) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_NOFOLLOW, 0o600)


def main() -> None:
    """Become a subreaper that no terminal reaches, and serve the engine."""
    channel, lock, engine, token = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    for descriptor in (channel, lock):
        if descriptor >= 0:
            os.set_inheritable(descriptor, False)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    become_subreaper()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a core file would land in the frozen repository
    resource.setrlimit(resource.RLIMIT_NOFILE, (FILE_LIMITS[1], FILE_LIMITS[1]))
    os.chdir("/")
    connection = socket.socket(fileno=channel)
    connection.setblocking(False)
    supervisor = Supervisor(connection, engine, token)
    if os.getppid() == engine:
        supervisor.serve()


if __name__ == "__main__":
    main()
