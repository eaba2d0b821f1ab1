"""What time it is in all that screens tell: the one place to put another clock, as pictures of screens do."""

from __future__ import annotations

from datetime import UTC, datetime


def now() -> datetime:
    """Return the present moment, in UTC."""
    return datetime.now(UTC)
