"""The parts of a campaign, as a list to move through: its head, limits, repositories and candidates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from core.campaign.checking import FieldProblem
from core.campaign.toml_map import Place
from core.text import printable
from tui.widgets.patient import PatientList

HEAD: Place = ("campaign",)
LIMITS: Place = ("limits",)
TABLES = {"repositories": "label", "candidates": "id"}
CHANGES = ("add", "duplicate", "remove", "baseline")
NAME = 40


class Outline(PatientList):
    """Each part by its place: `("candidates", 3)`; `("candidates",)` is the heading of all of them."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a", "ask('add')", "Add", id="manifest.add"),
        Binding("d", "ask('duplicate')", "Duplicate", id="manifest.duplicate"),
        Binding(
            "delete,minus", "ask('remove')", "Remove", key_display="del", show=False, id="manifest.remove"
        ),
        Binding("b", "ask('baseline')", "Baseline", show=False, id="manifest.baseline"),
        Binding("slash", "ask('filter')", "Filter", key_display="/", show=False, id="manifest.filter"),
    ]

    @dataclass
    class Chosen(Message):
        """Another part is under the cursor."""

        place: Place

    @dataclass
    class Asked(Message):
        """The person wants something done with the part under the cursor."""

        what: str
        place: Place

    def __init__(self, *, widget_id: str) -> None:
        super().__init__(id=widget_id)
        self._places: list[Place] = []
        self._offered: list[str] = []
        self._texts: list[str] = []

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer what can be done with the part under the cursor; a frozen campaign is never changed."""
        what = str(parameters[0]) if action == "ask" and parameters else ""
        if what not in CHANGES:
            return True
        if not getattr(self.screen, "editable", True):
            return what == "duplicate"  # of all of it
        return _can(what, self.place)

    def show(self, data: Mapping[str, Any], problems: Sequence[FieldProblem], filter_text: str = "") -> None:
        """Show a campaign's parts with their marks; those whose names lack the filter's text are left out."""
        marks = Counter(section_of(problem.place) for problem in problems if problem.severity == "error")
        parts = [(place, _marked(text, marks[place])) for place, text in _parts(data, filter_text.casefold())]
        places, lines = [place for place, _ in parts], [line for _, line in parts]
        if places == self._places:
            for number, line in enumerate(lines):
                if line != self._texts[number]:
                    self.replace_option_prompt_at_index(number, Content(line))
            self._texts = lines
            return
        chosen = self.place
        self._places, self._texts = places, lines
        with self.prevent(OptionList.OptionHighlighted):
            self.clear_options()
            self.add_options(Option(Content(line)) for line in lines)
            self.highlighted = places.index(chosen) if chosen in places else 0
        self._offer()

    @property
    def place(self) -> Place:
        """The part under the cursor."""
        at = self.highlighted
        return self._places[at] if at is not None and at < len(self._places) else HEAD

    def choose(self, place: Place) -> None:
        """Put the cursor on a part, or on the nearest one above it that is here."""
        for length in range(len(place), 0, -1):
            if place[:length] in self._places:
                self.highlighted = self._places.index(place[:length])
                return

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Tell which part is under the cursor."""
        event.stop()
        self._offer()
        self.post_message(self.Chosen(self.place))

    def _offer(self) -> None:
        """Have the footer say what can be done, where that is something else than before."""
        offered = [what for what in CHANGES if _can(what, self.place)]
        if offered != self._offered:
            self._offered = offered
            self.refresh_bindings()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Go into the part's fields."""
        event.stop()
        self.post_message(self.Asked("enter", self.place))

    def action_ask(self, what: str) -> None:
        """Ask for something to be done with the part under the cursor."""
        self.post_message(self.Asked(what, self.place))


def _can(what: str, place: Place) -> bool:
    """Tell whether a change can be made to a part, or from it."""
    if what == "add":
        return place[0] in TABLES
    tables = {"candidates"} if what == "baseline" else TABLES
    return len(place) == 2 and place[0] in tables


def section_of(place: Place) -> Place:
    """Return the part of a campaign that a field is shown in."""
    if not place:
        return HEAD
    if place[0] in TABLES:
        return place[:2] if len(place) > 1 and isinstance(place[1], int) else place[:1]
    return LIMITS if place[0] == "limits" else HEAD


def _parts(data: Mapping[str, Any], wanted: str) -> Iterator[tuple[Place, str]]:
    yield HEAD, "Campaign and bank"
    yield LIMITS, "Limits and budgets"
    baseline = data.get("baseline")
    for table, key in TABLES.items():
        entries = data.get(table)
        entries = entries if isinstance(entries, list) else []
        yield (table,), f"{table.capitalize()} ({len(entries):,})"
        for number, name in _names(entries, key):
            if wanted in name.casefold():
                yield (
                    (table, number),
                    f"  {name}{' ◂ baseline' if table == 'candidates' and name == baseline else ''}",
                )


def _names(entries: Iterable[Any], key: str) -> Iterator[tuple[int, str]]:
    for number, entry in enumerate(entries):
        name = entry.get(key) if isinstance(entry, Mapping) else None
        yield number, part_name(name, number)


def part_name(name: Any, number: int) -> str:
    """Return what an entry is called: by its name, or by its number where it has none."""
    return printable(name, NAME) if isinstance(name, str) and name else f"number {number + 1}"


def _marked(text: str, problems: int) -> str:
    return f"{text} ✖{problems}" if problems else text
