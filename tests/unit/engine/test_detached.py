"""What is handed over to a hosting process."""

from __future__ import annotations

import subprocess

from core.engine.detached import _handed_over, _taken
from core.run.layout import Operation


def test_chosen_operations_arrive_as_they_were() -> None:
    only = frozenset(
        Operation("a", "store", *rest)
        for rest in (("index",), ("primary", "store-x-1"), ("ctx", "store-x-1"))
    )
    with _handed_over(only) as stream:
        assert not isinstance(stream, int)
        assert _taken(stream) == only


def test_without_a_choice_nothing_is_handed_over() -> None:
    with _handed_over(None) as stream:
        assert stream == subprocess.DEVNULL
