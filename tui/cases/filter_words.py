"""Filters and orders in words, and filters without one of their parts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, TypeVar

from core.browse.filters import DEFAULT_CUTOFF, Filters, OutcomeWord, Sort
from core.ranking import Level
from tui.cases.names import group_word, short_intent

OUTCOME_NAMES: dict[OutcomeWord, str] = {
    "hit": "hits",
    "miss": "misses",
    "failed": "failed",
    "empty": "is empty",
    "missing": "is missing",
    "unsupported": "is unsupported",
    "changed": "is changed",
}

_T = TypeVar("_T")


class Part(NamedTuple):
    """One part of filters in words, and the filters that are left without it."""

    words: str
    without: Filters


def filter_parts(filters: Filters) -> tuple[Part, ...]:
    """Return what filters ask for, part by part."""
    return tuple(_parts(filters))


def _parts(filters: Filters) -> Iterator[Part]:
    if filters.intents:
        told = " or ".join(short_intent(intent, wide=True) for intent in filters.intents)
        yield Part(f"{group_word(filters.intents)}: {told}", filters._replace(intents=()))
    if filters.repositories:
        yield Part(f"repository: {' or '.join(filters.repositories)}", filters._replace(repositories=()))
    for at, outcome in enumerate(filters.outcomes):
        words = " or ".join(OUTCOME_NAMES.get(word, word) for word in outcome.words)
        yield Part(f"{outcome.candidate} {words}", filters._replace(outcomes=_without(filters.outcomes, at)))
    for at, split in enumerate(filters.disagreements):
        left = _without(filters.disagreements, at)
        yield Part(f"{split.hits} hits, {split.misses} misses", filters._replace(disagreements=left))
    if filters.differ:
        yield Part("some hit, some miss", filters._replace(differ=False))
    if filters.text:
        yield Part(f"text: {filters.text}", filters._replace(text=""))
    if filters.cutoff != DEFAULT_CUTOFF:
        yield Part(f"hit = first {filters.cutoff}", filters._replace(cutoff=DEFAULT_CUTOFF))
    if filters.level is not None:
        yield Part(f"level: {filters.level}", filters._replace(level=None))


def sort_words(sort: Sort) -> str:
    """Return an order in words."""
    if sort.by == "rank":
        return f"by rank of {sort.candidate}, {'worst' if sort.descending else 'best'} first"
    if sort.by == "elapsed":
        return f"by latency of {sort.candidate}, {'slowest' if sort.descending else 'fastest'} first"
    if sort.by == "delta":
        verb = "gains" if sort.descending else "loses"
        return f"where {sort.candidate} {verb} most against {sort.other}"
    return "bank's order reversed" if sort.descending else "bank's order"


def hit_words(filters: Filters, level: Level) -> str:
    """Return what counts as a hit."""
    return f"hit = first {filters.cutoff}, {filters.level or level}"


def page_words(offset: int, shown: int, total: int) -> str:
    """Return which cases of how many are shown."""
    if total == 0:
        return "no case fulfils the filters"
    return f"{offset + 1:,}–{offset + shown:,} of {total:,}"


def known(filters: Filters, candidates: Sequence[str], cases: tuple[Sequence[str], Sequence[str]]) -> Filters:
    """Return filters without the names that a run does not have; `cases` are its intents and repositories."""
    intents, repositories = cases
    return filters._replace(
        intents=_of(filters.intents, intents),
        repositories=_of(filters.repositories, repositories),
        outcomes=tuple(outcome for outcome in filters.outcomes if outcome.candidate in candidates),
        disagreements=tuple(split for split in filters.disagreements if {*split} <= {*candidates}),
    )


def _of(wanted: Iterable[str], known_names: Sequence[str]) -> tuple[str, ...]:
    return tuple(name for name in wanted if name in known_names)


def _without(parts: tuple[_T, ...], at: int) -> tuple[_T, ...]:
    return parts[:at] + parts[at + 1 :]
