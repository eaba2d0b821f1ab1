"""Plots as values: marks of candidates at positions, and ticks with their words."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

_STEPS = (1, 2, 5)


class Series(NamedTuple):
    """One candidate's marks; `joined` draws a line through them."""

    mark: str
    name: str
    points: tuple[tuple[float, float], ...]
    joined: bool = False


class Plot(NamedTuple):
    """What to draw; `note` says what could not be drawn. Ticks map positions to words."""

    title: str
    x_title: str
    series: tuple[Series, ...]
    x_ticks: Mapping[float, str]
    y_ticks: Mapping[float, str]
    note: str = ""


def log_ticks(values: Iterable[float]) -> tuple[float, ...]:
    """Return the numbers 1, 2, 5, 10, … that enclose positive values, with those between."""
    found = list(values)
    if not found:
        return ()
    low, high = min(found), max(found)
    ticks = [
        step * 10.0**power
        for power in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        for step in _STEPS
    ]
    first = max((at for at, tick in enumerate(ticks) if tick <= low), default=0)
    last = next((at for at, tick in enumerate(ticks) if tick >= high), len(ticks) - 1)
    if first == last:
        last = min(last + 1, len(ticks) - 1)
    return tuple(ticks[first : last + 1])


def share_ticks(values: Sequence[float]) -> tuple[float, ...]:
    """Return the tenths from the one below all values to the one above them, of values from 0 to 1."""
    if not values:
        return (0.0, 0.5, 1.0)
    low = max(math.floor(min(values) * 10 - 1e-9), 0)
    high = min(max(math.ceil(max(values) * 10 + 1e-9), low + 1), 10)
    low = min(low, high - 1)
    step = 1 if high - low <= 5 else 2
    return tuple(tenth / 10 for tenth in (*range(low, high, step), high))
