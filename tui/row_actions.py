"""What can be done with a row of the home screen: by its menu, by keys, and what a first start offers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, NamedTuple, TypeVar

from textual import on, work
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.widgets import DataTable, OptionList
from textual.worker import get_current_worker

from tui import navigation
from tui.menus import NEW, Checked, check_resume, menu_of
from tui.runs import UNFINISHED, Row, read_row, sentence_once_checked
from tui.screens.base import BoresightScreen
from tui.screens.dialogs import Choice, ChoiceDialog, TextDialog
from tui.text import near

if TYPE_CHECKING:
    from tui.editing.looking_ahead import Ahead

FIRST_STEPS = (
    Choice("sample", "Try the built-in sample: a bank, three candidates and a leaderboard in a minute"),
    Choice("new", "Make a bank from a repository of yours"),
    Choice("open", "Open a bank or a campaign file that lies elsewhere"),
)

Found = TypeVar("Found")


class Wish(NamedTuple):
    """What a person asked for that needs a look at disk first; dropped once they turn to something else."""

    doing: str
    row: str | None  # the key of the row whose it is, where it goes with the cursor's leaving that
    screen: Screen[object]  # the one that was in view


class RowActions(BoresightScreen[None]):
    """A screen that lists runs and campaign files, one of which is chosen."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("r", "resume", "Resume", id="campaigns.resume"),
        Binding("n", "new", "New", id="campaigns.new"),
        Binding("b", "rescore", "Rescore", id="campaigns.rescore"),
        Binding("a", "attempts", "Attempts", id="campaigns.attempts"),
        Binding("d", "duplicate", "Duplicate", id="campaigns.duplicate"),
        Binding("escape", "back", "Back", show=False, id="campaigns.back"),
    ]

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder
        self.wish: Wish | None = None

    def on_mount(self) -> None:
        """Drop what was asked for once another screen comes into view, or goes."""
        self.app.screen_change_signal.subscribe(self, lambda _: self.drop_wish(), immediate=True)

    @property
    def chosen(self) -> Row | None:
        """The row under the cursor."""
        raise NotImplementedError

    def tell_wish(self) -> None:
        """Show what is being done for a wish, or nothing of it any more."""
        raise NotImplementedError

    def after(
        self, doing: str, look: Callable[[], Found], then: Callable[[Found], None], row: Row | None = None
    ) -> None:
        """Look at disk, saying so at once, and go on with what was found where that is still wanted."""
        chosen = self.chosen if self.app.screen is self else None
        is_chosen = row is not None and chosen is not None and chosen.key == row.key
        self.wish = wish = Wish(doing, row.key if row is not None and is_chosen else None, self.app.screen)
        if wish.screen is self:
            self.tell_wish()
        else:
            self.boresight.tell(doing)
        self._look_for(wish, look, then)

    @work(thread=True, exclusive=True, group="offer", exit_on_error=False)
    def _look_for(self, wish: Wish, look: Callable[[], Found], then: Callable[[Found], None]) -> None:
        worker = get_current_worker()
        try:
            found = look()
        except BaseException:
            self.app.call_from_thread(self.drop_wish, wish)
            raise
        if not worker.is_cancelled:
            self.app.call_from_thread(self._go_on, wish, found, then)

    def _go_on(self, wish: Wish, found: Found, then: Callable[[Found], None]) -> None:
        if self.wish is wish and self.app.screen is wish.screen:
            self.drop_wish()
            then(found)

    def drop_wish(self, wish: Wish | None = None) -> bool:
        """Let what was asked for be, whatever it was or this alone; tell whether there was anything."""
        if self.wish is None or (wish is not None and wish is not self.wish):
            return False
        self.wish = None
        self.tell_wish()
        return True

    def action_back(self) -> None:
        """Let what was asked for be."""
        self.drop_wish()

    @on(DataTable.RowSelected)
    def open_menu(self) -> None:
        """Open the menu of the chosen row."""
        row = self.chosen
        if row is not None:
            self.offer(row)

    def offer(self, row: Row) -> None:
        """Find out what would be refused, then show the menu."""
        self._check(row, lambda checked: self._show_menu(row, checked))

    def _check(self, row: Row, then: Callable[[Checked], None]) -> None:
        """Find out what a resume would come to, which takes time only where one makes sense."""
        if row.state not in UNFINISHED:
            then(Checked())
            return
        doing = f"Looking at whether {row.campaign} {row.path.name} can be resumed … (esc: not now)"
        self.after(doing, lambda: check_resume(row, self._is_let_be()), then, row)

    def _is_let_be(self) -> Callable[[], bool]:
        """Return what tells a thread that nobody waits any more for what it looks at."""
        worker = get_current_worker()
        return lambda: worker.is_cancelled or self.wish is None

    def _show_menu(self, row: Row, checked: Checked) -> None:
        refusal = checked.refusal
        choices = menu_of(row, refusal)
        text = sentence_once_checked(row, checked.reusable) if refusal is None else refusal.reason
        title = f"{row.campaign}  {near(row.path, self.folder)}".strip()
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
            self._ask_to_run(run_of)
        elif answer == "reuse":
            self._reuse(row)

    def _reuse(self, row: Row) -> None:
        if row.manifest is not None:
            self._ask_to_run(row.manifest.path, row.path)
        else:
            self.boresight.duplicate(
                row.path, frozen=True, then=lambda copy: self.boresight.offer_reuse(row.path, copy)
            )

    def _ask_to_run(self, manifest: Path, reuse: Path | None = None) -> None:
        """Show what a campaign will cost, and start it if that is wanted; `reuse` is a run to take over."""
        doing = f"Looking at what {near(manifest, self.folder)} will cost … (esc: not now)"
        self.after(
            doing,
            lambda: _ahead_of(manifest, self.folder, reuse),
            lambda ahead: self._put_question(manifest, ahead),
        )

    def _put_question(self, manifest: Path, ahead: Ahead) -> None:
        """Ask what the manifest screen asks too."""
        from tui.editing.questions import run_dialog

        def answered(answer: str | None) -> None:
            if answer in {"run", "reuse"}:
                self.boresight.start(manifest, ahead.earlier if answer == "reuse" else None)

        self.app.push_screen(run_dialog(ahead), answered)

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
            self.boresight.tell("No run is under the cursor; r resumes one", warning=True)
        elif row.is_live:
            self.boresight.tell(f"{row.path.name} is {row.state}: enter watches it", warning=True)
        elif row.state == "complete":
            self.boresight.tell(f"{row.path.name} is complete: nothing is left to run", warning=True)
        else:
            self.act_once_checked(row, "resume")

    def act_once_checked(self, row: Row, answer: str) -> None:
        """Resume a run or try what failed again; where that would be refused, say why and offer the rest."""
        self._check(row, lambda checked: self._act_if_possible(row, answer, checked))

    def _act_if_possible(self, row: Row, answer: str, checked: Checked) -> None:
        if checked.refusal is None:
            self.act(row, answer)
        else:
            self._show_menu(row, checked)

    def known(self, run: Path) -> Row | None:
        """Return the row of a run as it was last read, None where it is not listed."""
        raise NotImplementedError

    def resume_run(self, run: Path) -> None:
        """Resume a run that another screen shows, whether or not it is listed here."""
        row = self.known(run)
        manifest = row.manifest if row is not None else None
        doing = f"Looking at whether {run.name} can be resumed … (esc: not now)"

        def look() -> tuple[Row, Checked]:
            read = read_row(run, manifest)
            return read, check_resume(read, self._is_let_be())

        self.after(doing, look, lambda found: self._act_if_possible(found[0], "resume", found[1]))

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
        if (row := self._chosen_run("b rescores one")) is not None:
            self.boresight.rescore(row.path)

    def action_attempts(self) -> None:
        """Show the chosen run's attempts."""
        if (row := self._chosen_run("a shows the attempts of one")) is not None:
            self.post_message(navigation.ShowAttempts(row.path))

    def _chosen_run(self, what: str) -> Row | None:
        row = self.chosen
        if row is not None and row.status is not None:
            return row
        self.boresight.tell(f"No run is under the cursor; {what}", warning=True)
        return None

    def action_duplicate(self) -> None:
        """Duplicate the chosen campaign, or what the chosen run was frozen with."""
        if (row := self.chosen) is not None:
            self.act(row, "duplicate")


def _ahead_of(manifest: Path, folder: Path, reuse: Path | None) -> Ahead:
    """Return what is to be known before a campaign file is run; reads disk."""
    from tui.editing import questions  # noqa: F401 - here, as the event loop shall not wait for it
    from tui.editing.looking_ahead import look_ahead_of

    ahead = look_ahead_of(manifest, folder)
    return ahead if reuse is None else ahead._replace(earlier=reuse)
