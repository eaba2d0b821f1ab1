"""Makes a run directory from a campaign, and opens one again: what the engine is given to execute."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, Self

from core.banks.case import Bank
from core.banks.check import check_bank
from core.banks.derivation import Derivation
from core.banks.meta import read_meta
from core.banks.pinning import fitted, pinned_to_bank
from core.banks.reading import read_bank
from core.banks.stats import Ambiguity, ambiguity
from core.campaign.identity import campaign_controls, candidate_controls, cell_identity, require_same
from core.campaign.manifest import Budgets, Campaign, Candidate, Limits
from core.campaign.places import configuration_path
from core.campaign.plan import Planned, make_plan, plan_lines
from core.campaign.recorded import demand_recorded
from core.campaign.reuse import TakenOver, open_source, take_over
from core.campaign.sources import FrozenSource, freeze, read_frozen, verify_frozen
from core.campaign.staging import demand_new, demand_possible, discard_stage, open_stage, publish_stage
from core.campaign.written import candidate_entries, configuration_digests, follow_move, verify_written
from core.durable import write_durably
from core.engine.system import refuse_unfit_system
from core.errors import IdentityError, InputError, ProblemsError
from core.git import GitRepository
from core.repositories import RepositoryEntry
from core.retrievers.protocol import Retriever
from core.retrievers.registry import create_retriever
from core.run.layout import Operation, RunLayout
from core.run.lock import RUNNING, RunLock
from core.run.record import RunRecord, campaign_identity, read_cases, read_run, refuse_links, stored

OnFrozen = Callable[[FrozenSource], None]


@dataclass(frozen=True)
class OpenRun:
    """A run whose lock is held: everything needed to execute it.

    `only` limits new attempts to these operations; `taken_over` says what another run gave to this one.
    """

    record: RunRecord
    retrievers: Mapping[str, Retriever]
    bank: Bank
    plan: tuple[Planned, ...]
    limits: Limits
    lock: RunLock
    only: frozenset[Operation] | None = None
    taken_over: TakenOver | None = None
    frozen: tuple[FrozenSource, ...] = ()  # sources that were frozen just now
    resumed: bool = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give the run's lock back; harmless when repeated, and after `execute`, which does so itself."""
        self.lock.release()

    @property
    def layout(self) -> RunLayout:
        """The run's paths."""
        return self.record.layout


def create_run(
    campaign: Campaign,
    output: Path,
    on_frozen: OnFrozen = lambda source: None,
    reuse: Path | None = None,
) -> OpenRun:
    """Check everything, freeze it and make the run directory; its lock is held on return.

    `reuse` is another run, whose verified successes in equal cells are taken over; it is only read. The
    directory appears whole under its name or not at all. Raises InputError, BusyError, and IdentityError
    where evidence that would be taken over was changed.
    """
    refuse_unfit_system()
    output = output.absolute()
    demand_possible(output)
    demand_new(output)
    earlier = open_source(reuse) if reuse is not None else None
    bank, entries = fitted(read_bank(campaign.cases), campaign.repositories, str(campaign.cases))
    retrievers = create_retrievers(campaign.candidates)
    candidates = ready_controls(campaign.candidates, retrievers)
    demand_recorded(bank, retrievers, campaign.cutoffs)
    ambiguities = demand_sound(bank, entries, campaign.cases)
    stage = open_stage(output)
    try:
        layout = RunLayout(stage.folder)
        layout.repositories.mkdir(mode=0o700)
        sources = {}
        for entry in entries:
            with GitRepository(entry.path) as repository:
                sources[entry.label] = freeze(repository, entry, layout.repositories)
            on_frozen(sources[entry.label])
        record = _record(
            campaign, bank, entries, sources, candidates, ambiguities, retrievers, RunLayout(output)
        )
        plan = _plan(record, bank, retrievers)
        _write(layout, record, bank, plan, retrievers)
        taken = take_over(earlier, record, layout, bank, plan, retrievers) if earlier else None
        publish_stage(stage)
    except BaseException as error:
        discard_stage(stage)
        if isinstance(error, OSError):
            raise InputError(
                f"{output}: the run cannot be written: {error.strerror or error}; nothing was left behind: "
                "make room, or name another directory"
            ) from None
        raise
    return OpenRun(
        record,
        retrievers,
        bank,
        plan,
        campaign.limits,
        stage.lock,
        taken_over=taken,
        frozen=tuple(sources.values()),
    )


