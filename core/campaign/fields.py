"""What a form needs to know of a pydantic model: each field with its kind, default, limits and help."""

from __future__ import annotations

import math
import tomllib
import types
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

import annotated_types
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from core.campaign.toml_edits import render
from core.campaign.toml_map import Place
from core.text import printable

LONGEST_TYPED = 2000  # characters of a value that a field holds
_LONGEST_NUMBER = 40
_LARGEST = 2**63 - 1  # a limit that only says what TOML can hold

FieldKind = Literal["text", "integer", "number", "flag", "choice", "list", "snippet"]
"""How a field is filled in: `list` is texts or numbers in a row, `snippet` anything else, as TOML."""


class FieldSpec(NamedTuple):
    """One field of a form, at a place below its model."""

    place: Place
    kind: FieldKind
    required: bool
    default: Any  # None where there is none, or where it is absence
    choices: tuple[str, ...] = ()
    limits: str = ""  # in words: `8 to 8192`
    help: str = ""
    element: FieldKind = "text"  # of a list's values

    @property
    def name(self) -> str:
        """The field's own key."""
        return str(self.place[-1])

    @property
    def hint(self) -> str:
        """What is expected here, in words: type, limits, default."""
        kinds = {
            "integer": "whole number",
            "number": "number",
            "list": "separated by commas",
            "snippet": "a TOML value",
        }
        parts = [kinds.get(self.kind, ""), self.limits]
        if self.required:
            parts.append("needed")
        elif self.kind != "flag":
            default = "" if self.default is None else shown(self.default)
            parts.append(f"default {default}" if default else "optional")
        return ", ".join(part for part in parts if part)


@cache
def fields_of(model: type[BaseModel]) -> tuple[FieldSpec, ...]:
    """Return the fields of a model, those of models nested in it at their places, in their order."""
    return tuple(_fields(model, ()))


class Typed(NamedTuple):
    """A value as a person would type it, and the kind that it is typed as.

    That is `snippet` where plain text cannot say it. `text` is None where it is too long to be typed.
    """

    kind: FieldKind
    text: str | None


def as_typed(spec: FieldSpec, value: Any) -> Typed:
    """Return how a field shows a value, of whatever type it is."""
    if value is None:
        return Typed(spec.kind, "")
    kind = spec.kind
    if isinstance(value, str):
        plain = kind not in {"snippet", "list"} and printable(value) == value and value.strip() == value
        kind = kind if plain and value else "snippet"
    elif isinstance(value, list):
        parts = [shown(each) for each in value]
        plain = kind == "list" and all(
            type(parse_element(spec, part)) is type(each) and parse_element(spec, part) == each
            for each, part in zip(value, parts, strict=True)
        )
        kind = "list" if plain and value else "snippet"
    elif isinstance(value, bool) or not isinstance(value, int | float):
        kind = kind if kind == "flag" and isinstance(value, bool) else "snippet"
    text = escaped(render(value)) if kind == "snippet" else shown(value)
    return Typed(kind, text if len(text) <= LONGEST_TYPED else None)


def parse_typed(spec: FieldSpec, kind: FieldKind, text: str) -> Any:
    """Return the value that a person typed, None for nothing.

    What is no number stays text, which checks will tell. Raises ValueError, with what to do, where a TOML
    value was expected and is none.
    """
    text = text.strip()
    if not text:
        return None
    if kind == "snippet":
        return _snippet(text)
    if kind == "list":
        return [parse_element(spec, part.strip()) for part in text.split(",") if part.strip()]
    if kind in {"integer", "number"}:
        return _number(text)
    return text


def parse_element(spec: FieldSpec, text: str) -> Any:
    """Return one value of a list."""
    if "," in text or text != text.strip() or not text or printable(text) != text:
        return None
    return _number(text) if spec.element in {"integer", "number"} else text


def shown(value: Any) -> str:
    """Return a plain value as a person types it into a field."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return ", ".join(map(shown, value))
    return str(value)


def escaped(text: str) -> str:
    """Return TOML of one line with what must not reach a terminal written as TOML's escapes."""
    return "".join(each if printable(each) == each else _escape(ord(each)) for each in text)


def _escape(code: int) -> str:
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _snippet(text: str) -> Any:
    try:
        found = tomllib.loads(f"x = {text}")
    except (ValueError, RecursionError) as error:
        raise ValueError(f"not a TOML value ({printable(str(error), 120)}); put text in quotes") from None
    if found.keys() != {"x"}:
        raise ValueError("more than one TOML value; write one")
    return found["x"]


def _number(text: str) -> int | float | str:
    for convert in (int, float):
        try:
            number = convert(text) if len(text) <= _LONGEST_NUMBER else text
        except ValueError:
            continue
        if isinstance(number, int) or (isinstance(number, float) and math.isfinite(number)):
            return number
    return text


def _fields(model: type[BaseModel], place: Place) -> Iterator[FieldSpec]:
    for key, info in model.model_fields.items():
        inner = _bare(info.annotation)
        here = (*place, info.alias or key)
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            yield from _fields(inner, here)
        else:
            yield _field(here, info, inner)


def _field(place: Place, info: FieldInfo, inner: Any) -> FieldSpec:
    kind, choices = _kind(inner)
    return FieldSpec(
        place=place,
        kind=kind,
        required=info.is_required(),
        default=_default(info),
        choices=choices,
        limits=_limits(info.metadata),
        help=info.description or "",
        element=_kind(_bare(get_args(inner)[0]))[0] if kind == "list" else "text",
    )


def _kind(inner: Any) -> tuple[FieldKind, tuple[str, ...]]:
    if get_origin(inner) is Literal and all(isinstance(each, str) for each in get_args(inner)):
        return "choice", get_args(inner)
    if inner is bool:
        return "flag", ()
    if inner is int:
        return "integer", ()
    if inner is float:
        return "number", ()
    if get_origin(inner) is list and _kind(_bare(get_args(inner)[0]))[0] in {
        "text",
        "integer",
        "number",
        "choice",
    }:
        return "list", ()
    if (
        get_origin(inner) in {list, dict, tuple, set, Union, types.UnionType}
        or inner is Any
        or inner in (list, dict)
    ):
        return "snippet", ()
    if isinstance(inner, type) and issubclass(inner, Mapping | list | tuple | set | BaseModel):
        return "snippet", ()
    return "text", ()


def _bare(annotation: Any) -> Any:
    """Return a type without `Annotated` and without the `None` that lets it be left out."""
    origin = get_origin(annotation)
    if origin is Annotated:
        return _bare(get_args(annotation)[0])
    if origin in {Union, types.UnionType}:
        inner = [each for each in get_args(annotation) if each is not type(None)]
        if len(inner) == 1:
            return _bare(inner[0])
    return annotation


def _default(info: FieldInfo) -> Any:
    value = info.get_default(call_default_factory=False)
    if value is PydanticUndefined:
        return None
    return value


def _limits(metadata: list[Any]) -> str:
    low = high = None
    words = []
    for item in metadata:
        if isinstance(item, annotated_types.Ge):
            low = str(item.ge)
        elif isinstance(item, annotated_types.Gt):
            low = f"more than {item.gt}"
        elif isinstance(item, annotated_types.Le) and item.le != _LARGEST:
            high = str(item.le)
        elif isinstance(item, annotated_types.Lt):
            high = f"less than {item.lt}"
    if low is not None and high is not None:
        words.append(f"{low} to {high}")
    elif low is not None:
        words.append(low if low.startswith("more") else f"at least {low}")
    elif high is not None:
        words.append(high if high.startswith("less") else f"at most {high}")
    return ", ".join(words)
