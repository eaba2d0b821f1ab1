"""The best candidate of a saved report in a few words."""

from __future__ import annotations

import json
from typing import Any

import pytest

from core.reports.best import best_words


def summary(*compared: tuple[str, float, str], **more: Any) -> bytes:
    """Return a summary of a baseline and of candidates with their difference and decision."""
    models: dict[str, Any] = {"lexical": {"comparison": None}}
    for name, difference, decision in compared:
        recall = {"difference": difference, "interval": {"low": difference - 0.1, "high": difference + 0.1}}
        comparison = {"recall_at_5": recall, "decision": decision, "support": "inconclusive"}
        models[name] = {"comparison": comparison}
    return json.dumps({"models": models, **more}).encode()


def test_the_largest_gain_is_told_with_half_its_interval_and_its_support() -> None:
    told = best_words(summary(("minilm", 0.02, "rejected"), ("hybrid", 0.08, "quality_profile_candidate")))
    assert told == "hybrid R@5 +.08 ±.10 inconclusive"


def test_a_loss_has_the_minus_sign_of_all_reports() -> None:
    assert best_words(summary(("flaky", -0.84, "rejected"))) == "flaky R@5 −.84 ±.10 inconclusive"


def test_where_data_are_missing_no_support_is_told() -> None:
    assert best_words(summary(("flaky", -0.84, "needs_more_data"))) == "flaky R@5 −.84 ±.10 needs more data"


def test_historical_numbers_never_stand_beside_those_of_known_targets() -> None:
    told = best_words(summary(("hybrid", 0.08, "rejected"), sought="changed file"))
    assert told == "historical, not gold"


@pytest.mark.parametrize(
    "raw", [b"", b"[]", b"{}", b'{"models": []}', b'{"models": {"a": 1}}', b"[" * 100_000, summary()]
)
def test_what_tells_no_comparison_gives_nothing(raw: bytes) -> None:
    assert best_words(raw) == ""
