"""Building a bank of commit subjects and changed files, `historical-v1`: derive, choose, write. Not gold."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from core.banks.case import Bank, Case, case_line, parse_bank
from core.banks.derivation import Derivation
from core.banks.fields import COMMIT_INTENT
from core.banks.history import derive_history
from core.banks.history_rules import LEFT_OUT
from core.banks.known_target import with_url
from core.banks.meta import META_FORMAT, encoded, meta_path, repository_record
from core.banks.publish import demand_absent, publish_together
from core.errors import InputError, ProblemsError
from core.git import GitRepository
from core.repositories import RepositoryEntry
from core.text import printable

NOT_GOLD = (
    "Not gold: a changed file was touched when the work was done, which says neither that it answers the "
    "subject nor that no other file does."
)


class HistoryBuilt(NamedTuple):
    """A bank that was written, and what it was chosen from."""

    bank: Bank
    output: Path
    meta: Path
    derivations: tuple[Derivation, ...]

    @property
    def message(self) -> str:
        """The line that tells a person about it."""
        return f"Generated {len(self.bank.cases)} historical cases (not gold): {printable(str(self.output))}"

    @property
    def remarks(self) -> tuple[str, ...]:
        """What was looked at and left out, in lines."""
        return tuple(_remarks(self.derivations))


def build_history_bank(
    entries: Sequence[RepositoryEntry], per_repository: int | None, output: Path
) -> HistoryBuilt:
    """Derive, choose `per_repository` cases of each (None: all), and write `output` and its meta file.

    Of equal subjects the newest commit's stays; then those with the smallest ids are taken. Raises InputError
    for a bad request, an existing output, or a repository that yields fewer; nothing is left on disk then.
    """
    if per_repository is not None and per_repository < 1:
        raise InputError(
            f"--per-repository: found {per_repository}; expected 1 or more; give a larger number"
        )
    labels = {entry.label for entry in entries}
    if not entries or len(labels) < len(entries):
        raise InputError("the repository manifest needs one repository or more, each under its own label")
    meta = meta_path(output)
    demand_absent(output, meta)
    derivations = []
    for entry in entries:
        with GitRepository(entry.path) as repository:
            derivations.append(derive_history(repository, entry))
    chosen = _choose(derivations, per_repository)
    raw = b"".join(map(case_line, chosen))
    bank = parse_bank(raw, str(output))
    publish_together({meta: _meta(bank, per_repository, entries, derivations), output: raw})
    return HistoryBuilt(bank, output, meta, tuple(derivations))


def _choose(derivations: Sequence[Derivation], per_repository: int | None) -> tuple[Case, ...]:
    pools = {derivation.label: derivation.pool(COMMIT_INTENT) for derivation in derivations}
    need = per_repository or 1
    short = [f"{label}: have {len(pool)}, need {need}" for label, pool in pools.items() if len(pool) < need]
    if short:
        possible = min(map(len, pools.values()))
        remedy = f"possible: --per-repository {possible}" if possible else "leave such repositories out"
        raise ProblemsError(
            "too few commits that ask for a file, so nothing was written:",
            [*short, *_remarks(derivations), f"{remedy}; in a shallow clone, `git fetch --unshallow` first"],
        )
    return tuple(case for pool in pools.values() for case in pool[:per_repository])


def _meta(
    bank: Bank,
    per_repository: int | None,
    entries: Sequence[RepositoryEntry],
    derivations: Sequence[Derivation],
) -> bytes:
    sources = [(with_url(entry), found) for entry, found in zip(entries, derivations, strict=True)]
    return encoded(
        {
            "format": META_FORMAT,
            "bank": {
                "cases": len(bank.cases),
                "format": bank.format,
                "gold": False,
                "kind": "historical",
                "sha256": bank.sha256,
            },
            "note": NOT_GOLD,
            "intents": [COMMIT_INTENT],
            "per_repository": per_repository,
            "python": platform.python_version(),
            "repositories": [repository_record(*source, [COMMIT_INTENT]) for source in sources],
        }
    )


def _remarks(derivations: Sequence[Derivation]) -> Iterator[str]:
    for derivation in derivations:
        looked_at = derivation.files["commits"]
        yield f"{derivation.label}: {len(derivation.cases):,} cases from {looked_at:,} commits; left out:"
        for reason, number in derivation.left_out.items():
            yield f"  {LEFT_OUT[reason]}: {number:,}"
