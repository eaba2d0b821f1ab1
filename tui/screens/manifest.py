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
from textual.widgets import Static, TabbedContent, TabPane, TextArea
from textual.worker import get_current_worker

from core.campaign import entries
from core.campaign.checking import Checker, FieldProblem
from core.campaign.document import CampaignDocument
from core.campaign.toml_map import Place
from core.errors import BoresightError
from tui.editing import opening
from tui.editing.changing import ChangingScreen
from tui.editing.keeper import Keeper
from tui.editing.repositories import RepositoryNotes
from tui.editing.sections import section_for, value_at
from tui.screens.base import is_away
from tui.screens.new_campaign import Created, NewCampaignScreen
from tui.text import safe
from tui.widgets.field_form import FieldForm
from tui.widgets.filter_bar import FilterBar
from tui.widgets.key_footer import KeyFooter
from tui.widgets.outline import Outline, section_of
from tui.widgets.problem_list import ProblemList
from tui.widgets.title_bar import TitleBar
from tui.widgets.toml_area import TomlArea

DEBOUNCE_S = 0.25
CURSOR_S = 0.05
LOOK_S = 2.0


class ManifestScreen(ChangingScreen):
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
        "a          add a repository or a candidate\n"
        "d          duplicate the repository or candidate\n"
        "del        remove it, after asking\n"
        "b          make the candidate the baseline\n"
        "/          filter the parts by name\n"
        "ctrl+o     browse for the folder of the field; the right arrow takes an offered completion\n"
        "f5         look again for bank, repositories and what candidates need\n"
        "e          open the saved file in $EDITOR\n"
        "y          copy the problem, or the file's path\n"
        "esc        from a field to the parts, from there back; changes are not lost without asking\n\n"
        "What a run was frozen with can be read, and duplicated with d, but not changed."
    )

    def __init__(self, folder: Path, path: Path | None, *, frozen: Path | None = None) -> None:
        super().__init__(folder, path, frozen)
        self._waiting: dict[str, Timer] = {}
        self._notes = RepositoryNotes()
        self._form_lock = asyncio.Lock()

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
        yield KeyFooter()

    def on_mount(self) -> None:
        """Open the file, or ask for the choices of a new campaign."""
        if is_away(self):
            return
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
            if self._keeper is None:
                self.app.pop_screen()
            else:  # read again: what is open here may be all that is left of it
                self._stale = True
                self._tell_head()
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

    def document_changed(self, go_to: Place | None) -> None:
        """Show the document as it is now."""
        self._changed(by_form=False, go_to=go_to)

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

    def problems_changed(self) -> None:
        """Mark the parts that have problems."""
        self._show_outline()

    def go_to(self, problem: FieldProblem) -> None:
        """Put the cursor into the field, or the line of the text, that a problem is about."""
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
        """Do what the keys and buttons of a part ask for."""
        if what == "enter":
            self.show_part(typed=True, go_to=place)
        elif what == "filter":
            self.query_one(FilterBar).open()
        elif not self.editable:
            self.action_duplicate()
        else:
            self.change_part(what, place)

    @on(FilterBar.Filtered)
    def _filter_changed(self) -> None:
        self._show_outline()

    @on(FilterBar.Left)
    def _filter_left(self) -> None:
        self.query_one(Outline).focus()

    # Tabs and the way back

    def action_other_tab(self) -> None:
        """Show the other of form and text."""
        tabs = self.query_one(TabbedContent)
        self.set_focus(None)  # keys pressed before the other tab is there are not for this one
        tabs.active = "form-tab" if tabs.active == "toml-tab" else "toml-tab"

    @on(TabbedContent.TabActivated)
    def _tab_activated(self, event: TabbedContent.TabActivated) -> None:
        if is_away(self):
            return
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
        """Go back: from the fields to the parts, and from there away, asking what becomes of changes."""
        if self.query_one(FieldForm).has_focus_within:
            self.query_one(Outline).focus()
        elif not self.query_one(FilterBar).take_away():
            self.leave(self.go_back)

    def action_duplicate(self) -> None:
        """Make a campaign of what a run was frozen with."""
        if self.frozen is not None:
            self.boresight.duplicate(self.frozen, frozen=True)

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
