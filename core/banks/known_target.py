"""Building a bank of known targets: derive from each repository, choose, and write bank and meta file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from core.banks.case import INTENTS, Bank, Case, case_line, parse_bank
from core.banks.derivation import Derivation, derive
from core.banks.meta import meta_bytes, meta_path
from core.banks.publish import demand_absent, publish_together
from core.errors import InputError, ProblemsError
from core.git import GitRepository
from core.repositories import RepositoryEntry
from core.text import printable

__all__ = [
    "BuildResult",
    "Derivation",
    "Shortage",
    "ShortageError",
    "build_bank",
    "choose",
    "derive",
    "derive_all",
    "ordered_intents",
    "write_bank",
]


class Shortage(NamedTuple):
    """A repository and intent that cannot supply as many cases as asked for."""

    repository: str
    intent: str
    have: int
    need: int

    def __str__(self) -> str:
        return f"{self.repository}, {self.intent}: have {self.have}, need {self.need}"


class ShortageError(ProblemsError):
    """Some cells are too small; all of them are named, with what helps."""

    def __init__(self, shortages: Sequence[Shortage], remedy: str) -> None:
        self.shortages = tuple(shortages)
        self.remedy = remedy
        need = self.shortages[0].need
        super().__init__(
            f"too few source-verified cases for --per-intent {need}, so nothing was written:",
            [*map(str, self.shortages), remedy],
        )


class BuildResult(NamedTuple):
    """A bank that was written, and what it was chosen from."""

    bank: Bank
    output: Path
    meta: Path
    derivations: tuple[Derivation, ...]

    @property
    def message(self) -> str:
        """The line that tells a person about it."""
        return f"Generated {len(self.bank.cases)} source-verified cases: {printable(str(self.output))}"


def build_bank(
    entries: Sequence[RepositoryEntry], per_intent: int, intents: Sequence[str], output: Path
) -> BuildResult:
    """Derive, choose `per_intent` cases for each repository and intent, and write `output` and its meta file.

    Raises InputError for a bad request or an existing output, before any work; ShortageError where a cell
    is too small; in every case without leaving anything on disk.
    """
    _demand_request(entries, per_intent, intents)
    demand_absent(output, meta_path(output))
    return write_bank(entries, derive_all(entries), per_intent, intents, output)


def derive_all(entries: Sequence[RepositoryEntry]) -> tuple[Derivation, ...]:
    """Derive every case of each repository, in their order."""
    derivations = []
    for entry in entries:
        with GitRepository(entry.path) as repository:
            derivations.append(derive(repository, entry))
    return tuple(derivations)


def write_bank(
    entries: Sequence[RepositoryEntry],
    derivations: Sequence[Derivation],
    per_intent: int,
    intents: Sequence[str],
    output: Path,
) -> BuildResult:
    """Choose from derivations that were made of these entries, and write; raises as `build_bank` does."""
    _demand_request(entries, per_intent, intents)
    meta = meta_path(output)
    demand_absent(output, meta)
    kept = ordered_intents(intents)
    raw = b"".join(map(case_line, choose(derivations, per_intent, kept)))
    bank = parse_bank(raw, str(output))
    sources = [(_with_url(entry), derivation) for entry, derivation in zip(entries, derivations, strict=True)]
    # The bank comes last: a bank that is there has its meta file.
    publish_together({meta: meta_bytes(bank, per_intent, kept, sources), output: raw})
    return BuildResult(bank, output, meta, tuple(derivations))


def choose(
    derivations: Sequence[Derivation], per_intent: int, intents: Sequence[str] = INTENTS
) -> tuple[Case, ...]:
    """Return the bank's cases in the order of its file; raises ShortageError that names every short cell."""
    chosen: list[Case] = []
    shortages: list[Shortage] = []
    for derivation in derivations:
        for intent in ordered_intents(intents):
            pool = derivation.pool(intent)
            if len(pool) < per_intent:
                shortages.append(Shortage(derivation.label, intent, len(pool), per_intent))
            chosen += pool[:per_intent]
    if shortages:
        raise ShortageError(shortages, _remedy(shortages, intents))
    return tuple(chosen)


def ordered_intents(intents: Sequence[str]) -> tuple[str, ...]:
    """Return intents in the order of a bank's lines."""
    return tuple(intent for intent in INTENTS if intent in intents)


def _demand_request(entries: Sequence[RepositoryEntry], per_intent: int, intents: Sequence[str]) -> None:
    if per_intent < 1:
        raise InputError(f"--per-intent: found {per_intent}; expected 1 or more; give a larger number")
    unknown = [intent for intent in intents if intent not in INTENTS]
    if unknown or not intents:
        found = ", ".join(printable(intent, 60) for intent in unknown) or "none"
        raise InputError(f"--intents: found {found}; expected some of {' '.join(INTENTS)}; use these words")
    labels = [entry.label for entry in entries]
    if not labels or len(set(labels)) < len(labels):
        found = "no repositories" if not labels else "a repeated label"
        raise InputError(
            f"the repository manifest has {found}; expected one repository or more, each under a label of "
            "its own; mend the manifest"
        )


def _remedy(shortages: Sequence[Shortage], intents: Sequence[str]) -> str:
    short = {shortage.intent for shortage in shortages}
    sound = [intent for intent in ordered_intents(intents) if intent not in short]
    largest = min(shortage.have for shortage in shortages)
    ways = []
    if sound:
        ways.append(f"leave the short categories out with `--intents {' '.join(sound)}`")
    if largest:
        ways.append(f"ask for fewer with `--per-intent {largest}`, the most that every cell can supply")
    return " or ".join(ways or ["leave out the short repositories, or name others"])


def _with_url(entry: RepositoryEntry) -> RepositoryEntry:
    """Return the entry with its repository's public address, where the manifest gives none."""
    if entry.url is not None or entry.private:
        return entry
    with GitRepository(entry.path) as repository:
        return entry.model_copy(update={"url": repository.url()})
