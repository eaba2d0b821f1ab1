"""Scores what exists already, as a candidate beside live ones: a TREC run file, or an older run's evidence.

    [[candidates]]
    id = "last-year"
    retriever = "replay"
    config = { run_file = "last-year.run", level = "exact" }      # as `boresight report --format trec` writes
    # or
    config = { run = "runs/first", candidate = "hybrid" }

Nothing is executed, so nothing of its cost is known. A case that a run file does not name counts as answered
with nothing found, as TREC has no other way to say so; a query that failed in the older run fails again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from core.canonical import canonical_json
from core.errors import ProblemsError
from core.ranking import CHANNELS, Channel, Level
from core.retrievers import answers
from core.retrievers.one_shot import OneShot
from core.retrievers.protocol import (
    Answer,
    AnswerError,
    Completeness,
    Configuration,
    Context,
    Diagnosis,
    Features,
    Place,
    Step,
)
from core.retrievers.recorded.trec_run import TrecRun, read_lines, read_trec_run
from core.text import printable
from core.validation import InputModel, validated

if TYPE_CHECKING:
    from core.retrievers.recorded.finished_run import FinishedCandidate


class ReplayConfig(InputModel):
    """The `config` of an entry; paths start from the manifest's base folder."""

    run_file: str | None = Field(default=None, min_length=1, description="a TREC run file")
    level: Level | None = Field(default=None, description="of a run file: the finest that its names tell")
    channels: list[Channel] | None = Field(
        default=None, min_length=1, description="of a run file: the channels that it was made for"
    )
    run: str | None = Field(default=None, min_length=1, description="instead: the folder of a finished run")
    candidate: str | None = Field(default=None, min_length=1, description="of a run: whose answers")


class ReplayEntry(InputModel):
    """A model manifest's entry for answers that were given before."""

    id: str
    retriever: Literal["replay"]
    engine: str | None = None
    model: str | None = None
    version: str | None = None
    dimension: int | None = Field(default=None, ge=1, le=65536)
    precision: str | None = None
    config: ReplayConfig


ENTRY = ReplayEntry
EXAMPLE: Mapping[str, Any] = {
    "id": "earlier",
    "retriever": "replay",
    "config": {"run": "runs/first", "candidate": "hybrid"},
}


def diagnose() -> Diagnosis:
    """Tell that nothing is needed but the file or the run that a manifest names."""
    return Diagnosis("replay", None, "what was answered before: emb and docs, without cost")


def create(entry: Mapping[str, Any], base: Path, name: str) -> FileReplay | RunReplay:
    """Return the retriever that an entry describes; raises ProblemsError. Nothing on disk is looked at."""
    config = validated(ReplayEntry, dict(entry), name).config
    problems = list(_contradictions(config))
    if problems:
        raise ProblemsError(f"{printable(name)} is not valid:", problems)
    if config.run is not None:
        return RunReplay(base / config.run, str(config.candidate))
    channels = frozenset(config.channels or CHANNELS)
    return FileReplay(base / str(config.run_file), config.level or "exact", channels)


class _Replay(OneShot):
    """What both kinds of replay share: there is no process to start, and no probe."""

    def index(self, place: Place) -> tuple[Step, ...]:
        """Return no step."""
        return ()

    def query(self, place: Place, channel: Channel, text: str, limit: int) -> Step:
        """Refuse: nothing is executed."""
        raise TypeError("a replay starts no process")

    def probe(self, place: Place, text: str, limit: int) -> Step:
        """Refuse: nothing is executed."""
        raise TypeError("a replay starts no process")

    def read_index(self, stdout: bytes, place: Place) -> None:
        """Take the nothing that was printed."""

    def read_context(self, stdout: bytes, place: Place, limit: int) -> Context:
        """Refuse: there is no probe."""
        raise AnswerError("no_probe", "a replay has no context")


