"""The line at the top: the program, and what its screen shows.

Textual's own `Header` fails where a screen goes before all of it is mounted, as keys pressed in a row do.
"""

from __future__ import annotations

from textual.content import Content
from textual.widget import Widget

from tui.text import safe

LIMIT = 400


class TitleBar(Widget):
    """Shows the app's title and its screen's `sub_title`, whenever that changes."""

    def on_mount(self) -> None:
        """Follow the screen's title."""
        self.watch(self.screen, "sub_title", self._changed, init=False)

    def _changed(self) -> None:
        self.refresh()

    def render(self) -> Content:
        """Return the line."""
        return safe(f"{self.app.title} — {self.screen.sub_title or ''}", LIMIT)
