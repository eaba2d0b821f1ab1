"""What can be done with a row of the home screen, the sensible thing first."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

from core import api
from core.engine.cell import make_cells
from core.engine.checkpoint import reusable_results
from core.errors import BoresightError, BusyError, IdentityError
from tui.runs import UNFINISHED, Row
from tui.screens.dialogs import Choice

RESULTS = Choice("results", "Results: who is best, and how sure is that")
QUERIES = Choice("queries", "Queries: each case with every candidate's rank")
ATTEMPTS = Choice("attempts", "Attempts: what was executed, and how it ended")
REPORT = Choice("report", "Read the report")
RESCORE = Choice("rescore", "Rescore: verify every digest, rebuild the reports")
DUPLICATE = Choice("duplicate", "Duplicate the campaign, to change the copy")
RUN_AGAIN = Choice("run", "Run its campaign again, into a new folder")
FROZEN = Choice("frozen", "Read what it was frozen with")
CLEAN = Choice("clean", "Clean: free what its indexes take on disk")
ARCHIVE = Choice("archive", "Export the run into one file")
FIX = Choice("fix", "Fix and continue: edit the campaign, keep every success that still holds")
RETRY = Choice("retry", "Retry failed: new attempts for what failed, nothing else changed")
REUSE = Choice("reuse", "New run that takes over every success that still holds")
INSPECT = Choice("attempts", "Inspect failures")
DIFFERING = Choice("attempts", "Attempts: the evidence that differs stands first")
SEEN = Choice("monitor", "See how it ran")
WATCH = Choice("monitor", "Watch it")
BESIDE = Choice("together", "Run beside it: do not wait; the operations of both are marked as disturbed")
STOP = Choice("stop", "Stop: wait no longer; a resume goes on with it")
RESUME = Choice("resume", "Resume: go on, with every verified result kept")
NEW = Choice("new", "New campaign from a repository")
_CHECKING = threading.Lock()  # a second press waits for the first check, which holds the run's lock


class Refusal(NamedTuple):
    """Why a resume would be refused.

    `busy` will have gone by once another process has ended. Where `evidence` differs from its digest, a new
    run could not take over from this one either.
    """

    reason: str
    kind: Literal["identity", "evidence", "busy"] = "identity"


class Checked(NamedTuple):
    """What a resume would come to: why it would be refused, or how many results it would reuse."""

    refusal: Refusal | None = None
    reusable: int = 0


def menu_of(row: Row, refusal: Refusal | None = None) -> Sequence[Choice]:
    """Return what can be done with a row; `refusal` says why a resume would be refused."""
    if row.status is None:
        return _of_campaign(row)
    state = row.status.state
    if state is None:
        return ()
    if state == "waiting" and row.status.waits_for is not None:
        return (WATCH, BESIDE, STOP, DUPLICATE, FROZEN)
    if state == "waiting":
        return (WATCH, DUPLICATE, FROZEN)
    if row.is_live:
        return (WATCH, RESULTS, QUERIES, ATTEMPTS, DUPLICATE, FROZEN)
    again = (RUN_AGAIN,) if row.manifest is not None else ()
    keeping = (RESCORE, DUPLICATE, *again, FROZEN, ARCHIVE, CLEAN)
    looking = (RESULTS, QUERIES, ATTEMPTS, SEEN, REPORT)
    if state not in UNFINISHED:
        return (*looking, *keeping)
    if refusal is not None:
        refused = RESUME._replace(refusal=first_reason(refusal.reason))
        if refusal.kind == "busy":
            return (*looking, DUPLICATE, *again, FROZEN, refused)
        if refusal.kind == "evidence":
            anew = again or (DUPLICATE,)
            rest = [each for each in (*looking, *keeping) if each not in {ATTEMPTS, *anew}]
            return (DIFFERING, *anew, *rest, refused)
        return (REUSE, FIX, *looking, *keeping, refused)
    if state == "failed":
        return (INSPECT, FIX, RETRY, RESULTS, QUERIES, SEEN, REPORT, *keeping)
    return (RESUME, FIX, *looking, *keeping)


def first_reason(refusal: str) -> str:
    """Return the first control that changed, or where none is named the refusal's first line."""
    lines = refusal.splitlines() or [""]
    reasons = [line.strip().removeprefix("- ") for line in lines[1:] if line.lstrip().startswith("- ")]
    more = f" (and {len(reasons) - 1} more)" if len(reasons) > 1 else ""
    return f"{reasons[0]}{more}" if reasons else lines[0]


def check_resume(row: Row, is_stopped: Callable[[], bool] = lambda: False) -> Checked:
    """Return what a resume would come to, by all that it would verify first; reads disk."""
    if row.status is None or row.status.state not in UNFINISHED:
        return Checked()
    try:
        with _CHECKING, api.reopen_run(row.path, purpose="checking") as run:  # not taken for an engine
            return _check_evidence(run, is_stopped)
    except BoresightError as error:
        return Checked(Refusal(str(error), "busy" if isinstance(error, BusyError) else "identity"))


def _check_evidence(run: api.OpenRun, is_stopped: Callable[[], bool]) -> Checked:
    cases = {case.id: case for case in run.bank.cases}
    try:
        standing = reusable_results(make_cells(run.record, run.retrievers), run.plan, cases, is_stopped)
    except IdentityError as error:
        return Checked(Refusal(str(error), "evidence"))
    return Checked(reusable=len(standing))


def _of_campaign(row: Row) -> Sequence[Choice]:
    if row.manifest is not None and row.manifest.problem is not None:
        mend = Choice("manifest", "Mend the campaign")
        return (mend, DUPLICATE, NEW)
    return (
        Choice("run", "Run it"),
        Choice("manifest", "Edit the campaign"),
        DUPLICATE,
        NEW,
    )
