"""What a retrieval system must tell Boresight so that its answers can be measured.

A retriever describes commands and reads their output; the engine alone runs what is measured, keeps the
raw output, and hands it back to be read. An executable is asked what it is only where something is about to
run (for a fingerprint, a configuration, a command's options), never to read what it left.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, Protocol, runtime_checkable

from core.ranking import Channel, Level, Ranking


class AnswerError(Exception):
    """A retriever's output cannot be read as an answer; the message says where and why.

    `kind` is a short stable word for grouping failures, such as `invalid_json` or `outside_repository`.
    """

    def __init__(self, kind: str, message: str) -> None:
        self.kind = kind
        super().__init__(message)


class UnpassableError(Exception):
    """A query cannot be handed to the retriever at all (a NUL in a command-line argument)."""


class Place(NamedTuple):
    """Where a cell lives on disk, all absolute."""

    repository: Path  # the frozen tree, or the cell's own copy where the retriever writes into it
    state: Path  # the retriever's own; an index attempt finds in it but `home`, `tmp` and its own copy
    configuration: Path  # the rendered configuration


class Step(NamedTuple):
    """One process to start; queries stand after `--` in argv."""

    argv: tuple[str, ...]
    cwd: Path
    environment: Mapping[str, str] = {}  # added to the allow-listed environment, and kept as evidence
    secrets: tuple[str, ...] = ()  # names of variables passed on as well; their values are kept nowhere
    empty_exit_codes: tuple[int, ...] = ()  # of a query or probe: nothing was found, as grep's 1


class Features(NamedTuple):
    """What a candidate can do; frozen with its run, so that a reader needs no executable to know."""

    channels: frozenset[Channel]
    probe: bool  # has a context probe
    session: bool  # can answer one JSON line per query from one process per cell
    writes_repository: bool  # its index step writes into the repository: it works on a copy
    relocatable: bool  # its state may be moved to another path and still be used
    level: Level  # the finest matching level that its locations support
    indexes: bool = True  # builds an index; else it has no index steps, and indexing has no cost
    executes: bool = True  # starts processes; else it is `Recorded`: nothing is timed, nothing is warmed up


class Answer(NamedTuple):
    """A query's output as read: the ranking, and how many rows were dropped as duplicates or surplus."""

    ranking: Ranking
    duplicates: int = 0
    surplus: int = 0


class Context(NamedTuple):
    """A probe's output as read: the text that an agent would be given, and where it came from."""

    text: str
    ranking: Ranking


class Configuration(NamedTuple):
    """A rendered configuration, and what of it belongs to the candidate's identity.

    `governing` is the same text with what may differ between machines (where a model's file lies) put in
    words that do not; None where the text holds nothing of the kind. Digests of the files themselves
    belong into the fingerprint.
    """

    suffix: str
    text: bytes
    governing: bytes | None = None

    @property
    def identity(self) -> bytes:
        """The bytes that the candidate's identity covers."""
        return self.text if self.governing is None else self.governing

    def differs_by_place(self, written: bytes) -> bool:
        """Whether `written` is this text but for what may differ between machines: the ends of such lines."""
        ruling, ours, theirs = (text.split(b"\n") for text in (self.identity, self.text, written))
        return len(ruling) == len(ours) == len(theirs) and all(
            other == line if line == rule else other.startswith(_common_beginning(line, rule))
            for rule, line, other in zip(ruling, ours, theirs, strict=True)
        )


def _common_beginning(line: bytes, other: bytes) -> bytes:
    length = min(len(line), len(other))
    return line[: next((place for place in range(length) if line[place] != other[place]), length)]


class Missing(NamedTuple):
    """A part that a retriever needs and does not find, and the command or change that mends it."""

    part: str
    remedy: str


class Diagnosis(NamedTuple):
    """What `boresight doctor` and the manifest screen tell of a retriever on this machine."""

    retriever: str
    version: str | None  # None where it is not installed, or has no one version (a user's own command)
    answers: str  # in words: channels, probe, session
    missing: tuple[Missing, ...] = ()

    @property
    def is_ready(self) -> bool:
        """Whether a campaign could use it now."""
        return not self.missing


class Completeness(NamedTuple):
    """What an index holds, counted from its own state rather than from what its command printed."""

    units: int
    details: Mapping[str, int]
    digest: str | None = None  # SHA-256 over what queries read, where queries leave that unchanged


@runtime_checkable
class Retriever(Protocol):
    """One candidate's configuration of a retrieval system."""

    @property
    def features(self) -> Features:
        """What this retriever can do."""

    def configuration(self) -> Configuration:
        """Return the rendered configuration; raises InputError where it cannot be rendered here."""

    def fingerprint(self) -> Mapping[str, Any]:
        """Return what its answers depend on: versions, digests of executables, models and tokenizers.

        Raises InputError with the command that mends it where a part is missing.
        """

    def index(self, place: Place) -> tuple[Step, ...]:
        """Return the steps that build the index from empty state, in order; none where there is no index."""

    def query(self, place: Place, channel: Channel, text: str, limit: int) -> Step:
        """Return the step that answers one primary query; raises UnpassableError."""

    def probe(self, place: Place, text: str, limit: int) -> Step:
        """Return the step that fetches context for one query; raises UnpassableError."""

    def session(self, place: Place) -> Step | None:
        """Return the step that starts a session, or None for one-shot commands."""

    def request(self, kind: str, channel: Channel, text: str, limit: int) -> bytes:
        """Return the line, without its newline, that asks a session; kind is `query` or `probe`.

        The same question makes the same line. Raises UnpassableError.
        """

    def is_answer_to(self, request: bytes, stdout: bytes) -> bool:
        """Tell whether a session's line answers this request, and not an earlier one."""

    def read_index(self, stdout: bytes, place: Place) -> None:
        """Check what the index steps printed, one after the other; raises AnswerError."""

    def verify_index(self, place: Place) -> Completeness:
        """Count the index from its own state; raises AnswerError where it is empty or incomplete."""

    def read_ranking(self, stdout: bytes, place: Place, limit: int) -> Answer:
        """Read a query's output; raises AnswerError."""

    def read_context(self, stdout: bytes, place: Place, limit: int) -> Context:
        """Read a probe's output; raises AnswerError."""


@runtime_checkable
class Recorded(Protocol):
    """What a retriever also has whose answers were given before: `features.executes` is False."""

    @property
    def recorded_depth(self) -> int | None:
        """How many results each answer was asked for, None where nobody knows."""

    def recorded_queries(self) -> Mapping[str, str | None]:
        """Return the cases that are answered, by id, each with its query's text where that is known."""

    def recorded_answer(self, case: str) -> bytes:
        """Return what is kept as the stdout of a case's query; raises AnswerError where that had failed.

        A case that is not among `recorded_queries` is answered with nothing found.
        """
