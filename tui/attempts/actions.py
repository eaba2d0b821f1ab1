"""What can be done with an attempt, and with the failures below a branch of the tree."""

from __future__ import annotations

from pathlib import Path

from textual import on, work
from textual.widgets import Static
from textual.worker import get_current_worker

from core.browse.branches import Branch, View
from core.browse.index import RunIndex
from core.errors import BoresightError
from core.run.evidence import STDOUT
from core.run.layout import Operation
from tui.attempts.reading import APART, head_of_run
from tui.attempts.retrying import RetryOffer, retry_offer
from tui.attempts.text import Seen, copied_command, size_of
from tui.navigation import FixAndContinue, RetryRun, ShowFile
from tui.screens.dialogs import Choice, ChoiceDialog, TextDialog
from tui.screens.live_index import LiveIndexScreen
from tui.text import facts, safe
from tui.widgets.attempt_tree import AttemptTree


class AttemptActions(LiveIndexScreen):
    """A screen with a tree of attempts, one of which is seen."""

    def __init__(self, run: Path) -> None:
        super().__init__(run)
        self._view = View()
        self._seen: Seen | None = None

    @property
    def _tree(self) -> AttemptTree:
        return self.query_one(AttemptTree)

    def tell(self, words: str) -> None:
        """Say of the run how it stands, or what goes on."""
        self.query_one("#attempts-head", Static).update(facts(words.split(APART), self.size.width - 2, APART))

    def _hint(self, text: str) -> None:
        self.app.notify(safe(text, 300).plain, markup=False, severity="warning")

    def question_failed(self, error: BoresightError) -> None:
        """Say why the index does not answer, after it was opened again."""
        if not self.reopen(error):
            self.app.push_screen(TextDialog("Not shown", str(error)))

    @on(AttemptTree.Opened)
    def _attempt_opened(self, event: AttemptTree.Opened) -> None:
        branch = event.branch
        if branch.row is not None and branch.attempt is not None and self.index is not None:
            folder = self.index.record.layout.attempt(branch.row.operation, branch.attempt.number)
            self._page(folder / STDOUT, branch.row.operation, branch.attempt.number)

    def action_open_output(self, name: str) -> None:
        """Open an output of the attempt in the pager."""
        if self._seen is None:
            self._hint("Open an operation first: its attempts have outputs")
            return
        detail = self._seen.detail
        self._page(detail.folder / name, detail.operation, detail.number)

    def _page(self, path: Path, operation: Operation, number: int) -> None:
        self.post_message(ShowFile(path, f"{path.name} of attempt {number}, {operation}"))

    def action_copy_command(self) -> None:
        """Copy the command as a line for a shell."""
        line = copied_command(self._seen.detail) if self._seen is not None else ""
        if line:
            self.boresight.copy(line)
        else:
            self._hint("There is no command here to copy")

    def action_copy_path(self) -> None:
        """Copy the path of the attempt's folder."""
        if self._seen is not None:
            self.boresight.copy(str(self._seen.detail.folder))
        else:
            self._hint("Open an operation first: its attempts have folders")

    def action_edit(self) -> None:
        """Choose a file of the attempt to open in the person's editor."""
        if self._seen is None:
            self._hint("Open an operation first: its attempts have files")
            return
        detail = self._seen.detail
        choices = [
            Choice(file.name, f"{file.name}  {size_of(file)}", "missing" if file.bytes is None else None)
            for file in detail.files
        ]
        dialog = ChoiceDialog(
            "Open in $EDITOR",
            "This is evidence: read it and leave it as it is, for a saved change no longer fits its digest.",
            [*choices, Choice(".", "The folder")],
        )

        def answered(name: str | None) -> None:
            if name is not None:
                self.boresight.edit(detail.folder if name == "." else detail.folder / name)

        self.app.push_screen(dialog, answered)

    def action_fix(self) -> None:
        """Change what the run was frozen with, and continue in a new run that takes over what still holds."""
        self.post_message(FixAndContinue(self.run_path))

    def action_retry(self) -> None:
        """Find out what a retry of the branch would do, then ask."""
        branch = self._tree.chosen
        if branch is not None and self.index is not None:
            self.tell("finding out whether a retry would be accepted…")
            self.offer_retry(self.index, branch)

    @work(thread=True, exclusive=True, group="retry", exit_on_error=False)
    def offer_retry(self, index: RunIndex, branch: Branch) -> None:
        """Find out what a retry would do, or why it would be refused."""
        worker = get_current_worker()
        try:
            offer = retry_offer(self.run_path, index, branch)
            head = head_of_run(index, self._view)
        except BoresightError as error:
            self.app.call_from_thread(self.question_failed, error)
            return
        if not worker.is_cancelled:
            self.app.call_from_thread(self.tell, head)
            self.app.call_from_thread(self._ask_retry, offer)

    def _ask_retry(self, offer: RetryOffer) -> None:
        many = len(offer.operations)
        if many == 0:
            self._hint("Nothing here failed, so there is nothing to retry")
            return
        what = str(next(iter(offer.operations))) if many == 1 else f"{many:,} failed operations"
        retry = f"Retry {'it' if many == 1 else f'these {many:,}'}: new attempts beside the old ones"
        fix = Choice("fix", "Fix the cause and continue in a new run")
        if offer.refusal is None:
            choices = [Choice("retry", retry), fix, Choice("no", "Leave it")]
        else:
            choices = [fix, Choice("no", "Leave it"), Choice("retry", retry, "refused, as said above")]
        text = offer.refusal or "\n".join(
            [*offer.notes, "What else failed stays as it is. Unless the cause is mended they fail again."]
        )
        self.app.push_screen(
            ChoiceDialog(f"Retry {what}?", text, choices), lambda answer: self._retry_answered(offer, answer)
        )

    def _retry_answered(self, offer: RetryOffer, answer: str | None) -> None:
        if answer == "retry":
            self.post_message(RetryRun(self.run_path, offer.operations))
        elif answer == "fix":
            self.action_fix()
