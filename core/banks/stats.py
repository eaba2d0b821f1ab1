"""What a bank is like: counts per cell, ambiguous queries, and query words found in the target."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from core.banks.case import Bank, Case
from core.banks.deriving import derive_as
from core.banks.fields import INTENTS_OF
from core.banks.overlap import overlap
from core.banks.rules import RULES
from core.banks.target_text import SourceText
from core.git import GitRepository
from core.ranking import Target
from core.repositories import RepositoryEntry


class Ambiguity(NamedTuple):
    """How many of a repository's cases have a query that another place there yields as well."""

    ambiguous: int
    cases: int


class CellStats(NamedTuple):
    """One repository and intent.

    `ambiguous` counts cases whose query also comes from another place: of the whole repository where it
    was read, else of the bank. `overlap_mean` and `overlap_median` are shares from 0 to 1 of a query's
    distinct words found in its target, over the `overlap_cases` whose target could be read; None where
    there are none. As queries are copied from their targets, `beyond_witness_…` say the same of the target's
    text without the witness: the line of the definition, the docstring's first line, the heading's line or
    the message's literal.
    """

    repository: str
    intent: str
    cases: int
    ambiguous: int
    overlap_cases: int
    overlap_mean: float | None
    overlap_median: float | None
    beyond_witness_cases: int
    beyond_witness_mean: float | None
    beyond_witness_median: float | None


class _Overlaps(NamedTuple):
    """Shares by the id of the case, of those whose text is there."""

    whole: dict[str, float]
    beyond_witness: dict[str, float]


@dataclass(frozen=True)
class BankStats:
    """A bank's cells in the order of its file, and the ids of its ambiguous cases.

    `repositories_read` tells whether the repositories were looked at, or only the bank.
    """

    cases: int
    cells: tuple[CellStats, ...]
    ambiguous: tuple[str, ...]
    repositories_read: bool


def bank_stats(bank: Bank, entries: Sequence[RepositoryEntry] | None = None) -> BankStats:
    """Describe a bank; with repositories also by what else they hold and by the text of the targets.

    Repositories that have no entry are described from the bank alone. Raises InputError where one cannot be
    read at the bank's commit.
    """
    places = {entry.label: entry for entry in entries or ()}
    cells: list[CellStats] = []
    ambiguous: list[str] = []
    for label, commit in bank.commits.items():
        cases = bank.of_repository(label)
        derived: Sequence[Case] = cases
        overlaps = _Overlaps({}, {})
        if label in places:
            entry = places[label].model_copy(update={"commit": commit})
            derived, overlaps = _read(bank.format, entry, cases)
        found = _ambiguous(cases, derived)
        ambiguous += found
        cells += _cells(label, cases, frozenset(found), overlaps)
    return BankStats(len(bank.cases), tuple(cells), tuple(ambiguous), bool(places))


def ambiguity(cases: Sequence[Case], derived: Iterable[Case]) -> Ambiguity:
    """Count the ambiguous among a repository's cases; `derived` are all that the repository yields."""
    return Ambiguity(len(_ambiguous(cases, derived)), len(cases))


def _read(
    bank_format: str, entry: RepositoryEntry, cases: Sequence[Case]
) -> tuple[Sequence[Case], _Overlaps]:
    """Return all that a repository yields and the overlaps of each case whose target is there."""
    wanted = {target.path.encode("utf-8") for case in cases for target in case.targets}
    with GitRepository(entry.path) as repository:
        derivation = derive_as(bank_format, repository, entry)
        texts = {
            item.path.decode("utf-8"): SourceText(repository.blob(item.oid))
            for item in repository.entries(derivation.commit)
            if item.path in wanted and item.is_file
        }
    overlaps = _Overlaps({}, {})
    for case in cases:
        _add_share(overlaps.whole, case, _target_text(case, texts))
        _add_share(overlaps.beyond_witness, case, _beyond_witness(case, texts))
    return derivation.cases, overlaps


def _add_share(shares: dict[str, float], case: Case, text: str | None) -> None:
    share = overlap(case, text) if text is not None else None
    if share is not None:
        shares[case.id] = share


def _ambiguous(cases: Iterable[Case], derived: Iterable[Case]) -> list[str]:
    places: dict[tuple[str, str], set[Target]] = {}
    for case in derived:
        places.setdefault((case.intent, case.query), set()).update(case.targets)
    return [
        case.id for case in cases if places.get((case.intent, case.query), set()).difference(case.targets)
    ]


def _cells(
    label: str, cases: Sequence[Case], ambiguous: frozenset[str], overlaps: _Overlaps
) -> list[CellStats]:
    cells = []
    for intent in (intent for intents in INTENTS_OF.values() for intent in intents):
        ids = [case.id for case in cases if case.intent == intent]
        if not ids:
            continue
        whole = [overlaps.whole[id_] for id_ in ids if id_ in overlaps.whole]
        beyond = [overlaps.beyond_witness[id_] for id_ in ids if id_ in overlaps.beyond_witness]
        cells.append(
            CellStats(
                repository=label,
                intent=intent,
                cases=len(ids),
                ambiguous=sum(id_ in ambiguous for id_ in ids),
                overlap_cases=len(whole),
                overlap_mean=statistics.fmean(whole) if whole else None,
                overlap_median=statistics.median(whole) if whole else None,
                beyond_witness_cases=len(beyond),
                beyond_witness_mean=statistics.fmean(beyond) if beyond else None,
                beyond_witness_median=statistics.median(beyond) if beyond else None,
            )
        )
    return cells


def _target_text(case: Case, texts: Mapping[str, SourceText]) -> str | None:
    """Return the text of all targets together; None where any of them is not there."""
    return _together(texts[t.path].of(t) if t.path in texts else None for t in case.targets)


def _beyond_witness(case: Case, texts: Mapping[str, SourceText]) -> str | None:
    """Return the same without what the query was copied from; None where that is not there."""
    rule = RULES.get(case.intent)
    if rule is None:  # a commit's subject is no part of any file
        return None
    witness = case.query.removeprefix(rule.prefix)
    return _together(
        texts[t.path].beyond(t, rule, witness) if t.path in texts else None for t in case.targets
    )


def _together(parts: Iterable[str | None]) -> str | None:
    found = list(parts)
    known = [part for part in found if part is not None]
    return "\n".join(known) if len(known) == len(found) else None
