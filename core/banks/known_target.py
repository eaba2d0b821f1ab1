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
    "Request",
    "Shortage",
    "ShortageError",
    "build_bank",
    "choose",
    "derive",
    "derive_all",
    "ordered_intents",
    "write_bank",
]


_SUGGESTIONS = 3
_NOTHING_POSSIBLE = (
    "possible: nothing, as some repository has no case for each of these intents; leave the short "
    "repositories out of the manifest, or name others"
)


class Shortage(NamedTuple):
    """A repository and intent that cannot supply as many cases as asked for."""

    repository: str
    intent: str
    have: int
    need: int

    def __str__(self) -> str:
        return f"{self.repository}, {self.intent}: have {self.have}, need {self.need}"


class Request(NamedTuple):
    """A choice that every repository can supply: the flags that ask for it, and how many cases it gives."""

    per_intent: int
    intents: tuple[str, ...]  # empty for those that were asked for
    cases: int

    def __str__(self) -> str:
        intents = f" --intents {' '.join(self.intents)}" if self.intents else ""
        return f"--per-intent {self.per_intent}{intents} ({self.cases:,} cases)"


class ShortageError(ProblemsError):
    """Some cells are too small; all of them are named, then what can be built instead, most cases first."""

    def __init__(self, shortages: Sequence[Shortage], possible: Sequence[Request]) -> None:
        self.shortages = tuple(shortages)
        self.possible = tuple(possible)
        need = self.shortages[0].need
        remedies = [f"possible: {request}" for request in possible]
        super().__init__(
            f"too few source-verified cases for --per-intent {need}, so nothing was written:",
            [*map(str, self.shortages), *(remedies or [_NOTHING_POSSIBLE])],
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
    sources = [(with_url(entry), derivation) for entry, derivation in zip(entries, derivations, strict=True)]
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
        raise ShortageError(shortages, _possible(derivations, per_intent, ordered_intents(intents)))
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


def _possible(
    derivations: Sequence[Derivation], per_intent: int, intents: Sequence[str]
) -> tuple[Request, ...]:
    """Return up to three requests that can be met, most cases first; one keeps all intents if that can be.

    The others leave out the shortest intents, which leaves room for more cases of each that stays.
    """
    supply = {intent: min(len(derivation.pool(intent)) for derivation in derivations) for intent in intents}
    requests = []
    for each in sorted({min(supply[intent], per_intent) for intent in intents} - {0}):
        kept = tuple(intent for intent in intents if supply[intent] >= each)
        named = () if len(kept) == len(intents) else kept
        requests.append(Request(each, named, each * len(kept) * len(derivations)))
    requests.sort(key=lambda request: (bool(request.intents), -request.cases))
    return tuple(sorted(requests[:_SUGGESTIONS], key=lambda request: -request.cases))


def with_url(entry: RepositoryEntry) -> RepositoryEntry:
    """Return the entry with its repository's public address, where the manifest gives none."""
    if entry.url is not None or entry.private:
        return entry
    with GitRepository(entry.path) as repository:
        return entry.model_copy(update={"url": repository.url()})
