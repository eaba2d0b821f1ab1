"""A checkbox that says by its mark, not by colour alone, whether it is ticked."""

from __future__ import annotations

from textual.widgets import Checkbox


class Tick(Checkbox):
    """One choice of several, on a line of its own height."""

    @property
    def BUTTON_INNER(self) -> str:  # type: ignore[override]  # noqa: N802 - Textual's name for the mark
        """Return the mark inside the box."""
        return "✔" if self.value else " "
