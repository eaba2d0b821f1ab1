"""Screen 2: a campaign file as a form and as text, with what is wrong beside it, ready to be run."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.timer import Timer
from textual.widgets import Footer, Static, TabbedContent, TabPane, TextArea
from textual.worker import get_current_worker

from core.campaign import entries
from core.campaign.checking import Checker, FieldProblem
from core.campaign.document import CampaignDocument
from core.campaign.starting import presets
from core.campaign.toml_map import Place
from core.errors import BoresightError, InputError
from tui.editing import opening, questions
from tui.editing.keeper import Keeper
from tui.editing.keeping import KeepingScreen
from tui.editing.repositories import RepositoryNotes
from tui.editing.sections import section_for, value_at
from tui.screens.dialogs import ChoiceDialog
from tui.screens.folders import FolderDialog
from tui.screens.new_campaign import Created, NewCampaignScreen
from tui.text import safe
from tui.widgets.field_form import FieldForm
from tui.widgets.filter_bar import FilterBar
from tui.widgets.outline import Outline, section_of
from tui.widgets.problem_list import ProblemList
from tui.widgets.title_bar import TitleBar
from tui.widgets.toml_area import TomlArea

DEBOUNCE_S = 0.25
CURSOR_S = 0.05
LOOK_S = 2.0


class ManifestScreen(KeepingScreen):
    """A campaign file; without a path a new campaign, with `frozen` what a run was frozen with."""

    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (120, "-wide")]  # noqa: RUF012 - as Textual declares it
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "Back", id="manifest.back"),
        Binding("ctrl+s", "save", "Save", id="manifest.save"),
        Binding("ctrl+r", "run", "Run", id="manifest.run"),
        Binding("ctrl+t", "other_tab", "Form/TOML", id="manifest.tab"),
        Binding("f8", "next_problem", "Next problem", id="manifest.next_problem"),
        Binding("ctrl+o", "browse", "Browse", show=False, id="manifest.browse"),
        Binding("f5", "look_again", "Check again", show=False, id="manifest.check"),
        Binding("e", "edit", "$EDITOR", show=False, id="manifest.edit"),
        Binding("y", "copy", "Copy", show=False, id="manifest.copy"),
        Binding("d", "duplicate", "Duplicate", id="manifest.duplicate_run"),
    ]
    HELP = (
        "A campaign file: its parts on the left, the fields of one part beside them, and what is wrong.\n"
        "Form and TOML edit the same text; comments stay. The file is written when you save.\n\n"
        "up down    choose a part; enter goes into its fields, tab and shift+tab move between them\n"
        "ctrl+s     save\n"
        "ctrl+r     run: save, see what it will cost, then start it in a process of its own\n"
        "ctrl+t     the form, or the text as TOML\n"
        "f8         go to the next problem; enter on a problem goes to its field\n"
        "a          add a repository or a candidate   d  duplicate it   del  remove it\n"
        "b          make the candidate the baseline   /  filter the parts by name\n"
        "ctrl+o     browse for the folder of the field; the right arrow takes an offered completion\n"
        "f5         look again for bank, repositories and what candidates need\n"
        "e          open the saved file in $EDITOR   y  copy the problem, or the file's path\n"
        "esc        back; changes are not lost without asking\n\n"
        "What a run was frozen with can be read, and duplicated with d, but not changed."
    )

    def __init__(self, folder: Path, path: Path | None, *, frozen: Path | None = None) -> None:
        super().__init__(folder, path, frozen)
        self._problems: tuple[FieldProblem, ...] = ()
        self._waiting: dict[str, Timer] = {}
        self._notes = RepositoryNotes()
        self._form_lock = asyncio.Lock()
        self._next_problem = 0

    def compose(self) -> ComposeResult:
        """Lay out the parts, the fields, the text and the problems."""
        yield TitleBar()
        yield Static("", id="manifest-head", markup=False)
        with Vertical(id="manifest-body"):
            with TabbedContent(id="manifest-tabs"):
                with TabPane("Form", id="form-tab"), Horizontal(id="manifest-form-pane"):
                    with Vertical(id="outline-side"):
                        yield FilterBar("filter the parts", widget_id="outline-filter")
                        yield Outline(widget_id="outline")
                    yield FieldForm(self._base, widget_id="fields")
                with TabPane("TOML", id="toml-tab"):
                    yield TomlArea(widget_id="toml")
            with Vertical(id="problems-side"):
                yield Static("", id="problems-title", markup=False)
                yield ProblemList(widget_id="problems")
        yield Footer()

    def on_mount(self) -> None:
        """Open the file, or ask for the choices of a new campaign."""
        self.query_one(TomlArea).read_only = not self.editable
        self.query_one(Outline).focus()
        if self._asked_path is None and self.editable:
            self.app.push_screen(NewCampaignScreen(self.folder), self._created)
        else:
            self.open(self._asked_path)
        if self.editable:
            self.set_interval(LOOK_S, self.look)

    def _created(self, answer: Created | None) -> None:
        if answer is None:
            self.app.pop_screen()
            return
        self._asked_path = answer.path
        self.open(answer.path, then_run=answer.run)

    def read_again(self, path: Path | None) -> None:
        """Open a file in place of the document."""
        self.open(path)

    @work(exclusive=True, group="open", exit_on_error=False)
    async def open(self, path: Path | None, *, then_run: bool = False) -> None:
        """Read the file, what the run was frozen with, or begin a text of its own, and show it."""
        try:
            if self.frozen is not None:
                document = await asyncio.to_thread(opening.frozen_document, self.frozen, self.folder)
            elif path is None:
                document = await asyncio.to_thread(opening.blank_document, self.folder)
            else:
                document = await asyncio.to_thread(CampaignDocument.read, path)
        except BoresightError as error:
            name = path.name if path is not None else "This run"
            self.app.pop_screen()
            self.boresight.tell_error(f"{name} cannot be opened", error)
            return
        self._take(document)
        if then_run:
            self.action_run()

    def _take(self, document: CampaignDocument) -> None:
        self._keeper = Keeper(document)
        self._stale = False
        self._asked_path = document.path if self.editable else None
        self._checker = Checker(self._base)
        form = self.query_one(FieldForm)
        form.base = self._base
        named = document.path or self.frozen
        self.sub_title = safe(named.name if named else "new campaign", 80).plain
        self._changed(by_form=False)

    # What was typed

    @on(FieldForm.Edited)
    def _field_edited(self, event: FieldForm.Edited) -> None:
        if self._keeper is None or not self.editable:
            return
        if event.place[-1:] == ("retriever",) and event.place[:1] == ("candidates",):
            self._change(lambda document: entries.change_retriever(document, event.place[:-1], event.value))
            return
        self._keeper.field(event.place, event.value)
        self._after("settle", DEBOUNCE_S, self.settle)
        self._tell_head()

    @on(TextArea.Changed, "#toml")
    def _text_edited(self, event: TextArea.Changed) -> None:
        area = event.text_area
        if self._keeper is None or not self.editable or area.read_only or area.text == self._keeper.text:
            return
        self._keeper.type(area.text)
        self._after("settle", DEBOUNCE_S, self.settle)
        self._tell_head()

    @work(group="settle", exit_on_error=False)
    async def settle(self) -> None:
        """Put what was typed into the document, then check it."""
        if self._keeper is None:
            return
        by_form = self.query_one(TabbedContent).active == "form-tab"
        for problem in await self._keeper.settle():
            self.boresight.tell(problem, warning=True)
        self._changed(by_form=by_form, by_text=not by_form)

    def _change(self, change: Callable[[CampaignDocument], Place | None]) -> None:
        """Change the document otherwise than by a field, and go to the place that this returns."""
        self._do_change(change)

    @work(group="settle", exit_on_error=False)
    async def _do_change(self, change: Callable[[CampaignDocument], Place | None]) -> None:
        if self._keeper is None or not self.editable:
            return
        try:
            place = await self._keeper.do(change)
        except InputError as error:
            self.boresight.tell(str(error), warning=True)
            return
        self._changed(by_form=False, go_to=place)

    def _changed(self, *, by_form: bool, by_text: bool = False, go_to: Place | None = None) -> None:
        """Show the document as it is now, and check it.

        What was typed as text is not shown again there: more of it may be on its way.
        """
        if self._keeper is None:
            return
        self._tell_head()
        self._show_outline()
        if go_to is not None:
            self.query_one(Outline).choose(go_to)
        if not by_form or self.query_one(TabbedContent).active == "form-tab":
            self.show_part(typed=by_form)
        if not by_text and (not by_form or self.query_one(TabbedContent).active != "toml-tab"):
            self._show_text()
        self.check()

    def _show_text(self) -> None:
        area = self.query_one(TomlArea)
        if self._keeper is not None and not self._keeper.is_waiting:
            with self.prevent(TextArea.Changed):
                fits = area.show(self._keeper.text)
            area.read_only = not self.editable or not fits

    def _show_outline(self) -> None:
        if self._keeper is not None:
            wanted = self.query_one(FilterBar).value.strip()
            self.query_one(Outline).show(self._keeper.snapshot.data, self._problems, wanted)

    @work(group="part", exit_on_error=False)
    async def show_part(self, *, typed: bool = False, go_to: Place | None = None) -> None:
        """Show the fields of the part under the cursor."""
        async with self._form_lock:
            if self._keeper is None:
                return
            place, snapshot = self.query_one(Outline).place, self._keeper.snapshot
            section = await asyncio.to_thread(section_for, snapshot.data, place)
            form = self.query_one(FieldForm)
            await form.show(section, editable=self.editable and snapshot.fault is None, typed=typed)
            if go_to is not None:
                form.go_to(go_to)
        if place[:1] == ("repositories",) and len(place) == 2:
            self.tell_repository(place, value_at(snapshot.data, (*place, "path")), snapshot.data)

    @work(thread=True, exclusive=True, group="repository", exit_on_error=False)
    def tell_repository(self, place: Place, path: Any, data: Any) -> None:
        """Say which commit of a repository is meant, and how many cases it could yield."""
        worker = get_current_worker()
        entry = value_at(data, place)

        def tell(text: str) -> None:
            if not worker.is_cancelled:
                self.app.call_from_thread(self._note, place, text)

        if isinstance(path, str) and isinstance(entry, dict):
            self._notes.tell(self._base / path, entry, tell, lambda: worker.is_cancelled)

    def _note(self, place: Place, text: str) -> None:
        if self.query_one(Outline).place == place:
            self.query_one(FieldForm).note(text)

    # What is wrong

    @work(thread=True, exclusive=True, group="check", exit_on_error=False)
    def check(self, *, anew: bool = False) -> None:
        """Find what is wrong: first with what is written, then with what is on disk."""
        worker, keeper, checker = get_current_worker(), self._keeper, self._checker
        if keeper is None or self.frozen is not None:
            return
        if anew:
            checker.forget()
        snapshot = keeper.snapshot

        def show(problems: tuple[FieldProblem, ...], doing: str) -> None:
            if not worker.is_cancelled:
                self.app.call_from_thread(self.show_problems, problems, doing)

        quick = checker.quick(snapshot)
        show(quick, "checking …")
        found = checker.thorough(snapshot, lambda: worker.is_cancelled, lambda text: show(quick, f"{text} …"))
        show(found, "")

    def show_problems(self, problems: tuple[FieldProblem, ...], doing: str) -> None:
        """Show what was found; `doing` says what is still being looked at."""
        if doing and set(problems) <= set(self._problems):
            problems = self._problems  # the rest of what was known stands until it is known better
        self._problems = problems
        errors = sum(problem.severity == "error" for problem in problems)
        told = f"✖ {errors:,} to mend" if errors else "✔ ready to run"
        warnings = len(problems) - errors
        told += f" · ⚠ {warnings:,} to know" if warnings else ""
        self.query_one("#problems-title", Static).update(safe(f"{told}  {doing}", 200))
        self.query_one(ProblemList).show(problems)
        self._show_outline()

    @on(ProblemList.Chosen)
    def _problem_chosen(self, event: ProblemList.Chosen) -> None:
        self._go_to(event.problem)

    @on(ProblemList.Copied)
    def _problem_copied(self, event: ProblemList.Copied) -> None:
        self.boresight.copy(event.text)

    def action_next_problem(self) -> None:
        """Go to the field of the next problem."""
        problems = sorted(self._problems, key=lambda problem: problem.severity != "error")
        if problems:
            self._go_to(problems[self._next_problem % len(problems)])
            self._next_problem += 1

    def _go_to(self, problem: FieldProblem) -> None:
        tabs = self.query_one(TabbedContent)
        in_text = tabs.active == "toml-tab" or (self._keeper is not None and self._keeper.snapshot.fault)
        if in_text:
            tabs.active = "toml-tab"
            area = self.query_one(TomlArea)
            if problem.line is not None:
                area.go_to_line(problem.line)
            area.focus()
            return
        outline = self.query_one(Outline)
        if outline.place != section_of(problem.place):
            self.query_one(FilterBar).take_away()
            self._show_outline()
            outline.choose(section_of(problem.place))
        self.show_part(typed=True, go_to=problem.place)

    # The parts

    @on(Outline.Chosen)
    def _part_chosen(self) -> None:
        self._after("part", CURSOR_S, self.show_part)

    @on(Outline.Asked)
    def _asked(self, event: Outline.Asked) -> None:
        self.act(event.what, event.place)

    @on(FieldForm.Pressed)
    def _pressed(self, event: FieldForm.Pressed) -> None:
        self.act(event.action, self.query_one(Outline).place)

    def act(self, what: str, place: Place) -> None:
        """Do something with a part: what its keys and its buttons ask for."""
        if what == "enter":
            self.show_part(typed=True, go_to=place)
        elif what == "filter":
            self.query_one(FilterBar).open()
        elif not self.editable:
            self.action_duplicate()
        elif what == "browse":
            self._browse((*place, "path"))
        elif what == "add":
            self._add(str(place[0]))
        elif len(place) == 2 and place[0] in {"repositories", "candidates"}:
            self._change(_change_for(what, place))

    def _add(self, table: str) -> None:
        if table == "repositories":
            self.app.push_screen(FolderDialog("The repository's folder", self.folder), self._add_repository)
        elif table == "candidates":
            self.offer_candidates()
        else:
            self.boresight.tell("put the cursor on Repositories or Candidates to add one", warning=True)

    def _add_repository(self, path: Path | None) -> None:
        if path is not None:
            self._change(lambda document: entries.add_repository(document, path, self._base))

    @work(exclusive=True, group="flow", exit_on_error=False)
    async def offer_candidates(self) -> None:
        """Ask which candidate to add, and say what of each is not installed."""
        self._tell_doing("looking for what is installed …")
        found = await asyncio.to_thread(presets)
        self._tell_doing("")
        dialog = ChoiceDialog("Add a candidate", "", questions.preset_choices(found))
        answer = await self.app.push_screen_wait(dialog)
        chosen = next((preset for preset in found if preset.id == answer), None)
        if chosen is not None:
            self._change(lambda document: entries.add_candidate(document, chosen.entry))

    @on(FilterBar.Filtered)
    def _filter_changed(self) -> None:
        self._show_outline()

    @on(FilterBar.Left)
    def _filter_left(self) -> None:
        self.query_one(Outline).focus()

    def action_browse(self) -> None:
        """Browse for the folder that the field under the cursor names."""
        place = self.query_one(FieldForm).place
        if place is not None and place[-1] == "path" and self.editable:
            self._browse(place)
        else:
            self.boresight.tell("put the cursor into a repository's path to browse", warning=True)

    def _browse(self, place: Place) -> None:
        def chosen(path: Path | None) -> None:
            if path is not None:
                written = entries.as_written(path, self._base)
                self._change(lambda document: document.set(place, written))

        self.app.push_screen(FolderDialog("The repository's folder", self.folder), chosen)

    # Tabs and the way back

    def action_other_tab(self) -> None:
        """Show the other of form and text."""
        tabs = self.query_one(TabbedContent)
        tabs.active = "form-tab" if tabs.active == "toml-tab" else "toml-tab"

    @on(TabbedContent.TabActivated)
    def _tab_activated(self, event: TabbedContent.TabActivated) -> None:
        if event.pane.id == "toml-tab":
            self.query_one(TomlArea).focus()
            self._turn("toml-tab")
        else:
            self.query_one(Outline).focus()
            self._turn("form-tab")

    @work(group="settle", exit_on_error=False)
    async def _turn(self, to: str) -> None:
        if self._keeper is None:
            return
        await self._keeper.settle()
        if to == "toml-tab":
            self._show_text()
        else:
            self._changed(by_form=False)

    def action_back(self) -> None:
        """Go back, asking what becomes of changes."""
        if not self.query_one(FilterBar).take_away():
            self.leave(self.app.pop_screen)

    def action_duplicate(self) -> None:
        """Make a campaign of what a run was frozen with."""
        if self.frozen is not None:
            self.boresight.duplicate(self.frozen, frozen=True)

    def action_look_again(self) -> None:
        """Check again, with nothing remembered."""
        self.check(anew=True)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer what makes sense for a file, or for a frozen campaign."""
        if action == "duplicate":
            return not self.editable
        if action in {"save", "run"}:
            return self.editable
        return True

    def _after(self, what: str, seconds: float, do: Callable[[], object]) -> None:
        """Do something once nothing of the kind was asked for during some seconds."""
        waiting = self._waiting.pop(what, None)
        if waiting is not None:
            waiting.stop()
        self._waiting[what] = self.set_timer(seconds, lambda: do() and None)


def _change_for(what: str, place: Place) -> Callable[[CampaignDocument], Place]:
    changes = {
        "duplicate": entries.duplicate,
        "remove": entries.remove,
        "baseline": entries.make_baseline,
    }
    return lambda document: changes[what](document, place)