def reopen_run(
    output: Path,
    campaign: Campaign | None = None,
    lock: RunLock | None = None,
    only: frozenset[Operation] | None = None,
    purpose: str = RUNNING,
) -> OpenRun:
    """Open a run to go on with it, by its own frozen campaign or by one that must equal it.

    `lock` is the run's, where the caller holds it already; it is released where this fails. `only` gives new
    attempts to these operations alone (and to the other queries of a cell whose index must be built anew),
    and leaves every other failure as it is. `purpose` is told to whoever finds the lock held: a run that is
    only looked at is executed by nobody. Raises IdentityError that lists how the campaign, the sources or the
    files differ, and BusyError.
    """
    record = read_run(output)
    refuse_links(record.layout)
    if lock is None:
        lock = RunLock(record.layout.lock, purpose)
        lock.acquire()
    try:
        bank = read_cases(record)
        given = campaign
        campaign = frozen_campaign(record) if given is None else given
        retrievers = create_retrievers(campaign.candidates)
        sources = _verified_sources(record)
        wanted = bank if campaign.cases == record.layout.cases else read_bank(campaign.cases)
        controls = campaign_controls(
            campaign, wanted, sources, ready_controls(campaign.candidates, retrievers)
        )
        require_same(record.controls, stored(controls), record.layout.root)
        if given is not None:
            entries = pinned_to_bank(bank, given.repositories, str(given.cases))
            _require_same_privacy(record, entries)
        plan = _plan(record, bank, retrievers)
        moved = verify_written(record, plan, retrievers)
        if moved:
            record = follow_move(record, campaign.candidates, retrievers, moved)
    except BaseException:
        lock.release()
        raise
    return OpenRun(record, retrievers, bank, plan, campaign.limits, lock, only=only, resumed=True)


def create_retrievers(candidates: Iterable[Candidate]) -> dict[str, Retriever]:
    """Return the retriever of each candidate; raises ProblemsError that names every bad entry."""
    retrievers, problems = {}, []
    for candidate in candidates:
        try:
            retrievers[candidate.id] = create_retriever(candidate.entry, candidate.base, candidate.source)
        except InputError as error:
            problems.append(str(error))
    if problems:
        raise ProblemsError("These candidates cannot be used:", problems)
    return retrievers


def demand_sound(bank: Bank, entries: Sequence[RepositoryEntry], cases: Path) -> dict[str, Ambiguity]:
    """Return how ambiguous each repository's cases are, of a bank that its sources bear out.

    Raises ProblemsError where they do not; `cases` is the file that the bank was read from.
    """
    ambiguities: dict[str, Ambiguity] = {}

    def on_derived(derivation: Derivation) -> None:
        ambiguities[derivation.label] = ambiguity(bank.of_repository(derivation.label), derivation.cases)

    meta = read_meta(cases)
    findings = check_bank(bank, entries, meta.python if meta else None, on_derived).findings
    if findings:
        lines = [f"{finding.case_id}: {finding.sentence}" for finding in findings[:20]]
        if len(findings) > 20:
            lines.append(f"and {len(findings) - 20} more")
        raise ProblemsError(
            "The sources do not bear out this bank (`boresight bank check` lists all; "
            "build it anew rather than editing it):",
            lines,
        )
    return ambiguities


def frozen_campaign(record: RunRecord) -> Campaign:
    """Return the campaign that a run was frozen with."""
    controls, about = record.controls, record.about
    try:
        return Campaign(
            name=about["name"],
            cases=record.layout.cases,
            repositories=(),
            candidates=tuple(
                Candidate(
                    item["id"], item["entry"], Path(item["base"]), f"{record.layout.campaign} ({item['id']})"
                )
                for item in about["candidates"]
            ),
            baseline=controls["baseline"],
            cutoffs=tuple(controls["cutoffs"]),
            limits=Limits(**controls["limits"]),
            budgets=Budgets(**controls["budgets"]),
            seed=controls["seed"],
        )
    except (KeyError, TypeError, ValueError):
        raise IdentityError(
            f"{record.layout.campaign}: fields are missing; restore it from a copy, or begin a new run"
        ) from None


