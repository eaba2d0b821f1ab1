"""What an index was made of, and whether its run has gone on since: told without reading evidence."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

import core
from core.browse.schema import Key
from core.run.lock import is_held
from core.run.record import RunRecord

# What ranks are read with: a newer version may read the same evidence otherwise.
_READ_WITH = (
    "browse/*.py",
    "retrievers/*.py",
    "rankings.py",
    "ranking.py",
    "run/*.py",
    "scoring/matching.py",
)

Stamp = list[list[int]]


def key_of(record: RunRecord) -> Key:
    """Return what a run's index must have been made of."""
    return Key(record.digest, _reading())


def stamp_of(record: RunRecord) -> Stamp | None:
    """Return what differs whenever a run has gone on; None while a process executes it.

    Every operation that ends is told in `events.jsonl` after its evidence stands. The stamp only spares a
    look at each operation's folder: a difference makes no claim about what differs.
    """
    layout = record.layout
    if is_held(layout.lock):
        return None
    cells = (layout.operations / cell for cell in record.cells)
    return [_change(path) for path in (layout.events, layout.cases, layout.operations, *cells)]


def _change(path: Path) -> list[int]:
    try:
        found = path.stat()
    except OSError:
        return []
    return [found.st_size, found.st_ctime_ns, found.st_ino]


@cache
def _reading() -> str:
    """Return the digest of the source that reads evidence."""
    digest = hashlib.sha256()
    for root in core.__path__:
        for pattern in _READ_WITH:
            for file in sorted(Path(root).glob(pattern)):
                digest.update(f"{file.relative_to(root)}\n".encode())
                digest.update(file.read_bytes())
    return digest.hexdigest()
