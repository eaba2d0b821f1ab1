"""What all screens of the app share: the app by its own type, and that no defect of theirs goes unseen."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from textual.screen import Screen, ScreenResultType
from textual.worker import Worker, WorkerState

if TYPE_CHECKING:
    from tui.app import BoresightApp


class BoresightScreen(Screen[ScreenResultType]):
    """A screen of this app; it hands on what its workers end with, as they tell only whoever began them."""

    @property
    def boresight(self) -> BoresightApp:
        """The app, by its own type."""
        return cast("BoresightApp", self.app)

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """Show a defect where it happens; the app stays up."""
        if event.state is WorkerState.ERROR:
            self.boresight.tell_defect(event)
