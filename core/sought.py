"""What a bank's cases ask for, by the bank's format: the words that reports use for it."""

from __future__ import annotations

from typing import Literal

from core.banks.fields import HISTORICAL
from core.banks.graded import FORMAT as GRADED
from core.scoring.records import Sought

Kind = Literal["known-target", "graded", "historical"]

KINDS: dict[Sought, Kind] = {
    "known target": "known-target",
    "relevant module": "graded",
    "changed file": "historical",
}


def sought_by(bank_format: str) -> Sought:
    """Return what the cases of a bank of this format ask for."""
    if bank_format == HISTORICAL:
        return "changed file"
    return "relevant module" if bank_format == GRADED else "known target"


def kind_of(bank_format: str) -> Kind:
    """Return what kind of bank has this format; only historical ones are not gold."""
    return KINDS[sought_by(bank_format)]
