"""Where a run's index lies: in the run where this user may write there, else in the user's cache folder."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from core.canonical import sha256_of
from core.run.record import RunRecord

NAME = "index.sqlite"


def inside(record: RunRecord) -> Path:
    """Return where an index lies in its run."""
    return record.layout.root / NAME


def cached(record: RunRecord) -> Path:
    """Return where an index lies beside a run that is only read.

    The name is that of the run's digest and place, as runs of one campaign share its identity.
    """
    base = os.environ.get("XDG_CACHE_HOME", "")
    folder = Path(base) if base.startswith("/") else Path.home() / ".cache"
    named = sha256_of([record.digest, os.fsencode(record.layout.root).hex()])
    return folder / "boresight" / f"{named}.sqlite"


def may_write(record: RunRecord) -> bool:
    """Tell whether a run's folder is this user's own and open to writing, by its mode bits too.

    The superuser may write anywhere, yet leaves alone what its owner has closed.
    """
    root = record.layout.root
    try:
        status = root.stat()
    except OSError:
        return False
    return (
        status.st_uid == os.geteuid()
        and bool(status.st_mode & stat.S_IWUSR)
        and os.access(root, os.W_OK | os.X_OK)
    )


def make_cache_folder(file: Path) -> None:
    """Make the folder of a cached index, for this user alone; raises OSError."""
    file.parent.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    file.parent.mkdir(exist_ok=True, mode=0o700)
    file.parent.chmod(0o700)
