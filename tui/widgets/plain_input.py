"""An input that holds no controls, whatever is pasted into it."""

from __future__ import annotations

from textual.widgets import Input

from core.text import printable


class PlainInput(Input):
    """One line to type; controls and bidirectional marks in it become visible."""

    def validate_value(self, value: str) -> str:
        """Return a value without anything that could act on a terminal."""
        return printable(value)
