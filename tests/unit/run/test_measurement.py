"""Measurements as values and as JSON."""

import json
from typing import Any

import pytest

from core.run.measurement import Measurement, SpawnError, measurement_from_json, utc_stamp

WHOLE = Measurement(
    started_at="2026-01-02T03:04:05.678901+00:00",
    started_ns=1_000_000_000,
    ended_ns=1_250_000_000,
    outcome="spawn_failed",
    spawn_error=SpawnError("ENOENT", "No such file or directory: x"),
    cpu_user_s=0.5,
    sampled_peak_rss_bytes=4096,
    samples=2,
)


def test_json_gives_the_same_value_back() -> None:
    text = json.dumps(WHOLE.to_json())
    assert json.loads(text)["elapsed_s"] == 0.25
    assert measurement_from_json(json.loads(text)) == WHOLE


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"outcome": "vanished"}, "outcome"),
        ({"started_ns": "1"}, "started_ns"),
        ({"samples": True}, "samples"),
        ({"extra": 1}, "extra"),
        ({"spawn_error": {"code": "E"}}, "spawn_error"),
    ],
)
def test_what_is_not_a_measurement_is_refused_by_field(change: dict[str, Any], field: str) -> None:
    with pytest.raises(ValueError, match=field):
        measurement_from_json({**WHOLE.to_json(), **change})


@pytest.mark.parametrize(
    ("outcome", "exit_code", "succeeded"),
    [("exited", 0, True), ("exited", 1, False), ("answered", None, True), ("timed_out", 0, False)],
)
def test_only_a_clean_exit_or_one_line_is_success(
    outcome: Any, exit_code: int | None, succeeded: bool
) -> None:
    assert Measurement("", 0, 1, outcome, exit_code).succeeded is succeeded


def test_stamps_are_utc_with_microseconds() -> None:
    assert utc_stamp(1_700_000_000_123_456_789) == "2023-11-14T22:13:20.123456+00:00"
