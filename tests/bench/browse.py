"""The index that screens read: built from a run of 100,000 cases and 3 candidates, then opened for one page.

The run's context probes are left out, so only its rankings count as results; its files were just written, so
they are in the machine's memory as far as that reaches.
"""

from __future__ import annotations

import time
from pathlib import Path
from statistics import median

from core.browse.index import open_index
from tests.bench.big import CANDIDATES, CASES, big_run
from tests.bench.row import Row, cpu_seconds, seconds

OPENINGS = 9


def rows() -> list[Row]:
    """Return the rows of building the index and of opening it."""
    run = big_run()
    start, start_cpu = time.perf_counter(), cpu_seconds()
    with open_index(run) as index:
        built = time.perf_counter() - start
        results = index.count() * CANDIDATES
        built_cpu = cpu_seconds() - start_cpu
    opened = [seconds(lambda: _first_page(run)) * 1e3 for _ in range(OPENINGS)]
    return [
        Row(
            f"index.sqlite of {CASES:,} cases × {CANDIDATES}",
            "built at ≥ 5,000 results/s",
            f"{results / built:,.0f} results/s, {built:.0f} s ({built_cpu:.0f} s of processor time)",
            results / built,
            5_000.0,
            at_least=True,
        ),
        Row(
            "  opened, and its first page read",
            "≤ 50 ms",
            f"{median(opened):.1f} ms ({min(opened):.1f} to {max(opened):.1f})",
            median(opened),
            50.0,
        ),
    ]


def _first_page(run: Path) -> None:
    with open_index(run) as index:
        if len(index.page()) == 0:
            raise RuntimeError("the first page is empty")
