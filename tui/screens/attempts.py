"""Screen 6: what was run, how it ended and what is left of it, down to the single attempt."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import ClassVar, get_args

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.notifications import SeverityLevel
from textual.timer import Timer
from textual.widgets import Input, Static
from textual.widgets.tree import TreeNode
from textual.worker import get_current_worker

from core.browse.attempt_detail import read_attempt
from core.browse.branches import Branch, View, branches_of, top_branches
from core.browse.index import RunIndex
from core.browse.operation_queries import OperationSort
from core.browse.rows import OperationRow
from core.errors import BoresightError, StoppedError
from core.run.layout import Operation
from tui.attempts.actions import AttemptActions
from tui.attempts.reading import (
    APART,
    EXPORTED,
    Compared,
    asked_branches,
    compared,
    exported_rows,
    head_of_run,
    heads_of,
    query_of,
    said_before,
)
from tui.attempts.text import Seen, attempt_content, branch_content
from tui.text import safe
from tui.widgets.attempt_panel import AttemptPanel
from tui.widgets.attempt_tree import AttemptTree
from tui.widgets.key_footer import KeyFooter
from tui.widgets.title_bar import TitleBar

NEWER = "↻ more has come: f5 shows it"
SETTLE_SECONDS = 0.08  # the cursor rests this long before evidence is read


class AttemptsScreen(AttemptActions):
    """A run's operations and their attempts; `operation` or `candidate` is what it opens at."""

    AUTO_FOCUS = "AttemptTree"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (110, "-wide")]  # noqa: RUF012 - as Textual declares it
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("o", "open_output('stdout')", "stdout", id="attempts.stdout"),
        Binding("O,E", "open_output('stderr')", "stderr", key_display="O", id="attempts.stderr"),
        Binding("v", "verify", "Verify", id="attempts.verify"),
        Binding("r", "retry", "Retry", id="attempts.retry"),
        Binding("c", "fix", "Fix", id="attempts.fix"),
        Binding("y", "copy_command", "Copy command", id="attempts.copy_command"),
        Binding("Y", "copy_path", "Copy path", show=False, id="attempts.copy_path"),
        Binding("e", "edit", "Editor", show=False, id="attempts.edit"),
        Binding("x", "export", "Export", show=False, id="attempts.export"),
        Binding("slash", "filter", "Filter", key_display="/", id="attempts.filter"),
        Binding("s", "sort", "Sort", show=False, id="attempts.sort"),
        Binding("f", "only_failures", "Failures", id="attempts.only_failures"),
        Binding("f5", "refresh", "Refresh", show=False, id="attempts.refresh"),
    ]
    HELP = (
        "What was run, how it ended and what is left of it. Failures stand first, by error class.\n\n"
        "up down enter   walk the tree, open a branch; on an attempt: its stdout\n"
        "right left      open a branch; close it, or go to the one above\n"
        "tab             to the text beside the tree and back\n"
        "o O             stdout, stderr in the pager (O also E), however large\n"
        "v               compare every file of the attempt with its digest again\n"
        "r               retry the failures at or below the cursor, and nothing else\n"
        "c               fix the cause (a limit, a candidate) and continue in a new run\n"
        "y Y             copy the command as a line for a shell; copy the folder's path\n"
        "e               open a file of the attempt, or its folder, in $EDITOR\n"
        "/               filter by text in error class, case, query or target; empty shows all\n"
        "f               failures alone, or everything\n"
        "s               sort operations: failures, slowest, most memory, most attempts first\n"
        "x               export what is shown\n"
        "f5              look again; a run that is going has more by now\n"
        "esc             back\n\n"
        "✔ accepted  ∅ empty answer  ✖ failed  ≠ evidence changed  ◐ interrupted  ● under way  ■ stopped\n"
        "· no result\n"
        "A command run by hand writes where it did: work on a copy of the run to keep its index as it is."
    )

    def __init__(self, run: Path, operation: Operation | None = None, candidate: str | None = None) -> None:
        super().__init__(run)
        self._asked_for = operation
        self._candidate = candidate
        self._settling: Timer | None = None
        self._tops: tuple[Branch, ...] = ()
        self._compared: Compared = {}

    def compose(self) -> ComposeResult:
        """Lay out the state, the tree, the text and the filter."""
        yield TitleBar()
        yield Static("reading the run…", id="attempts-head", markup=False)
        with Container(id="attempts-body"):
            yield AttemptTree(id="attempts-tree")
            yield AttemptPanel(id="attempts-panel")
        yield Input(placeholder="text in error class, case, query or target", id="attempts-filter")
        yield KeyFooter()

    def on_mount(self) -> None:
        """Hide the filter until it is asked for."""
        self.query_one("#attempts-filter", Input).display = False
        tree = self._tree
        if self._asked_for is not None:
            tree.sought = f"asked/{self._asked_for}"
            tree.opened.add(tree.sought)
        elif self._candidate is not None:
            tree.sought = f"candidate:{self._candidate}"
            tree.opened.add(tree.sought)

    # The tree

    def index_progress(self, done: int, total: int) -> None:
        """Say how far the evidence is read."""
        self.tell(f"reading evidence: {done:,} of {total:,} operations")

    def index_ready(self, index: RunIndex) -> None:
        """Build the tree."""
        self.build(index)

    def index_failed(self, error: BoresightError) -> None:
        """Say why there is nothing to see."""
        super().index_failed(error)
        self.tell("the run cannot be read")

    def index_refreshed(self) -> None:
        """Say how the run stands now; the tree stays under the cursor as it is until it is asked for anew."""
        if self.index is not None:
            self.count(self.index)

    @work(thread=True, exclusive=True, group="build", exit_on_error=False)
    def build(self, index: RunIndex) -> None:
        """Find the topmost branches and what the head says."""
        self._look_into(index, self._built)

    @work(thread=True, exclusive=True, group="count", exit_on_error=False)
    def count(self, index: RunIndex) -> None:
        """Find what the head says, and whether the tree is behind it."""
        view = self._view

        def counted(tops: tuple[Branch, ...], head: str) -> None:
            if view == self._view:
                self.tell(head if tops == self._tops else f"{head}{APART}{NEWER}")

        self._look_into(index, counted)

    def _look_into(self, index: RunIndex, then: Callable[[tuple[Branch, ...], str], None]) -> None:
        """Ask for the topmost branches and the head; for threads."""
        worker = get_current_worker()
        try:
            tops = top_branches(index, self._view)
            if self._asked_for is not None:
                tops = (*asked_branches(index, self._asked_for), *tops)
            head = head_of_run(index, self._view)
        except BoresightError as error:
            self.app.call_from_thread(self.question_failed, error)
            return
        if not worker.is_cancelled:
            self.app.call_from_thread(then, tops, head)

    def _built(self, tops: tuple[Branch, ...], head: str) -> None:
        tree = self._tree
        if not self._tops and tops and tops[0].kind == "class" and tree.sought is None:
            tree.opened.add(tops[0].key)  # the first look goes to the most frequent failure
        self.index_answered()
        self._tops = tops
        self.tell(head)
        tree.rebuild(tops)
        if not tops:
            self._show_nothing()

    def _show_nothing(self) -> None:
        told = "Nothing here"
        if self._view.text:
            told += f" holds {self._view.text!r}; press / and enter to show all"
        elif self._view.only_failures:
            told += ": no operation failed, and no evidence was changed; press f to show everything"
        self.query_one(AttemptPanel).show(safe(f"{told}."), same=False)

    @on(AttemptTree.Wanted)
    def _branch_wanted(self, event: AttemptTree.Wanted) -> None:
        if self.index is not None:
            self.load(self.index, event.node, event.branch)

    @work(thread=True, group="branches", exit_on_error=False)
    def load(self, index: RunIndex, node: TreeNode[Branch], branch: Branch) -> None:
        """Find what stands below a branch."""
        worker = get_current_worker()
        try:
            found = branches_of(index, branch, self._view)
        except BoresightError as error:
            self.app.call_from_thread(self.question_failed, error)
            return
        if not worker.is_cancelled:
            self.app.call_from_thread(self._tree.fill, node, found)

    # What the cursor is on

    def on_tree_node_highlighted(self) -> None:
        """Show the branch once the cursor rests."""
        if self._settling is not None:
            self._settling.stop()
        self._settling = self.set_timer(SETTLE_SECONDS, self._show_chosen)

    def _show_chosen(self) -> None:
        branch = self._tree.chosen
        if branch is None or self.index is None:
            return
        number = branch.attempt.number if branch.attempt else branch.row.attempts if branch.row else 0
        if branch.row is None or number == 0:
            self._seen = None
            self.query_one(AttemptPanel).show(branch_content(branch), same=False)
            return
        self.read(self.index, branch.row, number)

    @work(thread=True, exclusive=True, group="read", exit_on_error=False)
    def read(self, index: RunIndex, row: OperationRow, number: int) -> None:
        """Read an attempt, then its outputs' beginnings, then compare what is not too large."""
        worker = get_current_worker()
        detail = read_attempt(index.record, row.operation, number)
        query, channel = query_of(index, row.operation)
        known = said_before(detail, self._compared)
        seen = Seen(detail, row.attempts, query, channel, known, heads_of(detail), row.status)
        if worker.is_cancelled:
            return
        self.app.call_from_thread(self.show, seen)
        verdicts = compared(detail, lambda: worker.is_cancelled, self._compared, all_files=False)
        if not worker.is_cancelled:
            self.app.call_from_thread(self.show, seen._replace(verdicts=verdicts))

    def show(self, seen: Seen) -> None:
        """Show an attempt as far as it is known."""
        before = self._seen
        same = before is not None and before.detail.folder == seen.detail.folder
        self._seen = seen
        self.query_one(AttemptPanel).show(attempt_content(seen), same=same)

    def action_verify(self) -> None:
        """Compare every file of the attempt with its digest now, however large."""
        if self._seen is not None and self.index is not None:
            self.show(self._seen._replace(verdicts={}))
            self.verify(self.index, self._seen)

    @work(thread=True, exclusive=True, group="read", exit_on_error=False)
    def verify(self, index: RunIndex, seen: Seen) -> None:
        """Compare all files; where any differs the index is to know of it."""
        worker = get_current_worker()
        verdicts = compared(seen.detail, lambda: worker.is_cancelled, self._compared, all_files=True)
        if worker.is_cancelled:
            return
        self.app.call_from_thread(self.show, seen._replace(verdicts=verdicts))
        wrong = [name for name, verdict in verdicts.items() if verdict not in {"matches", "unrecorded"}]
        self.app.call_from_thread(self._tell_compared, wrong)
        if wrong:
            self.app.call_from_thread(self.read_again, index, seen.detail.operation)

    @work(thread=True, group="refresh", exit_on_error=False)
    def read_again(self, index: RunIndex, operation: Operation) -> None:
        """Have the index read an operation again, whatever the cursor is on meanwhile."""
        worker = get_current_worker()
        try:
            index.refresh([operation], is_cancelled=lambda: worker.is_cancelled)
        except StoppedError:
            return
        except BoresightError as error:
            self.app.call_from_thread(self.question_failed, error)
            return
        self.app.call_from_thread(self.build, index)

    def _tell_compared(self, wrong: list[str]) -> None:
        told = f"differ: {', '.join(wrong)}" if wrong else "all that was recorded matches"
        severity: SeverityLevel = "warning" if wrong else "information"
        self.app.notify(f"Compared just now: {told}", markup=False, severity=severity)

    # What of the run is shown

    def action_filter(self) -> None:
        """Ask for text to filter by."""
        field = self.query_one("#attempts-filter", Input)
        field.display = True
        field.value = self._view.text
        self.set_focus(field)

    @on(Input.Submitted, "#attempts-filter")
    def _filtered(self, event: Input.Submitted) -> None:
        self._hide_filter()
        self._change(self._view._replace(text=event.value.strip()))

    def _hide_filter(self) -> None:
        self.query_one("#attempts-filter", Input).display = False
        self._tree.focus()

    def action_only_failures(self) -> None:
        """Show failures alone, or everything."""
        self._change(self._view._replace(only_failures=not self._view.only_failures))

    def action_sort(self) -> None:
        """Sort operations by the next thing."""
        sorts: tuple[OperationSort, ...] = get_args(OperationSort)
        self._change(self._view._replace(sort=sorts[(sorts.index(self._view.sort) + 1) % len(sorts)]))

    def _change(self, view: View) -> None:
        self._view = view
        if self.index is not None:
            self.build(self.index)

    def action_refresh(self) -> None:
        """Read what is new of the run."""
        self.tell("looking again…")
        self.open_index()

    def on_screen_resume(self) -> None:
        """Look again when coming back from a run that may have gone on."""
        if self.index is not None and self.run_path in self.boresight.started:
            self.open_index()

    def action_export(self) -> None:
        """Write the operations that the view shows into a table."""
        if self.index is not None:
            self.boresight.export(self.run_path, "attempts", EXPORTED, exported_rows(self.index, self._view))

    def action_back(self) -> None:
        """Close the filter, else go back."""
        if self.query_one("#attempts-filter", Input).display:
            self._hide_filter()
        else:
            super().action_back()
