"""Which cases stand or fall together, so that they count as one observation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from core.scoring.records import PlannedCase


def group_units(cases: Sequence[PlannedCase]) -> list[list[int]]:
    """Group cases that share a file (of `unit_paths`) of the same repository, directly or through others.

    Returns lists of positions in `cases`; units are ordered by their first case, and so are the
    positions within each.
    """
    parents = list(range(len(cases)))
    seen: dict[tuple[str, str], int] = {}
    for position, case in enumerate(cases):
        for path in case.unit_paths or case.target_paths:
            other = seen.setdefault((case.repository, path), position)
            _join(parents, other, position)
    members: dict[int, list[int]] = {}
    for position in range(len(cases)):
        members.setdefault(_root(parents, position), []).append(position)
    return list(members.values())


def repository_sizes(cases: Iterable[PlannedCase]) -> dict[str, int]:
    """Return the number of planned cases of each repository, in order of first appearance."""
    sizes: dict[str, int] = {}
    for case in cases:
        sizes[case.repository] = sizes.get(case.repository, 0) + 1
    return sizes


def _root(parents: list[int], member: int) -> int:
    while parents[member] != member:
        parents[member] = parents[parents[member]]
        member = parents[member]
    return member


def _join(parents: list[int], first: int, second: int) -> None:
    first, second = _root(parents, first), _root(parents, second)
    parents[max(first, second)] = min(first, second)
