"""Reads outcomes back out of a run's evidence: verified bytes first, then each candidate's own reader."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.banks.case import Bank, Case
from core.banks.fields import HISTORICAL
from core.banks.graded import FORMAT as GRADED
from core.campaign.frozen import frozen_features, frozen_suffix
from core.campaign.places import place_of
from core.campaign.plan import Planned, make_plan, parse_plan
from core.errors import IdentityError
from core.questions import collapsed
from core.ranking import Ranking
from core.retrievers.protocol import AnswerError, Context, Features, Place, Retriever
from core.retrievers.registry import create_retriever
from core.run.evidence import (
    Origin,
    Result,
    Verified,
    load_measurement,
    read_measurement,
    read_result,
    verify_result,
)
from core.run.layout import Operation, RunLayout
from core.run.record import RunRecord, read_cases, read_run


@dataclass(frozen=True)
class Observation:
    """What a planned operation left: its accepted attempt, else its last finished one, else nothing.

    `record` is the attempt's measurement record. `stdout`, `place` and `result`, which holds the digests of
    the attempt's files, are there for accepted attempts only.
    """

    planned: Planned
    status: str  # "accepted", "failed" or "missing"
    record: Mapping[str, Any] | None = None
    stdout: bytes = b""
    place: Place | None = None
    result: Result | None = None

    @property
    def origin(self) -> Origin | None:
        """Where an accepted attempt was made that was taken over from another run."""
        return self.result.origin if self.result else None

    @property
    def disturbed(self) -> bool:
        """Whether another campaign ran on the machine while the attempt was measured."""
        return bool(self.record and self.record.get("disturbed", False))

    @property
    def elapsed_s(self) -> float | None:
        """Seconds that the attempt took, by the supervisor's clock."""
        return self.record["measurement"].get("elapsed_s") if self.record else None

    @property
    def sampled_peak_rss_bytes(self) -> int | None:
        """Largest resident memory seen of its process tree."""
        return self.record["measurement"].get("sampled_peak_rss_bytes") if self.record else None

    @property
    def timed_out(self) -> bool:
        """Whether its time limit ended it."""
        return bool(self.record and self.record["measurement"]["outcome"] == "timed_out")

    @property
    def error_class(self) -> str | None:
        """The stable word that failures are grouped by."""
        return self.record["validation"].get("error_class") if self.record else None

    @property
    def units(self) -> int | None:
        """Units that an accepted index holds."""
        return self.record["validation"].get("units") if self.record else None


