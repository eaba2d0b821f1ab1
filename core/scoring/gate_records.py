"""The values of gates: what is demanded of a run, and whether it holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from core.scoring.graded_records import GradedBoard
from core.scoring.records import QueryScore, Scoreboard

BoundKind = Literal["min", "above", "max", "below"]
Each = Literal["query", "intent", "repository"]
Mean = Literal["macro", "micro"]

BOUND_SIGNS: dict[BoundKind, str] = {"min": "≥", "above": ">", "max": "≤", "below": "<"}
_ROUNDING = 1e-9  # 0.45 − 0.40 in doubles falls short of 0.05 by rounding, and still reaches it


class Bound(NamedTuple):
    """A floor (`min`, `above`) or a ceiling (`max`, `below`); `above` and `below` exclude the limit."""

    kind: BoundKind
    limit: float

    def holds(self, value: float) -> bool:
        """Tell whether a value keeps to it, forgiving 1e-9 of rounding where the limit itself is allowed."""
        over = value - self.limit
        if self.kind == "min":
            return over >= -_ROUNDING
        if self.kind == "max":
            return over <= _ROUNDING
        return over > _ROUNDING if self.kind == "above" else over < -_ROUNDING


class Part(NamedTuple):
    """A part of a run's cases; what is None is not narrowed. `query` is a case's id."""

    intent: str | None = None
    repository: str | None = None
    query: str | None = None


class Gate(NamedTuple):
    """A demand on one metric of a part of the cases, or of each of its queries, intents or repositories.

    An intent is a shape where the bank is graded. `mean` chooses between the mean of the repositories' means
    and the mean over queries, where both are told.
    """

    metric: str
    bounds: tuple[Bound, ...]
    part: Part = Part()
    each: Each | None = None
    mean: Mean = "macro"
    name: str = ""


class Reading(NamedTuple):
    """A metric's value; None where `reason` says why there is none."""

    value: float | None
    reason: str | None = None


class Check(NamedTuple):
    """One value against a gate's bounds; `broken` is the bound that it does not keep to, by `gap` (≥ 0).

    Without a value no gate holds, and `reason` says why there is none.
    """

    part: Part
    value: float | None
    broken: Bound | None = None
    gap: float | None = None
    reason: str | None = None

    @property
    def held(self) -> bool:
        """Whether there is a value and it keeps to all bounds."""
        return self.value is not None and self.broken is None


class GateOutcome(NamedTuple):
    """What became of a gate for one candidate: a check for the part, or for each member of it.

    `machine_dependent` ones measure the machine as well, so that a limit fits one kind of machine only.
    """

    gate: Gate
    candidate: str
    checks: tuple[Check, ...]
    machine_dependent: bool

    @property
    def held(self) -> bool:
        """Whether every check holds."""
        return all(check.held for check in self.checks)


class Scores(NamedTuple):
    """What gates look at: a run's scoreboard and queries, and its questions where it is graded."""

    board: Scoreboard
    queries: Sequence[QueryScore]
    graded: GradedBoard | None = None
