from __future__ import annotations

import pytest

from core.reports.wording import (
    counted,
    difference,
    interval,
    lines_per_hit,
    mebibytes,
    metric,
    p_value,
    percent,
    points,
    ratio,
    seconds,
    signed_points,
    size,
    verdict_words,
)
from core.scoring.records import Interval, LinesPerHit
from tests.unit.reports.boards import campaign


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.8124, ".812"), (0.0, ".000"), (1.0, "1.000"), (0.9996, "1.000"), (-0.0001, ".000"), (None, "—")],
)
def test_metrics_have_three_places(value: float | None, shown: str) -> None:
    assert metric(value) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.09, "+.090"),
        (-0.012, "−.012"),
        (0.0004, ".000"),
        (-0.0004, ".000"),
        (0.0, ".000"),
        (-1.0, "−1.000"),
    ],
)
def test_differences_have_a_sign_unless_they_round_to_nothing(value: float, shown: str) -> None:
    assert difference(value) == shown


def test_sentences_use_the_same_digits_as_tables() -> None:
    assert (metric(0.8124), percent(0.8124)) == (".812", "81.2 %")
    assert (difference(-0.0904), points(-0.0904), signed_points(-0.0904)) == ("−.090", "9.0 points", "−9.0")
    assert signed_points(0.0001) == "0.0"


def test_intervals_are_signed_only_where_they_are_of_differences() -> None:
    assert interval(Interval(0.741, 0.88)) == ".741 to .880"
    assert interval(Interval(-0.03, 0.15), signed=True) == "−.030 to +.150"
    assert interval(None) == "—"


def test_p_never_reads_zero() -> None:
    assert [p_value(p) for p in (0.0, 0.00099, 0.001, 0.0404, 1.0)] == [
        "< .001",
        "< .001",
        ".001",
        ".040",
        "1.000",
    ]


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.0000123, "0.01 ms"),
        (0.0123, "12.3 ms"),
        (0.85, "850 ms"),
        (0.9996, "1.00 s"),
        (4.2061, "4.21 s"),
        (59.96, "1 min 00 s"),
        (3599.7, "1 h 00 min"),
        (3725, "1 h 02 min"),
        (None, "—"),
    ],
)
def test_durations_keep_three_significant_digits(value: float | None, shown: str) -> None:
    assert seconds(value) == shown


@pytest.mark.parametrize(
    ("count", "shown"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1.0 KiB"),
        (532 * 1024, "532 KiB"),
        (1288490189, "1.2 GiB"),
        (2**50, "1024 TiB"),
    ],
)
def test_bytes_are_told_in_the_unit_that_a_person_reads(count: int, shown: str) -> None:
    assert size(count) == shown


def test_sizes_ratios_and_counts() -> None:
    assert mebibytes(412 * 1024 * 1024) == "412 MiB"
    assert mebibytes(None) == "—"
    assert ratio(1.1049) == "1.10×"
    assert [counted(n, "query", "queries") for n in (0, 1, 1200)] == ["0 queries", "1 query", "1,200 queries"]


def test_support_is_not_told_of_a_comparison_without_data() -> None:
    compared = campaign({"a": [1] * 80, "b": [1] * 80}, baseline="a").board.comparisons["b"]
    assert verdict_words(compared) == "no material gain, supported"
    assert verdict_words(compared._replace(decision="needs_more_data")) == "needs more data"


def test_a_verdict_names_a_significant_loss() -> None:
    compared = campaign({"a": [1] * 80, "b": [2] * 80}, baseline="a").board.comparisons["b"]
    assert (compared.decision, verdict_words(compared)) == (
        "rejected",
        "significant loss (MRR@10), supported",
    )
    mixed = compared._replace(decision="quality_profile_candidate")
    assert verdict_words(mixed) == "material gain and loss (MRR@10), supported"


def test_lines_per_hit_count_the_cases_left_out() -> None:
    assert lines_per_hit(LinesPerHit(693.31, 6933, 10, 17)) == "693.3 (17 cases left out)"
    assert lines_per_hit(LinesPerHit(12.5, 25, 2, 0)) == "12.5"
    assert lines_per_hit(LinesPerHit(None, 0, 0, 3)) == "— (no lines returned)"
