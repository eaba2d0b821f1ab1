from __future__ import annotations

import pytest

from core.scoring.comparison import (
    LATENCY_RATIO_LIMIT,
    MATERIAL_GAIN,
    decide,
    hardly_answered,
    is_material,
    is_sure_loss,
    is_trusted,
    reasons_for,
    rules_out_gain,
    support_for,
)
from core.scoring.records import Decision, Difference, Interval, QueryCounts, Support


def difference(
    gain: float, low: float | None, high: float, *, p_holm: float = 0.01, units: int = 100, nonzero: int = 30
) -> Difference:
    return Difference(
        metric="recall",
        cutoff=5,
        candidate=0.5 + gain,
        baseline=0.5,
        difference=gain,
        interval=None if low is None else Interval(low, high),
        p=p_holm,
        p_holm=p_holm,
        exact=False,
        units=units,
        nonzero_units=nonzero,
        standard_error=0.02,
        smallest_detectable=0.056,
        material=is_material(gain),
    )


def test_the_thresholds_are_the_suggested_ones() -> None:
    assert (MATERIAL_GAIN, LATENCY_RATIO_LIMIT) == (0.05, 1.25)


@pytest.mark.parametrize(
    ("recall_gain", "mrr_gain", "decision"),
    [
        (0.05, 0.0, "quality_profile_candidate"),
        (0.0, 0.05, "quality_profile_candidate"),
        (0.45 - 0.40, -0.3, "quality_profile_candidate"),  # 0.04999999999999999 in doubles
        (0.0499, 0.0499, "rejected"),
        (0.05 - 2e-9, 0.0, "rejected"),
        (0.0, 0.0, "rejected"),
        (-0.5, -0.5, "rejected"),
    ],
)
def test_a_material_gain_in_either_metric_decides(
    recall_gain: float, mrr_gain: float, decision: Decision
) -> None:
    assert decide((), recall_gain, mrr_gain) == decision


def test_any_gap_needs_more_data_whatever_the_gain() -> None:
    assert decide(("base: index failed, 1 of 3",), 0.9, 0.9) == "needs_more_data"


FLAT = difference(0.0, -0.01, 0.01, p_holm=1.0)


@pytest.mark.parametrize(
    ("decision", "differences", "support"),
    [
        ("quality_profile_candidate", (difference(0.1, 0.02, 0.18), FLAT), "supported"),
        ("quality_profile_candidate", (FLAT, difference(0.1, 0.02, 0.18)), "supported"),
        ("quality_profile_candidate", (difference(0.1, 0.02, 0.18, p_holm=0.05), FLAT), "inconclusive"),
        ("quality_profile_candidate", (difference(0.1, -0.01, 0.2), FLAT), "inconclusive"),
        ("quality_profile_candidate", (difference(0.1, 0.0, 0.2), FLAT), "inconclusive"),
        # A sure but small gain in the other metric does not bear out the material one.
        (
            "quality_profile_candidate",
            (difference(0.1, -0.01, 0.2, p_holm=0.2), difference(0.02, 0.01, 0.03)),
            "inconclusive",
        ),
        ("rejected", (FLAT, FLAT), "supported"),
        ("rejected", (difference(-0.2, -0.3, -0.1), FLAT), "supported"),
        ("rejected", (difference(0.0, -0.06, 0.06, p_holm=1.0), FLAT), "inconclusive"),
        ("rejected", (FLAT, difference(0.03, 0.01, 0.05)), "inconclusive"),
        # Few cases are enough where they differ and their intervals stay below the material gain.
        (
            "rejected",
            (difference(0.008, -0.006, 0.024, p_holm=0.5, units=30, nonzero=6), FLAT),
            "supported",
        ),
        ("rejected", (difference(-0.01, -0.04, 0.0, p_holm=1.0, units=60, nonzero=5), FLAT), "inconclusive"),
        ("rejected", (difference(-0.01, -0.04, 0.0, p_holm=1.0, units=61, nonzero=5), FLAT), "supported"),
        # A significant loss bears a rejection out, whatever the other metric leaves open.
        (
            "rejected",
            (
                difference(-0.212, -0.339, -0.113, p_holm=0.01, units=33, nonzero=8),
                difference(0.0, -0.2, 0.2, p_holm=1.0),
            ),
            "supported",
        ),
        (
            "rejected",
            (difference(0.0, None, 0.0, p_holm=1.0), difference(-0.1, -0.2, -0.01, p_holm=0.049)),
            "supported",
        ),
        (
            "rejected",
            (difference(0.0, -0.1, 0.1, p_holm=1.0), difference(-0.1, -0.2, -0.01, p_holm=0.05)),
            "inconclusive",
        ),
        ("needs_more_data", (difference(0.1, 0.02, 0.18), FLAT), "inconclusive"),
        ("quality_profile_candidate", (difference(0.1, None, 0.0), FLAT), "inconclusive"),
        ("rejected", (difference(0.0, None, 0.0), FLAT), "inconclusive"),
    ],
)
def test_support_says_whether_the_cases_bear_the_decision_out(
    decision: Decision, differences: tuple[Difference, ...], support: Support
) -> None:
    assert support_for(decision, differences) == support


def test_an_interval_is_trusted_from_six_units_that_differ_or_by_the_rule_of_three() -> None:
    assert [is_trusted(difference(0.0, -0.1, 0.1, units=20, nonzero=n)) for n in (5, 6)] == [False, True]
    assert [is_trusted(difference(0.0, 0.0, 0.0, units=n, nonzero=0)) for n in (60, 61)] == [False, True]
    assert not is_trusted(difference(0.0, None, 0.0))
    assert not rules_out_gain(difference(0.0, -0.1, 0.05))
    assert rules_out_gain(difference(0.0, -0.1, 0.0499))


def test_a_loss_is_sure_by_both_its_interval_and_its_adjusted_p() -> None:
    assert is_sure_loss(difference(-0.034, -0.06, -0.01, p_holm=0.01))
    assert not is_sure_loss(difference(-0.034, -0.06, 0.0, p_holm=0.01))
    assert not is_sure_loss(difference(-0.034, -0.06, -0.01, p_holm=0.05))


def test_under_half_answered_is_hardly_answered_and_an_unsupported_channel_is_known() -> None:
    assert hardly_answered(QueryCounts(10, 4, 0, 6, 0, 0, 0))
    assert not hardly_answered(QueryCounts(10, 5, 5, 0, 0, 0, 0))
    assert not hardly_answered(QueryCounts(10, 0, 0, 0, 10, 0, 0))


def test_reasons_do_not_blame_lone_units_where_operations_are_missing() -> None:
    alone = difference(0.0, None, 0.0)
    assert "; no interval, as a repository with a single unit" in reasons_for((), (alone,))[0]
    assert "; no interval, Holm-adjusted" in reasons_for(("a: index failed, 1 of 1",), (alone,))[1]


def test_reasons_name_gaps_first_and_then_each_difference() -> None:
    reasons = reasons_for(("cand: ctx probe missing, 2 of 9",), (difference(0.08, 0.01, 0.15),))
    assert reasons == (
        "cand: ctx probe missing, 2 of 9",
        "macro Recall@5 +0.0800 reaches +0.05; 95% interval +0.0100 to +0.1500, "
        "Holm-adjusted p 0.0100, 30 of 100 units differ",
    )
