"""Graded questions: what banks read, and scoring judges answers by."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from core.ranking import Location, Ranking

LARGEST_GRADE = 3
RECALL_CUTOFFS = (1, 3, 5)
TOP = 5  # the cutoff of precision, nDCG and the gate on every question
RANKING_DEPTH = 100  # locations asked for, collapsed to modules and only then cut


class Fact(NamedTuple):
    """A verifiable statement that a correct answer must hold, and other ways to say it."""

    text: str
    aliases: tuple[str, ...] = ()


class Question(NamedTuple):
    """One graded question; `grades` holds every module of its repository by path, from 0 to LARGEST_GRADE."""

    case_id: str
    shape: str
    text: str
    grades: Mapping[str, int]
    facts: tuple[Fact, ...]

    @property
    def relevant(self) -> tuple[str, ...]:
        """The modules of grade 1 or more, the highest grade first, then by path."""
        graded = sorted((-grade, path) for path, grade in self.grades.items() if grade >= 1)
        return tuple(path for _, path in graded)

    @property
    def best(self) -> tuple[str, ...]:
        """The modules of the highest grade, by path; none where nothing is relevant."""
        return tuple(path for path in self.relevant if self.grades[path] == max(self.grades.values()))


def kept_graded_cutoffs(cutoffs: Iterable[int]) -> tuple[int, ...]:
    """Return cutoffs with those of graded questions, rising, each once."""
    return tuple(sorted({*cutoffs, *RECALL_CUTOFFS}))


def collapsed(ranking: Iterable[Location]) -> Ranking:
    """Return a ranking of modules: the best location of each path, in its place."""
    first: dict[str, Location] = {}
    for location in ranking:
        first.setdefault(location.path, location)
    return tuple(first.values())
