"""Running small programs under a supervisor, and asking the system what became of them."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from core.engine.processes import Limits, Measurement, Sample, Session, Supervisor
from core.retrievers.protocol import Step

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = ROOT / "tests" / "support" / "programs"
PYTHON = (sys.executable, "-I", "-S")
GENEROUS = Limits(60.0, 10_000_000)


def program(name: str, *arguments: object) -> tuple[str, ...]:
    """Return the command of one of the test programs."""
    return (*PYTHON, str(PROGRAMS / name), *map(str, arguments))


class Stand:
    """A supervisor, a folder, and numbered output files."""

    def __init__(self, supervisor: Supervisor, folder: Path) -> None:
        self.supervisor = supervisor
        self.folder = folder
        self.environment = {"PATH": os.environ["PATH"]}
        self.number = 0

    @property
    def stdout(self) -> bytes:
        """What the last operation's command printed."""
        return (self.folder / f"stdout-{self.number}").read_bytes()

    @property
    def stderr(self) -> bytes:
        """What the last operation's command complained of."""
        return (self.folder / f"stderr-{self.number}").read_bytes()

    def next_files(self) -> tuple[Path, Path]:
        """Return two fresh names."""
        self.number += 1
        return self.folder / f"stdout-{self.number}", self.folder / f"stderr-{self.number}"

    async def run(
        self,
        *argv: str,
        limits: Limits = GENEROUS,
        cwd: Path | None = None,
        environment: Mapping[str, str] | None = None,
        on_sample: Callable[[Sample], None] | None = None,
    ) -> Measurement:
        """Run one command."""
        return await self.steps([Step(argv, cwd or self.folder, environment or {})], limits, on_sample)

    async def steps(
        self,
        steps: Sequence[Step],
        limits: Limits = GENEROUS,
        on_sample: Callable[[Sample], None] | None = None,
    ) -> Measurement:
        """Run several commands as one operation."""
        return await self.supervisor.run(steps, self.environment, *self.next_files(), limits, on_sample)

    async def open(self, *argv: str, environment: Mapping[str, str] | None = None) -> Session:
        """Open a session, by default with the talker."""
        self.number += 1
        step = Step(argv or program("talker.py"), self.folder, environment or {})
        return await self.supervisor.open_session(
            step, self.environment, self.folder / f"session-{self.number}"
        )

    async def ask(self, session: Session, line: bytes, limits: Limits = GENEROUS) -> Measurement:
        """Ask a session."""
        return await session.ask(line, *self.next_files(), limits)


def alive(pid: int) -> bool:
    """Tell whether a process exists and is no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0] not in (b"Z", b"X")
    except OSError:
        return False


def read_ids(path: Path) -> list[int]:
    """Return the process ids written to a file so far."""
    return [int(line) for line in path.read_text().split()] if path.exists() else []


def wait_until(condition: Callable[[], bool], seconds: float = 30.0) -> bool:
    """Return whether a condition came true in time."""
    until = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > until:
            return False
        time.sleep(0.01)
    return True
