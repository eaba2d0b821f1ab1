"""How long a resume of a finished run of 10,000 operations checks before it would go on.

Everything that a resume verifies counts: the frozen sources, bank, plan and identity, then each operation's
digests, command and output. The run was just written, so its files are in the machine's memory.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from statistics import median

from core import api
from core.engine.cell import make_cells
from core.engine.checkpoint import reusable_results
from tests.bench.generate import Shape, generate
from tests.bench.row import Row, seconds

OPERATIONS = 10_000
CANDIDATES = 2
TIMES = 3


def rows() -> list[Row]:
    """Return the row of a resume's check."""
    with tempfile.TemporaryDirectory(prefix="boresight-bench-") as folder:
        run = generate(
            Path(folder, "made"), Shape(cases=OPERATIONS // (2 * CANDIDATES), candidates=CANDIDATES)
        )
        took = []
        for _ in range(TIMES):
            found: list[int] = []
            took.append(seconds(lambda found=found: found.append(check(run))))  # type: ignore[misc]
        checked = found[0]
    return [
        Row(
            "resume check of 10,000 finished operations",
            "≤ 5 s",
            f"{median(took):.2f} s for {checked:,} operations ({min(took):.2f} to {max(took):.2f})",
            median(took) * OPERATIONS / checked,
            5.0,
        )
    ]


def check(run: Path) -> int:
    """Open a run as a resume does, verify what stands, and return how many operations do."""
    with api.reopen_run(run) as opened:
        cells = make_cells(opened.record, opened.retrievers)
        standing = reusable_results(cells, opened.plan, {case.id: case for case in opened.bank.cases})
        if len(standing) != len(opened.plan):
            raise RuntimeError(f"{len(standing)} of {len(opened.plan)} results stand")
        return len(standing)
