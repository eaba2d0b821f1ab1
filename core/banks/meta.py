"""What lies beside a bank: where its repositories are found and how its cases came about."""

from __future__ import annotations

import json
import platform
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from core.banks.case import Bank
from core.banks.derivation import Derivation
from core.errors import InputError
from core.repositories import RepositoryEntry
from core.text import printable
from core.validation import read_json_file, validated

META_FORMAT = "boresight-bank-meta@1"


class BankMeta(BaseModel):
    """The part of a bank's meta file that is read again; the rest is for people."""

    model_config = ConfigDict(extra="ignore", strict=True, frozen=True)

    format: Literal["boresight-bank-meta@1"]
    python: str


def meta_path(bank: Path) -> Path:
    """Return where the meta file of a bank lies: beside it, `CASES` becoming `CASES.meta.json`.

    Raises InputError for a path that names no file, such as `.`.
    """
    if not bank.name:
        raise InputError(f"{printable(str(bank))} is not a file's name; name the bank's file")
    return bank.with_name(bank.name + ".meta.json")


def meta_bytes(
    bank: Bank,
    per_intent: int,
    intents: Sequence[str],
    sources: Sequence[tuple[RepositoryEntry, Derivation]],
) -> bytes:
    """Return a bank's meta file.

    It holds nothing of the time or place of its making, and of a private repository only counts.
    """
    record = {
        "format": META_FORMAT,
        "bank": {"cases": len(bank.cases), "format": bank.format, "sha256": bank.sha256},
        "intents": list(intents),
        "per_intent": per_intent,
        "python": platform.python_version(),
        "repositories": [repository_record(entry, derivation, intents) for entry, derivation in sources],
    }
    return encoded(record)


def encoded(record: dict[str, Any]) -> bytes:
    """Return a meta file's bytes."""
    return json.dumps(record, ensure_ascii=False, indent=2).encode("utf-8") + b"\n"


def read_meta(bank: Path) -> BankMeta | None:
    """Read the meta file beside a bank; None where there is none; raises InputError where it is unsound."""
    path = meta_path(bank)
    try:
        if not path.exists():
            return None
    except (OSError, ValueError) as error:
        raise InputError(f"cannot look for the bank's meta file: {error}; check the bank's path") from None
    return validated(BankMeta, read_json_file(path), str(path))


def repository_record(
    entry: RepositoryEntry, derivation: Derivation, intents: Sequence[str]
) -> dict[str, Any]:
    """Return what a meta file says of a repository; of a private one only counts."""
    record: dict[str, Any] = {
        "label": derivation.label,
        "commit": derivation.commit,
        "private": entry.private,
        "files": dict(derivation.files),
        "rules": derivation.rules,
        "distinct_queries": {intent: len(derivation.pool(intent)) for intent in intents},
        "left_out": dict(derivation.left_out),
    }
    if not entry.private:
        record["url"] = entry.url
        record["unparsable"] = dict(sorted(derivation.unparsable.items()))
    return record
