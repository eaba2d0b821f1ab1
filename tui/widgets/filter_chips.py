"""What the filters ask for, each part a chip that can be taken away with a key or a click."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import HorizontalScroll
from textual.message import Message
from textual.reactive import reactive
from textual.widgets import Static

from core.browse.filters import Filters
from tui.cases.filter_words import Part
from tui.text import safe

NONE = "no filters   f choose them   / search   s sort"
_CHIP_CHARACTERS = 40


class Chip(Static):
    """One part of the filters."""

    can_focus = True
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,delete,backspace,space", "remove", "Remove", id="chip.remove"),
        Binding("left", "app.focus_previous", show=False),
        Binding("right", "app.focus_next", show=False),
    ]

    @dataclass
    class Removed(Message):
        """A part is to go; `without` are the filters that are left."""

        without: Filters

    def __init__(self, part: Part) -> None:
        super().__init__(safe(f"{safe(part.words, _CHIP_CHARACTERS).plain} ×"), markup=False)
        self._without = part.without

    def action_remove(self) -> None:
        """Ask to be taken away."""
        self.post_message(self.Removed(self._without))

    def on_click(self) -> None:
        """Ask to be taken away."""
        self.action_remove()


class FilterChips(HorizontalScroll):
    """All parts in one line."""

    can_focus = False
    parts: reactive[Sequence[Part]] = reactive((), recompose=True)

    def compose(self) -> ComposeResult:
        """Lay out a chip for each part."""
        if not self.parts:
            yield Static(NONE, classes="no-chips", markup=False)
            return
        for part in self.parts:
            yield Chip(part)
        yield Static("F clears", classes="no-chips", markup=False)
