"""The line at the bottom: the screen's main keys as far as they fit, and always the one for help."""

from __future__ import annotations

from rich.cells import cell_len
from textual import events
from textual.app import ComposeResult
from textual.widgets import Footer
from textual.widgets._footer import FooterKey

HELP_ACTION = "show_help"
_HELP_FRAME = 2  # cells of its border and of the margin at the right


class KeyFooter(Footer):
    """Shows whole keys only: one that does not fit is left out, as the help names them all."""

    DEFAULT_CSS = """
    KeyFooter FooterKey.-help {
        dock: right;
        padding-right: 1;
        border-left: vkey $foreground 20%;
    }
    """

    def __init__(self) -> None:
        super().__init__(show_command_palette=False)
        self._fitted = 0  # the width that the keys were chosen for

    def compose(self) -> ComposeResult:
        """Lay out the keys that fit beside the one for help."""
        self._fitted = self.size.width or self.app.size.width
        left = self._fitted
        keys = [key for key in super().compose() if isinstance(key, FooterKey)]
        for asked in self._help_key():
            left -= _width(asked) + _HELP_FRAME
            yield asked
        for key in keys:
            if key.action != HELP_ACTION and _width(key) <= left:
                left -= _width(key)
                yield key

    def on_resize(self, event: events.Resize) -> None:
        """Choose the keys anew for another width."""
        if self._fitted and event.size.width != self._fitted:
            self.refresh(recompose=True)

    def _help_key(self) -> list[FooterKey]:
        """Return the key for help by its shortest name of those that are not typed into a field now."""
        if not self._bindings_ready:
            return []
        bindings = [
            active.binding
            for active in self.screen.active_bindings.values()
            if active.binding.action == HELP_ACTION
        ]
        keys = [
            FooterKey(
                binding.key,
                self.app.get_key_display(binding),
                binding.description,
                binding.action,
                classes="-help",
            )
            for binding in bindings
        ]
        return sorted(keys, key=_width)[:1]


def _width(key: FooterKey) -> int:
    """Return the cells of a key as Textual lays it out: its name, its description, and three blanks."""
    return cell_len(f"{key.key_display}{key.description}") + 3
