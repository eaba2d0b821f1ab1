"""What became of gates, in rows that the terminal, the app, JUnit files and annotations share."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import NamedTuple

from core.gating.against import Against
from core.gating.hold import Completeness, Held
from core.reports.wording import DASH, count, counted, difference, equals_p, interval, metric, ratio, seconds
from core.scoring.gate_records import BOUND_SIGNS, Bound, Check, Gate, GateOutcome, Part
from core.scoring.paired import PairedDifference
from core.scoring.records import Sought
from core.text import printable

HEADERS = ("", "candidate", "gate", "wanted", "found", "off by")
MACHINE = "* depends on the machine as well: such a limit fits one kind of machine only"
AT_LIMIT = "at the limit"
_NAMED = 20  # members that fell, before the rest is counted
_COUNTS = frozenset({"failed", "missing", "timed_out", "empty", "unsupported"})
_OPERATIONS = ("index_", "ctx_")


class GateRow(NamedTuple):
    """One gate of one candidate in words; `details` name what fell, `note` says what to know of the gate."""

    held: bool
    candidate: str
    title: str
    wanted: str
    found: str
    off_by: str = DASH
    note: str = ""
    details: tuple[str, ...] = ()
    gate: Gate | None = None

    @property
    def mark(self) -> str:
        """A mark with its word."""
        return "✔ holds" if self.held else "✖ fell"

    @property
    def cells(self) -> tuple[str, ...]:
        """The row under HEADERS."""
        return (self.mark, self.candidate, self.title, self.wanted, self.found, self.off_by)

    @property
    def sentence(self) -> str:
        """What became of the gate, on one line."""
        told = f"{self.title}: found {self.found}, wanted {self.wanted}"
        if self.off_by == AT_LIMIT:
            told += ", which excludes the limit itself"
        elif self.off_by != DASH:
            told += f", off by {self.off_by}"
        return "; ".join([told, *filter(None, [self.note])])


def gate_rows(
    held: Held, compared: Against | None, sought: Sought, private: Collection[str], *, local: bool = False
) -> tuple[GateRow, ...]:
    """Return a row for each gate and candidate: completeness, then the floors, then the older run.

    Ids of queries of the repositories labelled in `private` are withheld, unless the rows stay on a `local`
    screen.
    """
    hidden = frozenset() if local else frozenset(private)
    rows: list[GateRow] = []
    for name in held.candidates:
        rows += [_complete(each) for each in held.completeness if each.candidate == name]
        rows += [_row(each, sought, hidden) for each in held.outcomes if each.candidate == name]
        if compared is not None:
            rows += _against(name, compared)
    return tuple(rows)


def verdict(rows: Sequence[GateRow]) -> str:
    """Say how many gates hold."""
    fallen = sum(not row.held for row in rows)
    if not fallen:
        return f"All {counted(len(rows), 'gate')} hold." if len(rows) != 1 else "The gate holds."
    return f"{count(fallen)} of {counted(len(rows), 'gate')} fell."


def title_of(gate: Gate, sought: Sought) -> str:
    """Name a gate by its metric and part: `recall@5 of shape focused, each query`."""
    group = "shape" if sought == "relevant module" else "intent"
    parts = [
        f"{word} {printable(name, 200)}"
        for word, name in ((group, gate.part.intent), ("repository", gate.part.repository))
        if name is not None
    ]
    told = printable(gate.metric, 100)
    if gate.mean == "micro" and gate.each != "query":
        told += " (micro)"
    if parts:
        told += f" of {', '.join(parts)}"
    if gate.part.query is not None:
        told += " of one query"
    if gate.each is not None:
        told += f", each {group if gate.each == 'intent' else gate.each}"
    return f"{printable(gate.name, 200)} ({told})" if gate.name else told


def wanted_of(bounds: Sequence[Bound]) -> str:
    """Write bounds: `≥ 0.5`, or `> 0 and ≤ 0.2`."""
    return " and ".join(f"{BOUND_SIGNS[bound.kind]} {bound.limit:.10g}" for bound in bounds)


def _complete(found: Completeness) -> GateRow:
    note = "incomplete, which is allowed" if found.gaps and found.allowed else ""
    prefix = f"{found.candidate}: "
    gaps = tuple(gap.removeprefix(prefix) for gap in found.gaps)
    return GateRow(
        found.held,
        found.candidate,
        "operations accepted",
        "all",
        "; ".join(gaps) or "all",
        note=note,
    )


def _row(outcome: GateOutcome, sought: Sought, hidden: Collection[str]) -> GateRow:
    gate = outcome.gate
    write = _writer(gate.metric)
    fallen = [check for check in outcome.checks if not check.held]
    return GateRow(
        outcome.held,
        outcome.candidate,
        title_of(gate, sought) + (" *" if outcome.machine_dependent else ""),
        wanted_of(gate.bounds),
        _found(outcome, fallen, write),
        _off_by(fallen, write),
        MACHINE if outcome.machine_dependent else "",
        tuple(_details(gate, fallen, write, hidden)),
        gate,
    )


def _found(outcome: GateOutcome, fallen: Sequence[Check], write: Callable[[float], str]) -> str:
    if outcome.gate.each is None:
        only = outcome.checks[0]
        if only.value is None:
            return f"no value: {only.reason}"
        return _apart(only.value, only.broken, write)
    total = count(len(outcome.checks))
    if not fallen:
        return f"all {total} hold"
    return f"{count(len(fallen))} of {total} fell"


def _off_by(fallen: Sequence[Check], write: Callable[[float], str]) -> str:
    gaps = [check.gap for check in fallen if check.gap is not None]
    if not gaps:
        return DASH
    worst = max(gaps)
    if not worst:
        return AT_LIMIT
    return write(worst) if write(worst) != write(0.0) else f"{worst:.1e}"


def _details(
    gate: Gate, fallen: Sequence[Check], write: Callable[[float], str], hidden: Collection[str]
) -> Iterator[str]:
    if gate.each is None:
        return
    shown = [check for check in fallen if gate.each != "query" or check.part.repository not in hidden]
    for check in shown[:_NAMED]:
        value = (
            f"no value: {check.reason}" if check.value is None else _apart(check.value, check.broken, write)
        )
        yield f"{_member(gate, check.part)}: {value}"
    if len(shown) > _NAMED:
        yield f"and {counted(len(shown) - _NAMED, 'more', 'more')}"
    if len(shown) < len(fallen):
        withheld = counted(len(fallen) - len(shown), "query", "queries")
        yield f"{withheld} of private repositories, whose ids are withheld"


def _member(gate: Gate, part: Part) -> str:
    name = {"query": part.query, "intent": part.intent, "repository": part.repository}[gate.each or "query"]
    return printable(name or "", 200)


def _apart(value: float, broken: Bound | None, write: Callable[[float], str]) -> str:
    """Write a value with as many places as tell it from the bound that it breaks."""
    written = write(value)
    if broken is not None and written == write(broken.limit) and value != broken.limit:
        return f"{value:.9g}"
    return written


def _writer(metric_name: str) -> Callable[[float], str]:
    if metric_name in _COUNTS or metric_name.startswith(_OPERATIONS):
        return lambda value: f"{value:,.0f}"
    if metric_name.endswith("_s"):
        return seconds
    if metric_name.endswith("_mib"):
        return lambda value: f"{value:,.1f} MiB"
    if metric_name == "reduction":
        return ratio
    if metric_name == "lines_per_hit":
        return lambda value: f"{value:,.1f}"
    return metric


def _against(name: str, compared: Against) -> Iterator[GateRow]:
    older = printable(compared.older, 100)
    if name in compared.unanswered:
        yield GateRow(False, name, f"no significant fall against {older}", "cases that both answered", "none")
    for found in compared.differences:
        if found.candidate == name:
            yield GateRow(
                not found.fell,
                name,
                f"{found.metric} against {older}",
                "no significant fall",
                f"{metric(found.new)} after {metric(found.old)} ({_sure(found)})",
                metric(abs(found.difference)) if found.fell else DASH,
                _against_note(found, compared),
            )


def _sure(found: PairedDifference) -> str:
    told = [difference(found.difference)]
    if found.interval is not None:
        told.append(f"95 % {interval(found.interval, signed=True)}")
    told.append(f"adj. {equals_p(found.p_holm)}")
    return ", ".join(told)


def _against_note(found: PairedDifference, compared: Against) -> str:
    told = [f"{counted(found.cases, 'case')} answered in both"]
    if compared.left_out[found.candidate]:
        told.append(f"{count(compared.left_out[found.candidate])} not in both")
    if found.smallest_detectable is None:
        told.append(
            f"{count(found.nonzero_units)} of {counted(found.units, 'unit')} differ: too few to say how "
            "small a fall would show"
        )
    else:
        smallest = metric(found.smallest_detectable)
        told.append(f"a fall of {smallest} or more would show four times in five")
    if found.candidate in compared.notes:
        told.append(compared.notes[found.candidate])
    return "; ".join(told)
