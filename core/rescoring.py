"""From a run's outcomes to its reports: score them, and write what is derived."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from core.durable import write_durably
from core.errors import BoresightError
from core.graded_outcomes import read_graded
from core.outcomes import Outcomes, Tell, planned_cases, read_outcomes, tell_nobody
from core.rankings import RunReader
from core.reports.examples import Example, disagreements
from core.reports.facts import CandidateFacts, Disturbance, RepositoryFacts, RunFacts, TakenOverFacts
from core.reports.markdown import markdown
from core.reports.summary import summary_bytes
from core.retrievers.protocol import Features
from core.run.lock import RunLock
from core.run.record import read_run, refuse_links
from core.scoring.aggregate import score
from core.scoring.graded_records import GradedBoard
from core.scoring.records import CandidatePlan, Form, QueryScore, Scoreboard, ScoringPlan
from core.scoring.relevance import Embedding
from core.sought import sought_by


class Rescored(NamedTuple):
    """A run's scoreboard with the outcomes that it was made of."""

    outcomes: Outcomes
    facts: RunFacts
    board: Scoreboard
    examples: tuple[Example, ...]
    graded: GradedBoard | None = None

    @property
    def reader(self) -> RunReader:
        """The run, open for reading."""
        return self.outcomes.reader

    @property
    def queries(self) -> tuple[QueryScore, ...]:
        """The outcome of each primary query."""
        return self.outcomes.queries

    @property
    def unaccepted(self) -> int:
        """Planned operations without an accepted result."""
        return self.outcomes.unaccepted


def rescore(
    path: Path, *, write: bool = False, tell: Tell = tell_nobody, embedding: Embedding | None = None
) -> Rescored:
    """Score a run from its retained evidence alone; with `write`, rewrite its derived reports.

    An embedding function adds the columns of a graded bank that need one. A caller that writes holds the
    run's lock. Raises IdentityError that names all evidence that differs from
    its digests; nothing is written then. Where no score is wanted, `read_outcomes` spares the statistics.
    """
    scored = score_outcomes(read_outcomes(path, tell), embedding)
    if write:
        _write_reports(scored)
    return scored


def score_outcomes(outcomes: Outcomes, embedding: Embedding | None = None) -> Rescored:
    """Score what became of a run's operations; nothing is read or written."""
    reader = outcomes.reader
    board = score(scoring_plan(reader), outcomes.queries, outcomes.probes, outcomes.indexes)
    facts = run_facts(reader)._replace(
        taken_over=tuple(TakenOverFacts(*origin) for origin in outcomes.origins),
        disturbed=Disturbance(outcomes.disturbed, outcomes.planned),
    )
    examples = disagreements(board, outcomes.queries, reader.bank.cases, facts.private)
    return Rescored(outcomes, facts, board, examples, read_graded(reader, embedding))


def _write_reports(scored: Rescored) -> None:
    layout = scored.reader.layout
    derived = (scored.board, scored.facts, scored.examples, scored.graded)
    try:
        write_durably(layout.summary, summary_bytes(*derived))
        write_durably(layout.summary_text, markdown(*derived).encode())
    except OSError as error:
        raise BoresightError(
            f"{layout.root}: reports cannot be written: {error.strerror or error}; "
            "the evidence is whole: make room, then `boresight rescore`"
        ) from None


def rescore_run(path: Path, embedding: Embedding | None = None) -> Rescored:
    """Verify and score a run and rewrite its reports under its lock; raises as `rescore`, and BusyError."""
    layout = read_run(path).layout
    refuse_links(layout)
    lock = RunLock(layout.lock, purpose="rescoring")
    lock.acquire()
    try:
        return rescore(path, write=True, embedding=embedding)
    finally:
        lock.release()


def markdown_report(path: Path) -> str:
    """Return a run's report as Markdown, derived from its evidence now; raises as `rescore`."""
    scored = rescore(path)
    return markdown(scored.board, scored.facts, scored.examples, scored.graded)


def scoring_plan(reader: RunReader) -> ScoringPlan:
    """Return the facts that scoring measures a run's outcomes against."""
    controls = reader.record.controls
    return ScoringPlan(
        candidates=tuple(
            CandidatePlan(
                name,
                level=features.level,
                form=_form(features),
                probes=features.probe,
                indexes=features.indexes and features.executes,
            )
            for name, features in reader.features.items()
        ),
        repositories=reader.record.repositories,
        cases=planned_cases(reader.bank),
        cutoffs=tuple(controls["cutoffs"]),
        baseline=controls["baseline"],
        seed=controls["seed"],
        memory_budget_mib=controls["budgets"]["memory_budget_mib"],
        max_index_seconds=controls["budgets"]["max_index_seconds"],
        sought=sought_by(controls["bank"]["format"]),
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
                _form(features),
                bool(controls["candidates"][name]["fingerprint"].get("undigested")),
            )
            for name, features in reader.features.items()
        ),
        boresight=about["boresight"],
        python=runtime["python"],
        platform=f"{runtime['system']} {runtime['machine']}, {runtime['cpu']['model']}",
        created_at=about["created_at"],
        index_timeout_s=controls["limits"]["index_timeout"],
        query_timeout_s=controls["limits"]["query_timeout"],
        ambiguous=_ambiguous(about.get("bank_notes") or {}, record.repositories),
    )


def _ambiguous(notes: Mapping[str, Mapping[str, int]], labels: Iterable[str]) -> int | None:
    """Count the bank's ambiguous cases; None unless that was recorded of each repository."""
    counts = [notes.get(label, {}).get("ambiguous") for label in labels]
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None


def _form(features: Features) -> Form | None:
    if not features.executes:
        return None
    return "session" if features.session else "one-shot"
