"""What is wrong with a campaign, one problem an entry; choosing one asks to go to its field."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from core.campaign.checking import FieldProblem
from core.text import printable
from tui.widgets.patient import PatientList

SHOWN = 200
LONGEST = 600


class ProblemList(PatientList):
    """Errors first, then warnings."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "copy_problem", "Copy", id="manifest.copy_problem"),
    ]

    @dataclass
    class Chosen(Message):
        """The person wants to see the field of a problem."""

        problem: FieldProblem

    @dataclass
    class Copied(Message):
        """The person wants the text of a problem."""

        text: str

    def __init__(self, *, widget_id: str) -> None:
        super().__init__(id=widget_id)
        self._problems: tuple[FieldProblem, ...] = ()

    def show(self, problems: Sequence[FieldProblem]) -> None:
        """Show problems, keeping the place in the list."""
        ordered = tuple(sorted(problems, key=lambda problem: problem.severity != "error"))
        if ordered == self._problems and self.option_count:
            return
        self._problems = ordered
        at = self.highlighted
        self.clear_options()
        self.add_options(Option(_line(problem)) for problem in ordered[:SHOWN])
        if len(ordered) > SHOWN:
            self.add_option(Option(Content(f"… and {len(ordered) - SHOWN:,} more"), disabled=True))
        if not ordered:
            self.add_option(Option(Content("✔ no problems"), disabled=True))
        if at is not None and ordered:
            self.highlighted = min(at, len(ordered) - 1)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Ask to go to the problem's field."""
        event.stop()
        if event.option_index < len(self._problems):
            self.post_message(self.Chosen(self._problems[event.option_index]))

    def action_copy_problem(self) -> None:
        """Ask to have the problem copied."""
        if self.highlighted is not None and self.highlighted < len(self._problems):
            self.post_message(self.Copied(str(self._problems[self.highlighted])))


def _line(problem: FieldProblem) -> Content:
    mark = "✖" if problem.severity == "error" else "⚠"
    lines = str(problem).split("\n")
    return Content("\n".join(printable(line, LONGEST) for line in [f"{mark} {lines[0]}", *lines[1:8]]))
