"""Runs whose evidence is written by hand: no tool runs, so every byte and figure is the test's own."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from core import api
from core.banks.case import Case
from core.campaign.plan import Planned
from core.engine.cell import Cell, make_cells
from core.engine.checkpoint import cell_name
from core.retrievers.answers import CONTEXT_FORMAT, INDEX_FORMAT, RANKING_FORMAT
from core.run.events import (
    CampaignFinished,
    CampaignStarted,
    CellFinished,
    Event,
    EventLog,
    Heartbeat,
    OperationFinished,
    OperationStarted,
    Phase,
    Progress,
    State,
)
from core.run.evidence import (
    Acceptance,
    Result,
    Validation,
    begin_attempt,
    publish_accepted,
    publish_attempt,
)
from core.run.layout import INDEX

BEGAN = datetime(2024, 5, 6, 7, 8, 9, tzinfo=UTC)
PHASES: Mapping[str, Phase] = {"index": "indexing", "primary": "querying", "ctx": "probing"}


class Told(NamedTuple):
    """One attempt as it is to be found: `interrupted` leaves no measurement."""

    stdout: bytes
    stderr: bytes = b""
    status: str = "accepted"  # or "failed", "stopped", "interrupted"
    error_class: str | None = None
    message: str | None = None
    elapsed_s: float = 0.25
    rss: int = 96 * 2**20
    exit_code: int | None = None


class Asked(NamedTuple):
    """An operation for which attempts are made up."""

    planned: Planned
    case: Case | None
    request: bytes | None  # of a query or a probe

    def answer(self, rows: Sequence[Mapping[str, Any]]) -> bytes:
        """Return the output that answers with these rows."""
        form = CONTEXT_FORMAT if self.planned.operation.kind == "ctx" else RANKING_FORMAT
        number = json.loads(self.request or b"{}")["id"]
        return json.dumps({"format": form, "id": number, "results": rows}).encode() + b"\n"


Teller = Callable[[Asked], Sequence[Told]]


def indexed(units: int) -> bytes:
    """Return the output of an index step that found so many units."""
    counts = {"units": units, "emb": units, "docs": 0, "vectors": 0, "skipped": {}}
    return json.dumps({"format": INDEX_FORMAT, **counts}).encode() + b"\n"


def make_up(run: api.OpenRun, teller: Teller) -> None:
    """Write the attempts that `teller` gives for each planned operation, in the plan's order."""
    cells = make_cells(run.record, run.retrievers)
    cases = {case.id: case for case in run.bank.cases}
    indexes: dict[str, Result] = {}
    for planned in run.plan:
        operation = planned.operation
        cell = cells[cell_name(operation)]
        case = cases[operation.case] if operation.case is not None else None
        asked = Asked(planned, case, _request(cell, operation.kind, case))
        for told in teller(asked):
            result = _publish(cell, asked, told, indexes.get(cell.name))
            if result is not None and operation.kind == INDEX:
                indexes[cell.name] = result


def _request(cell: Cell, kind: str, case: Case | None) -> bytes | None:
    return cell.request(kind, case.channel, case.query) if case is not None else None


def _publish(cell: Cell, asked: Asked, told: Told, index: Result | None) -> Result | None:
    operation = asked.planned.operation
    command = cell.expected_command(operation, asked.case)
    attempt = begin_attempt(cell.layout, operation, command)
    attempt.stdout.write_bytes(told.stdout)
    attempt.stderr.write_bytes(told.stderr)
    if told.status == "interrupted":
        return None
    measured, validation = _measured(asked, told), _validation(told)
    if told.status != "accepted":
        publish_attempt(attempt, measured, validation)
        return None
    bound = Acceptance(cell.identity, index if operation.kind != INDEX else None)
    return publish_accepted(cell.layout, attempt, measured, validation, bound)


def _validation(told: Told) -> Validation:
    rows = None
    if told.status == "accepted":
        rows = len(json.loads(told.stdout).get("results", ()))
    return Validation(told.status, told.error_class, told.message, returned=rows)


def _measured(asked: Asked, told: Told) -> dict[str, Any]:
    ended = "exited" if asked.request is None or told.exit_code is not None else "answered"
    return {
        "started_at": BEGAN.isoformat(timespec="microseconds"),
        "started_ns": 1_000_000_000,
        "ended_ns": 1_000_000_000 + int(told.elapsed_s * 1e9),
        "elapsed_s": told.elapsed_s,
        "outcome": "timed_out" if told.error_class == "timeout" else ended,
        "exit_code": told.exit_code if told.exit_code is not None else (0 if ended == "exited" else None),
        "signal": None,
        "spawn_error": None,
        "cpu_user_s": round(told.elapsed_s / 2, 3),
        "cpu_system_s": 0.0,
        "largest_process_peak_bytes": told.rss,
        "sampled_peak_rss_bytes": told.rss,
        "samples": 5,
        "leftover_processes": 0,
        "unkilled_processes": 0,
        "steps_completed": 1 if asked.request is None else 0,
        "stalled_s": 0.0,
    }


class Narrator:
    """Tells a run's events second by second from `BEGAN` on."""

    def __init__(self, run: api.OpenRun) -> None:
        self.at = BEGAN
        self._run = run
        self._log = EventLog(run.layout.events)
        self._completed = self._failed = 0

    def close(self) -> None:
        """Close the file."""
        self._log.close()

    def begin(self) -> None:
        """Tell that the campaign began."""
        record = self._run.record
        self._tell(
            CampaignStarted(
                identity=record.identity,
                name=record.about["name"],
                candidates=record.candidates,
                repositories=record.repositories,
                resumed=False,
                progress=self._progress(),
            )
        )

    def operation(self, planned: Planned, told: Told) -> None:
        """Tell that an operation began, went on and ended."""
        shared = self._shared(planned)
        self._tell(OperationStarted(**shared, progress=self._progress()))
        self.beat(planned, told)
        self._completed += 1
        self._failed += told.status == "failed"
        self._tell(
            OperationFinished(
                **shared,
                outcome="failed" if told.status == "failed" else "accepted",
                error_class=told.error_class,
                elapsed_s=told.elapsed_s,
                sampled_peak_rss_bytes=told.rss,
                progress=self._progress(),
            )
        )

    def beat(self, planned: Planned, told: Told) -> None:
        """Tell that an operation is under way."""
        operation = planned.operation
        self.at += timedelta(seconds=1)
        self._tell(
            Heartbeat(
                candidate=operation.candidate,
                repository=operation.repository,
                phase=PHASES[operation.kind],
                elapsed_s=told.elapsed_s,
                sampled_rss_bytes=told.rss,
                progress=self._progress(),
            )
        )

    def cell(self, candidate: str, repository: str, planned: int, failed: int = 0) -> None:
        """Tell that a cell is done."""
        self._tell(
            CellFinished(
                candidate=candidate, repository=repository, completed=planned, planned=planned, failed=failed
            )
        )

    def end(self) -> None:
        """Tell the end."""
        state: State = "failed" if self._failed else "complete"
        self._tell(CampaignFinished(state=state, progress=self._progress()))

    def _shared(self, planned: Planned) -> dict[str, Any]:
        operation = planned.operation
        return {
            "candidate": operation.candidate,
            "repository": operation.repository,
            "phase": PHASES[operation.kind],
            "operation": operation.name,
            "intent": planned.intent,
            "channel": planned.channel,
            "attempt": 1,
        }

    def _progress(self) -> Progress:
        return Progress(completed=self._completed, planned=len(self._run.plan), failed=self._failed)

    def _tell(self, event: Event) -> None:
        self._log.emit(event.model_copy(update={"at": self.at}))
