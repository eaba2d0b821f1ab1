"""What a bank is like: counts per cell, ambiguous queries, and query words found in the target."""

from __future__ import annotations

import io
import re
import statistics
import tokenize
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from core.banks.case import INTENTS, Bank, Case
from core.banks.derivation import Derivation, derive
from core.banks.markdown import headings, markdown_lines
from core.banks.python_source import definition_lines, parse
from core.banks.rules import RULES, UnparsableError
from core.git import GitRepository
from core.ranking import Target
from core.repositories import RepositoryEntry

_WORD = re.compile(r"[^\W_]+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


class CellStats(NamedTuple):
    """One repository and intent.

    `ambiguous` counts cases whose query also comes from another place: of the whole repository where it
    was read, else of the bank. `overlap_mean` and `overlap_median` are shares from 0 to 1 of a query's
    distinct words found in its target, over the `overlap_cases` whose target could be read; None where
    there are none.
    """

    repository: str
    intent: str
    cases: int
    ambiguous: int
    overlap_cases: int
    overlap_mean: float | None
    overlap_median: float | None


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
        overlaps: Mapping[str, float] = {}
        if label in places:
            entry = places[label].model_copy(update={"commit": commit})
            derived, overlaps = _read(entry, cases)
        found = _ambiguous(cases, derived)
        ambiguous += found
        cells += _cells(label, cases, frozenset(found), overlaps)
    return BankStats(len(bank.cases), tuple(cells), tuple(ambiguous), bool(places))


def words(text: str) -> frozenset[str]:
    """Return the distinct lower-cased words of a text; `loadManifest` and `load_manifest` hold two each."""
    return frozenset(part.lower() for word in _WORD.findall(text) for part in _HUMP.split(word))


def overlap(case: Case, text: str) -> float | None:
    """Return the share, from 0 to 1, of a query's distinct words that occur in a text.

    The fixed prefix of the intent does not count. None for a query without words.
    """
    prefix = RULES[case.intent].prefix
    asked = words(case.query.removeprefix(prefix))
    return len(asked & words(text)) / len(asked) if asked else None


def _read(entry: RepositoryEntry, cases: Sequence[Case]) -> tuple[Sequence[Case], Mapping[str, float]]:
    """Return a repository's whole derivation and the overlap of each case whose target is there."""
    wanted = {target.path.encode("utf-8") for case in cases for target in case.targets}
    with GitRepository(entry.path) as repository:
        derivation: Derivation = derive(repository, entry)
        texts = {
            item.path.decode("utf-8"): _Text(repository.blob(item.oid))
            for item in repository.entries(derivation.commit)
            if item.path in wanted and item.is_file
        }
    overlaps: dict[str, float] = {}
    for case in cases:
        text = _target_text(case.targets, texts)
        share = overlap(case, text) if text is not None else None
        if share is not None:
            overlaps[case.id] = share
    return derivation.cases, overlaps


def _ambiguous(cases: Iterable[Case], derived: Iterable[Case]) -> list[str]:
    places: dict[tuple[str, str], set[Target]] = {}
    for case in derived:
        places.setdefault((case.intent, case.query), set()).update(case.targets)
    return [
        case.id for case in cases if places.get((case.intent, case.query), set()).difference(case.targets)
    ]


def _cells(
    label: str, cases: Sequence[Case], ambiguous: frozenset[str], overlaps: Mapping[str, float]
) -> list[CellStats]:
    cells = []
    for intent in INTENTS:
        ids = [case.id for case in cases if case.intent == intent]
        if not ids:
            continue
        shares = [overlaps[id_] for id_ in ids if id_ in overlaps]
        cells.append(
            CellStats(
                repository=label,
                intent=intent,
                cases=len(ids),
                ambiguous=sum(id_ in ambiguous for id_ in ids),
                overlap_cases=len(shares),
                overlap_mean=statistics.fmean(shares) if shares else None,
                overlap_median=statistics.median(shares) if shares else None,
            )
        )
    return cells


def _target_text(targets: Sequence[Target], texts: Mapping[str, _Text]) -> str | None:
    """Return the text of all targets together; None where any of them is not there."""
    parts = []
    for target in targets:
        text = texts[target.path].of(target) if target.path in texts else None
        if text is None:
            return None
        parts.append(text)
    return "\n".join(parts)


class _Text:
    """One file's text, cut into what targets stand for; parsed once, when first needed."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._last_lines: Mapping[int, int] | None = None

    def of(self, target: Target) -> str | None:
        """Return the definition, section or file that a target stands for; None where it is not there."""
        if target.kind == "file":
            return _decoded(self._data)
        if target.kind == "documentation":
            return self._section(target.line)
        return self._definition(target.line)

    def _definition(self, line: int) -> str | None:
        if self._last_lines is None:
            try:
                self._last_lines = definition_lines(parse(self._data))
            except UnparsableError:
                self._last_lines = {}
        last = self._last_lines.get(line)
        # Bytes are cut where Python counts lines; text has more line ends, such as form feeds.
        lines = self._data.splitlines(keepends=True)
        return None if last is None else _decoded(b"".join(lines[line - 1 : last]), self._data)

    def _section(self, line: int) -> str | None:
        lines = markdown_lines(self._data)
        level = None
        for heading in headings(lines):
            if heading.line == line:
                level = heading.level
            elif level is not None and heading.level <= level:
                return "\n".join(lines[line - 1 : heading.line - 1])
        return None if level is None else "\n".join(lines[line - 1 :])


def _decoded(data: bytes, whole: bytes | None = None) -> str:
    """Decode Python source by the cookie or mark of its whole file, or anything else as UTF-8."""
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data if whole is None else whole).readline)
        return data.decode(encoding, errors="replace")
    except (SyntaxError, ValueError, LookupError):
        return data.decode("utf-8", errors="replace")
