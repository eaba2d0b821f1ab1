"""One line of the table of speed, and the few figures that benchmarks share."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[2]


class Row(NamedTuple):
    """What was measured against what is wanted; `figure` and `limit` are of one kind, `met` compares them."""

    what: str
    wanted: str
    measured: str
    figure: float | None  # a ratio or difference within one run; None where nothing was to be met
    limit: float | None
    at_least: bool = False  # whether the limit is a floor

    @property
    def met(self) -> str:
        """`yes`, `no`, or `-` where nothing was asked."""
        if self.figure is None or self.limit is None:
            return "-"
        return "yes" if (self.figure >= self.limit if self.at_least else self.figure <= self.limit) else "no"

    def cells(self) -> tuple[str, ...]:
        """Return the row as the table shows it."""
        figure = "-" if self.figure is None else f"{self.figure:.3g}"
        return (self.what, self.wanted, self.measured, figure, self.met)


HEAD = ("what", "wanted", "measured", "figure", "met")


def table(rows: Sequence[Row]) -> str:
    """Return rows as a Markdown table whose columns line up in a terminal."""
    lines = [HEAD, *(row.cells() for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEAD))]
    rule = tuple("-" * width for width in widths)
    return "\n".join(
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |"
        for line in (lines[0], rule, *lines[1:])
    )


def seconds(act: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    """Return the seconds that one call takes by a clock."""
    start = clock()
    act()
    return clock() - start


def paired_ratio(
    first: Callable[[], float], second: Callable[[], float], times: int
) -> tuple[float, float, float]:
    """Measure two things in turn; return the median of first / second, and each one's own median."""
    pairs = []
    for turn in range(times):
        if turn % 2:
            other = second()
            pairs.append((first(), other))
        else:
            pairs.append((first(), second()))
    return (
        median(one / other for one, other in pairs),
        median(one for one, _ in pairs),
        median(other for _, other in pairs),
    )


def cpu_seconds() -> float:
    """Return the processor seconds of this process and of the children that it waited for."""
    return sum(os.times()[:4])


def peak_megabytes() -> float:
    """Return the most memory that this process held since it became this program, in MB.

    Its `ru_maxrss` would tell that of the process that started it, where that had more.
    """
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    (line,) = (line for line in status.splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) * 1024 / 1e6


def in_own_process(module: str, *words: str, settings: Mapping[str, str] | None = None) -> Any:
    """Run a part in a fresh interpreter, so that its memory and caches are its own; return its JSON."""
    command = [sys.executable, "-m", f"tests.bench.{module}", *words]
    environment = {**os.environ, **(settings or {})}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def machine() -> str:
    """Return the machine's kind in a few words."""
    model = platform.machine()
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                model = line.partition(":")[2].strip()
                break
    except OSError:
        pass
    return f"{os.cpu_count()} cores, {model}, Python {platform.python_version()}"
