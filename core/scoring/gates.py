"""Gates: do a run's metrics keep to the bounds that were set for them? Values in, outcomes out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from core.errors import ProblemsError
from core.scoring.gate_metrics import MACHINE_DEPENDENT, Readings, UntoldError
from core.scoring.gate_records import Bound, Check, Gate, GateOutcome, Part, Reading, Scores
from core.text import printable

_SHOWN_PROBLEMS = 50


def evaluate(
    gates: Sequence[Gate], scores: Scores, candidates: Sequence[str], name: str
) -> tuple[GateOutcome, ...]:
    """Hold every gate against each candidate: all gates of the first, then of the next.

    A gate that speaks of a metric, intent, repository or query that the run does not have is a mistake, never
    a pass: raises ProblemsError that names all of them; `name` is what it calls the gates' file.
    """
    outcomes: list[GateOutcome] = []
    problems: dict[str, None] = {}
    for candidate in candidates:
        readings = Readings(scores, candidate)
        for number, gate in enumerate(gates):
            try:
                checks = tuple(_checks(gate, readings))
                if not checks:
                    raise UntoldError("no case fits it; name a part that the bank has")
            except UntoldError as error:
                problems[_problem(number, gate, error)] = None
                continue
            machine = gate.metric in MACHINE_DEPENDENT
            outcomes.append(GateOutcome(gate, candidate, checks, machine))
    if problems:
        told = list(problems)
        more = [f"and {len(told) - _SHOWN_PROBLEMS} more"] if len(told) > _SHOWN_PROBLEMS else []
        raise ProblemsError(f"{printable(name)} does not fit the run:", [*told[:_SHOWN_PROBLEMS], *more])
    return tuple(outcomes)


def _problem(number: int, gate: Gate, error: UntoldError) -> str:
    return f"gate[{number}] ({printable(gate.metric, 100)}): {printable(str(error.args[0]), 400)}"


def _checks(gate: Gate, readings: Readings) -> Iterator[Check]:
    for part in _parts(gate, readings):
        yield check(part, readings.read(gate.metric, part, gate.mean), gate.bounds)


def _parts(gate: Gate, readings: Readings) -> Iterable[Part]:
    if gate.each is None:
        return [gate.part]
    if gate.part != Part():  # so that a part without any case is told as such
        readings.read("failed", gate.part, gate.mean)
    if gate.each == "query":
        return readings.queries(gate.part)
    return readings.intents(gate.part) if gate.each == "intent" else readings.repositories(gate.part)


def check(part: Part, reading: Reading, bounds: Sequence[Bound]) -> Check:
    """Hold a value against bounds; the first that it does not keep to is named."""
    value = reading.value
    if value is None:
        return Check(part, None, reason=reading.reason)
    for bound in bounds:
        if not bound.holds(value):
            return Check(part, value, bound, abs(value - bound.limit))
    return Check(part, value)
