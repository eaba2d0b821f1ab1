"""Weekdays and holidays: when the door is open, and which day a loan falls due."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, timedelta

SATURDAY = 5
_LONGEST_CLOSURE = 366


class OpeningDays:
    """Knows on which days somebody stands at the counter."""

    def __init__(self, weekdays: Iterable[int] = (2, SATURDAY), closed: Iterable[date] = ()) -> None:
        self._weekdays = frozenset(weekdays)
        self._closed = frozenset(closed)
        if not self._weekdays:
            raise ValueError("the shed must open on at least one weekday")

    def is_open(self, day: date) -> bool:
        """Tell whether visitors are served on a day."""
        return day.weekday() in self._weekdays and day not in self._closed

    def next_open(self, day: date) -> date:
        """Return the first day from this one on when things can be brought back."""
        for offset in range(_LONGEST_CLOSURE):
            candidate = day + timedelta(days=offset)
            if self.is_open(candidate):
                return candidate
        raise ValueError("the shed stays closed for more than a year")

    def due_date(self, taken: date, days: int) -> date:
        """Return the deadline of a loan: some days later, moved on to when the door is open."""
        return self.next_open(taken + timedelta(days=days))

    def late_days(self, due: date, returned: date) -> int:
        """Count the open days that passed after the deadline; closures cost nobody anything."""
        span = (returned - due).days
        return sum(self.is_open(due + timedelta(days=offset)) for offset in range(1, span + 1))
