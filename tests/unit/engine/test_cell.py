"""How an operation's process ended, in words."""

from __future__ import annotations

import pytest

from core.engine.cell import process_failure
from core.run.measurement import Measurement


@pytest.mark.parametrize(
    ("nanoseconds", "shown"),
    [(1_000_000, "0.001 s"), (250_000_000, "0.25 s"), (900_000_000_000, "900.0 s")],
)
def test_a_limit_is_told_with_the_digits_that_it_needs(nanoseconds: int, shown: str) -> None:
    measured = Measurement("2026-01-01T00:00:00.000000+00:00", 0, nanoseconds, "timed_out")
    assert process_failure(measured) == ("timeout", f"was still running after {shown}, its limit")
