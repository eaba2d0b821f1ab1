"""A saved report read back."""

from __future__ import annotations

import json
from typing import Any

import pytest

from core.errors import InputError
from core.reports.saved import parse_summary
from core.reports.summary import summary_bytes
from tests.unit.reports.boards import campaign

MADE = campaign(
    {"a": [1, 1, 1, None, 3, 1], "b": [1, "failed", 2, "empty", 1, 1], "c": ["unsupported", 1, 1, 1, 1, 2]},
    baseline="a",
    repositories={"alpha": False, "beta": True},
    levels={"c": "file"},
    memory_budget_mib=200,
)


def document() -> dict[str, Any]:
    return dict(json.loads(summary_bytes(MADE.board, MADE.about)))


def test_what_is_read_back_is_what_was_written() -> None:
    found = parse_summary(summary_bytes(MADE.board, MADE.about), "here")
    assert found.board == MADE.board
    assert found.facts == MADE.about


def test_without_a_baseline_too() -> None:
    alone = campaign({"a": [1, None]})
    assert parse_summary(summary_bytes(alone.board, alone.about), "here").board == alone.board


def test_another_format_is_named() -> None:
    told = document() | {"format": "boresight-summary@2"}
    with pytest.raises(
        InputError, match="here: format 'boresight-summary@2', expected 'boresight-summary@1'"
    ):
        parse_summary(json.dumps(told).encode(), "here")


@pytest.mark.parametrize("data", [b"", b"[]", b"null", b"{", b"\xff", b'{"format": "boresight-summary@1"}'])
def test_what_is_no_report_is_refused(data: bytes) -> None:
    with pytest.raises(InputError, match="here: "):
        parse_summary(data, "here")


@pytest.mark.parametrize(
    "path",
    ["run", "models", "level", "method", "cutoffs", "models.a.macro.5", "models.a.intervals.5.recall",
     "models.a.levels.file", "models.b.comparison.latency", "models.b.counts.planned", "run.repositories"],
)  # fmt: skip
@pytest.mark.parametrize("value", ["x", None, {}, []])
def test_a_part_that_is_missing_or_wrong_is_refused_or_of_no_consequence(path: str, value: object) -> None:
    told = document()
    *parents, last = path.split(".")
    place = told
    for name in parents:
        place = place[name]
    place[last] = value
    data = json.dumps(told).encode()
    if path == "models.a.intervals.5.recall" and value is None:
        assert parse_summary(data, "here").board.candidates["a"].intervals[5]["recall"] is None
        return
    if path == "models.b.comparison.latency" and value == {}:
        assert parse_summary(data, "here").board.comparisons["b"].latency == {}
        return
    with pytest.raises(InputError, match="here: "):
        parse_summary(data, "here")


def test_a_comparison_with_somebody_who_is_not_there_is_refused() -> None:
    told = document()
    told["models"]["b"]["comparison"]["baseline"] = "nobody"
    with pytest.raises(InputError, match="not readable as a report"):
        parse_summary(json.dumps(told).encode(), "here")
