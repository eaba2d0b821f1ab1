"""What a report says of a run besides its scores, and which of its repositories are private."""

from __future__ import annotations

from typing import NamedTuple

from core.scoring.records import Form


class RepositoryFacts(NamedTuple):
    """A repository by its label and pinned commit; nothing else of a private one is ever reported."""

    label: str
    commit: str
    private: bool = False


class CandidateFacts(NamedTuple):
    """What a candidate is, in the words of its manifest."""

    candidate: str
    retriever: str
    model: str | None = None
    version: str | None = None
    form: Form | None = None  # None where nothing was executed, as in a replayed run
    undigested: bool = False  # its model is found by name: no digest of its weights is in the identity


class TakenOverFacts(NamedTuple):
    """A run that measured some of this run's results, and how many operations that are."""

    run: str
    identity: str
    operations: int


class Disturbance(NamedTuple):
    """How many accepted operations ran beside another campaign on the machine, of all that were planned."""

    operations: int = 0
    planned: int = 0


class RunFacts(NamedTuple):
    """A run's frozen facts, from its identity and its evidence, so that a rescore reports the same bytes.

    `created_at` is the moment of freezing as it was recorded (UTC, ISO 8601), never the present one.
    `platform` is the system, machine and processor in words: what latencies depend on. `ambiguous` counts the
    bank's cases that have further answers in their repository; None where that was not recorded.
    """

    name: str
    identity: str
    bank_format: str
    bank_sha256: str
    repositories: tuple[RepositoryFacts, ...]
    candidates: tuple[CandidateFacts, ...]
    boresight: str
    python: str
    platform: str
    created_at: str | None = None
    index_timeout_s: float | None = None
    query_timeout_s: float | None = None
    taken_over: tuple[TakenOverFacts, ...] = ()
    disturbed: Disturbance = Disturbance()
    ambiguous: int | None = None

    @property
    def private(self) -> frozenset[str]:
        """The labels of private repositories."""
        return frozenset(facts.label for facts in self.repositories if facts.private)
