"""Holds a run to floors: which candidates are meant, and whether all that was planned was answered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from core.errors import InputError
from core.gating.floors import ALL, Floors, default_floors
from core.rescoring import Rescored
from core.scoring.comparison import coverage_gaps
from core.scoring.gate_records import GateOutcome, Scores
from core.scoring.gates import evaluate
from core.text import printable
from core.validation import nearest


class Completeness(NamedTuple):
    """Whether everything that was planned of a candidate has an accepted result, or need not have."""

    candidate: str
    gaps: tuple[str, ...]
    allowed: bool

    @property
    def held(self) -> bool:
        """Whether nothing is missing, or that is allowed."""
        return self.allowed or not self.gaps


class Held(NamedTuple):
    """A run held to floors."""

    floors: Floors | None
    candidates: tuple[str, ...]
    completeness: tuple[Completeness, ...]
    outcomes: tuple[GateOutcome, ...]


def hold(
    rescored: Rescored,
    floors: Floors | None,
    named: Sequence[str] = (),
    *,
    allow_incomplete: bool = False,
) -> Held:
    """Hold a scored run to floors, for the candidates that are named here or else in the file.

    Without floors only its completeness is looked at. Raises InputError where it is open which candidate is
    meant, ProblemsError where a gate speaks of what the run does not have.
    """
    candidates = chosen_candidates(tuple(rescored.board.candidates), floors, named)
    allowed = allow_incomplete or (floors is not None and floors.allow_incomplete)
    outcomes: tuple[GateOutcome, ...] = ()
    if floors is not None:
        scores = Scores(rescored.board, rescored.queries, rescored.graded)
        outcomes = evaluate(floors.gates, scores, candidates, floors.name)
    gaps = {name: coverage_gaps(rescored.board.candidates[name]) for name in candidates}
    return Held(
        floors,
        candidates,
        tuple(Completeness(name, tuple(told), allowed) for name, told in gaps.items()),
        outcomes,
    )


def floors_of_kind(rescored: Rescored) -> Floors | None:
    """Return the floors that a run is held to where none are named; None where its bank's kind has none."""
    return None if rescored.graded is None else default_floors()


def chosen_candidates(
    known: Sequence[str], floors: Floors | None, named: Sequence[str] = ()
) -> tuple[str, ...]:
    """Return the candidates that are meant: those named, else the file's, else the only one there is."""
    wanted = tuple(named)
    where = "--candidate"
    if not wanted and floors is not None and floors.candidate is not None:
        wanted, where = (floors.candidate,), f"{printable(floors.name)}, candidate"
    if wanted == (ALL,) and ALL not in known:
        return tuple(known)
    for name in wanted:
        if name not in known:
            close = nearest(name, known)
            hint = f"did you mean {close}?" if close else f"this run has {', '.join(known)}"
            raise InputError(f"{where}: no candidate {printable(name, 100)!r} in this run; {hint}")
    if not wanted and len(known) > 1:
        raise InputError(
            f"this run has {len(known)} candidates ({', '.join(known)}), and which one the gates are for is "
            'not said; name it with --candidate or `candidate = "…"` in the floors file, or say all'
        )
    return tuple(dict.fromkeys(wanted)) or tuple(known)
