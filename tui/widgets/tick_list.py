"""A list to tick, whose marks say by their shape, not by colour alone, what is ticked."""

from __future__ import annotations

from rich.segment import Segment
from textual.strip import Strip
from textual.widgets import SelectionList
from textual.widgets._toggle_button import ToggleButton

from tui.widgets.patient import Narrow


class TickList(Narrow, SelectionList[str]):
    """Several choices, one a line, for short lists."""

    def on_focus(self) -> None:
        """Have a line to tick at once."""
        if self.highlighted is None:
            self.action_first()

    def render_line(self, y: int) -> Strip:
        """Draw a line with its own mark in place of the one that every line has."""
        strip = super().render_line(y)
        segments = list(strip)
        for number, segment in enumerate(segments[:3]):
            if segment.text == ToggleButton.BUTTON_INNER and segment.style is not None:
                option = self.get_option_at_index(segment.style.meta["option"])
                mark = "✔" if option.value in self.selected else " "
                segments[number] = Segment(mark, segment.style)
        return Strip(segments, strip.cell_length)
