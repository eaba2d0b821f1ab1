"""From a run's evidence to its reports: verify, read rankings, score, and write what is derived."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, cast

from core.banks.case import Case
from core.canonical import write_durably
from core.errors import BoresightError
from core.rankings import Observation, RunReader
from core.reports.examples import Example, disagreements
from core.reports.facts import CandidateFacts, RepositoryFacts, RunFacts
from core.reports.markdown import markdown
from core.reports.summary import summary_bytes
from core.retrievers.protocol import AnswerError, Retriever
from core.run.evidence import evidence_changed
from core.run.lock import RunLock
from core.run.record import read_run
from core.scoring.aggregate import score
from core.scoring.matching import answered_query, unanswered_query
from core.scoring.records import (
    CandidatePlan,
    Form,
    IndexOutcome,
    PlannedCase,
    ProbeOutcome,
    QueryScore,
    Scoreboard,
    ScoringPlan,
    Status,
)


class Rescored(NamedTuple):
    """A run's scoreboard with the per-query outcomes that it was made of."""

    reader: RunReader
    facts: RunFacts
    board: Scoreboard
    queries: tuple[QueryScore, ...]
    examples: tuple[Example, ...]
    unaccepted: int  # planned operations without an accepted result


def rescore(path: Path, *, write: bool = True) -> Rescored:
    """Score a run from its retained evidence alone, and rewrite its derived reports.

    Raises IdentityError that names all evidence that differs from its digests, and BusyError where it would
    write while another process executes the run; nothing is written then.
    """
    if not write:
        return _rescored(path, write=False)
    lock = RunLock(read_run(path).layout.lock)
    lock.acquire()
    try:
        return _rescored(path, write=True)
    finally:
        lock.release()


def _rescored(path: Path, *, write: bool) -> Rescored:
    reader = RunReader(path)
    outcomes = _Outcomes(reader)
    board = score(scoring_plan(reader), outcomes.queries, outcomes.probes, outcomes.indexes)
    facts = run_facts(reader)
    examples = disagreements(board, outcomes.queries, reader.bank.cases, facts.private)
    if write:
        try:
            write_durably(reader.layout.summary, summary_bytes(board, facts, examples))
            write_durably(reader.layout.summary_text, markdown(board, facts, examples).encode())
        except OSError as error:
            raise BoresightError(
                f"{reader.layout.root}: reports cannot be written: {error.strerror or error}; "
                "the evidence is whole: make room, then `boresight rescore`"
            ) from None
    return Rescored(reader, facts, board, tuple(outcomes.queries), examples, outcomes.unaccepted)


def scoring_plan(reader: RunReader) -> ScoringPlan:
    """Return the facts that scoring measures a run's outcomes against."""
    controls = reader.record.controls
    return ScoringPlan(
        candidates=tuple(
            CandidatePlan(
                name,
                level=retriever.features.level,
                form=_form(retriever),
                probes=retriever.features.probe,
            )
            for name, retriever in reader.retrievers.items()
        ),
        repositories=reader.record.repositories,
        cases=tuple(planned_case(case) for case in reader.bank.cases),
        cutoffs=tuple(controls["cutoffs"]),
        baseline=controls["baseline"],
        seed=controls["seed"],
        memory_budget_mib=controls["budgets"]["memory_budget_mib"],
        max_index_seconds=controls["budgets"]["max_index_seconds"],
    )


def run_facts(reader: RunReader) -> RunFacts:
    """Return what reports say of a run besides its scores."""
    record = reader.record
    controls, about = record.controls, record.about
    runtime = controls["runtime"]
    return RunFacts(
        name=about["name"],
        identity=record.identity,
        bank_format=controls["bank"]["format"],
        bank_sha256=controls["bank"]["sha256"],
        repositories=tuple(
            RepositoryFacts(label, controls["repositories"][label]["commit"], label in record.private)
            for label in record.repositories
        ),
        candidates=tuple(
            CandidateFacts(
                name,
                controls["candidates"][name]["retriever"],
                controls["candidates"][name]["model"],
                controls["candidates"][name]["version"],
                _form(retriever),
            )
            for name, retriever in reader.retrievers.items()
        ),
        boresight=runtime["boresight"],
        python=runtime["python"],
        platform=f"{runtime['system']} {runtime['machine']}, {runtime['cpu']['model']}",
        created_at=about["created_at"],
        index_timeout_s=controls["limits"]["index_timeout"],
        query_timeout_s=controls["limits"]["query_timeout"],
    )


def _form(retriever: Retriever) -> Form:
    return "session" if retriever.features.session else "one-shot"


def planned_case(case: Case) -> PlannedCase:
    """Return what scoring must know of a case."""
    return PlannedCase(
        case.id, case.repo, case.intent, case.channel, tuple(target.path for target in case.targets)
    )


class _Outcomes:
    """One pass over the evidence; no ranking is held."""

    def __init__(self, reader: RunReader) -> None:
        self.queries: list[QueryScore] = []
        self.probes: list[ProbeOutcome] = []
        self.indexes: list[IndexOutcome] = []
        self.unaccepted = 0
        self._reader = reader
        self._cases = {case.id: (case, planned_case(case)) for case in reader.bank.cases}
        for observation in reader.observations():
            self._take(observation)
        self.queries += self._unsupported()
        if reader.changed:
            raise evidence_changed(reader.changed, reader.layout.root)

    def _take(self, seen: Observation) -> None:
        operation = seen.planned.operation
        self.unaccepted += seen.status != "accepted"
        status = cast(Status, {"accepted": "answered"}.get(seen.status, seen.status))
        if operation.kind == "index":
            self.indexes.append(
                IndexOutcome(
                    operation.candidate,
                    operation.repository,
                    status,
                    elapsed_s=seen.elapsed_s,
                    units=seen.units,
                    sampled_peak_rss_bytes=seen.sampled_peak_rss_bytes,
                    timed_out=seen.timed_out,
                    error_class=seen.error_class,
                )
            )
        elif operation.kind == "ctx":
            self.probes.append(
                ProbeOutcome(
                    operation.candidate,
                    operation.repository,
                    str(operation.case),
                    status,
                    elapsed_s=seen.elapsed_s,
                    timed_out=seen.timed_out,
                    error_class=seen.error_class,
                    sampled_peak_rss_bytes=seen.sampled_peak_rss_bytes,
                )
            )
        else:
            self.queries.append(self._query(seen, status))

    def _query(self, seen: Observation, status: Status) -> QueryScore:
        operation = seen.planned.operation
        case, planned = self._cases[str(operation.case)]
        error_class = seen.error_class
        if status == "answered":
            try:
                return answered_query(
                    operation.candidate,
                    planned,
                    case.targets,
                    self._reader.ranking(seen),
                    elapsed_s=seen.elapsed_s,
                    sampled_peak_rss_bytes=seen.sampled_peak_rss_bytes,
                )
            except AnswerError as error:
                self.unaccepted += 1
                status, error_class = "failed", error.kind
        return unanswered_query(
            operation.candidate,
            planned,
            status,
            error_class=error_class,
            elapsed_s=seen.elapsed_s,
            timed_out=seen.timed_out,
            sampled_peak_rss_bytes=seen.sampled_peak_rss_bytes,
        )

    def _unsupported(self) -> Iterator[QueryScore]:
        """Yield the cases whose channel a candidate does not answer; they were never planned."""
        for name, retriever in self._reader.retrievers.items():
            channels = retriever.features.channels
            for case, planned in self._cases.values():
                if case.channel not in channels:
                    yield unanswered_query(name, planned, "unsupported")
