"""What the supervisor itself takes while it samples, and how exact its clock is beside a busy core."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median, quantiles
from typing import NamedTuple

from core.engine.processes import Limits, Supervisor
from core.retrievers.protocol import Step
from tests.bench.row import Row

CHILDREN = 10
SHORT_S, LONG_S = 1.0, 5.0
SAMPLINGS = 3
COMMANDS = 60
_NAP = "import os, time; time.sleep(0.02); os.write(1, str(time.monotonic_ns()).encode()); os._exit(0)"
LIMITS = Limits(timeout_s=60.0, max_output_bytes=1 << 20)
_FAMILY = (
    "import os, sys, time\n"
    "for _ in range(int(sys.argv[1])):\n"
    "    if os.fork() == 0:\n"
    "        break\n"
    "time.sleep(float(sys.argv[2]))\n"
)


def rows() -> list[Row]:
    """Return the rows of the sampler and the clock."""
    return [asyncio.run(_sampler()), asyncio.run(_clock())]


async def _sampler() -> Row:
    """Compare long operations with short ones, so that starting and ending them is in neither."""
    shares, samples = [], []
    with tempfile.TemporaryDirectory(prefix="boresight-bench-") as folder:
        supervisor = Supervisor()
        await supervisor.start(None, "bench")
        for number in range(SAMPLINGS):
            short = await _sampled(supervisor, SHORT_S, _files(folder, 2 * number))
            long = await _sampled(supervisor, LONG_S, _files(folder, 2 * number + 1))
            shares.append((long.running_s - short.running_s) / (long.elapsed_s - short.elapsed_s))
            samples.append(long.samples - short.samples)
        await supervisor.close()
    share = median(shares)
    return Row(
        f"RSS sampler at 50 ms, {CHILDREN} children",
        "≤ 0.5 % of a core",
        f"{share:.2%} over {LONG_S - SHORT_S:g} s and {median(samples):g} samples",
        share * 100,
        0.5,
    )


class _Sampled(NamedTuple):
    """What the supervisor ran for an operation, and how long that took, in seconds."""

    running_s: float
    elapsed_s: float
    samples: int


async def _sampled(supervisor: Supervisor, seconds: float, files: tuple[Path, Path]) -> _Sampled:
    words = (sys.executable, "-I", "-S", "-c", _FAMILY, str(CHILDREN), str(seconds))
    before = _running_seconds(supervisor)
    measured = await supervisor.run([Step(words, Path("/"))], {}, *files, LIMITS)
    return _Sampled(_running_seconds(supervisor) - before, measured.elapsed_s, measured.samples)


async def _clock() -> Row:
    late, elapsed = [], []
    with tempfile.TemporaryDirectory(prefix="boresight-bench-") as folder, _busy_core():
        supervisor = Supervisor()
        await supervisor.start(None, "bench")
        for number in range(COMMANDS):
            stdout, stderr = _files(folder, number)
            words = (sys.executable, "-I", "-S", "-c", _NAP)
            measured = await supervisor.run([Step(words, Path("/"))], {}, stdout, stderr, LIMITS)
            late.append((measured.ended_ns - int(stdout.read_text())) / 1e6)
            elapsed.append(measured.elapsed_s * 1e3)
        await supervisor.close()
    return Row(
        "end of a 20 ms command, as measured beside a busy core",
        "within 1 ms of the command's own last stamp",
        f"{median(late):.2f} ms later (p90 {quantiles(late, n=10)[-1]:.2f}), of {median(elapsed):.1f} ms",
        median(late),
        1.0,
    )


@contextmanager
def _busy_core() -> Iterator[None]:
    with subprocess.Popen([sys.executable, "-I", "-S", "-c", "while True: pass"]) as spinner:
        time.sleep(0.1)
        try:
            yield
        finally:
            spinner.kill()


def _running_seconds(supervisor: Supervisor) -> float:
    """Return the time that the supervisor has run, which the kernel counts in nanoseconds."""
    return int(Path(f"/proc/{supervisor.pid}/schedstat").read_text().split()[0]) / 1e9


def _files(folder: str, number: int) -> tuple[Path, Path]:
    return Path(folder, f"stdout-{number}"), Path(folder, f"stderr-{number}")
