"""The best candidate of a saved report in a few words."""

from __future__ import annotations

import json
from typing import Any

import pytest

from core.reports.best import best_words
from core.reports.summary import summary_bytes
from tests.unit.reports.boards import Rank, campaign


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


def decided(recall: tuple[float, float], mrr: tuple[float, float], decision: str) -> str:
    """Return what is told of a supported decision; each metric is a difference and its adjusted p."""
    found = {"decision": decision, "support": "supported"}
    metrics = {"recall_at_5": recall, "mrr_at_10": mrr}
    compared = {
        metric: {
            "difference": difference,
            "interval": {"low": difference - 0.1, "high": difference + 0.1},
            "p_holm": p,
            "material": difference >= 0.05,
        }
        for metric, (difference, p) in metrics.items()
    }
    models = {"lexical": {"comparison": None}, "minilm": {"comparison": {**found, **compared}}}
    return best_words(json.dumps({"models": models}).encode())


@pytest.mark.parametrize(
    ("recall", "mrr", "decision", "told"),
    [
        ((-0.21, 0.25), (-0.23, 0.039), "rejected", "minilm MRR@10 −.23 ±.10 supported"),
        ((-0.21, 0.01), (-0.23, 0.039), "rejected", "minilm R@5 −.21 ±.10 supported"),
        ((0.04, 0.01), (0.2, 0.01), "quality_profile_candidate", "minilm MRR@10 +.20 ±.10 supported"),
        ((0.2, 0.01), (-0.2, 0.01), "quality_profile_candidate", "minilm R@5 +.20 ±.10 supported"),
        ((-0.2, 0.01), (0.2, 0.01), "quality_profile_candidate", "minilm MRR@10 +.20 ±.10 supported"),
        ((-0.06, 0.9), (-0.07, 0.8), "rejected", "minilm R@5 −.06 ±.10 supported"),
    ],
    ids=["loss of MRR", "loss of both", "gain of MRR", "gain and loss", "loss and gain", "no gain"],
)
def test_supported_stands_beside_a_figure_that_is(
    recall: tuple[float, float], mrr: tuple[float, float], decision: str, told: str
) -> None:
    assert decided(recall, mrr, decision) == told


def test_of_a_real_report_the_metric_is_told_that_bears_its_decision() -> None:
    lexical: list[Rank] = [1] * 80
    found = campaign({"lexical": lexical, "hybrid": [1, 1, 2, 1] * 20}, baseline="lexical")
    told = best_words(summary_bytes(found.board, found.about, ()))
    assert told.startswith("hybrid MRR@10 −.12 ±.") and told.endswith(" supported")


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
