"""The line to search cases in: it tells what is looked for once typing pauses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.timer import Timer
from textual.widgets import Input

from tui.widgets.plain_input import PlainInput

TYPING_SECONDS = 0.12


class CaseSearch(PlainInput):
    """Hidden until it is opened; enter keeps what was typed, escape clears it."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "clear", "Clear the search", show=False)]

    @dataclass
    class Sought(Message):
        """This text is looked for; `done` says that the line was left."""

        text: str
        done: bool

    def __init__(self) -> None:
        super().__init__(
            placeholder="in the id, the query or a target's path: enter keeps, esc clears",
            id="case-search", compact=True, longest=500,
        )  # fmt: skip
        self.display = False
        self._typing: Timer | None = None

    def open(self, text: str) -> None:
        """Show the line with what is looked for now; keys pressed right after are text, not commands."""
        self.display = True
        self.value = text
        self.screen.set_focus(self)

    @on(Input.Changed)
    def _typed(self) -> None:
        self._stop()
        if self.display:
            self._typing = self.set_timer(TYPING_SECONDS, lambda: self._tell(done=False))

    @on(Input.Submitted)
    def _kept(self) -> None:
        self._tell(done=True)

    def action_clear(self) -> None:
        """Look for nothing."""
        self.value = ""
        self._tell(done=True)

    def _tell(self, *, done: bool) -> None:
        self._stop()
        if done:
            self.display = False
            self.screen.set_focus(None)
        self.post_message(self.Sought(self.value, done))

    def _stop(self) -> None:
        if self._typing is not None:
            self._typing.stop()
            self._typing = None
