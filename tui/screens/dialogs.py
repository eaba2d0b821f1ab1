"""Small questions over a screen; each is dismissed with its answer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import ClassVar, NamedTuple

from rich.table import Table
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen, ScreenResultType
from textual.widget import Widget
from textual.widgets import Label, OptionList, Static
from textual.widgets.option_list import Option

from core.text import printable
from tui.help_text import Keys, help_parts
from tui.screens.base import Once
from tui.text import LINE_LIMIT, safe, safe_lines
from tui.widgets.patient import PatientList
from tui.widgets.plain_input import PlainInput

_ITEM = re.compile(r"\s*- ")
HIGHEST = 0.9  # of the screen, as the styles of a dialog say


class Choice(NamedTuple):
    """One thing that can be done; `refusal` says why it cannot be done now."""

    id: str
    label: str
    refusal: str | None = None


class ReadingDialog(Once, ModalScreen[ScreenResultType]):
    """A dialog whose text and answers share the room that there is, so that as much as can be is seen."""

    def on_resize(self) -> None:
        """Share the room anew."""
        self.call_after_refresh(self._share_room)

    def _share_room(self) -> None:
        for text in self.query(".dialog-text"):
            dialog = self.query_one(".dialog")
            answers = [child for child in dialog.children if child.has_class("dialog-choices")]
            others = [child for child in dialog.children if child is not text and child not in answers]
            taken = sum(child.outer_size.height + child.styles.margin.height for child in others)
            taken += sum(child.styles.margin.height for child in answers)
            room = int(self.size.height * HIGHEST) - dialog.gutter.height - taken
            wanted = sum(_height(child) for child in answers)
            most = max(room - wanted, room // 2, 1)
            text.styles.max_height = most
            lines = sum(child.outer_size.height for child in text.children)
            for child in answers:
                child.styles.max_height = max(room - min(lines or most, most), 1)


def _height(answers: Widget) -> int:
    """Return the lines that answers take, at least one each where they are not laid out yet."""
    count = answers.option_count if isinstance(answers, OptionList) else 0
    return max(answers.virtual_size.height, count) + answers.gutter.height


class ChoiceDialog(ReadingDialog[str | None]):
    """A menu whose first entry is the sensible one; answers with the id of what was chosen."""

    AUTO_FOCUS = "OptionList"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "Back")]

    def __init__(self, title: str, text: str, choices: Sequence[Choice]) -> None:
        super().__init__()
        self._title = title
        self._text = text
        self._choices = choices

    def compose(self) -> ComposeResult:
        """Lay out the question and its answers."""
        with Vertical(classes="dialog"):
            yield Label(safe(self._title), classes="dialog-title")
            if self._text:
                with VerticalScroll(classes="dialog-text"):
                    yield from _to_read(self._text)
            yield PatientList(
                *(
                    Option(
                        safe(choice.label if choice.refusal is None else f"{choice.label}: {choice.refusal}"),
                        id=choice.id,
                        disabled=choice.refusal is not None,
                    )
                    for choice in self._choices
                ),
                classes="dialog-choices",
            )

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Answer with what was chosen."""
        self.dismiss(event.option_id)


class TextDialog(ReadingDialog[None]):
    """Something to read: help, or what went wrong and what to do."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,enter,q,question_mark,f1", "dismiss(None)", "Back"),
    ]

    def __init__(self, title: str, text: str) -> None:
        super().__init__()
        self._title = title
        self._text = text

    def compose(self) -> ComposeResult:
        """Lay out the text, scrollable."""
        with Vertical(classes="dialog"):
            yield Label(safe(self._title), classes="dialog-title")
            with VerticalScroll(classes="dialog-text"):
                yield from self.compose_text()
            yield Label("esc back", classes="dialog-keys")

    def compose_text(self) -> ComposeResult:
        """Lay out what is to be read."""
        yield from _to_read(self._text)


class HelpDialog(TextDialog):
    """Help, with what keys do beside them in a column of its own, however narrow the screen is."""

    def compose_text(self) -> ComposeResult:
        """Lay out keys and prose."""
        for part in help_parts(self._text):
            if isinstance(part, Keys):
                yield Static(_in_columns(part.rows))
            else:
                yield Label(safe(part.text))


def _to_read(text: str) -> Iterator[Widget]:
    """Yield a text's lines, those of lists with what is said beside its marks."""
    for is_list, lines in groupby(text.split("\n"), lambda line: _ITEM.match(line) is not None):
        if is_list:
            items = (line.partition("- ") for line in lines)
            yield Static(_in_columns([(f"{indent}-", told) for indent, _, told in items], gap=1))
        else:
            yield Label(safe_lines("\n".join(lines)))


def _in_columns(rows: Sequence[tuple[str, str]], gap: int = 2) -> Table:
    table = Table.grid(padding=(0, gap, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for name, told in rows:
        table.add_row(Text(printable(name)), Text(printable(told, LINE_LIMIT)))
    return table


class InputDialog(Once, ModalScreen[str | None]):
    """One line to type; answers with it, or with None."""

    AUTO_FOCUS = "Input"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "Back")]

    def __init__(self, title: str, text: str, value: str = "") -> None:
        super().__init__()
        self._title = title
        self._text = text
        self._value = value

    def compose(self) -> ComposeResult:
        """Lay out the question and the line."""
        with Vertical(classes="dialog"):
            yield Label(safe(self._title), classes="dialog-title")
            yield Label(safe_lines(self._text))
            yield PlainInput(self._value, select_on_focus=False)
            yield Label("enter goes on · esc back", classes="dialog-keys")

    def on_input_submitted(self, event: PlainInput.Submitted) -> None:
        """Answer with the line."""
        self.dismiss(event.value.strip() or None)
