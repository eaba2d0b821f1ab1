"""The best candidate of a saved report in a few words, for lists of many runs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from core.reports.wording import DECISION_WORDS, MINUS
from core.scoring.comparison import SIGNIFICANT_P
from core.scoring.records import Sought

_NOT_GOLD: Sought = "changed file"
_METRICS = {"recall_at_5": "R@5", "mrr_at_10": "MRR@10"}


def best_words(summary: bytes) -> str:
    """Return `hybrid R@5 +.08 ±.09 inconclusive` of a `quality-summary.json`, or nothing where it tells none.

    The metric is Recall@5, and MRR@10 where the decision is supported by that alone: what stands beside a
    figure is true of it. What is read is only as good as the file, and is text from outside.
    """
    try:
        document = json.loads(summary)
        if document.get("sought") == _NOT_GOLD:  # never beside numbers of known targets
            return "historical, not gold"
        compared = [
            (model["comparison"], name) for name, model in document["models"].items() if model["comparison"]
        ]
        comparison, name = max(compared, key=lambda found: found[0]["recall_at_5"]["difference"])
        metric = _told_metric(comparison)
        return f"{name} {_METRICS[metric]} {_gain(comparison[metric])} {_certainty(comparison)}"
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return ""


def _told_metric(comparison: Mapping[str, Any]) -> str:
    """Return the metric that a supported decision rests on: Recall@5 where both do, or neither alone does."""
    if comparison["support"] != "supported":
        return "recall_at_5"
    bearing = [metric for metric in _METRICS if _bears(comparison[metric], comparison["decision"])]
    return bearing[0] if bearing else "recall_at_5"


def _bears(difference: Mapping[str, Any], decision: str) -> bool:
    """Tell whether a metric alone bears a decision out: by a sure gain that is material, or a sure loss.

    Without one, a supported rejection rests on both: the intervals of both rule a material gain out.
    """
    interval = difference["interval"]
    if interval is None or not difference["p_holm"] < SIGNIFICANT_P:
        return False
    if decision == "quality_profile_candidate":
        return bool(difference["material"] and interval["low"] > 0)
    return bool(interval["high"] < 0)


def _gain(difference: Mapping[str, Any]) -> str:
    interval = difference["interval"]
    half = f" ±{_short((interval['high'] - interval['low']) / 2)}" if interval else ""
    sign = MINUS if difference["difference"] < 0 else "+"
    return f"{sign}{_short(abs(difference['difference']))}{half}"


def _short(value: float) -> str:
    return f"{value:.2f}".removeprefix("0")


def _certainty(comparison: Mapping[str, Any]) -> str:
    """Return a decision's support; where there is no decision yet that, as on all screens."""
    undecided = comparison["decision"] == "needs_more_data"
    return DECISION_WORDS["needs_more_data"] if undecided else str(comparison["support"])
