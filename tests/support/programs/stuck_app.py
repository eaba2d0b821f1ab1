"""The app on the folder `sys.argv[1]`, with a thread that waits for ever, as for a disk that is silent."""

import sys
import threading
from pathlib import Path

from tui import app


class StuckApp(app.BoresightApp):
    """Waits in a thread for what never comes; Textual calls this one's `on_mount` beside the other's."""

    def on_mount(self) -> None:
        self.run_worker(threading.Event().wait, thread=True, exit_on_error=False)


app.BoresightApp = StuckApp  # type: ignore[misc]
sys.exit(app.open_app(Path(sys.argv[1])))
