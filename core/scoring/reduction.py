"""How much less an agent reads: tokens of a retrieved context beside those of all modules."""

from __future__ import annotations

import re

from core.scoring.graded_records import Reduction

TOKENIZER = r"words and marks (\w+|[^\w\s])"  # needs no model, and counts the same everywhere

_TOKEN = re.compile(r"\w+|[^\w\s]")


def count_tokens(text: str) -> int:
    """Return the number of words and marks in a text."""
    return sum(1 for _ in _TOKEN.finditer(text))


def reduction(context: str, module_tokens: int) -> Reduction:
    """Compare a context with all modules, whose tokens were counted by `count_tokens`."""
    tokens = count_tokens(context)
    return Reduction(tokens, module_tokens, module_tokens / tokens if tokens else None)
