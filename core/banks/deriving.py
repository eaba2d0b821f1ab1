"""Derives the cases of a bank by the rules of its own format."""

from __future__ import annotations

from core.banks.derivation import Derivation, derive
from core.banks.fields import HISTORICAL
from core.banks.history import derive_history
from core.git import GitRepository
from core.repositories import RepositoryEntry


def derive_as(bank_format: str, repository: GitRepository, entry: RepositoryEntry) -> Derivation:
    """Derive what a repository yields at the entry's commit by the rules of a format; raises InputError."""
    if bank_format == HISTORICAL:
        return derive_history(repository, entry)
    return derive(repository, entry)
