"""What is known of the branch under the cursor, scrollable by keys."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static


class AttemptPanel(VerticalScroll):
    """A long text that starts at its top whenever something else is shown."""

    def compose(self) -> ComposeResult:
        """Hold one text."""
        yield Static("", id="attempt-text", markup=False)

    def show(self, content: Content, *, same: bool) -> None:
        """Show a text; `same` says that it tells of the same thing as before, so that it stays put."""
        self.query_one("#attempt-text", Static).update(content)
        if not same:
            self.scroll_home(animate=False)
