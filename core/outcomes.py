"""What became of every planned operation of a run: one verified pass over its evidence, nothing scored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple, cast

from core.banks.case import Bank, Case
from core.banks.fields import HISTORICAL
from core.questions import Question
from core.rankings import Observation, RunReader
from core.retrievers.protocol import AnswerError
from core.run.evidence import Origin, evidence_changed
from core.scoring.matching import answered_query, unanswered_query
from core.scoring.records import IndexOutcome, PlannedCase, ProbeOutcome, QueryScore, Status

TELL_EVERY = 64  # operations

Tell = Callable[[int, int], None]
"""Is told the operations read and to read; what it raises, as where nobody waits any more, ends the pass."""


def tell_nobody(done: int, total: int) -> None:
    """Take no notice."""


class Outcomes(NamedTuple):
    """A run's outcomes, from evidence that holds its digests; no ranking is kept.

    `unaccepted` counts the planned operations without an accepted result, `disturbed` the accepted ones that
    ran while another campaign was measuring on the machine. `origins` says how many accepted results were
    measured by another run, by its name and identity.
    """

    reader: RunReader
    queries: tuple[QueryScore, ...]
    probes: tuple[ProbeOutcome, ...]
    indexes: tuple[IndexOutcome, ...]
    unaccepted: int
    disturbed: int
    origins: tuple[tuple[str, str, int], ...]

    @property
    def planned(self) -> int:
        """The number of planned operations."""
        return len(self.reader.plan)


def read_outcomes(path: Path, tell: Tell = tell_nobody, *, pass_over_changed: bool = False) -> Outcomes:
    """Read what became of each planned operation of a run; nothing is scored.

    Raises InputError where the folder is no run, IdentityError that names all evidence that differs from its
    digests. With `pass_over_changed` such evidence counts as missing, and `reader.changed` names it.
    """
    reader = RunReader(path)
    found = _Pass(reader, tell)
    if reader.changed and not pass_over_changed:
        raise evidence_changed(reader.changed, reader.layout.root)
    return Outcomes(
        reader,
        tuple(found.queries),
        tuple(found.probes),
        tuple(found.indexes),
        found.unaccepted,
        found.disturbed,
        tuple((*origin, count) for origin, count in sorted(found.origins.items())),
    )


def planned_cases(bank: Bank) -> tuple[PlannedCase, ...]:
    """Return what scoring must know of a bank's cases.

    Those that share a target file are one unit; graded questions are where they share a module of their
    highest grade, as nearly all share one that helps a little, and commits where they changed the same files,
    as chains of shared files would make nearly all one.
    """
    questions = bank.graded.questions if bank.graded else {}
    return tuple(planned_case(case, questions.get(case.id)) for case in bank.cases)


def planned_case(case: Case, question: Question | None = None) -> PlannedCase:
    """Return what scoring must know of a case, and of the graded question that it asks, where it is one."""
    paths = tuple(target.path for target in case.targets)
    unit = () if question is None else question.best
    if case.schema_version == HISTORICAL:
        unit = ("\0".join(paths),)
    return PlannedCase(case.id, case.repo, case.intent, case.channel, paths, unit)


class _Pass:
    """One pass over the evidence."""

    def __init__(self, reader: RunReader, tell: Tell) -> None:
        self.queries: list[QueryScore] = []
        self.probes: list[ProbeOutcome] = []
        self.indexes: list[IndexOutcome] = []
        self.unaccepted = 0
        self.disturbed = 0
        self.origins: Counter[tuple[str, str]] = Counter()
        self._reader = reader
        cases = zip(reader.bank.cases, planned_cases(reader.bank), strict=True)
        self._cases = {case.id: (case, planned) for case, planned in cases}
        for done, observation in enumerate(reader.observations(), start=1):
            self._take(observation)
            if done % TELL_EVERY == 0:
                tell(done, len(reader.plan))
        self.queries += self._unsupported()

    def _take(self, seen: Observation) -> None:
        if seen.planned.operation.kind == "index":
            features = self._reader.features[seen.planned.operation.candidate]
            if features.indexes and features.executes:  # else there is nothing to count or to time
                self.indexes.append(_index(seen))
            accepted = seen.status == "accepted"
        elif seen.planned.operation.kind == "ctx":
            self.probes.append(_probe(seen))
            accepted = seen.status == "accepted"
        else:
            query = self._query(seen)
            self.queries.append(query)
            accepted = query.status == "answered"
        self.unaccepted += not accepted
        self.disturbed += accepted and seen.disturbed
        self._count_origin(seen.origin)

    def _count_origin(self, origin: Origin | None) -> None:
        if origin is not None:
            self.origins[origin.name, origin.run] += 1

    def _query(self, seen: Observation) -> QueryScore:
        operation = seen.planned.operation
        case, planned = self._cases[str(operation.case)]
        status, error_class = _status(seen), seen.error_class
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
        for name, features in self._reader.features.items():
            for case, planned in self._cases.values():
                if case.channel not in features.channels:
                    yield unanswered_query(name, planned, "unsupported")


def _index(seen: Observation) -> IndexOutcome:
    operation = seen.planned.operation
    return IndexOutcome(
        operation.candidate,
        operation.repository,
        _status(seen),
        elapsed_s=seen.elapsed_s,
        units=seen.units,
        sampled_peak_rss_bytes=seen.sampled_peak_rss_bytes,
        timed_out=seen.timed_out,
        error_class=seen.error_class,
    )


def _probe(seen: Observation) -> ProbeOutcome:
    operation = seen.planned.operation
    return ProbeOutcome(
        operation.candidate,
        operation.repository,
        str(operation.case),
        _status(seen),
        elapsed_s=seen.elapsed_s,
        timed_out=seen.timed_out,
        error_class=seen.error_class,
        sampled_peak_rss_bytes=seen.sampled_peak_rss_bytes,
    )


def _status(seen: Observation) -> Status:
    return "answered" if seen.status == "accepted" else cast(Status, seen.status)
