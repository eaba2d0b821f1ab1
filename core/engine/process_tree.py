"""The supervisor's descendants: starting them, finding them in /proc, counting and ending them.

Standard library only, and nothing else of Boresight: this is loaded into the supervisor's small process.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import json
import mmap
import os
import resource
import signal
import time

TYPE_CHECKING = False  # typing itself would be a twentieth of the supervisor's memory
if TYPE_CHECKING:
    from typing import Any

MARKER = "BORESIGHT_OPERATION"
LEFTOVER_GRACE_S = 0.1  # multiprocessing's trackers and the like end by themselves just after their parent
KILL_PATIENCE_S = 10.0
CACHED_PROCESSES = 64
LIST_BYTES = 2048  # the kernel hands out a long list of children in pieces of at most a page
PAGE = resource.getpagesize()
CLOCK_TICKS = os.sysconf("SC_CLK_TCK")
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
FILE_LIMITS = resource.getrlimit(resource.RLIMIT_NOFILE)  # the engine's, which every child gets back
# What the supervisor or Python changes, and what whoever started it had ignored, as a shell does behind `&`.
CHANGED_SIGNALS = {signal.SIGINT, signal.SIGHUP, signal.SIGTERM, signal.SIGPIPE, signal.SIGXFSZ} | {
    number for number in signal.valid_signals() if signal.getsignal(number) == signal.SIG_IGN
}
LIBC = ctypes.CDLL(None)
START = mmap.mmap(-1, 8)  # shared with each child, which stamps its exec here without waking this process


class Process:
    """One process's files in /proc, kept open: reading again costs a quarter of opening again."""

    __slots__ = ("_lists", "_statm", "_task", "_threads")

    def __init__(self, pid: int) -> None:
        self._lists: list[int] = []  # the `children` file of each thread
        self._threads = -1
        self._task = os.open(f"/proc/{pid}/task", os.O_RDONLY)
        try:
            self._statm = os.open(f"/proc/{pid}/statm", os.O_RDONLY)
        except OSError:
            os.close(self._task)
            raise

    def children(self) -> list[int]:
        """Return the children of all its threads; raises OSError."""
        threads = os.fstat(self._task).st_nlink  # changes with the number of threads
        if threads != self._threads:
            self._close_lists()
            for thread in os.listdir(self._task):  # noqa: PTH208  # pathlib takes no descriptor
                self._lists.append(os.open(f"{thread}/children", os.O_RDONLY, dir_fd=self._task))
            self._threads = threads
        found: list[int] = []
        for descriptor in self._lists:
            try:
                text = os.pread(descriptor, 1 << 16, 0)
                found += map(int, text.split())
                offset = len(text)
                while len(text) > LIST_BYTES and (text := os.pread(descriptor, 1 << 16, offset)):
                    found += map(int, text.split())
                    offset += len(text)
            except OSError:  # that thread has ended
                self._threads = -1
        return found

    def rss(self) -> int:
        """Return resident bytes, 0 for a zombie; raises OSError or IndexError once it is gone."""
        return int(os.pread(self._statm, 128, 0).split(None, 2)[1]) * PAGE

    def close(self) -> None:
        """Close every file."""
        self._close_lists()
        os.close(self._task)
        os.close(self._statm)

    def _close_lists(self) -> None:
        while self._lists:
            os.close(self._lists.pop())


