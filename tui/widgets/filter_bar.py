"""The line that `/` opens to filter a list; `esc` empties and closes it, `enter` keeps what it says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import Input

from tui.widgets.plain_input import PlainInput

LONGEST = 200


class FilterBar(PlainInput):
    """A line of text that a list is filtered by; hidden while it asks for nothing."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "close", "Clear", id="filter.clear")]

    @dataclass
    class Filtered(Message):
        """What the list is filtered by changed."""

        text: str

    @dataclass
    class Left(Message):
        """The person is done; the list wants the keys again."""

    def __init__(self, placeholder: str, *, widget_id: str | None = None) -> None:
        super().__init__(placeholder=placeholder, compact=True, longest=LONGEST, id=widget_id)
        self.display = False

    def open(self) -> None:
        """Show it, and have the keys at once: those pressed right after are text, not commands."""
        self.display = True
        self.screen.set_focus(self)

    def take_away(self) -> bool:
        """Ask for everything again where the list is filtered; tell whether it was."""
        if self.display:
            self.action_close()
            return True
        return False

    def action_close(self) -> None:
        """Ask for everything again."""
        self.value = ""
        self.display = False
        self.screen.set_focus(None)
        self.post_message(self.Left())

    def on_input_changed(self, event: Input.Changed) -> None:
        """Hand the text on."""
        event.stop()
        self.post_message(self.Filtered(self.value.strip()))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Give the keys back to the list."""
        event.stop()
        self.display = bool(self.value.strip())
        self.post_message(self.Left())
