"""Textual's widgets that bear keys before they are laid out, and being taken away before they are mounted.

Textual 8.2 ends the app where a page key comes to a list that has not been laid out, and where a select is
removed while it is mounting.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TypeVar

from textual import events
from textual.command import CommandPalette
from textual.css.query import NoMatches
from textual.widgets import OptionList, Select

_Value = TypeVar("_Value")
_NOT_LAID_OUT = (KeyError, IndexError)


class PatientList(OptionList):
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


class PatientPalette(CommandPalette):
    """The command palette, in whose list a page key does nothing before there are pages."""

    def _action_command_list(self, action: str) -> None:
        with suppress(*_NOT_LAID_OUT):
            super()._action_command_list(action)
