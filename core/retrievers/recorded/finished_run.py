"""Reads what a candidate of a finished run answered, as rankings in Boresight's own form."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from core.canonical import canonical_json, sha256_of
from core.errors import IdentityError, InputError
from core.ranking import Location, Ranking
from core.rankings import Observation, RunReader
from core.retrievers.answers import RANKING_FORMAT
from core.retrievers.protocol import AnswerError, Features
from core.text import printable


class Failed(NamedTuple):
    """A query that failed in the run, by the word that failures are grouped by."""

    error_class: str


class FinishedCandidate(NamedTuple):
    """A candidate's answers by case: a ranking as JSON, or how it failed; `queries` are their texts."""

    identity: str
    features: Features
    depth: int
    answers: Mapping[str, bytes | Failed]
    queries: Mapping[str, str]

    @property
    def digest(self) -> str:
        """The SHA-256 of all answers."""
        return sha256_of(
            {
                case: answer.error_class if isinstance(answer, Failed) else answer.decode("utf-8")
                for case, answer in self.answers.items()
            }
        )


def read_candidate(run: Path, candidate: str) -> FinishedCandidate:
    """Read a candidate's answers from a run's verified evidence.

    A query without a finished attempt is no answer. Raises InputError where the run or the candidate is not
    there, where its evidence differs from its digests, or where some query was never finished.
    """
    try:
        reader = RunReader(run)
    except (IdentityError, InputError) as error:
        raise InputError(f"config.run: {error}") from None
    if candidate not in reader.record.candidates:
        raise InputError(
            f"config.candidate: found {printable(candidate, 60)!r}, which is none of the run "
            f"{printable(str(run))}; choose from {', '.join(reader.record.candidates)}"
        )
    answers: dict[str, bytes | Failed] = {}
    unfinished = 0
    for seen in reader.observations():
        operation = seen.planned.operation
        if operation.candidate != candidate or operation.kind != "primary":
            continue
        if seen.status == "accepted":
            answers[str(operation.case)] = _answer(reader, seen)
        elif seen.status == "failed":
            answers[str(operation.case)] = Failed(seen.error_class or "unknown")
        else:
            unfinished += 1
    if reader.changed:
        raise InputError(
            f"config.run: {printable(str(run))}: {len(reader.changed)} files differ from their digests; "
            f"`boresight verify {printable(str(run))}` names them"
        )
    if unfinished:
        raise InputError(
            f"config.run: {unfinished} queries of {candidate!r} have no finished attempt in "
            f"{printable(str(run))}; `boresight resume` it first"
        )
    return FinishedCandidate(
        reader.record.identity,
        reader.features[candidate],
        int(reader.record.controls["depth"]),
        answers,
        {name: case.query for name, case in reader.cases.items()},
    )


def _answer(reader: RunReader, seen: Observation) -> bytes | Failed:
    try:
        return ranking_json(reader.ranking(seen))
    except AnswerError as error:
        return Failed(error.kind)


def ranking_json(ranking: Ranking) -> bytes:
    """Return a ranking in the form that `core.retrievers.answers` reads."""
    return canonical_json({"format": RANKING_FORMAT, "results": [_row(each) for each in ranking]}) + b"\n"


def _row(location: Location) -> dict[str, object]:
    return {name: value for name, value in location._asdict().items() if value is not None}
