"""What the index answers with: values only. Text in them is as it was found, and not yet safe to show."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from core.browse.operations import Attempt
from core.ranking import Level, Target
from core.run.layout import Operation
from core.scoring.records import LatencyKind

OutcomeStatus = Literal["missing", "answered", "empty", "failed", "unsupported", "changed"]
"""`empty` was answered without any result; `changed` is evidence that differs from its digest."""


class Standing(NamedTuple):
    """What became of a case's primary query with one candidate; `rank` is None without a hit."""

    status: OutcomeStatus
    rank: int | None
    elapsed_s: float | None


class CaseRow(NamedTuple):
    """One case with each candidate's outcome, in the candidates' order; `target` is the first of them."""

    number: int
    id: str
    repository: str
    intent: str
    channel: str
    query: str
    target: str
    standings: tuple[Standing, ...]


class OperationRow(NamedTuple):
    """What became of one planned operation.

    `attempt` is the accepted one's number, `attempts` the newest one's. Memory is sampled, in bytes.
    """

    operation: Operation
    status: OutcomeStatus
    error_class: str | None
    attempt: int | None
    attempts: int
    elapsed_s: float | None
    sampled_peak_rss_bytes: int | None
    units: int | None
    returned: int | None
    timed_out: bool
    disturbed: bool
    measurement_sha256: str | None


class CaseDetail(NamedTuple):
    """All that the index holds of a case, by candidate; `probes` leaves out candidates without a probe.

    `ranks` are those of the first hit at each level.
    """

    row: CaseRow
    targets: tuple[Target, ...]
    primaries: Mapping[str, OperationRow]
    probes: Mapping[str, OperationRow]
    ranks: Mapping[str, Mapping[Level, int | None]]


class FailureGroup(NamedTuple):
    """How many operations of a cell failed in the same way."""

    error_class: str
    candidate: str
    repository: str
    failed: int


class CellRow(NamedTuple):
    """One candidate on one repository: its index, and counts of its queries and probes by status.

    `medians` are seconds over the operations that answered.
    """

    candidate: str
    repository: str
    indexing: OperationRow
    primaries: Mapping[OutcomeStatus, int]
    probes: Mapping[OutcomeStatus, int]
    medians: Mapping[LatencyKind, float | None]


class Problem(NamedTuple):
    """Evidence that differs from its digest, or cannot be read, in words that are safe to show."""

    operation: Operation
    told: str


__all__ = [
    "Attempt",
    "CaseDetail",
    "CaseRow",
    "CellRow",
    "FailureGroup",
    "OperationRow",
    "OutcomeStatus",
    "Problem",
    "Standing",
]
