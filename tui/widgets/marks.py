"""Marks, bars and durations as every screen writes them; never colour alone."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from core.run.events import State
from tui import wallclock

STATE_MARKS: dict[State | None, str] = {
    "waiting": "… waiting",
    "running": "● running",
    "paused": "‖ paused",
    "stopping": "◌ stopping",
    "stalled": "⚠ stalled",
    "interrupted": "◐ interrupted",
    "failed": "✖ failed",
    "complete": "✔ complete",
    None: "? unreadable",
}
_EIGHTHS = " ▏▎▍▌▋▊▉█"
_SPARKS = "▁▂▃▄▅▆▇█"


def bar(done: int, total: int, width: int) -> str:
    """Return a bar of `width` columns that is full only when everything is done."""
    if total <= 0:
        return "░" * width
    eighths = min(done, total) * width * 8 // total
    whole, part = divmod(eighths, 8)
    text = "█" * whole + (_EIGHTHS[part] if part else "")
    return text.ljust(width, "░")


def spark(values: Sequence[float], width: int) -> str:
    """Return the last `width` values as a line of blocks, scaled from the least to the greatest."""
    shown = list(values)[-width:]
    if not shown:
        return ""
    low, high = min(shown), max(shown)
    span = (high - low) or 1
    return "".join(_SPARKS[int((value - low) / span * (len(_SPARKS) - 1))] for value in shown)


def ago(moment: datetime | None, now: datetime | None = None) -> str:
    """Return how long ago a moment was, in the largest unit that fits."""
    if moment is None:
        return "—"
    seconds = max(((now or wallclock.now()) - moment).total_seconds(), 0.0)
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{int(seconds // size)} {unit} ago"
    return f"{int(seconds)} s ago"


def clock(seconds: float) -> str:
    """Return a duration as hours, minutes and seconds."""
    whole = int(seconds)
    return f"{whole // 3600:02d}:{whole % 3600 // 60:02d}:{whole % 60:02d}"
