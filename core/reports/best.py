"""The best candidate of a saved report in a few words, for lists of many runs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from core.reports.wording import DECISION_WORDS, MINUS
from core.scoring.records import Sought

_NOT_GOLD: Sought = "changed file"


def best_words(summary: bytes) -> str:
    """Return `hybrid R@5 +.08 ±.09 inconclusive` of a `quality-summary.json`, or nothing where it tells none.

    What is read is only as good as the file, and is text from outside.
    """
    try:
        document = json.loads(summary)
        if document.get("sought") == _NOT_GOLD:  # never beside numbers of known targets
            return "historical, not gold"
        compared = [
            (model["comparison"], name) for name, model in document["models"].items() if model["comparison"]
        ]
        comparison, name = max(compared, key=lambda found: found[0]["recall_at_5"]["difference"])
        return f"{name} R@5 {_gain(comparison['recall_at_5'])} {_certainty(comparison)}"
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return ""


def _gain(recall: Mapping[str, Any]) -> str:
    interval = recall["interval"]
    half = f" ±{_short((interval['high'] - interval['low']) / 2)}" if interval else ""
    sign = MINUS if recall["difference"] < 0 else "+"
    return f"{sign}{_short(abs(recall['difference']))}{half}"


def _short(value: float) -> str:
    return f"{value:.2f}".removeprefix("0")


def _certainty(comparison: Mapping[str, Any]) -> str:
    """Return a decision's support; where there is no decision yet that, as on all screens."""
    undecided = comparison["decision"] == "needs_more_data"
    return DECISION_WORDS["needs_more_data"] if undecided else str(comparison["support"])
