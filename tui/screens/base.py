"""What all screens of the app share: the app by its own type, and that no defect of theirs goes unseen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from textual.await_complete import AwaitComplete
from textual.await_remove import AwaitRemove
from textual.dom import DOMNode
from textual.screen import Screen, ScreenResultType
from textual.worker import Worker, WorkerState

if TYPE_CHECKING:
    from tui.app import BoresightApp


def is_away(node: DOMNode) -> bool:
    """Tell whether a node's screen was taken away, and parts of it with it, though messages still come."""
    nodes = node.ancestors_with_self
    return not any(screen in nodes for screen in node.app.screen_stack)


class Once:
    """Makes a screen go once, and whole.

    Keys that came together with the one that it went by do nothing more: Textual 8.2 hands them to it all the
    same, answers again, and takes away whatever is in view by then.
    """

    def dismiss(self, result: Any = None) -> AwaitComplete:
        """Go, with an answer."""
        if not cast("Screen[Any]", self).is_active:
            return AwaitComplete()
        gone: AwaitComplete = super().dismiss(result)  # type: ignore[misc]
        return gone

    def remove(self) -> AwaitRemove:
        """Take it apart, but not before all of it is there, as Textual 8.2 then ends the app."""
        if cast("Screen[Any]", self).is_mounted:
            return self._take_apart()
        cast("Screen[Any]", self).call_later(self._take_apart)  # handled after it was mounted
        return AwaitRemove([])

    def _take_apart(self) -> AwaitRemove:
        gone: AwaitRemove = super().remove()  # type: ignore[misc]
        return gone


class BoresightScreen(Once, Screen[ScreenResultType]):
    """A screen of this app; it hands on what its workers end with, as they tell only whoever began them."""

    @property
    def boresight(self) -> BoresightApp:
        """The app, by its own type."""
        return cast("BoresightApp", self.app)

    def go_back(self) -> None:
        """Go back one level, once."""
        if self.is_active:
            self.app.pop_screen()

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """Show a defect where it happens; the app stays up."""
        if event.state is WorkerState.ERROR:
            self.boresight.tell_defect(event)
