"""What the screens on one run share: its index, opened in a thread with progress, and how errors show."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from textual import work
from textual.binding import Binding, BindingType
from textual.worker import get_current_worker

from core.browse.index import DamagedIndexError, RunIndex
from core.errors import BoresightError, InputError, StoppedError
from tui.screens.base import BoresightScreen
from tui.screens.dialogs import TextDialog
from tui.text import safe


class RunScreen(BoresightScreen[None]):
    """A screen that reads a run through its index; override `index_ready` and `index_progress`."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "back", "Back", id="run.back")]

    def __init__(self, run: Path) -> None:
        super().__init__()
        self._is_reopened = False
        self.run_path = run
        self.index: RunIndex | None = None

    def on_mount(self) -> None:
        """Name the run, and begin to open its index."""
        self.sub_title = safe(self.run_path.name, 80).plain
        self.open_index()

    @work(thread=True, exclusive=True, group="index", exit_on_error=False)
    def open_index(self) -> None:
        """Open the index, building it where it is missing, without keeping the screen waiting."""
        worker = get_current_worker()

        def on_progress(done: int, total: int) -> None:
            self.app.call_from_thread(self.index_progress, done, total)

        try:
            index = self.boresight.indexes.open(self.run_path, on_progress, lambda: worker.is_cancelled)
        except StoppedError:
            return
        except BoresightError as error:
            if not worker.is_cancelled:
                self.app.call_from_thread(self._not_opened, error)
            return
        if not worker.is_cancelled:
            self.index = index
            self.app.call_from_thread(self.index_ready, index)

    def _not_opened(self, error: BoresightError) -> None:
        if not self.reopen(error):
            self.index_failed(error)

    def index_progress(self, done: int, total: int) -> None:
        """Show how far the index is built; does nothing unless overridden."""

    def index_ready(self, index: RunIndex) -> None:
        """Show what the index holds; does nothing unless overridden."""

    def index_failed(self, error: BoresightError) -> None:
        """Say why the run cannot be read, and what to do."""
        self.app.push_screen(TextDialog(f"{self.run_path.name} cannot be opened", str(error)))

    def index_answered(self) -> None:
        """Note that the index answers, so that it is opened again should it fail later."""
        self._is_reopened = False

    def reopen(self, error: BoresightError) -> bool:
        """Open the index again, once until it answers; tells whether that was tried.

        Another screen may have closed it, or its file turned out to be damaged: it is then built anew.
        """
        if self._is_reopened or isinstance(error, InputError):
            return False
        self._is_reopened = True
        if isinstance(error, DamagedIndexError):
            words = "The run's index was damaged; it is built anew."
            self.app.notify(words, severity="warning", markup=False)
        self.index = None
        self.boresight.indexes.forget(self.run_path)
        self.open_index()
        return True

    def action_back(self) -> None:
        """Go back one level."""
        self.go_back()
