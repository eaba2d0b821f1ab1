"""Exact sums in cents, so that no rounding error ever reaches the cash box."""

from __future__ import annotations

import re
from typing import NamedTuple

_WRITTEN = re.compile(r"(\d{1,6})(?:[.,](\d{2}))?")


class Money(NamedTuple):
    """An amount of at least nothing, counted in cents."""

    cents: int

    def __str__(self) -> str:
        return f"{self.cents // 100}.{self.cents % 100:02d}"

    def plus(self, other: Money) -> Money:
        """Return the sum of two amounts."""
        return Money(self.cents + other.cents)

    def times(self, count: int) -> Money:
        """Return this amount taken several times over."""
        if count < 0:
            raise ValueError("an amount cannot be taken a negative number of times")
        return Money(self.cents * count)

    def at_most(self, ceiling: Money) -> Money:
        """Return the smaller of this amount and a ceiling."""
        return min(self, ceiling)


def parse_money(written: str) -> Money:
    """Read an amount as people write it on a receipt: `3`, `3.50` or `3,50`."""
    match = _WRITTEN.fullmatch(written.strip())
    if match is None:
        raise ValueError("expected an amount such as 3 or 3.50")
    return Money(int(match[1]) * 100 + int(match[2] or 0))
