"""The large run that several benchmarks read: made once for all of them, and gone when they end."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from functools import cache
from pathlib import Path

from tests.bench.generate import Shape, generate

CASES = 100_000
CANDIDATES = 3
KEPT = "BORESIGHT_BENCH_RUN"  # names a run that `tests.bench.generate` made before, to spare the minutes


@cache
def big_run() -> Path:
    """Return a run of 100,000 cases and 3 candidates without context probes, and without an index."""
    if named := os.environ.get(KEPT):
        run = Path(named)
    else:
        folder = tempfile.mkdtemp(prefix="boresight-bench-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        run = generate(Path(folder, "made"), Shape(CASES, CANDIDATES, probes=False))
    (run / "index.sqlite").unlink(missing_ok=True)
    return run
