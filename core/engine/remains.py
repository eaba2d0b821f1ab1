"""What an execution may have left running that was killed together with its supervisor.

Nobody is there then to end the retrievers' own children, and the run's lock is free. So a run keeps the
token of the processes that it has started, and its next execution begins by ending them.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

from core.engine.system import kill_marked

_TOKEN = re.compile(r"[0-9a-f]{32}\Z")


def note_token(path: Path, token: str) -> None:
    """Keep the token of the processes that are about to be started; raises OSError."""
    with open(path, "w", encoding="ascii") as stream:
        json.dump({"token": token, "file": _file(os.fstat(stream.fileno()))}, stream)


def end_remains(path: Path) -> int:
    """Kill what runs under the token kept in a file, and return how many processes were found.

    A copy of the file names nobody: the processes of a run that was copied while it ran are not the copy's.
    """
    try:
        with open(path, encoding="ascii") as stream:
            kept = json.load(stream)
            own = kept["file"] == _file(os.fstat(stream.fileno()))
            token = str(kept["token"])
    except (OSError, ValueError, KeyError, TypeError):
        return 0
    return kill_marked(token) if own and _TOKEN.match(token) else 0


def _file(status: os.stat_result) -> list[int]:
    return [status.st_dev, status.st_ino]
