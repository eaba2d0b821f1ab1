"""Figures for the yearly meeting: favourites, shelf warmers and busy weekdays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import date
from typing import Any


def popularity(events: Iterable[Mapping[str, Any]]) -> list[tuple[str, int]]:
    """Rank labels by how often they left the shed, ties by label."""
    counts = Counter(event["label"] for event in events if event["kind"] == "lent")
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))


def never_borrowed(labels: Iterable[str], events: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return what only gathers dust and could be given away."""
    moved = {label for label, _ in popularity(events)}
    return sorted(set(labels) - moved)


def busiest_weekday(events: Iterable[Mapping[str, Any]]) -> int:
    """Return the weekday with the most visits, Monday being zero."""
    visits = Counter(
        date.fromisoformat(event["day"]).weekday()
        for event in events
        if event["kind"] in ("lent", "returned")
    )
    if not visits:
        raise ValueError("without a single visit there is no busiest weekday")
    return min(visits, key=lambda weekday: (-visits[weekday], weekday))


def median_days_away(durations: Iterable[int]) -> float:
    """Return the middle value of how long things stayed with their borrowers, in days."""
    ordered = sorted(durations)
    if not ordered:
        raise ValueError("the median of no durations is not defined")
    middle = len(ordered) // 2
    if len(ordered) % 2:
        return float(ordered[middle])
    return (ordered[middle - 1] + ordered[middle]) / 2
