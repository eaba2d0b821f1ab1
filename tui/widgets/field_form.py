"""A form of fields that a pydantic model describes; it tells what is typed and holds nothing itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Button, Checkbox, Input, Label, Select, Static

from core.campaign.fields import FieldKind, FieldSpec, as_typed, parse_typed, shown
from core.campaign.toml_map import Place
from core.text import printable
from tui.text import safe, safe_lines
from tui.widgets.path_input import PathInput
from tui.widgets.patient import PatientSelect
from tui.widgets.plain_input import PlainInput
from tui.widgets.tick import Tick

PATHS = {"path": True, "cases": False, "model_path": False, "tokenizer_path": False}  # whether only folders


class Section(NamedTuple):
    """What a form shows: a heading, actions by name, the fields with their values, and notes below them.

    The fields' places are those in the whole document.
    """

    title: str
    fields: Sequence[FieldSpec]
    values: Mapping[Place, Any]
    actions: Sequence[tuple[str, str]] = ()
    note: str = ""


class FieldForm(VerticalScroll, can_focus=False):
    """The fields of one part of a campaign."""

    @dataclass
    class Edited(Message):
        """A field has another value; None is nothing."""

        place: Place
        value: Any

    @dataclass
    class Pressed(Message):
        """An action of the section was chosen."""

        action: str

    def __init__(self, base: Path, *, widget_id: str) -> None:
        super().__init__(id=widget_id)
        self.base = base  # relative paths start here
        self._rows: dict[Place, FieldRow] = {}
        self._shown: tuple[Section, bool] | None = None

    async def show(self, section: Section, *, editable: bool, typed: bool = False) -> None:
        """Replace what is shown.

        `typed` says that the values come from this form itself: then it stays as it is as long as the
        section has the same fields, so that nobody loses the place they type at.
        """
        wanted = (section, editable)
        if self._shown is not None and (wanted == self._shown or (typed and _alike(wanted, self._shown))):
            before, self._shown = self._shown, wanted
            if section.actions != before[0].actions:
                await self._change_actions(wanted)
            return
        self._shown = wanted
        names = _names(section.fields)
        self._rows = {
            spec.place: FieldRow(spec, name, section.values.get(spec.place), self.base, editable=editable)
            for spec, name in zip(section.fields, names, strict=True)
        }
        actions = Horizontal(*_buttons(wanted), classes="form-actions")
        actions.display = bool(_buttons(wanted))
        widgets: list[Widget] = [Label(safe(section.title, 200), classes="form-title"), actions]
        widgets += self._rows.values()
        widgets.append(Static(safe_lines(section.note), id="form-note", markup=False))
        with self.app.batch_update():
            await self.remove_children()
            await self.mount_all(widgets)
        self.scroll_home(animate=False)

    async def _change_actions(self, wanted: tuple[Section, bool]) -> None:
        """Replace the buttons alone: what is typed meanwhile goes on in its field."""
        actions, buttons = self.query_one(".form-actions", Horizontal), _buttons(wanted)
        with self.app.batch_update():
            await actions.remove_children()
            await actions.mount_all(buttons)
        actions.display = bool(buttons)

    def note(self, text: str) -> None:
        """Replace the notes below the fields."""
        for static in self.query("#form-note").results(Static):
            static.update(safe_lines(text))

    def go_to(self, place: Place) -> None:
        """Put the cursor into the field at a place, or the one that shares most of it, or the first."""
        if self._rows:
            self._rows[max(self._rows, key=lambda known: _shared(known, place))].go_to()

    @property
    def place(self) -> Place | None:
        """The place of the field that the cursor is in."""
        return next((place for place, row in self._rows.items() if row.has_focus_within), None)

    @on(Button.Pressed)
    def _pressed(self, event: Button.Pressed) -> None:
        event.stop()
        self.post_message(self.Pressed(str(event.button.id).removeprefix("do-")))


class FieldRow(Vertical):
    """One field: its name, where it is filled in, and what is expected there."""

    def __init__(self, spec: FieldSpec, name: str, value: Any, base: Path, *, editable: bool) -> None:
        super().__init__(classes="field-row")
        self.spec = spec
        self._name_shown = name
        self._base = base
        self._editable = editable
        self._value = value
        self._typed = as_typed(spec, value)
        self._kind: FieldKind = self._typed.kind

    def compose(self) -> ComposeResult:
        """Lay out the name and the control, then the help."""
        with Horizontal(classes="field-line"):
            yield Label(safe(self._name_shown, 40), classes="field-name")
            control = self._control()
            control.disabled = not self._editable or self._typed.text is None
            yield control
        yield Static(safe(self._help(), 400), classes="field-help", markup=False)

    def on_descendant_focus(self) -> None:
        """Show the help of the field that is filled in; the others hide it where there is little room."""
        self.add_class("-entered")
        self.call_after_refresh(self.scroll_visible, animate=False)

    def on_descendant_blur(self) -> None:
        """Hide the help again where there is little room."""
        self.remove_class("-entered")

    def go_to(self) -> None:
        """Put the cursor into the control."""
        control = self.query_one(".field-control")
        control.focus()
        self.scroll_visible(animate=False)

    def _help(self) -> str:
        if self._typed.text is None:
            return "Too long to be edited here; edit it as TOML."
        return " ".join(part for part in (self.spec.help, self.spec.hint and f"({self.spec.hint})") if part)

    def _control(self) -> Widget:
        control = self._make()
        control.add_class("field-control")
        return control

    def _make(self) -> Widget:
        text = self._typed.text
        if text is None:
            return PlainInput(printable(shown(self._value), 200), compact=True)
        if self._kind == "flag":
            on_now = self.spec.default if self._value is None else self._value
            return Tick("yes", value=bool(on_now), compact=True)
        if self._kind == "choice":
            return _select(self.spec, text)
        if self._kind == "text" and self.spec.name in PATHS:
            return PathInput(text, self._base, folders_only=PATHS[self.spec.name])
        default = shown(self.spec.default) if self.spec.default is not None else ""
        placeholder = f"default {default}" if default else ""
        return PlainInput(text, placeholder=printable(placeholder, 60), compact=True)

    @on(Input.Changed)
    def _input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self._tell(event.value)

    @on(Select.Changed)
    def _select_changed(self, event: Select.Changed) -> None:
        event.stop()
        self._tell("" if event.value is Select.NULL else str(event.value))

    @on(Checkbox.Changed)
    def _checkbox_changed(self, event: Checkbox.Changed) -> None:
        event.stop()
        if self._value is None and event.value == bool(self.spec.default):
            return
        if event.value != self._value:
            self._value = event.value
            self.post_message(FieldForm.Edited(self.spec.place, event.value))

    def _tell(self, text: str) -> None:
        if text == self._typed.text:
            return
        self._typed = self._typed._replace(text=text)
        note = self.query_one(".field-help", Static)
        try:
            value = parse_typed(self.spec, self._kind, text)
        except ValueError as error:
            note.update(safe(f"✖ {error}", 400))
            note.add_class("-wrong")
            return
        note.update(safe(self._help(), 400))
        note.remove_class("-wrong")
        self.post_message(FieldForm.Edited(self.spec.place, value))


def _select(spec: FieldSpec, text: str) -> Select[str]:
    options = [(safe(choice, 60), choice) for choice in spec.choices]
    if text and text not in spec.choices:
        options.append((safe(f"✖ {text}", 60), text))
    prompt = f"default {shown(spec.default)}" if spec.default is not None else "—"
    return PatientSelect(
        options,
        value=text or Select.NULL,
        allow_blank=not (spec.required and text),
        prompt=prompt,
        compact=True,
    )


def _alike(section: tuple[Section, bool], other: tuple[Section, bool]) -> bool:
    return (section[0].title, section[0].fields, section[1]) == (other[0].title, other[0].fields, other[1])


def _buttons(shown: tuple[Section, bool]) -> list[Button]:
    section, editable = shown
    actions = section.actions if editable else ()
    return [Button(Content(label), id=f"do-{action}", compact=True) for action, label in actions]


def _names(fields: Sequence[FieldSpec]) -> list[str]:
    """Return the fields' names, with the table that each stands in where several have the same."""
    count = Counter(spec.name for spec in fields)
    return [
        f"{spec.place[-2]}.{spec.name}"
        if count[spec.name] > 1 and len(spec.place) > 1 and isinstance(spec.place[-2], str)
        else spec.name
        for spec in fields
    ]


def _shared(place: Place, other: Place) -> int:
    """Return how many leading parts two places have in common."""
    length = 0
    while length < min(len(place), len(other)) and place[length] == other[length]:
        length += 1
    return length
