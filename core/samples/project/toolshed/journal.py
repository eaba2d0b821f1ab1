"""Durable memory: one JSON line for each event, appended and never rewritten."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from toolshed.errors import DamagedJournal

KINDS = frozenset({"enrolled", "added", "lent", "returned", "extended", "inspected"})


class Journal:
    """An append-only file of what happened, oldest first."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def append(self, kind: str, **details: Any) -> None:
        """Write one event and wait until the disk has it."""
        if kind not in KINDS:
            raise ValueError("this kind of event is not known to the journal")
        line = json.dumps({"kind": kind, **details}, sort_keys=True, ensure_ascii=False)
        with open(self._path, "a", encoding="utf-8") as stream:
            stream.write(line + "\n")
            stream.flush()
            os.fsync(stream.fileno())

    def replay(self) -> Iterator[dict[str, Any]]:
        """Yield every event again, to rebuild the state after a restart."""
        if not self._path.exists():
            return
        with open(self._path, encoding="utf-8") as stream:
            for line in stream:
                yield _parsed(line)


def _parsed(line: str) -> dict[str, Any]:
    if not line.endswith("\n"):
        raise DamagedJournal("the last event was cut off while it was written")
    try:
        event = json.loads(line)
    except json.JSONDecodeError:
        raise DamagedJournal("a line of the journal is not valid JSON") from None
    if not isinstance(event, dict) or event.get("kind") not in KINDS:
        raise DamagedJournal("an event of an unknown kind stands in the journal")
    return event


def compact(events: Iterator[dict[str, Any]]) -> list[dict[str, Any]]:
    """Leave out loans that were closed again, to hand a shorter history to the auditors."""
    kept: list[dict[str, Any]] = []
    for event in events:
        if event["kind"] == "returned":
            kept = [old for old in kept if old["kind"] != "lent" or old["label"] != event["label"]]
        else:
            kept.append(event)
    return kept
