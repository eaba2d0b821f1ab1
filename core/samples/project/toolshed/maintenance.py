"""Sharpening, oiling and safety checks, so that nobody gets hurt by a blunt blade."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta

from toolshed.catalogue import Tool
from toolshed.errors import Refused

INTERVALS = {"cutting": 60, "electrical": 180, "climbing": 90}
DEFAULT_INTERVAL = 365


@dataclass(frozen=True)
class Inspection:
    """What a volunteer saw on the workbench."""

    label: str
    day: date
    passed: bool
    remark: str = ""


class Workbench:
    """Remembers every inspection and says what is to be looked at next."""

    def __init__(self) -> None:
        self._latest: dict[str, Inspection] = {}

    def record(self, inspection: Inspection) -> None:
        """Note the outcome of a look at one tool; days never run backwards."""
        before = self._latest.get(inspection.label)
        if before is not None and inspection.day < before.day:
            raise Refused("a later inspection is already written down")
        if not inspection.passed and not inspection.remark:
            raise ValueError("a failed inspection needs a remark for the repairer")
        self._latest[inspection.label] = inspection

    def is_safe(self, tool: Tool, today: date) -> bool:
        """Tell whether a tool passed its check recently enough to be lent."""
        latest = self._latest.get(tool.label)
        return latest is not None and latest.passed and today <= self.next_check(tool)

    def next_check(self, tool: Tool) -> date:
        """Return the day by which a tool must be back on the bench."""
        latest = self._latest.get(tool.label)
        if latest is None:
            return date.min
        return latest.day + timedelta(days=INTERVALS.get(tool.category, DEFAULT_INTERVAL))

    def worklist(self, tools: Iterable[Tool], today: date) -> list[Tool]:
        """Return the tools in need of attention, the most neglected first."""
        unsafe = [tool for tool in tools if not tool.retired and not self.is_safe(tool, today)]
        return sorted(unsafe, key=lambda tool: (self.next_check(tool), tool.label))
