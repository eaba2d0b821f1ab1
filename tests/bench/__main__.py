"""Runs every benchmark, or those named, and prints one table: `python -m tests.bench [NAME …]`."""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Sequence

from tests.bench.row import Row, machine, table

# Quiet ones last: the disk settles while the others run.
NAMES = ("bank", "startup", "scoring", "dense", "resume", "browse", "app", "supervisor", "engine")


def main(names: Sequence[str]) -> int:
    """Run benchmarks; returns 1 where a figure is not what is wanted."""
    unknown = sorted(set(names) - set(NAMES))
    if unknown:
        print(f"no benchmark {unknown[0]!r}; there are {', '.join(NAMES)}", file=sys.stderr)
        return 2
    rows: list[Row] = []
    for name in names or NAMES:
        print(f"{name} …", end=" ", file=sys.stderr, flush=True)
        start = time.monotonic()
        rows += importlib.import_module(f"tests.bench.{name}").rows()
        print(f"{time.monotonic() - start:.0f} s", file=sys.stderr)
    print(f"\n{machine()}\n\n{table(rows)}")
    return int(any(row.met == "no" for row in rows))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
