"""The dialog that puts filters of cases together, and counts what fulfils them as they change."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, cast

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, ItemGrid, Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.screen import ModalScreen
from textual.widgets import Button, Checkbox, Input, Label, Select, Static
from textual.worker import get_current_worker

from core.browse.filters import OUTCOME_WORDS, Disagreement, Filters, OutcomeFilter, OutcomeWord
from core.errors import BoresightError
from core.ranking import LEVELS, Level
from tui.cases.filter_words import OUTCOME_NAMES
from tui.cases.names import group_word, short_intent
from tui.screens.base import BoresightScreen
from tui.text import safe
from tui.widgets.patient import PatientSelect
from tui.widgets.plain_input import PlainInput
from tui.widgets.tick import Tick

NOT_A_HIT = tuple(word for word in OUTCOME_WORDS if word != "hit")


@dataclass(frozen=True)
class Choosable:
    """What a run's cases can be filtered by."""

    candidates: Sequence[str]
    repositories: Sequence[str]
    intents: Sequence[str]
    level: Level


class FilterDialog(BoresightScreen[Filters | None], ModalScreen[Filters | None]):
    """A form over the filters; answers with them, or with None where they stay as they were."""

    AUTO_FOCUS = "Tick, Select"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Back"),
        Binding("ctrl+s", "apply", "Apply", id="filter.apply", priority=True),
    ]

    @dataclass
    class Counted(Message):
        """How many cases fulfil the filters in the form, or why that cannot be told."""

        words: str

    def __init__(self, filters: Filters, choosable: Choosable, count: Callable[[Filters], int]) -> None:
        super().__init__()
        self._filters = filters
        self._choosable = choosable
        self._count = count

    def compose(self) -> ComposeResult:
        """Lay out the form, with the count and the buttons always in sight."""
        choosable = self._choosable
        with Vertical(classes="dialog", id="filter-dialog"):
            yield Label("Show the cases that fulfil all of this", classes="dialog-title")
            with VerticalScroll(id="filter-form"):
                if len(choosable.intents) > 1:
                    shown = [short_intent(name, wide=True) for name in choosable.intents]
                    yield from self._ticks("intents", shown, choosable.intents, self._filters.intents)
                if len(choosable.repositories) > 1:
                    labels = choosable.repositories
                    yield from self._ticks("repositories", labels, labels, self._filters.repositories)
                for at, name in enumerate(choosable.candidates):
                    with Horizontal(classes="filter-row"):
                        yield Label(safe(name, 40), classes="filter-name")
                        yield self._outcome(at, name)
                if len(choosable.candidates) > 1:
                    yield from self._disagreement()
                yield from self._numbers()
            yield Static("", id="filter-count", markup=False)
            with Horizontal(id="filter-buttons"):
                yield Button("Apply ctrl+s", id="filter-apply", variant="primary", compact=True)
                yield Button("Clear all", id="filter-clear", compact=True)
                yield Button("Back esc", id="filter-back", compact=True)

    def _ticks(
        self, what: str, shown: Sequence[str], values: Sequence[str], chosen: Sequence[str]
    ) -> ComposeResult:
        told = f"{group_word(values)}s" if what == "intents" else what
        yield Label(f"{told} (none ticked: all)", classes="filter-heading")
        with ItemGrid(min_column_width=20, classes="filter-ticks"):
            for at, (label, value) in enumerate(zip(shown, values, strict=True)):
                yield Tick(safe(label, 40), value in chosen, id=f"filter-{what}-{at}", compact=True)

    def _numbers(self) -> ComposeResult:
        asked = self._filters
        with Horizontal(classes="filter-row"):
            yield Label("text", classes="filter-name")
            yield PlainInput(
                asked.text, "in the id, the query or a target's path", id="filter-text",
                compact=True, longest=500,
            )  # fmt: skip
        with Horizontal(classes="filter-row"):
            yield Label("a hit is among the first", classes="filter-name")
            yield Input(str(asked.cutoff), type="integer", id="filter-cutoff", compact=True, max_length=3)
        with Horizontal(classes="filter-row"):
            yield Label("a hit is matched", classes="filter-name")
            finest = f"as finely as all can: {self._choosable.level}"
            yield PatientSelect(
                [(finest, None), *((name, name) for name in LEVELS)],
                value=asked.level, allow_blank=False, id="filter-level", compact=True,
            )  # fmt: skip

    def _outcome(self, at: int, name: str) -> Select[tuple[OutcomeWord, ...]]:
        present = next((item.words for item in self._filters.outcomes if item.candidate == name), ())
        options: list[tuple[str, tuple[OutcomeWord, ...]]] = [("anything", ())]
        options += [(OUTCOME_NAMES[word], (word,)) for word in OUTCOME_WORDS]
        options.append(("has no hit, for whatever reason", NOT_A_HIT))
        if present not in [value for _, value in options]:
            options.append((" or ".join(OUTCOME_NAMES.get(word, word) for word in present), present))
        return PatientSelect(
            options, value=present, allow_blank=False, id=f"filter-outcome-{at}", compact=True
        )

    def _disagreement(self) -> ComposeResult:
        first = next(iter(self._filters.disagreements), None)
        names: list[tuple[Content, str | None]] = [(Content("anyone"), None)]
        names += [(safe(name, 40), name) for name in self._choosable.candidates]
        with Horizontal(classes="filter-row"):
            yield PatientSelect(
                names, value=first.hits if first else None, allow_blank=False, id="filter-hits", compact=True
            )
            yield Label("hits, ", classes="filter-word")
            yield PatientSelect(
                names,
                value=first.misses if first else None,
                allow_blank=False,
                id="filter-misses",
                compact=True,
            )
            yield Label("misses", classes="filter-word")
        yield Tick(
            "some candidate hits, some other misses", self._filters.differ, id="filter-differ", compact=True
        )

    def on_mount(self) -> None:
        """Count what fulfils the filters as they are."""
        self._recount()

    @on(Select.Changed)
    @on(Checkbox.Changed)
    @on(Input.Changed)
    def _recount(self) -> None:
        if self.is_mounted:
            self.count_cases(self.filters())

    @work(thread=True, exclusive=True, group="count", exit_on_error=False)
    def count_cases(self, filters: Filters) -> None:
        """Count the cases in a thread."""
        worker = get_current_worker()
        try:
            words = f"{self._count(filters):,} cases fulfil this"
        except BoresightError as error:
            words = str(error)
        if not worker.is_cancelled:
            self.post_message(self.Counted(words))

    def on_filter_dialog_counted(self, told: Counted) -> None:
        """Show the count."""
        self.query_one("#filter-count", Static).update(safe(told.words, 200))

    def filters(self) -> Filters:
        """Return what the form asks for; what it cannot show stays as it was."""
        asked = self._filters
        return asked._replace(
            intents=self._ticked("intents", self._choosable.intents, asked.intents),
            repositories=self._ticked("repositories", self._choosable.repositories, asked.repositories),
            outcomes=self._outcomes(),
            disagreements=self._disagreements(),
            differ=self._differ(),
            text=self.query_one("#filter-text", Input).value,
            cutoff=_number(self.query_one("#filter-cutoff", Input).value, asked.cutoff),
            level=cast("Level | None", self.query_one("#filter-level", Select).value),
        )

    def _ticked(self, what: str, values: Sequence[str], present: tuple[str, ...]) -> tuple[str, ...]:
        if len(values) < 2:
            return present
        boxes = [self.query_one(f"#filter-{what}-{at}", Tick) for at in range(len(values))]
        return tuple(value for value, box in zip(values, boxes, strict=True) if box.value)

    def _outcomes(self) -> tuple[OutcomeFilter, ...]:
        found = []
        for at, name in enumerate(self._choosable.candidates):
            words = cast("tuple[OutcomeWord, ...]", self.query_one(f"#filter-outcome-{at}", Select).value)
            if words:
                found.append(OutcomeFilter(name, words))
        return tuple(found)

    def _disagreements(self) -> tuple[Disagreement, ...]:
        rest = self._filters.disagreements[1:]
        if len(self._choosable.candidates) < 2:
            return self._filters.disagreements
        hits, misses = (self.query_one(f"#filter-{word}", Select).value for word in ("hits", "misses"))
        if hits is None or misses is None:
            return rest
        return (Disagreement(cast(str, hits), cast(str, misses)), *rest)

    def _differ(self) -> bool:
        found = self.query("#filter-differ").results(Tick)
        return next((box.value for box in found), self._filters.differ)

    @on(Button.Pressed, "#filter-apply")
    @on(Input.Submitted)
    def action_apply(self) -> None:
        """Answer with the filters."""
        self.dismiss(self.filters())

    @on(Button.Pressed, "#filter-clear")
    def clear(self) -> None:
        """Answer with no filters."""
        self.dismiss(Filters())

    @on(Button.Pressed, "#filter-back")
    def back(self) -> None:
        """Leave the filters as they were."""
        self.dismiss(None)


def _number(text: str, otherwise: int) -> int:
    try:
        return int(text)
    except ValueError:
        return otherwise
