"""The app: one folder, its runs, and the screens that show them."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from textual import on, work
from textual.app import App
from textual.binding import Binding, BindingType

from core import api
from core.errors import BoresightError
from core.run.layout import RunLayout
from core.run.lock import is_executed
from tui import navigation
from tui.indexes import Indexes
from tui.screens.campaigns import CampaignsScreen
from tui.screens.dialogs import Choice, ChoiceDialog, TextDialog
from tui.screens.monitor import MonitorScreen

HELP = "q  quit   ?  this help   ctrl+p  the command palette, with themes"


def stylesheet() -> Path:
    """Return the styles: beside this package in a source tree, inside it in an installed wheel."""
    inside = Path(__file__).parent / "screens.css"
    return inside if inside.exists() else Path(__file__).parents[1] / "screens.css"


class BoresightApp(App[int]):
    """Boresight on one folder; runs go on in processes of their own, whatever happens to this one."""

    TITLE = "Boresight"
    CSS_PATH = stylesheet()
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q", "leave", "Quit"),
        Binding("question_mark", "show_help", "Help", key_display="?"),
    ]

    def __init__(self, folder: Path, watch: Path | None = None) -> None:
        super().__init__()
        self.folder = folder.absolute()
        self.started: set[Path] = set()  # runs whose host this app started
        self.indexes = Indexes()
        self.run_path: Path | None = None  # the run that screens were last shown of
        self._watch = watch

    def on_mount(self) -> None:
        """Show the home screen, and over it the run that was named."""
        self.push_screen(CampaignsScreen(self.folder))
        if self._watch is not None:
            self.push_screen(MonitorScreen(self._watch))

    def on_unmount(self) -> None:
        """Close what was opened."""
        self.indexes.close()

    @on(navigation.ShowMonitor)
    def show_monitor(self, asked: navigation.ShowMonitor) -> None:
        """Watch a run."""
        self.run_path = asked.run
        self.push_screen(MonitorScreen(asked.run))

    @on(navigation.ShowResults)
    def show_results(self, asked: navigation.ShowResults) -> None:
        """Show what a run says."""
        from tui.screens.results import ResultsScreen

        self.run_path = asked.run
        self.push_screen(ResultsScreen(asked.run))

    @on(navigation.ShowQueries)
    def show_queries(self, asked: navigation.ShowQueries) -> None:
        """Show a run's cases."""
        from tui.screens.queries import QueriesScreen

        self.run_path = asked.run
        self.push_screen(QueriesScreen(asked.run, asked.filters, asked.sort, asked.case))

    @on(navigation.ShowAttempts)
    def show_attempts(self, asked: navigation.ShowAttempts) -> None:
        """Show a run's attempts."""
        from tui.screens.attempts import AttemptsScreen

        self.run_path = asked.run
        self.push_screen(AttemptsScreen(asked.run, asked.operation, asked.candidate))

    @on(navigation.ShowManifest)
    def show_manifest(self, asked: navigation.ShowManifest) -> None:
        """Edit a campaign file, or begin a new one."""
        from tui.screens.manifest import ManifestScreen

        self.push_screen(ManifestScreen(self.folder, asked.path))

    @on(navigation.ShowFrozenManifest)
    def show_frozen_manifest(self, asked: navigation.ShowFrozenManifest) -> None:
        """Read what a run was frozen with."""
        from tui.screens.manifest import ManifestScreen

        self.push_screen(ManifestScreen(self.folder, None, frozen=asked.run))

    def action_show_help(self) -> None:
        """Show the keys of the present screen."""
        text = getattr(self.screen, "HELP", "")
        if text:
            self.push_screen(TextDialog("Keys", f"{text}\n\n{HELP}"))

    def action_leave(self) -> None:
        """Quit; where a run that this app started is going, ask what becomes of it."""
        going = [run for run in sorted(self.started) if is_executed(RunLayout(run).lock)]
        if not going:
            self.exit(0)
            return
        names = ", ".join(run.name for run in going)
        choices = (
            Choice("keep", "Keep running: its process goes on without this app"),
            Choice("stop", "Stop: the operation under way is ended and kept"),
            Choice("stay", "Stay here"),
        )
        self.push_screen(
            ChoiceDialog(f"{names} is going", "", choices), lambda answer: self._leave(going, answer)
        )

    def _leave(self, going: list[Path], answer: str | None) -> None:
        if answer == "keep":
            self.exit(0)
        elif answer == "stop":
            self._stop_and_leave(going)

    @work(thread=True, exit_on_error=False)
    def _stop_and_leave(self, going: list[Path]) -> None:
        for run in going:
            try:
                api.ask(run, "stop")
            except BoresightError as error:
                self.call_from_thread(self.push_screen, TextDialog(f"{run.name} was not stopped", str(error)))
                return
        self.call_from_thread(self.exit, 0)


def open_app(folder: Path, watch: Path | None = None) -> int:
    """Run the app in this terminal until the person leaves it; return the exit code."""
    return BoresightApp(folder, watch).run() or 0
