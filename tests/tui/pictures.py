"""Copies the pictures that README shows from the approved snapshots: `python -m tests.tui.pictures`."""

from __future__ import annotations

import shutil
from pathlib import Path

ROOT = Path(__file__).parents[2]
PICTURES = ROOT / "docs" / "pictures"
SHOWN = ("campaigns", "manifest", "monitor", "results", "queries", "case", "attempts")
_SNAPSHOTS = Path(__file__).parent / "__snapshots__" / "test_snapshots"


def snapshot_of(name: str) -> Path:
    """Return the approved snapshot of a screen at the larger size."""
    return _SNAPSHOTS / f"test_every_screen[160x50-{name}].svg"


def main() -> None:
    """Make the pictures anew."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    for name in SHOWN:
        shutil.copyfile(snapshot_of(name), PICTURES / f"{name}.svg")


if __name__ == "__main__":
    main()
