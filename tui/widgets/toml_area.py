"""The text of a campaign file, with TOML's colours where the parser for them is installed."""

from __future__ import annotations

import importlib.util
import re
from typing import ClassVar

from rich.text import Text
from textual.binding import Binding, BindingType
from textual.widgets import TextArea

from core.text import printable

COLOURED_UP_TO = 60_000  # characters; every key parses the text again
EDITABLE_LINE = 10_000  # characters of a line

_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)


class TomlArea(TextArea):
    """An editor for TOML; what a terminal could act on is shown as a mark and kept as it is."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "screen.back", show=False)]

    def __init__(self, *, widget_id: str) -> None:
        super().__init__(id=widget_id, show_line_numbers=True, soft_wrap=False, tab_behavior="focus")

    def on_mount(self) -> None:
        """Keep the cursor's line in sight where a scrollbar comes to stand on it, and colours readable."""
        self.watch(self, "show_horizontal_scrollbar", self._keep_cursor_visible, init=False)
        self.watch(self.app, "theme", self._take_colours)

    def _take_colours(self) -> None:
        self.theme = "vscode_dark" if self.app.current_theme.dark else "github_light"

    def _keep_cursor_visible(self) -> None:
        self.call_after_refresh(self.scroll_cursor_visible)

    def show(self, text: str) -> bool:
        """Take a text, keeping the cursor's line; return whether it can be edited here."""
        if text == self.text:
            return True
        fits = max(map(len, text.split("\n")), default=0) <= EDITABLE_LINE
        if not fits:
            text = "\n".join(printable(line, EDITABLE_LINE) for line in text.split("\n"))
        row = self.cursor_location[0]
        coloured = len(text) <= COLOURED_UP_TO and _can_colour()
        self.language = "toml" if coloured else None
        self.load_text(text)
        self.move_cursor((min(row, self.document.line_count - 1), 0))
        return fits

    def go_to_line(self, line: int) -> None:
        """Put the cursor at the beginning of a line, counted from 1, and select the line."""
        row = min(max(line - 1, 0), self.document.line_count - 1)
        self.move_cursor((row, 0), center=True)
        self.move_cursor((row, len(self.document.get_line(row))), select=True)

    def get_line(self, line_index: int) -> Text:
        """Return a line as it is drawn: of the same length, without what a terminal could act on."""
        return Text(_UNSAFE.sub("\ufffd", self.document.get_line(line_index)), end="", no_wrap=True)


def _can_colour() -> bool:
    return all(importlib.util.find_spec(name) is not None for name in ("tree_sitter", "tree_sitter_toml"))
