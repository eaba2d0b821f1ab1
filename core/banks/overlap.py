"""How many of a query's words stand in a text: what a lexical search could lean on."""

from __future__ import annotations

import re

from core.banks.case import Case
from core.banks.rules import RULES

_WORD = re.compile(r"[^\W_]+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def words(text: str) -> frozenset[str]:
    """Return the distinct lower-cased words of a text; `loadManifest` and `load_manifest` hold two each."""
    return frozenset(ordered_words(text))


def ordered_words(text: str) -> tuple[str, ...]:
    """Return the same words in the order in which each stands first."""
    found = (part.lower() for word in _WORD.findall(text) for part in _HUMP.split(word))
    return tuple(dict.fromkeys(found))


def asked_text(case: Case) -> str:
    """Return a query without the fixed prefix of its intent."""
    rule = RULES.get(case.intent)
    return case.query.removeprefix(rule.prefix) if rule else case.query


def overlap(case: Case, text: str) -> float | None:
    """Return the share, from 0 to 1, of a query's distinct words that occur in a text.

    The fixed prefix of the intent does not count. None for a query without words.
    """
    asked = words(asked_text(case))
    return len(asked & words(text)) / len(asked) if asked else None
