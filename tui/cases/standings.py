"""What became of a case with each candidate, in a mark or a word, and how candidates differ on it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from core.browse.rows import OutcomeStatus, Standing
from tui.text import LazyCell, lazy_cell

MARKS: dict[OutcomeStatus, str] = {"failed": "✖", "empty": "∅"}
STYLES: dict[OutcomeStatus, str] = {"failed": "bold red", "changed": "bold red", "missing": "yellow"}
LEGEND = (
    "1, 2, … rank of the first hit   — not found   (14) found only at 14, beyond the cutoff\n"
    "∅ answered with nothing   ✖ failed   missing: no attempt ended, or its index was made anew\n"
    "unsupported: not its channel   changed: its evidence differs from its digest"
)

MARKS_TOLD = "7 rank of the first hit · (12) found later · — not found · ✖ failed · ∅ empty"


def is_hit(standing: Standing, cutoff: int) -> bool:
    """Tell whether a candidate has a target among its first `cutoff` results."""
    return standing.rank is not None and standing.rank <= cutoff


def standing_words(standing: Standing, cutoff: int) -> str:
    """Return a rank, a mark or a word."""
    if standing.status != "answered":
        return MARKS.get(standing.status, standing.status)
    if standing.rank is None:
        return "—"
    return str(standing.rank) if standing.rank <= cutoff else f"({standing.rank})"


def standing_cell(standing: Standing, cutoff: int) -> LazyCell:
    """Return the same for a table."""
    style = "green" if is_hit(standing, cutoff) else STYLES.get(standing.status, "dim")
    return lazy_cell(standing_words(standing, cutoff), style=style)


class _Named(NamedTuple):
    name: str
    standing: Standing


def difference_words(names: Sequence[str], standings: Sequence[Standing], cutoff: int) -> str:
    """Return in a few words how the candidates that answered differ on a case, nothing where they agree."""
    answered = [
        _Named(name, standing)
        for name, standing in zip(names, standings, strict=True)
        if standing.status in {"answered", "empty"}
    ]
    hits = [one for one in answered if is_hit(one.standing, cutoff)]
    losers = [one.name for one in answered if not is_hit(one.standing, cutoff)]
    if len(answered) < 2:
        return ""
    if not hits:
        return "all miss"
    if not losers:
        return _lead(hits)
    if len(losers) == 1:
        return f"{losers[0]} misses"
    if len(hits) == 1:
        return f"only {hits[0].name} hits"
    return f"{', '.join(losers)} miss" if len(losers) <= len(hits) else f"{_told(hits)} hit"


def _lead(hits: Sequence[_Named]) -> str:
    """Return who ranks the target first alone, or last alone."""
    ranks = [one.standing.rank or 0 for one in hits]
    best, worst = min(ranks), max(ranks)
    if best == worst:
        return ""
    if ranks.count(best) == 1:
        return f"{hits[ranks.index(best)].name} leads"
    if ranks.count(worst) == 1:
        return f"{hits[ranks.index(worst)].name} trails"
    return "ranks differ"


def _told(hits: Sequence[_Named]) -> str:
    return ", ".join(one.name for one in hits)
