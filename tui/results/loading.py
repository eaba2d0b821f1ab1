"""Reads what the results screen shows: a run's state, its verified scores and the size of its indexes."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from core import api
from core.errors import BoresightError
from core.outcomes import Tell
from core.regular import read_regular
from core.reports.facts import RunFacts
from core.reports.saved import parse_summary
from core.reports.standing import progress
from core.reports.wording import count, counted, failed_words
from core.run.disk import cell_states
from core.run.layout import RunLayout
from core.run.record import read_run
from core.scoring.graded_records import GradedBoard
from core.scoring.records import Scoreboard
from core.status import LIVE
from tui import wallclock
from tui.widgets.marks import STATE_MARKS


class Loaded(NamedTuple):
    """A run's scores, from evidence read at a moment; `changed` names evidence that counts as missing.

    Without a status they are those of the report that was saved at that moment, and not verified.
    """

    status: api.RunStatus | None
    board: Scoreboard
    facts: RunFacts
    sizes: dict[str, int]
    changed: tuple[str, ...]
    at: datetime
    graded: GradedBoard | None = None


def saved(run: Path) -> Loaded | None:
    """Return what a run's saved report holds, for a first view; None where it is not one of this run."""
    report = RunLayout(run).summary
    try:
        record = read_run(run)
        at = datetime.fromtimestamp(report.stat().st_mtime).astimezone()
        found = parse_summary(read_regular(report), str(report))
    except (BoresightError, OSError):
        return None
    own = (record.identity, record.candidates, record.repositories)
    if own != (found.facts.identity, tuple(found.board.candidates), found.board.repositories):
        return None
    private = record.private  # the frozen record's word, not the report's
    repositories = tuple(facts._replace(private=facts.label in private) for facts in found.facts.repositories)
    return Loaded(None, found.board, found.facts._replace(repositories=repositories), {}, (), at)


def load(run: Path, tell: Tell) -> Loaded:
    """Verify and score a run; takes as long as reading all its evidence does, so call it from a thread.

    Raises InputError or IdentityError where the run's identity, bank or plan cannot be trusted; single
    pieces of evidence that differ are named instead.
    """
    at = wallclock.now().astimezone()
    outcomes = api.read_outcomes(run, tell, pass_over_changed=True)
    scored = api.score_outcomes(outcomes)
    sizes: dict[str, int] = {}
    for cell in cell_states(RunLayout(run)):
        sizes[cell.candidate] = sizes.get(cell.candidate, 0) + cell.bytes
    status = api.run_status(run)
    return Loaded(
        status, scored.board, scored.facts, sizes, tuple(outcomes.reader.changed), at, scored.graded
    )


def state_words(loaded: Loaded) -> str:
    """Say in what state the run is, how much of it stands, and when that was verified."""
    status = loaded.status
    if status is None:
        return f"saved report of {loaded.at:%Y-%m-%d %H:%M}, being verified"
    if loaded.changed:
        stands = progress(loaded.board)
        return (
            f"✖ {counted(len(loaded.changed), 'piece')} of evidence changed: no result · "
            f"{count(stands.accepted)} of {counted(stands.planned, 'operation')} stand · "
            f"verified {loaded.at:%H:%M:%S}"
        )
    accepted = f"{count(status.accepted)} of {counted(status.planned, 'operation')} accepted"
    parts = [STATE_MARKS[status.state], accepted]
    if status.failed:
        parts.append(failed_words(status.failed, status.unasked))
    if status.state in LIVE:
        parts.append("partial; f5 reads again")
    parts.append(f"verified {loaded.at:%H:%M:%S}")
    return " · ".join(parts)
