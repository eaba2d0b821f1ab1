"""One case in full: its question and source, and what each candidate answered, side by side."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, VerticalScroll
from textual.widgets import Static
from textual.worker import get_current_worker

from core.browse.index import RunIndex
from core.browse.rows import CaseDetail
from core.detail.reader import CaseReader
from core.detail.records import AnswerView, CaseView
from core.detail.source_tree import SourceError
from core.errors import BoresightError
from core.run.layout import Operation
from tui.cases.answer_text import context_text, ranking_text
from tui.cases.case_text import head_text, place_words, targets_text
from tui.cases.exporting import EXPORTED, exported_case
from tui.cases.walk import CaseWalk
from tui.navigation import ShowAttempts
from tui.screens.base import BoresightScreen
from tui.screens.dialogs import TextDialog
from tui.text import safe
from tui.widgets.answer_panel import AnswerPanel
from tui.widgets.key_footer import KeyFooter
from tui.widgets.title_bar import TitleBar

PANEL_COLUMNS = 50  # that an answer beside others needs
LOW_ROWS = 30  # up to which less of the source is shown, so that answers are seen
FEWER_LINES = 3
STACKED = 4  # answers that are shown one below the other


class CaseScreen(BoresightScreen[None]):
    """One case of a filtered list, and a walk along that list."""

    AUTO_FOCUS = "#case-body"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "Back", id="case.back"),
        Binding("n", "walk(1)", "Next", id="case.next"),
        Binding("p", "walk(-1)", "Previous", id="case.previous"),
        Binding("o", "other", "Candidate", id="case.other"),
        Binding("c", "context", "Context", id="case.context"),
        Binding("m", "more", "More", id="case.more"),
        Binding("a", "attempts", "Attempts", id="case.attempts"),
        Binding("y", "copy_case", "Copy", id="case.copy"),
        Binding("Y", "copy_place", "Copy place", id="case.copy_place", show=False),
        Binding("e", "edit", "Edit", id="case.edit"),
        Binding("x", "export", "Export", id="case.export", show=False),
    ]
    HELP = (
        "One case in full. Results that answer it bear the mark ✔ and the word hit.\n\n"
        "n p   next and previous case of the list, across its pages\n"
        "o     choose the next candidate (▶); where more are there than fit, they come into view\n"
        "c     the context that each candidate's probe gave, instead of the rankings; again: back\n"
        "m     every result, not only the first ten; again: back\n"
        "a     the attempts of the chosen candidate's query\n"
        "y Y   copy the case's id, or the first target's path:line\n"
        "e     open the first target's file, as it was frozen\n"
        "x     export the query, its targets and every candidate's ranking\n"
        "esc   back to the list"
    )

    def __init__(
        self, run: Path, index: RunIndex, case_id: str, walk: CaseWalk, candidate: str | None = None
    ) -> None:
        """`candidate` is the one whose answer is chosen at first."""
        super().__init__()
        self.run_path = run
        self.index = index
        self.walk_state = walk
        self.view: CaseView | None = None
        self._detail: CaseDetail | None = None
        self._case_id = case_id
        self._reader: CaseReader | None = None
        self._asked = index.candidates.index(candidate) if candidate in index.candidates else 0
        self._candidate = self._asked
        self._every = False
        self._contexts = False

    def compose(self) -> ComposeResult:
        """Lay out the head, the targets and the answers."""
        yield TitleBar()
        yield Static("reading the case …", id="case-head", markup=False)
        with VerticalScroll(id="case-body"):
            yield Static("", id="case-targets", markup=False)
            yield Container(id="case-answers")
        yield KeyFooter()

    def on_mount(self) -> None:
        """Read the case; the index is open already."""
        self.sub_title = safe(self.run_path.name, 80).plain
        self.read(0)

    @work(thread=True, exclusive=True, group="case", exit_on_error=False)
    def read(self, step: int) -> None:
        """Read the case, or the one that lies `step` further, without keeping the screen waiting."""
        worker, index, walk = get_current_worker(), self.index, self.walk_state
        try:
            case_id, position = self._case_id, walk.position
            if step:
                found = walk.neighbour(index, step)
                if found is None:
                    self._say_from_thread("This is the last case." if step > 0 else "This is the first case.")
                    return
                position, case_id = found[0], found[1].id
            detail = index.case(case_id)
            if self._reader is None:
                self._reader = CaseReader(index.record)
            view = self._reader.read(detail, walk.filters.level or index.level)
        except BoresightError as error:
            if not worker.is_cancelled:
                self.app.call_from_thread(self._tell_failure, error)
            return
        if worker.is_cancelled:
            return
        self.app.call_from_thread(self.show_case, detail, view, position)
        if position is None:
            walk.position = walk.find(index, detail.row)
            if not worker.is_cancelled:
                self.app.call_from_thread(self._draw_head)

    def _tell_failure(self, error: BoresightError) -> None:
        """Say why the case cannot be read; the list opens the index again, where that is what failed."""
        if self.view is None:
            self.query_one("#case-head", Static).update("the case cannot be shown; esc goes back to the list")
        self.app.push_screen(TextDialog("The case cannot be shown", str(error)))

    def show_case(self, detail: CaseDetail, view: CaseView, position: int | None) -> None:
        """Put a case on the screen."""
        self._detail, self.view, self._case_id = detail, view, detail.row.id
        self.walk_state.position = position
        self._draw_head()
        self._draw_targets()
        self._draw_answers()
        self.query_one("#case-body").scroll_home(animate=False)

    def _draw_head(self) -> None:
        walk = self.walk_state
        if self.view is None:
            return
        place = "case"
        if walk.position is not None:
            place = f"case {walk.position + 1:,} of {walk.total:,}"
        self.query_one("#case-head", Static).update(head_text(self.view, place))

    def _draw_targets(self) -> None:
        if self.view is not None:
            lines = FEWER_LINES if self.size.height <= LOW_ROWS else None
            self.query_one("#case-targets", Static).update(targets_text(self.view, lines))

    def _draw_answers(self) -> None:
        """Show as many answers as fit, the chosen one among them."""
        view = self.view
        if view is None:
            return
        answers, fit = view.answers, self._fit(len(view.answers))
        order = self._order()
        first = min(order.index(self._candidate) // fit * fit, len(answers) - fit)
        for at, panel in zip(order[first:], self._panels(fit), strict=False):
            number = f"  {at + 1}/{len(answers)}" if len(answers) > fit else ""
            text = (context_text if self._contexts else ranking_text)(answers[at], every=self._every)
            panel.show(answers[at].candidate + number, text, chosen=at == self._candidate)

    def _order(self) -> list[int]:
        """Return the answers' places; in a stack, that of the asked candidate is next to the source."""
        places = list(range(len(self.view.answers))) if self.view is not None else []
        return places if self._is_wide else sorted(places, key=lambda at: at != self._asked)

    def _panels(self, count: int) -> list[AnswerPanel]:
        holder = self.query_one("#case-answers", Container)
        panels = list(self.query(AnswerPanel))
        for panel in panels[count:]:
            panel.remove()
        added = [AnswerPanel() for _ in range(count - len(panels))]
        holder.mount_all(added)
        return [*panels[:count], *added]

    @property
    def _is_wide(self) -> bool:
        return self.size.width >= 2 * PANEL_COLUMNS

    def _fit(self, answers: int) -> int:
        fit = self.size.width // PANEL_COLUMNS if self._is_wide else STACKED
        return max(min(fit, answers), 1)

    def on_resize(self) -> None:
        """Put the answers side by side where that fits, else one below the other."""
        if self.has_class("-side-by-side") != self._is_wide:
            self.set_class(self._is_wide, "-side-by-side")
            self.query_one("#case-body").scroll_home(animate=False)
        self._draw_targets()
        self._draw_answers()

    def _chosen(self) -> AnswerView | None:
        return self.view.answers[self._candidate] if self.view is not None else None

    def action_back(self) -> None:
        """Go back to the list."""
        self.go_back()

    def action_walk(self, step: int) -> None:
        """Go along the list."""
        self.read(step)

    def action_other(self) -> None:
        """Choose the next candidate."""
        if self.view is not None:
            order = self._order()
            self._candidate = order[(order.index(self._candidate) + 1) % len(order)]
            self._draw_answers()
            if not self._is_wide:
                self.call_after_refresh(self._scroll_to_chosen)

    def _scroll_to_chosen(self) -> None:
        for panel in self.query(".answer.-chosen"):
            panel.scroll_visible(top=True, animate=False)

    def action_context(self) -> None:
        """Show contexts instead of rankings, and back."""
        self._contexts = not self._contexts
        self._draw_answers_anew()

    def action_more(self) -> None:
        """Show every result, and back."""
        self._every = not self._every
        self._draw_answers_anew()

    def _draw_answers_anew(self) -> None:
        """Show answers of other lengths; in a stack the chosen one stays in view, below its name."""
        self._draw_answers()
        if not self._is_wide and self.query_one("#case-body").scroll_y > 0:
            self.call_after_refresh(self._scroll_to_chosen)

    def action_attempts(self) -> None:
        """Show the attempts of the chosen candidate's query."""
        answer = self._chosen()
        if answer is None or self.view is None:
            return
        if answer.status == "unsupported":
            self._say(f"{answer.candidate} was never asked: {answer.problem}.")
            return
        row = self.view.row
        operation = Operation(answer.candidate, row.repository, "primary", row.id)
        self.post_message(ShowAttempts(self.run_path, operation, answer.candidate))

    def action_copy_case(self) -> None:
        """Copy the case's id."""
        self.boresight.copy(self._case_id)

    def action_copy_place(self) -> None:
        """Copy the first target's path and line."""
        if self.view is not None:
            self.boresight.copy(place_words(self.view.targets[0].target))

    def action_edit(self) -> None:
        """Open the first target's file in an editor."""
        self.find_file()

    @work(thread=True, exclusive=True, group="edit", exit_on_error=False)
    def find_file(self) -> None:
        """Find the file in the frozen tree, and have it opened."""
        if self._reader is None or self._detail is None:
            return
        try:
            path = self._reader.target_path(self._detail)
        except SourceError as error:
            self._say_from_thread(f"The target's file is {error}.")
        else:
            self.app.call_from_thread(self.boresight.edit, path)

    def action_export(self) -> None:
        """Write the query, its targets and every candidate's ranking to a file."""
        if self.view is not None:
            self.boresight.export(self.run_path, "case", EXPORTED, exported_case(self.view))

    def _say(self, words: str) -> None:
        self.app.notify(safe(words, 200).plain, markup=False)

    def _say_from_thread(self, words: str) -> None:
        self.app.call_from_thread(self._say, words)
