"""What can be done with a row of the home screen: by its menu, by keys, and what a first start offers."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from textual import on, work
from textual.binding import Binding, BindingType
from textual.widgets import DataTable, OptionList
from textual.worker import get_current_worker

from tui import navigation
from tui.menus import NEW, Refusal, menu_of, resume_refusal
from tui.runs import Row
from tui.screens.base import BoresightScreen
from tui.screens.dialogs import Choice, ChoiceDialog, TextDialog
from tui.text import near

FIRST_STEPS = (
    Choice("sample", "Try the built-in sample: a bank, three candidates and a leaderboard in a minute"),
    Choice("new", "Make a bank from a repository of yours"),
    Choice("open", "Open a bank or a campaign file that lies elsewhere"),
)


class RowActions(BoresightScreen[None]):
    """A screen that lists runs and campaign files, one of which is chosen."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("r", "resume", "Resume", id="campaigns.resume"),
        Binding("n", "new", "New", id="campaigns.new"),
        Binding("b", "rescore", "Rescore", id="campaigns.rescore"),
        Binding("a", "attempts", "Attempts", id="campaigns.attempts"),
        Binding("d", "duplicate", "Duplicate", id="campaigns.duplicate"),
    ]

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder

    @property
    def chosen(self) -> Row | None:
        """The row under the cursor."""
        raise NotImplementedError

    @on(DataTable.RowSelected)
    def open_menu(self) -> None:
        """Open the menu of the chosen row."""
        row = self.chosen
        if row is not None:
            self.offer(row)

    @work(thread=True, exclusive=True, group="offer", exit_on_error=False)
    def offer(self, row: Row) -> None:
        """Find out what would be refused, then show the menu."""
        refusal = resume_refusal(row)
        if not get_current_worker().is_cancelled:
            self.app.call_from_thread(self._show_menu, row, refusal)

    def _show_menu(self, row: Row, refusal: Refusal | None) -> None:
        choices = menu_of(row, refusal)
        text = row.sentence if refusal is None else refusal.reason
        title = f"{row.campaign}  {near(row.path, self.folder)}"
        if not choices:
            self.app.push_screen(TextDialog(title, row.sentence))
            return
        self.app.push_screen(ChoiceDialog(title, text, choices), lambda answer: self.act(row, answer))

    def act(self, row: Row, answer: str | None) -> None:
        """Do what was chosen for a row."""
        app, path = self.boresight, row.path
        run_of = row.manifest.path if row.manifest is not None else None
        screens: dict[str, navigation.Show] = {
            "monitor": navigation.ShowMonitor(path),
            "results": navigation.ShowResults(path),
            "queries": navigation.ShowQueries(path),
            "attempts": navigation.ShowAttempts(path),
            "frozen": navigation.ShowFrozenManifest(path),
            "manifest": navigation.ShowManifest(path),
            "new": navigation.ShowManifest(None),
        }
        if answer in screens:
            self.post_message(screens[answer])
        elif answer == "resume":
            app.resume(path)
        elif answer == "together":
            app.steer(path, "together", f"{path.name} runs beside the other campaign; both are marked")
        elif answer == "stop":
            app.steer(path, "stop", f"{path.name} waits no longer; r resumes it")
        elif answer == "retry":
            app.retry_failed(path)
        elif answer == "rescore":
            app.rescore(path)
        elif answer == "report":
            app.show_report(path)
        elif answer == "clean":
            app.ask_to_clean(path)
        elif answer == "archive":
            app.archive(path)
        elif answer == "duplicate":
            app.duplicate(path, frozen=row.status is not None)
        elif answer == "fix":
            self.post_message(navigation.FixAndContinue(path))
        elif answer == "run" and run_of is not None:
            app.start(run_of)
        elif answer == "reuse":
            self._reuse(row)

    def _reuse(self, row: Row) -> None:
        if row.manifest is not None:
            self.boresight.start(row.manifest.path, row.path)
        else:
            self.boresight.duplicate(
                row.path, frozen=True, then=lambda copy: self.boresight.offer_reuse(row.path, copy)
            )

    @on(OptionList.OptionSelected, "#first-steps")
    def first_step(self, event: OptionList.OptionSelected) -> None:
        """Do what a first start offers."""
        if event.option_id == "sample":
            self.boresight.start_sample()
        elif event.option_id == "new":
            self.post_message(navigation.ShowManifest(None))
        else:
            self.boresight.open_elsewhere()

    def action_resume(self) -> None:
        """Resume the chosen run, or say why that makes no sense."""
        row = self.chosen
        if row is None or row.status is None:
            self.boresight.tell("r resumes a run; there is none under the cursor", warning=True)
        elif row.is_live:
            self.boresight.tell(f"{row.path.name} is {row.state}: enter watches it", warning=True)
        elif row.state == "complete":
            self.boresight.tell(f"{row.path.name} is complete: nothing is left to run", warning=True)
        else:
            self._resume(row)

    @work(thread=True, exclusive=True, group="offer", exit_on_error=False)
    def _resume(self, row: Row) -> None:
        refusal = resume_refusal(row)
        if get_current_worker().is_cancelled:
            return
        if refusal is None:
            self.app.call_from_thread(self.boresight.resume, row.path)
        else:
            self.app.call_from_thread(self._show_menu, row, refusal)

    def action_new(self) -> None:
        """Offer a new run of the chosen campaign, or a new campaign."""
        row = self.chosen
        if row is None or row.manifest is None or row.manifest.problem is not None:
            self.post_message(navigation.ShowManifest(None))
            return
        manifest = row.manifest.path
        choices = (Choice("run", f"A new run of {near(manifest, self.folder)}"), NEW)
        dialog = ChoiceDialog("New", "", choices)
        self.app.push_screen(dialog, lambda answer: self.act(row, answer))

    def action_rescore(self) -> None:
        """Rescore the chosen run."""
        if (row := self._chosen_run("b rescores")) is not None:
            self.boresight.rescore(row.path)

    def action_attempts(self) -> None:
        """Show the chosen run's attempts."""
        if (row := self._chosen_run("a shows the attempts of")) is not None:
            self.post_message(navigation.ShowAttempts(row.path))

    def _chosen_run(self, what: str) -> Row | None:
        row = self.chosen
        if row is not None and row.status is not None:
            return row
        self.boresight.tell(f"{what} a run; there is none under the cursor", warning=True)
        return None

    def action_duplicate(self) -> None:
        """Duplicate the chosen campaign, or what the chosen run was frozen with."""
        if (row := self.chosen) is not None:
            self.act(row, "duplicate")
