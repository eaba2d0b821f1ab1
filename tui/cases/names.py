"""Names short enough for a column's head, and still apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from core.banks.case import INTENTS

SHORT = 8


def short_names(names: Sequence[str], room: int) -> tuple[str, ...]:
    """Return the names whole where they fit side by side into `room` columns, else shortened and unique."""
    if sum(len(name) + 2 for name in names) <= room:
        return tuple(names)
    return _unique([_middle_cut(name, SHORT) for name in names])


def short_case(case_id: str, repository: str, intent: str, *, wide: bool) -> str:
    """Return the telling end of an id: `…-symbol_lookup-0001e528`, or `…0001e528` where it is narrow."""
    prefix = f"{repository}-{intent}-"
    if not case_id.startswith(prefix):
        return _middle_cut(case_id, 30 if wide else 12)
    tail = case_id.removeprefix(prefix)[:8]
    return f"…-{intent}-{tail}" if wide else f"…{tail}"


def group_word(intents: Iterable[str]) -> str:
    """Return what a run's cases are grouped by: `intent`, or `shape` where its bank is graded."""
    return "intent" if all(intent in INTENTS for intent in intents) else "shape"


def short_intent(intent: str, *, wide: bool) -> str:
    """Return an intent without what all intents share."""
    name = intent.removesuffix("_lookup")
    return name if wide else name.split("_")[0]


def _middle_cut(name: str, limit: int) -> str:
    if len(name) <= limit:
        return name
    head = (limit - 1) // 2
    return f"{name[:head]}…{name[-(limit - 1 - head) :]}"


def _unique(names: list[str]) -> tuple[str, ...]:
    counts = Counter(names)
    return tuple(
        f"{name[: SHORT - 1 - len(str(at))]}~{at}" if counts[name] > 1 else name
        for at, name in enumerate(names, start=1)
    )
