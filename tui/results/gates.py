"""Reads a run and holds it to floors, for the panel of gates."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from core import api
from core.browse.behind import NOT_HIT, Behind
from core.browse.filters import Filters, OutcomeFilter
from core.errors import InputError
from core.gating.floors import ALL, DEFAULT_NAME, floors_files, read_floors
from core.gating.hold import floors_of_kind, hold
from core.outcomes import Tell
from core.reports.gates import GateRow, gate_rows, verdict
from core.reports.wording import counted
from core.scoring.records import LARGEST_CUTOFF


class Gated(NamedTuple):
    """A run held to floors: what they are called, their file, a row for each gate and how many hold.

    `failure` says why nothing could be held, as where the file does not fit the run; there are no rows then.
    """

    floors: str
    file: Path | None
    rows: tuple[GateRow, ...] = ()
    told: str = ""
    failure: str | None = None
    choices: int = 0  # how many floors there are to turn to


def read_gates(run: Path, folder: Path, number: int, tell: Tell) -> Gated:
    """Verify and score a run, and hold it to the floors of that number among those there are.

    Those are the files of the folder, then the default ones of graded runs. Where a file names no candidate,
    all are held. Takes as long as verifying does, so call it from a thread; raises IdentityError for evidence
    that was changed.
    """
    scored = api.score_outcomes(api.read_outcomes(run, tell))
    files = floors_files(folder)
    default = floors_of_kind(scored)
    count = len(files) + (default is not None)
    at = number % count if count else 0
    file = files[at] if at < len(files) else None
    more = f" ({at + 1} of {count}, t turns)" if count > 1 else ""
    try:
        floors = read_floors(file) if file is not None else default
        named = (ALL,) if floors is None or floors.candidate is None else ()
        held = hold(scored, floors, named)
    except InputError as error:
        return Gated(f"{file.name if file else DEFAULT_NAME}{more}", file, failure=str(error), choices=count)
    rows = gate_rows(held, None, scored.board.sought, scored.facts.private, local=True)
    if floors is None:
        none = "none (floors.toml or *.floors.toml in this folder)"
        return Gated(none, file, rows, _completeness(rows), choices=count)
    return Gated(f"{file.name if file else floors.name}{more}", file, rows, verdict(rows), choices=count)


def _completeness(rows: tuple[GateRow, ...]) -> str:
    """Say that nothing but completeness is held, and how many candidates are complete."""
    complete = sum(row.held for row in rows)
    if complete == len(rows):
        told = f"all {counted(complete, 'candidate')} are complete" if complete > 1 else "the run is complete"
    else:
        told = f"{complete} of {counted(len(rows), 'candidate')} complete"
    return f"No floors are set here, so only completeness is checked: {told}."


def behind_gate(row: GateRow) -> Behind | None:
    """Return the cases that a gate's candidate does not hit in its part; None where it counts none."""
    if row.gate is None:
        return None
    name, _, cutoff = row.gate.metric.partition("@")
    if name not in ("hit", "recall", "mrr", "ndcg", "precision", "hit_rate"):
        return None
    part = row.gate.part
    filters = Filters(
        intents=(part.intent,) if part.intent else (),
        repositories=(part.repository,) if part.repository else (),
        outcomes=(OutcomeFilter(row.candidate, NOT_HIT),),
        text=part.query or "",
        cutoff=int(cutoff) if cutoff.isdecimal() else LARGEST_CUTOFF,
    )
    return Behind(filters)
