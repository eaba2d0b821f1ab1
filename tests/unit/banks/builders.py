"""Small banks and repositories that the bank tests share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from core.banks.case import FORMAT, Case, Evidence
from core.banks.derivation import Derivation, case_id, derive
from core.git import GitRepository
from core.ranking import Target
from core.repositories import RepositoryEntry
from tests.support.repositories import make_repository

COMMIT = "0123456789abcdef0123456789abcdef01234567"

SHOP = {
    "shop/cart.py": b'''"""Keep what a customer wants to buy."""


class Cart:
    """Hold the articles that were chosen."""

    def add(self, article, count):
        """Put some pieces of an article in."""
        if count < 1:
            raise ValueError("count must be positive")
''',
    "shop/prices.py": b'''"""Work out what things cost today."""


def total_price(cart):
    """Sum the prices of a whole cart."""
    message = "the cart holds nothing"
    raise LookupError(message)
''',
    "README.md": b"# A little shop\n\n## How prices are found\n\nText about prices.\n\n## Closing hours\n",
}


def sample_case(**changes: Any) -> Case:
    """Return a sound case, with some fields changed."""
    case = Case(
        channel="emb",
        commit=COMMIT,
        evidence=Evidence("python_definition", "a" * 64),
        id="shop-symbol_lookup-00000000000000000001",
        intent="symbol_lookup",
        query="total_price",
        repo="shop",
        schema_version=FORMAT,
        targets=(Target("shop/prices.py", 4, "symbol"),),
    )
    return replace(case, **changes)


def with_own_id(case: Case) -> Case:
    """Return the case under the id that its contents determine."""
    target = case.targets[0]
    own = case_id(
        case.repo, case.commit, case.intent, case.query, target.path, target.line, case.evidence.rule
    )
    return replace(case, id=own)


def shop(
    folder: Path, files: Mapping[str, bytes] | None = None, *, label: str = "shop", private: bool = False
) -> RepositoryEntry:
    """Make a repository of the given files, or the little shop, and return its entry at that commit."""
    chosen = SHOP if files is None else files
    commit = make_repository(folder, dict(chosen.items()))
    return RepositoryEntry(label=label, path=folder, commit=commit, private=private)


def derived(entry: RepositoryEntry) -> Derivation:
    """Derive an entry's cases."""
    with GitRepository(entry.path) as repository:
        return derive(repository, entry)
