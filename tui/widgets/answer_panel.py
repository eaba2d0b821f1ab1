"""One candidate's answer in a frame; the chosen one bears a mark."""

from __future__ import annotations

from textual.content import Content
from textual.widgets import Static

from tui.text import safe


class AnswerPanel(Static):
    """What a candidate answered."""

    def __init__(self) -> None:
        super().__init__("", markup=False, classes="answer")

    def show(self, name: str, text: Content, *, chosen: bool) -> None:
        """Show an answer."""
        self.border_title = f"{'▶ ' if chosen else ''}{safe(name, 60).plain}"
        self.set_class(chosen, "-chosen")
        self.update(text)
