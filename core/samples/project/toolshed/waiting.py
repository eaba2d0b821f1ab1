"""Queues of neighbours who want a thing that is away right now."""

from __future__ import annotations

from collections import defaultdict

from toolshed.errors import Refused


class WaitingList:
    """Keeps one line of card numbers for each label, first come first served."""

    def __init__(self, longest: int = 8) -> None:
        self._longest = longest
        self._lines: defaultdict[str, list[int]] = defaultdict(list)

    def join(self, label: str, card: int) -> int:
        """Put a card at the end of a line and return its position, counted from one."""
        line = self._lines[label]
        if card in line:
            raise Refused("this card stands in the line already")
        if len(line) >= self._longest:
            raise Refused("the line for this tool is full")
        line.append(card)
        return len(line)

    def leave(self, label: str, card: int) -> None:
        """Give up a place, so that everybody behind moves forward."""
        if card not in self._lines[label]:
            raise Refused("this card does not stand in the line")
        self._lines[label].remove(card)

    def first(self, label: str) -> int | None:
        """Return whose turn it is, or None when nobody waits."""
        return next(iter(self._lines[label]), None)

    def forget_member(self, card: int) -> list[str]:
        """Drop a departing neighbour from every queue and return the labels that they waited for."""
        dropped = sorted(label for label, line in self._lines.items() if card in line)
        for label in dropped:
            self._lines[label].remove(card)
        return dropped