class EvidenceReader:
    """Reads what each operation of a run left, from the run's record alone: neither bank nor plan is held.

    `features` are those that the candidates were frozen with; `retrievers` only read what was kept.
    `changed` names evidence that differs from its digest. Raises InputError or IdentityError where the
    record does not say what the candidates were.
    """

    def __init__(self, record: RunRecord) -> None:
        self.record = record
        self.layout: RunLayout = record.layout
        self.retrievers: dict[str, Retriever] = {
            item["id"]: create_retriever(
                item["entry"], Path(item["base"]), f"{self.layout.root} ({item['id']})"
            )
            for item in record.about["candidates"]
        }
        self.features: dict[str, Features] = frozen_features(record)
        self.changed: list[str] = []
        self._ranks_files = record.controls["bank"]["format"] in (GRADED, HISTORICAL)
        self._places: dict[tuple[str, str, str], Place] = {}

    def observe(self, planned: Planned) -> Observation:
        """Return what one planned operation left, without regard to the others."""
        verified = self._verified(planned.operation)
        if verified is None:
            return self._unaccepted(planned)
        return self._accepted(planned, *verified)

    def ranking(self, observation: Observation) -> Ranking:
        """Return an accepted primary query's ranking: of files, where the bank asks for files alone.

        Raises AnswerError where its output does not read.
        """
        ranking = (
            self._retriever(observation)
            .read_ranking(observation.stdout, self._place(observation), self.record.controls["depth"])
            .ranking
        )
        return collapsed(ranking) if self._ranks_files else ranking

    def context(self, observation: Observation) -> Context:
        """Return an accepted probe's context; raises AnswerError where its output does not read."""
        return self._retriever(observation).read_context(
            observation.stdout, self._place(observation), self.record.probe_depth
        )

    def place(self, operation: Operation, root: str) -> Place:
        """Return where a cell lay when its output was recorded, for readers of absolute paths."""
        candidate, repository = operation.candidate, operation.repository
        key = (candidate, repository, root)
        if key not in self._places:
            self._places[key] = place_of(
                RunLayout(Path(root)),
                candidate,
                repository,
                frozen_suffix(self.record, candidate),
                writes_repository=self.features[candidate].writes_repository,
            )
        return self._places[key]

    def _verified(self, operation: Operation) -> tuple[Result, Verified] | None:
        try:
            result = read_result(self.layout, operation)
        except IdentityError as error:
            self.changed.append(str(error))
            return None
        if result is None:
            return None
        if result.cell != self.record.cell(operation.candidate, operation.repository):
            self.changed.append(f"{operation}/result.json: belongs to another cell than this one")
            return None
        evidence = verify_result(self.layout, operation, result)
        if evidence.changed:
            self.changed.extend(evidence.changed)
            return None
        return result, evidence

    def _accepted(self, planned: Planned, result: Result, evidence: Verified) -> Observation:
        record = load_measurement(evidence.measurement, planned.operation)
        place = self.place(planned.operation, result.root)
        return Observation(planned, "accepted", record, evidence.stdout, place, result)

    def _unaccepted(self, planned: Planned) -> Observation:
        """Return the last attempt that failed; stopped and interrupted ones leave nothing."""
        for number in reversed(self.layout.attempts(planned.operation)):
            try:
                record = read_measurement(self.layout.attempt(planned.operation, number))
            except FileNotFoundError:
                continue
            except IdentityError as error:
                self.changed.append(str(error))
                continue
            if record["validation"]["status"] == "failed":
                return Observation(planned, "failed", record)
        return Observation(planned, "missing")

    def _retriever(self, observation: Observation) -> Retriever:
        return self.retrievers[observation.planned.operation.candidate]

    def _place(self, observation: Observation) -> Place:
        if observation.place is None:
            raise AnswerError("not_accepted", f"{observation.planned.operation} has no accepted attempt")
        return observation.place


class RunReader(EvidenceReader):
    """A run opened for reading: needs its files alone, no models, no Git and no executables.

    Raises InputError or IdentityError where the run's identity, bank or plan cannot be trusted.
    """

    def __init__(self, path: Path) -> None:
        record = read_run(path)
        self.bank: Bank = read_cases(record)
        self.cases: dict[str, Case] = {case.id: case for case in self.bank.cases}
        try:
            raw = record.layout.plan.read_bytes()
        except OSError as error:
            raise IdentityError(
                f"{record.layout.plan}: {error.strerror}; restore it from a copy, or begin a new run"
            ) from None
        self.plan: tuple[Planned, ...] = parse_plan(raw, str(record.layout.plan))
        super().__init__(record)
        self._demand_whole_plan()

    def observations(self) -> Iterator[Observation]:
        """Yield what each planned operation left, in the plan's order.

        Evidence that differs from its digest is named in `changed` and counts as missing, and so do
        queries of an index that was replaced since.
        """
        indexes: dict[str, Result] = {}
        for planned in self.plan:
            operation = planned.operation
            cell = f"{operation.candidate}/{operation.repository}"
            verified = self._verified(operation)
            if verified is None:
                yield self._unaccepted(planned)
                continue
            result, evidence = verified
            if operation.kind == "index":
                indexes[cell] = result
            elif result.index_measurement_sha256 != getattr(indexes.get(cell), "measurement_sha256", None):
                yield Observation(planned, "missing")
                continue
            yield self._accepted(planned, result, evidence)

    def _demand_whole_plan(self) -> None:
        """Refuse a plan that lacks operations or has others; their order is of no concern here."""
        expected = make_plan(self.bank, self.record.repositories, self.features, self.record.controls["seed"])
        if len(self.plan) != len(expected) or {*self.plan} != {*expected}:
            raise IdentityError(
                f"{self.layout.plan}: changed since the run was frozen; "
                "restore it from a copy, or begin a new run"
            )
