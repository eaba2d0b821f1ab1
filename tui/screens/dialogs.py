"""Small questions over a screen; each is dismissed with its answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, NamedTuple

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Label, OptionList
from textual.widgets.option_list import Option

from tui.text import safe, safe_lines
from tui.widgets.plain_input import PlainInput


class Choice(NamedTuple):
    """One thing that can be done; `refusal` says why it cannot be done now."""

    id: str
    label: str
    refusal: str | None = None


class ChoiceDialog(ModalScreen[str | None]):
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
                    yield Label(safe_lines(self._text))
            yield OptionList(
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


class TextDialog(ModalScreen[None]):
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
                yield Label(safe_lines(self._text))
            yield Label("esc back", classes="dialog-keys")


class InputDialog(ModalScreen[str | None]):
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