def ready_controls(
    candidates: Iterable[Candidate], retrievers: Mapping[str, Retriever]
) -> dict[str, dict[str, Any]]:
    """Return the controls of each candidate; raises ProblemsError that names all that cannot run here."""
    controls, problems = {}, []
    for candidate in candidates:
        try:
            controls[candidate.id] = candidate_controls(candidate.entry, retrievers[candidate.id])
        except InputError as error:
            problems.append(f"{candidate.id}: {error}")
    if problems:
        raise ProblemsError("These candidates are not ready:", problems)
    return controls


def _require_same_privacy(record: RunRecord, entries: Sequence[RepositoryEntry]) -> None:
    """Refuse a change that binds no result, but decides what reports may tell."""
    frozen = {label: {"private": label in record.private} for label in record.repositories}
    found = {entry.label: {"private": entry.private} for entry in entries}
    require_same({"repositories": frozen}, {"repositories": found}, record.layout.root)


def _record(
    campaign: Campaign,
    bank: Bank,
    entries: Sequence[RepositoryEntry],
    sources: Mapping[str, FrozenSource],
    candidates: Mapping[str, Mapping[str, Any]],
    ambiguities: Mapping[str, Ambiguity],
    retrievers: Mapping[str, Retriever],
    layout: RunLayout,
) -> RunRecord:
    controls = stored(campaign_controls(campaign, bank, sources, candidates))
    cells = {
        f"{candidate}/{label}": cell_identity(controls, candidate, label)
        for candidate in candidates
        for label in sources
    }
    about = {
        "name": campaign.name,
        "boresight": version("boresight"),
        "created_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "order": {"candidates": list(candidates), "repositories": list(sources)},
        "private": [entry.label for entry in entries if entry.private],
        "candidates": candidate_entries(campaign.candidates),
        "configurations": configuration_digests(retrievers),
        "bank_notes": {label: found._asdict() for label, found in ambiguities.items()},
        "urls": {entry.label: entry.url for entry in entries if entry.url and not entry.private},
    }
    return RunRecord(layout, campaign_identity(controls, cells), controls, cells, stored(about))


def _plan(record: RunRecord, bank: Bank, retrievers: Mapping[str, Retriever]) -> tuple[Planned, ...]:
    features = {name: retrievers[name].features for name in record.candidates}
    return make_plan(bank, record.repositories, features, record.controls["seed"])


def _write(
    layout: RunLayout,
    record: RunRecord,
    bank: Bank,
    plan: Sequence[Planned],
    retrievers: Mapping[str, Retriever],
) -> None:
    for folder in (layout.configurations, layout.operations, layout.root / "state"):
        folder.mkdir(mode=0o700)
    for name, retriever in retrievers.items():
        write_durably(configuration_path(layout, name, retriever), retriever.configuration().text)
    # A run inside a repository holds frozen sources that nobody means to commit.
    write_durably(layout.root / ".gitignore", b"*\n")
    write_durably(layout.cases, bank.raw)
    write_durably(layout.plan, plan_lines(plan))
    write_durably(layout.campaign, record.encode())


def frozen_sources(record: RunRecord) -> tuple[FrozenSource, ...]:
    """Return what was frozen of each repository; raises InputError where a description is unreadable."""
    found = (read_frozen(record.layout.repositories, label) for label in record.repositories)
    return tuple(source for source in found if source is not None)


def _verified_sources(record: RunRecord) -> dict[str, FrozenSource]:
    sources, changed = {}, []
    for label in record.repositories:
        source = read_frozen(record.layout.repositories, label)
        if source is None:
            changed.append(f"{label}: missing: the whole tree")
            continue
        sources[label] = source
        found = verify_frozen(record.layout.repositories, source)
        if found and label in record.private:
            found = [f"{len(found)} files differ (a private repository's paths are not told)"]
        changed += [f"{label}: {line}" for line in found]
    if changed:
        shown = [f"  - {line}" for line in changed[:20]]
        more = [f"  … and {len(changed) - 20} more"] if len(changed) > 20 else []
        raise IdentityError(
            "\n".join(
                [
                    f"{record.layout.root}: frozen sources were changed; restore them or begin a new run:",
                    *shown,
                    *more,
                ]
            )
        )
    return sources
