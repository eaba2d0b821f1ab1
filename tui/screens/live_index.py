"""A screen on a run that goes on: it catches up with it now and then, and tells what goes on."""

from __future__ import annotations

import time

from textual import work
from textual.worker import get_current_worker

from core.browse.index import RunIndex
from core.errors import BoresightError
from core.run.layout import RunLayout
from core.run.lock import is_executed
from tui.screens.run_screen import RunScreen

LIVE_SECONDS = 5.0
REST = 20  # times as long as a look took, before the next one


class LiveIndexScreen(RunScreen):
    """Override `tell` and `index_refreshed` beside `index_ready` and `index_progress`."""

    _next_look = 0.0  # by the monotonic clock
    _is_looking = False
    _was_live = False  # when it was last looked at, so that its end is seen too

    def on_mount(self) -> None:
        """Look at a live run now and then."""
        self.set_interval(LIVE_SECONDS, self.look_quietly)

    def tell(self, words: str) -> None:
        """Say what goes on or went wrong; does nothing unless overridden."""

    def index_refreshed(self) -> None:
        """Show what the index holds now; does nothing unless overridden."""

    def index_failed(self, error: BoresightError) -> None:
        """Say why the run cannot be read, in its place too."""
        self.tell(str(error))
        super().index_failed(error)

    def question_failed(self, error: BoresightError) -> None:
        """Say why the index does not answer, after it was opened again."""
        if not self.reopen(error):
            self.tell(str(error))

    def look_quietly(self) -> None:
        """Catch up with a run that goes on, as long as that takes little of the machine."""
        is_due = self.is_current and not self._is_looking and time.monotonic() >= self._next_look
        if self.index is not None and is_due:
            self._is_looking = True
            self._look(self.index)

    @work(thread=True, group="look", exit_on_error=False)
    def _look(self, index: RunIndex) -> None:
        worker, started = get_current_worker(), time.monotonic()
        try:
            is_live = is_executed(RunLayout(self.run_path).lock)
            if is_live or self._was_live:
                index.refresh(None, is_cancelled=lambda: worker.is_cancelled)
                if not worker.is_cancelled:
                    self._was_live = is_live
                    self.app.call_from_thread(self.index_refreshed)
        except BoresightError:
            return  # the next question tells
        finally:
            ended = time.monotonic()
            self._next_look = ended + REST * (ended - started)
            self._is_looking = False
