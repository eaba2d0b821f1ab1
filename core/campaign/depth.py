"""How much of each unit dense candidates read, so that a first campaign stays near a minute.

A unit is what an index holds a vector of: a definition, a file or a section.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from core.git import GitRepository
from core.repositories import RepositoryEntry

SECONDS_FOR_INDEXING = 35.0  # of all dense candidates together
TEXTS_PER_SECOND = {256: 45.0, 128: 65.0, 64: 110.0, 32: 180.0}  # by max_tokens, two ordinary cores
DEEPEST = max(TEXTS_PER_SECOND)
_DENSE = frozenset({"onnx", "hybrid"})

_DEFINITION = re.compile(rb"^[ \t]*(?:async[ \t]+def|def|class)[ \t]", re.MULTILINE)
_HEADING = re.compile(rb"^#{1,6}[ \t]", re.MULTILINE)


class Depth(NamedTuple):
    """How many tokens of each unit fit the time, the seconds that all indexes then take, and at DEEPEST."""

    units: int
    max_tokens: int
    seconds: float
    deepest_seconds: float


def depth_for(units: int, dense: int) -> Depth:
    """Return the greatest depth at which so many candidates fit SECONDS_FOR_INDEXING, else the least."""
    deepest = dense * index_seconds(units, DEEPEST)
    expected = 0.0
    for max_tokens in TEXTS_PER_SECOND:
        expected = dense * index_seconds(units, max_tokens)
        if expected <= SECONDS_FOR_INDEXING:
            return Depth(units, max_tokens, expected, deepest)
    return Depth(units, min(TEXTS_PER_SECOND), expected, deepest)


def index_seconds(units: int, max_tokens: int) -> float:
    """Return about how long one dense index takes on two ordinary cores that do nothing else."""
    known = [depth for depth in TEXTS_PER_SECOND if depth >= max_tokens]
    if known:
        return units / TEXTS_PER_SECOND[min(known)]
    return units / TEXTS_PER_SECOND[DEEPEST] * max_tokens / DEEPEST


def dense_depth(entry: Mapping[str, Any]) -> int | None:
    """Return how many tokens of each unit a built-in dense candidate reads; None of every other candidate."""
    config = entry.get("config", {})
    if entry.get("retriever") != "embedded" or entry.get("engine") not in _DENSE:
        return None
    found = config.get("max_tokens", DEEPEST) if isinstance(config, Mapping) else None
    return found if type(found) is int else None


def fitted(entry: Mapping[str, Any], max_tokens: int) -> dict[str, Any]:
    """Return a candidate's entry with its dense depth lowered to what fits."""
    found = dense_depth(entry)
    if found is None:
        return dict(entry)
    return {**entry, "config": {**entry.get("config", {}), "max_tokens": min(found, max_tokens)}}


def estimated_units(entries: Iterable[RepositoryEntry]) -> int:
    """Estimate the units that an index will hold: definitions, files and headings, tests included.

    Reads every file of the repositories; raises InputError where one cannot be read.
    """
    return sum(map(_units, entries))


def _units(entry: RepositoryEntry) -> int:
    units = 0
    with GitRepository(entry.path) as repository:
        for item in repository.entries(entry.commit or repository.head()):
            if item.is_file and item.path.endswith((b".py", b".md")):
                pattern = _DEFINITION if item.path.endswith(b".py") else _HEADING
                units += 1 + len(pattern.findall(repository.blob(item.oid)))
    return units