class Tree:
    """A command or a session, and everything that it started."""

    def __init__(self, name: str) -> None:
        self.name = name  # the marker's value
        self.leader = 0
        self.pidfd = -1
        self.seen: frozenset[int] = frozenset()  # its processes when last looked at
        self.started_ns = self.exited_ns = 0  # the leader's
        self.status: int | None = None  # the leader's, as wait4 gave it
        self.user_s = self.system_s = 0.0  # of all that were reaped
        self.largest = 0  # their largest ru_maxrss, in bytes

    @property
    def exit_code(self) -> int | None:
        """The leader's, negative for a signal; None until it is reaped."""
        return None if self.status is None else os.waitstatus_to_exitcode(self.status)

    def spawn(self, step: dict[str, Any], files: tuple[int, int, int]) -> int:
        """Fork a leader that becomes the step's command; returns the pipe on which it tells how that went.

        The pipe carries JSON where exec failed; its end means that the child is the command, or gone.
        fork, because a child's ru_maxrss begins with its memory before exec: after vfork that would be all
        of this program's, after fork it is a part.
        """
        parent = os.getpid()
        self.close()
        START[:] = bytes(8)
        reader, writer = os.pipe2(os.O_CLOEXEC)
        try:
            pid = os.fork()
            if pid == 0:
                try:
                    _become(step, self.name, parent, files)
                except BaseException as problem:  # nothing may return from here
                    os.write(writer, json.dumps(_explain(problem, step)).encode())
                finally:
                    os._exit(127)
            self.leader, self.status, self.exited_ns = pid, None, 0
            self.pidfd = os.pidfd_open(pid)
        except OSError:
            os.close(reader)
            raise
        finally:
            os.close(writer)
        return reader

    def close(self) -> None:
        """Forget the leader's descriptor."""
        if self.pidfd >= 0:
            os.close(self.pidfd)
            self.pidfd = -1


class Descendants:
    """All processes below this one, told apart by the tree that they belong to."""

    def __init__(self) -> None:
        self.trees: list[Tree] = []
        self.current: Tree | None = None  # whose operation is in progress: it gets what nothing else claims
        self.orphans = False  # whether some came to this process, to be reaped by it
        self._own = Process(os.getpid())
        self._cache: dict[int, Process] = {}
        self._walked: Tree | None = None  # the tree that the cache holds all of
        self._newest = b""  # the system's newest process at that time
        self._loadavg = os.open("/proc/loadavg", os.O_RDONLY)

    def rss(self, tree: Tree) -> int:
        """Return the sum of resident bytes of a tree.

        Unless a process was started somewhere in the system since the last look, its members are known.
        """
        newest = os.pread(self._loadavg, 128, 0).split()[-1]
        if tree is self._walked and newest == self._newest and newest != b"0":
            try:
                return sum([process.rss() for process in self._cache.values()])
            except (OSError, IndexError):
                pass
        total = sum(self.members(tree).values())
        self._newest = newest
        return total

    def members(self, tree: Tree | None) -> dict[int, int]:
        """Return the processes of a tree, or all descendants, with their resident bytes (0: a zombie)."""
        found: dict[int, int] = {}
        roots = self._own.children()
        leaders = {one.leader for one in self.trees}
        self.orphans = not leaders.issuperset(roots)
        queue = [pid for pid in roots if tree is None or self._owner(pid) is tree]
        while queue:
            pid = queue.pop()
            found[pid] = 0
            process = self._cache.get(pid)
            try:
                process = process or Process(pid)
                found[pid] = process.rss()
                queue += process.children()
            except (OSError, IndexError):  # gone, or no descriptor is free: its children come to us in time
                self._cache.pop(pid, None)
                if process:
                    process.close()
                continue
            if len(self._cache) < CACHED_PROCESSES:
                self._cache[pid] = process
            elif pid not in self._cache:
                process.close()
        if tree:
            tree.seen = frozenset(found)
        for pid in self._cache.keys() - found.keys():
            self._cache.pop(pid).close()
        self._walked = tree if len(self._cache) == len(found) else None
        return found

    def cpu(self, tree: Tree) -> tuple[float, float]:
        """Return user and system seconds so far: of the living, of those they waited for, of those reaped."""
        user = system = 0
        for pid in self.members(tree):
            fields = _stat_fields(pid)[11:15]
            if len(fields) == 4:
                user += int(fields[0]) + int(fields[2])
                system += int(fields[1]) + int(fields[3])
        return tree.user_s + user / CLOCK_TICKS, tree.system_s + system / CLOCK_TICKS

    def reap(self) -> None:
        """Collect every child that has exited, and what the kernel counted for it."""
        with contextlib.suppress(ChildProcessError):
            while (result := os.wait4(-1, os.WNOHANG))[0]:
                pid, status, usage = result
                if not (tree := self._owner(pid)):
                    continue
                if pid == tree.leader:
                    tree.status = status
                    tree.exited_ns = tree.exited_ns or time.monotonic_ns()
                tree.user_s += usage.ru_utime
                tree.system_s += usage.ru_stime
                tree.largest = max(tree.largest, usage.ru_maxrss * 1024)

    def leftover(self, tree: Tree) -> int:
        """Return how many processes outlive their leader by more than a moment."""
        until = time.monotonic() + LEFTOVER_GRACE_S
        while True:
            self.reap()
            alive = sum(1 for rss in self.members(tree).values() if rss)
            if not alive or time.monotonic() >= until:
                return alive
            time.sleep(0.005)

    def kill(self, tree: Tree | None) -> int:
        """SIGKILL a tree, or all, until none is left; returns how many would not go.

        All are stopped first: what is stopped forks no more, so a bomb cannot outrun the killing.
        """
        until = time.monotonic() + KILL_PATIENCE_S
        while True:
            self.reap()
            members = self.members(tree)
            if not members or time.monotonic() >= until:
                return len(members)
            stopped: set[int] = set()
            while fresh := members.keys() - stopped:
                for pid in fresh:
                    _send_signal(pid, signal.SIGSTOP)
                stopped |= fresh
                members = self.members(tree)
            for pid in stopped:
                _send_signal(pid, signal.SIGKILL)
            time.sleep(0.001)

    def _owner(self, pid: int) -> Tree | None:
        """Return the tree of a child of this process: one that it started, or an orphan that came to it."""
        for tree in self.trees:
            if pid == tree.leader or pid in tree.seen:
                return tree
        fields = _stat_fields(pid)
        if not fields:
            return self.current
        environment = _read_proc(pid, "environ").split(b"\0")
        for tree in self.trees:
            if int(fields[3]) == tree.leader or f"{MARKER}={tree.name}".encode() in environment:
                return tree
        return self.current


