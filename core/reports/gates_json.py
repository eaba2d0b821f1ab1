"""Gates as JSON that a program can rely on: format `boresight-gates@1`."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from core.gating.against import Against
from core.gating.hold import Held
from core.reports.facts import RunFacts
from core.reports.gates import GateRow, title_of
from core.scoring.gate_records import Check, GateOutcome
from core.scoring.records import Sought
from core.sought import kind_of
from core.text import printable

GATES_FORMAT = "boresight-gates@1"


def gates_json(
    held: Held, compared: Against | None, rows: tuple[GateRow, ...], about: RunFacts, sought: Sought
) -> dict[str, Any]:
    """Return the outcome as a JSON-able value; ids of private repositories' queries are withheld."""
    floors = held.floors
    return {
        "format": GATES_FORMAT,
        "held": all(row.held for row in rows),
        "run": {"name": printable(about.name, 400), "identity": about.identity},
        "bank": {
            "format": about.bank_format,
            "kind": kind_of(about.bank_format),
            "sha256": about.bank_sha256,
        },
        "floors": None if floors is None else printable(floors.name, 400),
        "candidates": list(held.candidates),
        "complete": [
            {"candidate": each.candidate, "held": each.held, "allowed": each.allowed, "gaps": list(each.gaps)}
            for each in held.completeness
        ],
        "gates": [_outcome(outcome, sought, about.private) for outcome in held.outcomes],
        "against": None if compared is None else _against(compared),
    }


def _outcome(outcome: GateOutcome, sought: Sought, private: Collection[str]) -> dict[str, Any]:
    gate = outcome.gate
    return {
        "candidate": outcome.candidate,
        "title": title_of(gate, sought),
        "name": printable(gate.name, 400),
        "metric": gate.metric,
        "mean": gate.mean,
        "each": gate.each,
        "bounds": {bound.kind: bound.limit for bound in gate.bounds},
        "held": outcome.held,
        "machine_dependent": outcome.machine_dependent,
        "checks": len(outcome.checks),
        "fell": [_check(check, private) for check in outcome.checks if not check.held],
        "value": outcome.checks[0].value if gate.each is None else None,
    }


def _check(check: Check, private: Collection[str]) -> dict[str, Any]:
    withheld = check.part.query is not None and check.part.repository in private
    return {
        "intent": check.part.intent,
        "repository": check.part.repository,
        "query": None if withheld else check.part.query,
        "value": check.value,
        "broken": None if check.broken is None else check.broken.kind,
        "off_by": check.gap,
        "reason": check.reason,
    }


def _against(compared: Against) -> dict[str, Any]:
    return {
        "older": printable(compared.older, 400),
        "left_out": dict(compared.left_out),
        "unanswered": list(compared.unanswered),
        "notes": dict(compared.notes),
        "differences": [
            {
                **found._asdict(),
                "interval": None if found.interval is None else found.interval._asdict(),
                "fell": found.fell,
            }
            for found in compared.differences
        ],
    }
