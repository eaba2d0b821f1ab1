"""Textual's widgets that bear keys before they are laid out, and being taken away before they are mounted.

Textual 8.2 ends the app where a page key comes to a list that has not been laid out, and where a select is
removed while it is mounting.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TypeVar

from textual import events, on, work
from textual.command import CommandPalette
from textual.css.query import NoMatches
from textual.geometry import Size
from textual.widgets import Button, Input, OptionList, Select

from tui.screens.base import Once

_Value = TypeVar("_Value")
_NOT_LAID_OUT = (KeyError, IndexError)


class Narrow:
    """Gives a list of options no height where it has no width."""

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Return the lines that all options take."""
        if width <= 0:
            return 0
        lines: int = super().get_content_height(container, viewport, width)  # type: ignore[misc]
        return lines


class PatientList(Narrow, OptionList):
    """A list of options in which a page key does nothing before there are pages."""

    def action_page_up(self) -> None:
        """Move up a page."""
        with suppress(*_NOT_LAID_OUT):
            super().action_page_up()  # type: ignore[no-untyped-call]

    def action_page_down(self) -> None:
        """Move down a page."""
        with suppress(*_NOT_LAID_OUT):
            super().action_page_down()  # type: ignore[no-untyped-call]


class PatientSelect(Select[_Value]):
    """A select that may be removed at any time."""

    def _on_mount(self, event: events.Mount) -> None:
        event.prevent_default()  # as Textual would call its own handler again
        with suppress(NoMatches):  # its parts are there unless it is being removed
            super()._on_mount(event)


class PatientPalette(Once, CommandPalette):
    """The command palette; what comes too early or too late does nothing."""

    def _action_command_list(self, action: str) -> None:
        with suppress(*_NOT_LAID_OUT):
            super()._action_command_list(action)

    @on(Input.Submitted)
    @on(Button.Pressed)
    def _select_or_command(self, event: Input.Submitted | Button.Pressed | None = None) -> None:
        if event is not None:
            event.prevent_default()  # as Textual would call its own handler again
        if self.is_active:
            super()._select_or_command(event)

    @work(exclusive=True, group=CommandPalette._GATHER_COMMANDS_GROUP)
    async def _gather_commands(self, search_value: str) -> None:
        gather = CommandPalette._gather_commands.__wrapped__  # type: ignore[attr-defined]
        with suppress(NoMatches):  # its parts are there unless it is being removed
            await gather(self, search_value)
