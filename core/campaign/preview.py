"""What a campaign will cost and what it could show, told before it runs, and from what that is known."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from core.banks.case import Bank, Case
from core.banks.pinning import fitted
from core.banks.reading import read_bank
from core.campaign.depth import dense_depth, estimated_units, index_seconds
from core.campaign.jobs import create_retrievers
from core.campaign.manifest import Campaign, Candidate
from core.campaign.past_runs import PastRun, PastTimes, past_runs
from core.campaign.plan import make_plan
from core.outcomes import planned_case, planned_cases
from core.reports.wording import counted
from core.repositories import RepositoryEntry
from core.retrievers.protocol import Features
from core.scoring.records import PlannedCase
from core.scoring.significance import POWER_FACTOR, SMALLEST_UNITS_FOR_POWER
from core.scoring.units import group_units, repository_sizes
from core.text import printable

ASSUMED_SHARE = 0.5  # of cases that come out differently with two candidates, where no run tells
WITHIN_FILE = 0.1  # assumed correlation of the differences of cases that share a file
ENGINE_S = 0.006  # what measuring adds to each operation
_SHOWN = 3


class IndexEstimate(NamedTuple):
    """How long dense candidates that no past run tells of will index, from how many units there are."""

    seconds: float
    candidates: tuple[str, ...]
    units: int


class TimeEstimate(NamedTuple):
    """How long a campaign will take, as far as past runs tell; `unknown` candidates are not in it.

    What can be said of the indexes of those is in `indexing`; None where that is nothing.
    """

    seconds: float
    known: tuple[str, ...]
    unknown: tuple[str, ...]
    runs: tuple[Path, ...]
    indexing: IndexEstimate | None = None


class Detectable(NamedTuple):
    """The smallest difference in Recall@5 that would be found four times in five, at 5 %.

    `value` is None where too few units can differ. `share` of the units is taken to come out differently;
    `source` is the past run that told so, None where it was assumed.
    """

    value: float | None
    units: int
    share: float
    source: Path | None


class Preview(NamedTuple):
    """A campaign before it runs. `detectable` is None where nothing is compared."""

    name: str
    cases: int
    repositories: tuple[str, ...]
    candidates: tuple[str, ...]
    operations: Mapping[str, int]  # by `index`, `primary` and `ctx`
    time: TimeEstimate
    detectable: Detectable | None

    @property
    def lines(self) -> tuple[str, ...]:
        """The preview in sentences."""
        return tuple(_lines(self))


def preview(campaign: Campaign, folder: Path) -> Preview:
    """Look ahead at a campaign, with what the runs in a folder tell; reads disk. Raises InputError."""
    bank, entries = fitted(read_bank(campaign.cases), campaign.repositories, str(campaign.cases))
    retrievers = create_retrievers(campaign.candidates)
    features = {name: retriever.features for name, retriever in retrievers.items()}
    labels = tuple(entry.label for entry in entries)
    plan = make_plan(bank, labels, features, campaign.seed)
    runs = list(past_runs(folder))
    return Preview(
        name=campaign.name,
        cases=len(bank.cases),
        repositories=labels,
        candidates=tuple(features),
        operations=dict(Counter(item.operation.kind for item in plan)),
        time=_time(campaign, bank, features, runs, entries),
        detectable=_detectable(campaign, bank, runs),
    )


def assumed_detectable(cases: Sequence[Case]) -> Detectable:
    """Return what a bank of these cases could show if ASSUMED_SHARE of them came out differently."""
    return _from_variance(tuple(map(planned_case, cases)), ASSUMED_SHARE, ASSUMED_SHARE, None)


def spread(cases: Sequence[PlannedCase]) -> float:
    """Return D, where a macro difference has the variance σ²·D if a case's difference has the variance σ².

    D = Σ over repositories and units of (m + ρ·m·(m − 1)) / (n·R)², with m the unit's cases, n the
    repository's, R the repositories, and ρ = WITHIN_FILE the correlation of cases that share a file.
    """
    sizes = repository_sizes(cases)
    total = 0.0
    for unit in group_units(cases):
        weight = 1 / sizes[cases[unit[0]].repository] / len(sizes)
        total += (len(unit) + WITHIN_FILE * len(unit) * (len(unit) - 1)) * weight**2
    return total


def _time(
    campaign: Campaign,
    bank: Bank,
    features: Mapping[str, Features],
    runs: Sequence[PastRun],
    entries: Sequence[RepositoryEntry],
) -> TimeEstimate:
    seconds = 0.0
    known, unknown, used = [], [], []
    for candidate in campaign.candidates:
        found = next(
            ((run, times) for run in runs if (times := run.times(candidate.entry)) is not None), None
        )
        if found is None and features[candidate.id].executes:
            unknown.append(candidate.id)
            continue
        known.append(candidate.id)
        if found is not None:
            seconds += _candidate_seconds(bank, features[candidate.id], found[1])
            used.append(found[0].path)
    indexing = _indexing([each for each in campaign.candidates if each.id in unknown], entries)
    return TimeEstimate(seconds, tuple(known), tuple(unknown), tuple(dict.fromkeys(used)), indexing)


def _indexing(candidates: Sequence[Candidate], entries: Sequence[RepositoryEntry]) -> IndexEstimate | None:
    dense = {each.id: depth for each in candidates if (depth := dense_depth(each.entry)) is not None}
    if not dense:
        return None
    units = estimated_units(entries)
    seconds = math.fsum(index_seconds(units, depth) for depth in dense.values())
    return IndexEstimate(seconds, tuple(dense), units)


def _candidate_seconds(bank: Bank, features: Features, times: PastTimes) -> float:
    commits = bank.commits
    seconds = math.fsum(times.index_seconds(label, commit) for label, commit in commits.items())
    channels = Counter(case.channel for case in bank.cases)
    for channel, number in channels.items():
        if channel in features.channels:
            seconds += number * (times.query_seconds(channel) + ENGINE_S)
    if features.probe:
        seconds += len(bank.cases) * (times.query_seconds("ctx") + ENGINE_S)
    return seconds + len(commits) * times.query_seconds("emb")  # one warm-up a cell


def _detectable(campaign: Campaign, bank: Bank, runs: Sequence[PastRun]) -> Detectable | None:
    if campaign.baseline is None or len(campaign.candidates) < 2:
        return None
    source, share = None, ASSUMED_SHARE
    variance = ASSUMED_SHARE  # of a difference that is −1, 0 or 1, and not 0 in this share of cases
    alike = [run for run in runs if run.bank_format == bank.format]
    told = list(_past_variances(campaign, alike))
    if told:
        variance, share, source = max(told, key=lambda found: found[0])
    return _from_variance(planned_cases(bank), variance, share, source)


def _from_variance(
    cases: Sequence[PlannedCase], variance: float, share: float, source: Path | None
) -> Detectable:
    units = len(group_units(cases))
    if units * share < SMALLEST_UNITS_FOR_POWER:
        return Detectable(None, units, share, source)
    return Detectable(min(1.0, POWER_FACTOR * math.sqrt(variance * spread(cases))), units, share, source)


def _past_variances(campaign: Campaign, runs: Sequence[PastRun]) -> Iterator[tuple[float, float, Path]]:
    """Yield, for each candidate that a past run compared with this baseline, σ², the share, and the run."""
    entries = {candidate.id: candidate.entry for candidate in campaign.candidates}
    baseline = entries.pop(str(campaign.baseline))
    for entry in entries.values():
        for run in runs:
            compared = run.compared(entry, baseline)
            cases = run.planned_cases() if compared is not None else ()
            if compared is not None and cases:
                yield compared.standard_error**2 / spread(cases), compared.share, run.path
                break


def _lines(found: Preview) -> Iterator[str]:
    total = sum(found.operations.values())
    kinds = ", ".join(
        counted(found.operations[kind], one, many)
        for kind, one, many in (
            ("index", "index", "indexes"),
            ("primary", "query", "queries"),
            ("ctx", "ctx probe", "ctx probes"),
        )
        if found.operations.get(kind)
    )
    yield (
        f"{counted(len(found.candidates), 'candidate')}, "
        f"{counted(len(found.repositories), 'repository', 'repositories')}, {counted(found.cases, 'case')}."
    )
    yield f"Operations: {total:,} ({kinds})."
    yield _time_line(found.time)
    if found.time.indexing is not None:
        yield _indexing_line(found.time.indexing)
    yield _detectable_line(found.detectable)


def _time_line(time: TimeEstimate) -> str:
    if not time.known:
        return "Time: unknown, as none of these candidates has completed a run here yet."
    runs = ", ".join(printable(run.name, 40) for run in time.runs[:_SHOWN])
    basis = f", by what {runs} measured" if time.runs else ""
    text = f"Time: about {duration(time.seconds)}{basis}"
    if time.unknown:
        names = ", ".join(printable(name, 40) for name in time.unknown[:_SHOWN])
        more = " …" if len(time.unknown) > _SHOWN else ""
        return f"{text}; and for {names}{more} nobody knows yet."
    return f"{text}; another machine or a busy one takes longer."


def _indexing_line(found: IndexEstimate) -> str:
    names = ", ".join(printable(name, 40) for name in found.candidates[:_SHOWN])
    more = " …" if len(found.candidates) > _SHOWN else ""
    return (
        f"Indexing of {names}{more}: about {duration(found.seconds)} on an idle machine with two cores, by "
        f"about {found.units:,} units to embed; queries come on top."
    )


def _detectable_line(found: Detectable | None) -> str:
    if found is None:
        return "Comparison: none, as there is no baseline, or nothing to compare with it."
    if found.source is not None:
        name = printable(found.source.name, 40)
        basis = f"as in {name}, where {found.share:.0%} of the units came out differently"
    else:
        basis = (
            f"if {found.share:.0%} of the cases come out differently, which is assumed (most pairs differ in "
            "fewer, and then less can be seen)"
        )
    if found.value is None:
        return (
            f"Smallest detectable difference: not estimable with {found.units} units, as at least "
            f"{SMALLEST_UNITS_FOR_POWER} must come out differently, {basis}."
        )
    return (
        f"Smallest detectable difference: {found.value:.2f} in Recall@5 with {found.units:,} units "
        f"(80 % power, 5 % level), {basis}."
    )


def duration(seconds: float) -> str:
    """Return a duration as a person says it."""
    if seconds < 90:
        return f"{max(math.ceil(seconds), 1)} s"
    if seconds < 90 * 60:
        return f"{math.ceil(seconds / 60)} min"
    return f"{seconds / 3600:.1f} h"
