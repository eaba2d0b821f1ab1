"""What the supervisor is doing, and the sessions that it keeps: their pipes, files and figures.

Standard library only, and nothing else of Boresight: this is loaded into the supervisor's small process.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import signal
import sys
import time

from core.engine.process_tree import Tree

TYPE_CHECKING = False  # typing itself would be a twentieth of the supervisor's memory
if TYPE_CHECKING:
    from typing import Any

TICK_NS = 50_000_000
REPORT_NS = 1_000_000_000
STALL_NS = 1_000_000_000  # a tick this late: the machine, or this process, was suspended
PIPE_BYTES = 1 << 20


class Session(Tree):
    """A process that answers lines; it stays between operations."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.stdin = self.stdout = self.stderr = -1
        self.stderr_read = 0  # bytes already given to earlier answers

    def open(self, step: dict[str, Any], stderr: int) -> int:
        """Start the process as `spawn` does, with pipes that never make this program wait."""
        self.stderr = stderr
        with contextlib.ExitStack() as stack:
            child_in, self.stdin = os.pipe2(os.O_CLOEXEC)
            stack.callback(os.close, child_in)
            self.stdout, child_out = os.pipe2(os.O_CLOEXEC)
            stack.callback(os.close, child_out)
            with contextlib.suppress(OSError):  # over the user's quota of pipe memory: slower, not wrong
                fcntl.fcntl(self.stdout, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
            os.set_blocking(self.stdin, False)
            os.set_blocking(self.stdout, False)
            return self.spawn(step, (child_in, child_out, stderr))

    def read(self) -> bytes | None:
        """Return what has arrived: None for nothing yet, b"" for the end."""
        try:
            return os.read(self.stdout, PIPE_BYTES)
        except BlockingIOError:
            return None

    def write(self, data: bytes) -> bytes:
        """Return what the process has not yet room for; nothing once it reads no more."""
        try:
            return data[os.write(self.stdin, data) :]
        except BlockingIOError:
            return data
        except BrokenPipeError:  # its exit, or the end of its output, will say what happened
            return b""

    def close_pipe(self, name: str) -> None:
        """Close `stdin`, `stdout` or `stderr`."""
        if (descriptor := getattr(self, name)) >= 0:
            os.close(descriptor)
            setattr(self, name, -1)

    def close_all(self) -> None:
        """Close everything."""
        for name in ("stdin", "stdout", "stderr"):
            self.close_pipe(name)
        self.close()


class Operation:
    """The one act in progress."""

    def __init__(self, message: dict[str, Any], tree: Tree) -> None:
        now = time.monotonic_ns()
        self.kind: str = message["do"]
        self.id: int = message["id"]
        self.steps: list[dict[str, Any]] = message.get("steps", [])
        self.timeout_ns = int(message["timeout_s"] * 1e9)
        self.max_output: int = message.get("max_output_bytes", sys.maxsize)
        self.tree = tree
        self.stdout = self.stderr = -1
        self.request = b""  # what the session has not yet taken of its line
        self.answered = 0  # bytes
        self.ending = False  # the session's output has ended
        self.status_fd = -1  # open until a child has become its command
        self.status = b""
        self.spawn_error: dict[str, str] | None = None
        self.completed = self.samples = self.rss = self.peak = self.stalled_ns = self.ended_ns = 0
        self.cpu_before = (0.0, 0.0)
        self.wall_offset = time.time_ns() - now
        self.begin(now)

    def begin(self, now: int) -> None:
        """Set the clock that the limits run by."""
        self.started_ns = now
        self.deadline = now + self.timeout_ns
        self.next_tick = now + TICK_NS
        self.next_report = now + REPORT_NS

    def note_stall(self, now: int) -> None:
        """Give back to the limits the time in which nothing here was run."""
        late = now - self.next_tick
        if late > STALL_NS:
            self.stalled_ns += late
            self.deadline += late
            self.next_tick = now

    def watched(self) -> dict[int, int]:
        """Return the descriptors to wait for, with poll's masks."""
        found = {}
        if self.status_fd >= 0:
            found[self.status_fd] = select.POLLIN
        if self.tree.status is None and self.tree.pidfd >= 0:
            found[self.tree.pidfd] = select.POLLIN
        if session := self.session:
            if session.stdout >= 0:
                found[session.stdout] = select.POLLIN
            if self.request:
                found[session.stdin] = select.POLLOUT
        return found

    @property
    def session(self) -> Session | None:
        """The session that is asked."""
        return self.tree if self.kind == "ask" and isinstance(self.tree, Session) else None

    def keep_answer(self, data: bytes) -> None:
        """Append to the answer's file, as far as the limit allows."""
        room = max(0, self.max_output - self.answered)
        self.answered += len(data)
        _write_all(self.stdout, data[:room])

    def keep_errors(self, session: Session) -> None:
        """Copy the session's stderr since its last answer, as far as the limit allows."""
        end = os.fstat(session.stderr).st_size
        position, stop = session.stderr_read, min(end, session.stderr_read + self.max_output)
        session.stderr_read = end
        while position < stop:
            data = os.pread(session.stderr, min(stop - position, PIPE_BYTES), position)
            _write_all(self.stderr, data)
            position += len(data) or stop

    def output_bytes(self) -> int:
        """Return what stdout and stderr hold; of an answer, only what came since the last one."""
        if session := self.session:
            return self.answered + os.fstat(session.stderr).st_size - session.stderr_read
        return sum(os.fstat(file).st_size for file in (self.stdout, self.stderr) if file >= 0)

    def cut_output(self) -> None:
        """Drop what was written past the limit before a tick saw it."""
        for file in (self.stdout, self.stderr):
            if file >= 0 and os.fstat(file).st_size > self.max_output:
                os.ftruncate(file, self.max_output)

    def close(self) -> None:
        """Close the operation's own files."""
        for descriptor in (self.stdout, self.stderr, self.status_fd):
            if descriptor >= 0:
                os.close(descriptor)

    def measure(self, outcome: str, cpu: tuple[float, float] | None) -> dict[str, Any]:
        """Return the measurement's fields; `cpu` is an answer's, whose process may go on."""
        tree = self.tree
        code = None if outcome in ("answered", "spawn_failed") else tree.exit_code
        user_s, system_s = cpu or (tree.user_s, tree.system_s)
        return {
            "started_wall_ns": self.started_ns + self.wall_offset,
            "started_ns": self.started_ns,
            "ended_ns": max(self.started_ns, self.ended_ns or tree.exited_ns or time.monotonic_ns()),
            "outcome": outcome,
            "exit_code": code if code is not None and code >= 0 else None,
            "signal": _signal_name(-code) if code is not None and code < 0 else None,
            "spawn_error": self.spawn_error,
            "cpu_user_s": max(0.0, user_s - self.cpu_before[0]),
            "cpu_system_s": max(0.0, system_s - self.cpu_before[1]),
            "largest_process_peak_bytes": tree.largest if cpu is None and code is not None else None,
            "sampled_peak_rss_bytes": self.peak if self.samples else None,
            "samples": self.samples,
            "steps_completed": self.completed,
            "stalled_s": self.stalled_ns / 1e9,
        }


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"SIG{number}"