class FileReplay(_Replay):
    """Implements `Retriever` and `Recorded` over a TREC run file."""

    def __init__(self, path: Path, level: Level, channels: frozenset[Channel]) -> None:
        self._path = path
        self._level: Level = level
        self._channels = channels

    @property
    def features(self) -> Features:
        """What its entry says of the file."""
        return _features(self._channels, self._level)

    def configuration(self) -> Configuration:
        """Return what of the entry is not the file."""
        told = {"channels": sorted(self._channels), "level": self._level, "source": "trec"}
        return Configuration("json", canonical_json(told) + b"\n")

    def fingerprint(self) -> Mapping[str, Any]:
        """Return the file's digest and counts; raises InputError that names its bad lines."""
        return {"run_file_sha256": self._file.sha256, "queries": len(self._file.queries)}

    def verify_index(self, place: Place) -> Completeness:
        """Count the queries and rows of the file."""
        return Completeness(len(self._file.queries), {"rows": self._file.rows})

    def read_ranking(self, stdout: bytes, place: Place, limit: int) -> Answer:
        """Read a query's lines; raises AnswerError."""
        ranking = read_lines(stdout)
        return Answer(ranking[:limit], surplus=max(len(ranking) - limit, 0))

    @property
    def recorded_depth(self) -> int | None:
        """None: a run file does not tell."""
        return None

    def recorded_queries(self) -> Mapping[str, str | None]:
        """Return the cases that the file names; it holds no query's text."""
        return dict.fromkeys(self._file.queries)

    def recorded_answer(self, case: str) -> bytes:
        """Return a case's lines, none where the file does not name it."""
        return self._file.queries.get(case, b"")

    @cached_property
    def _file(self) -> TrecRun:
        return read_trec_run(self._path)


class RunReplay(_Replay):
    """Implements `Retriever` and `Recorded` over a candidate's evidence in a finished run."""

    def __init__(self, run: Path, candidate: str) -> None:
        self._run = run
        self._candidate = candidate

    @property
    def features(self) -> Features:
        """What the candidate could answer, as its run was frozen; raises InputError."""
        return _features(self._source.features.channels, self._source.features.level)

    def configuration(self) -> Configuration:
        """Return what of the entry is no path."""
        return Configuration("json", canonical_json({"candidate": self._candidate, "source": "run"}) + b"\n")

    def fingerprint(self) -> Mapping[str, Any]:
        """Return the run's identity and the digest of its answers; raises InputError."""
        return {
            "run_identity": self._source.identity,
            "answers_sha256": self._source.digest,
            "queries": len(self._source.answers),
        }

    def verify_index(self, place: Place) -> Completeness:
        """Count the queries that the run has answers to."""
        return Completeness(len(self._source.answers), {})

    def read_ranking(self, stdout: bytes, place: Place, limit: int) -> Answer:
        """Read a query's ranking; raises AnswerError."""
        return answers.read_ranking(stdout, limit)

    @property
    def recorded_depth(self) -> int | None:
        """How many results each query of the run asked for."""
        return self._source.depth

    def recorded_queries(self) -> Mapping[str, str | None]:
        """Return the run's cases with their queries."""
        return {case: self._source.queries.get(case) for case in self._source.answers}

    def recorded_answer(self, case: str) -> bytes:
        """Return a case's ranking; raises AnswerError where its query had failed, or was not asked."""
        from core.retrievers.recorded.finished_run import Failed

        answer = self._source.answers.get(case)
        if answer is None:
            raise AnswerError("not_recorded", "the run has no such case")
        if isinstance(answer, Failed):
            raise AnswerError(answer.error_class, "this query had failed in the run that is replayed")
        return answer

    @cached_property
    def _source(self) -> FinishedCandidate:
        # Imported here: the readers of a run find retrievers, this one among them.
        from core.retrievers.recorded.finished_run import read_candidate

        return read_candidate(self._run, self._candidate)


def _features(channels: frozenset[Channel], level: Level) -> Features:
    return Features(
        channels=channels,
        probe=False,
        session=False,
        writes_repository=False,
        relocatable=True,
        level=level,
        indexes=False,
        executes=False,
    )


def _contradictions(config: ReplayConfig) -> Iterator[str]:
    if (config.run_file is None) == (config.run is None):
        found = "neither run_file nor run" if config.run is None else "both run_file and run"
        yield f"config: found {found}, expected one of them"
    elif config.run is not None:
        if config.candidate is None:
            yield "config.candidate: found nothing, expected the id of a candidate of that run"
        for name in ("level", "channels"):
            if getattr(config, name) is not None:
                yield f"config.{name}: the run itself tells; take it out"
    else:
        if config.level is None:
            yield (
                "config.level: found nothing, expected exact, span or file: the level that the file was "
                "exported at, which `boresight report --format trec` says"
            )
        if config.candidate is not None:
            yield "config.candidate: goes with run; a run file holds one candidate"
