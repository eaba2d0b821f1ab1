"""An input that holds no controls, whatever is pasted into it."""

from __future__ import annotations

from typing import Any

from textual.widgets import Input

from core.text import printable


class PlainInput(Input):
    """One line to type; controls and bidirectional marks in it become visible.

    What is longer than `longest` is cut where it is seen; Textual's `max_length` would drop a whole paste.
    """

    def __init__(self, *words: Any, longest: int | None = None, **options: Any) -> None:
        self._longest = longest
        super().__init__(*words, **options)

    def validate_value(self, value: str) -> str:
        """Return a value without anything that could act on a terminal, no longer than it may be."""
        return printable(value)[: self._longest]