def become_subreaper() -> None:
    """Have orphaned descendants come to this process; raises OSError."""
    if LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        raise OSError("the kernel refuses PR_SET_CHILD_SUBREAPER")


def exec_stamp() -> int:
    """Return CLOCK_MONOTONIC just before the last child's exec; 0 where it did not come so far."""
    return int.from_bytes(START[:], "big")


def describe(problem: OSError, name: str) -> dict[str, str]:
    """Return an error's symbol and a sentence about the thing named."""
    number = problem.errno or 0
    return {"code": errno.errorcode.get(number, str(number)), "text": f"{os.strerror(number)}: {name[:300]}"}


def _become(step: dict[str, Any], name: str, parent: int, files: tuple[int, int, int]) -> None:
    """Turn this forked child into the step's command; returns only by raising."""
    os.setsid()
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(127)
    signal.set_wakeup_fd(-1)
    for number in CHANGED_SIGNALS:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    resource.setrlimit(resource.RLIMIT_NOFILE, FILE_LIMITS)
    for target, descriptor in enumerate(files):
        os.dup2(descriptor, target)
    os.chdir(step["cwd"])
    environment = {**step["env"], MARKER: name}
    START[:] = time.monotonic_ns().to_bytes(8, "big")
    os.execvpe(step["argv"][0], step["argv"], environment)  # noqa: S606  # no shell is what is wanted


def _explain(problem: BaseException, step: dict[str, Any]) -> dict[str, str]:
    """Say why a step did not become its command."""
    if not isinstance(problem, OSError):
        return {"code": "EINVAL", "text": str(problem)}  # a NUL, a lone surrogate
    name = step["cwd"] if problem.filename == step["cwd"] else step["argv"][0]
    report = describe(problem, name)
    if problem.errno == errno.ENOENT and os.path.isfile(name):  # noqa: PTH113  # pathlib is memory
        report["text"] = f"the interpreter that its first line names does not exist: {name[:300]}"
    return report


def _read_proc(pid: int, name: str) -> bytes:
    try:
        with open(f"/proc/{pid}/{name}", "rb", buffering=0) as file:
            return file.read()
    except OSError:
        return b""


def _stat_fields(pid: int) -> list[bytes]:
    """Return the fields of /proc/PID/stat after the name, state first; [] when it is gone."""
    return _read_proc(pid, "stat").rpartition(b")")[2].split()


def _send_signal(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):  # gone, or a set-user-id program
        os.kill(pid, number)
