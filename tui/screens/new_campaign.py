"""A new campaign on one page: a repository, what to ask, what to compare; then its bank and file are made."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar, NamedTuple

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.widget import Widget
from textual.widgets import Button, Input, Label, SelectionList, Static
from textual.worker import get_current_worker

from core.banks.case import INTENTS
from core.campaign.starting import (
    NewCampaign,
    Preset,
    choose_baseline,
    create_campaign,
    entries_for,
    free_name,
    name_fault,
    presets,
)
from core.campaign.yields import suggest
from core.errors import InputError
from core.text import printable
from tui.editing import choices, questions
from tui.editing.choices import Look
from tui.editing.places import PlacesScreen
from tui.screens.folders import FolderDialog
from tui.text import safe
from tui.widgets.key_footer import KeyFooter
from tui.widgets.path_input import PathInput
from tui.widgets.plain_input import PlainInput
from tui.widgets.tick import Tick
from tui.widgets.tick_list import TickList
from tui.widgets.title_bar import TitleBar

AWAY_S = 0.1


class Created(NamedTuple):
    """How the page was left: the campaign file, None to write one by hand, and whether to run it now."""

    path: Path | None
    run: bool = False


class NewCampaignScreen(PlacesScreen[Created | None]):
    """The choices of a new campaign; answers with the file that was made."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "Back", id="new.back"),
        Binding("ctrl+r", "create(True)", "Create and run", id="new.run"),
        Binding("ctrl+s", "create(False)", "Create", id="new.create"),
        Binding("ctrl+o", "browse", "Browse", id="new.browse"),
        Binding("f2", "by_hand", "By hand", id="new.by_hand"),
    ]
    HELP = (
        "A new campaign: questions with known answers from a repository, put to candidates.\n\n"
        "tab shift+tab  from one choice to the next; space ticks\n"
        "ctrl+o         browse for the repository's folder; the right arrow takes an offered completion\n"
        "ctrl+r         create the campaign, see what it will cost, and run it\n"
        "ctrl+s         create it only\n"
        "f2             write a campaign file by hand instead\n"
        "f1             this help, as ? is typed into a field\n"
        "esc            back; what was chosen here is not lost without asking"
    )

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._presets: tuple[Preset, ...] = ()
        self._own_name = ""  # the name that was proposed, as long as nobody typed another
        self._busy = False
        self._proposed: dict[str, object] = {}  # by choice, what stood there before anybody chose

    def compose(self) -> ComposeResult:
        """Lay out the choices, each with a line that says what is wrong with it and what to do."""
        yield TitleBar()
        folder, bank = (
            PathInput(_shown(self.folder), self.folder, folders_only=True),
            PathInput("", self.folder),
        )
        folder.id, bank.id = "new-repository", "new-bank"
        bank.placeholder = "built from the repository; or name a cases.jsonl"
        with VerticalScroll(id="new-form", can_focus=False):
            yield from _choice("Repository", folder, "looking …")
            yield from _choice("Ask", TickList(id="new-intents", compact=True))
            yield from _choice("Cases of each", PlainInput(id="new-each", compact=True, type="integer"))
            yield from _choice(
                "Compare", TickList(id="new-candidates", compact=True), "looking for what is installed …"
            )
            yield from _choice("Name", PlainInput(id="new-name", compact=True))
            private = Tick("keep its queries and paths out of reports", id="new-private", compact=True)
            yield from _choice("Private", private)
            yield from _choice("Bank", bank)
        with Horizontal(id="new-buttons"):
            yield Button("Create and run", id="do-run", variant="primary", compact=True)
            yield Button("Create", id="do-create", compact=True)
            yield Button("Write it by hand", id="do-hand", compact=True)
        yield KeyFooter()

    def on_mount(self) -> None:
        """Look at the folder's own repository, and for what is installed."""
        self.sub_title = "new campaign"
        self.query_one("#new-repository", Input).focus()
        self._proposed = self._made_choices()
        self.find_presets()
        self.look()

    def show_look(self, look: Look) -> None:
        """Show what was found, with sensible choices."""
        ticks = self.query_one("#new-intents", TickList)
        ticks.clear_options()
        if look.yields is not None:
            suggestion = suggest(look.yields.derivation)
            ticks.add_options(choices.intent_ticks(look.yields, suggestion.intents))
            self.query_one("#new-each", Input).value = str(suggestion.per_intent)
            self.tell("told-repository", choices.repository_words(look.yields))
        elif look.root is not None:
            self.tell("told-repository", f"{look.root}: its commits are the bank's")
        self._propose_name(look)
        self._propose("intents", "each")
        self._tell_each()

    def _propose_name(self, look: Look) -> None:
        box = self.query_one("#new-name", Input)
        if box.value not in {"", self._own_name}:
            return
        self._own_name = free_name(self.folder, look.label) if look.label else ""
        box.value = self._own_name
        self._propose("name")

    @work(thread=True, exclusive=True, group="presets", exit_on_error=False)
    def find_presets(self) -> None:
        """Find the candidates that could be compared here."""
        worker, found = get_current_worker(), presets()
        if not worker.is_cancelled:
            self.app.call_from_thread(self.show_presets, found)

    def show_presets(self, found: tuple[Preset, ...]) -> None:
        """Show the candidates; the built-in ones that are ready are ticked."""
        self._presets = found
        ticks = self.query_one("#new-candidates", TickList)
        ticks.clear_options()
        ticks.add_options(choices.preset_ticks(found))
        self._propose("candidates")
        self.tell("told-candidates", choices.lacking_words(found), ticks.option_count == 0)

    # What is typed

    @on(Input.Changed, "#new-each")
    @on(SelectionList.SelectedChanged, "#new-intents")
    def _amount_changed(self) -> None:
        self._tell_each()

    @on(Input.Changed, "#new-name")
    def _name_changed(self, event: Input.Changed) -> None:
        self._tell_name(event.value)

    @on(Input.Submitted)
    def _submitted(self) -> None:
        self.focus_next()

    @on(SelectionList.SelectedChanged, "#new-candidates")
    def _candidates_changed(self) -> None:
        self._tell_name(self.query_one("#new-name", Input).value)

    def _tell_name(self, name: str) -> None:
        fault = name_fault(self.folder, name) if name else None
        self.tell(
            "told-name", fault or (f"makes campaigns/{name}/campaign.toml" if name else ""), bool(fault)
        )

    def _tell_each(self) -> None:
        fault = self._amount_fault()
        yields = self.found.yields
        if fault is not None:
            self.tell("told-each", fault, True)
        elif yields is not None:
            self.tell("told-each", choices.amount_words(yields, self._intents(), self._each()))
        else:
            self.tell("told-each", "the bank says it" if self.found.bank is not None else "")

    def _amount_fault(self) -> str | None:
        yields = self.found.yields
        return None if yields is None else choices.amount_fault(yields, self._intents(), self._each())

    def _intents(self) -> tuple[str, ...]:
        ticks = self.query_one("#new-intents", TickList)
        return tuple(intent for intent in INTENTS if intent in ticks.selected)

    def _each(self) -> int:
        text = self.query_one("#new-each", Input).value
        return int(text) if text.isdecimal() and len(text) < 10 else 0

    # What was chosen

    def _made_choices(self) -> dict[str, object]:
        inputs = ("repository", "bank", "each", "name")
        return {
            **{name: self.query_one(f"#new-{name}", Input).value.strip() for name in inputs},
            **{
                name: frozenset(self.query_one(f"#new-{name}", TickList).selected)
                for name in ("intents", "candidates")
            },
            "private": self.query_one("#new-private", Tick).value,
        }

    def _propose(self, *names: str) -> None:
        """Take what stands in some choices for a proposal, which nobody misses when it is gone."""
        made = self._made_choices()
        self._proposed |= {name: made[name] for name in names}

    # Leaving

    def leave(self, then: Callable[[], object]) -> None:
        """Call `then` at once where nothing was chosen yet or it is being written, else after asking."""
        if self._busy or self._proposed in ({}, self._made_choices()):
            then()
            return

        def answered(answer: str | None) -> None:
            if answer == "discard":
                self.app.call_later(then)

        self.app.push_screen(questions.unmade_dialog(), answered)

    def action_back(self) -> None:
        """Go back, asking what becomes of the choices."""
        self.leave(lambda: self.dismiss(None))

    def action_browse(self) -> None:
        """Browse for the repository's folder."""
        start = self.folder

        def chosen(path: Path | None) -> None:
            if path is not None:
                self.give("#new-repository", path)

        self.app.push_screen(FolderDialog("The repository's folder", start), chosen)

    def action_by_hand(self) -> None:
        """Leave for an empty campaign file."""
        self.leave(lambda: self.dismiss(Created(None)))

    @on(Button.Pressed)
    def _pressed(self, event: Button.Pressed) -> None:
        event.stop()
        if event.button.id == "do-hand":
            self.action_by_hand()
        else:
            self.action_create(event.button.id == "do-run")

    def action_create(self, run: bool) -> None:
        """Make the bank and the campaign file."""
        if not self._busy:
            self.create(run)

    @work(exclusive=True, group="create", exit_on_error=False)
    async def create(self, run: bool) -> None:
        """Check the choices, write everything in a thread, and leave with the file."""
        self._busy = True
        try:
            asked = await self._asked()
            if asked is None:
                return
            self.tell("told-name", "writing bank and campaign …")
            path = await asyncio.to_thread(create_campaign, asked, self.folder)
        except InputError as error:
            self.tell("told-name", str(error), True)
            self.query_one("#told-name").scroll_visible(animate=False)
            return
        finally:
            self._busy = False
        self.boresight.changed()
        while not self.is_active:  # something is read over it
            await asyncio.sleep(AWAY_S)
        self.dismiss(Created(path, run))

    async def _asked(self) -> NewCampaign | None:
        """Return what is chosen, None where something is wrong, which is then told at its place."""
        look = await self.seen(
            lambda: self.tell("told-name", "looking at the repository and the bank first …")
        )
        chosen = self._chosen()
        name = self.query_one("#new-name", Input).value.strip()
        self._tell_name(name)
        if look.bank is None and self.query_one("#new-bank", Input).value.strip():
            self._point("#new-bank", "told-bank", None)
        elif look.yields is None and look.bank is None:
            self._point("#new-repository", "told-repository", None)
        elif fault := self._amount_fault():
            self._point("#new-each", "told-each", fault)
        elif not chosen:
            self._point(
                "#new-candidates", "told-candidates", "tick at least one candidate; two can be compared"
            )
        elif fault := name_fault(self.folder, name):
            self._point("#new-name", "told-name", fault)
        else:
            return await self._campaign(name, chosen, look)
        return None

    async def _campaign(self, name: str, chosen: list[Preset], look: Look) -> NewCampaign | None:
        candidates = tuple(preset.entry for preset in chosen)
        baseline = choose_baseline(candidates)
        private = self.query_one("#new-private", Tick).value
        if look.bank is not None:
            try:
                found = await asyncio.to_thread(entries_for, look.bank, look.root)
            except InputError as error:
                self._point("#new-repository", "told-repository", str(error))
                return None
            repositories = tuple(entry.model_copy(update={"private": private}) for entry in found)
            return NewCampaign(name, repositories, candidates, baseline, bank=self.path("#new-bank"))
        if look.yields is None:
            return None
        entry = look.yields.entry.model_copy(update={"private": private})
        return NewCampaign(name, (entry,), candidates, baseline, look.yields, self._intents(), self._each())

    def _chosen(self) -> list[Preset]:
        ticks = self.query_one("#new-candidates", TickList)
        return [preset for preset in self._presets if preset.id in ticks.selected]

    def _point(self, selector: str, told: str, fault: str | None) -> None:
        """Say what is wrong at its place, and put the cursor there."""
        if fault is not None:
            self.tell(told, fault, True)
        self.query_one(selector).focus()
        self.query_one(f"#{told}").scroll_visible(animate=False)


def _choice(name: str, control: Widget, told: str = "") -> ComposeResult:
    """Lay out a choice: its name, where it is made, and what is said of it."""
    with Horizontal(classes="new-line"):
        yield Label(safe(name), classes="new-name")
        yield control
    note = Static(told, id=f"told-{str(control.id).removeprefix('new-')}", classes="new-told", markup=False)
    note.display = bool(told)
    yield note


def _shown(path: Path) -> str:
    return printable(str(path))
