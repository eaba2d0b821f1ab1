"""Reading what people write: files turned into values, and pydantic's complaints into messages to act on."""

from __future__ import annotations

import difflib
import json
import stat
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails

from core.canonical import load_json
from core.errors import InputError, ProblemsError
from core.text import printable

MAX_INPUT_BYTES = 64 * 1024 * 1024
_SHOWN_PROBLEMS = 50
_SHOWN_VALUE = 60

Model = TypeVar("Model", bound=BaseModel)


class InputModel(BaseModel):
    """Base of every hand-written format: no unknown keys, no silent conversions, immutable once read."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


def _is_named_pipe(path: Path) -> bool:
    """Tell whether opening a file could wait for ever; a shell's `<(command)` has its writer already."""
    return stat.S_ISFIFO(path.stat().st_mode) and not path.resolve().is_relative_to("/proc")


def read_text_file(path: Path) -> str:
    """Return a UTF-8 file's text.

    Raises InputError where it is missing, a directory, a pipe, unreadable, over 64 MiB or not UTF-8.
    """
    shown = printable(str(path))
    try:
        if _is_named_pipe(path):
            raise InputError(f"{shown}: found a pipe, expected a file; check the path")
        with open(path, "rb") as stream:
            data = stream.read(MAX_INPUT_BYTES + 1)
    except FileNotFoundError:
        raise InputError(f"{shown}: there is no such file; check the path") from None
    except IsADirectoryError:
        raise InputError(f"{shown}: found a directory, expected a file; name the file inside it") from None
    except PermissionError:
        raise InputError(
            f"{shown}: not readable by this user; run `chmod u+r` on it, or run as its owner"
        ) from None
    except ValueError:
        raise InputError(f"{shown}: not a possible path, as it holds a NUL; check the path") from None
    except OSError as error:
        raise InputError(f"{shown}: cannot be read: {error.strerror or error}; check the path") from None
    if len(data) > MAX_INPUT_BYTES:
        raise InputError(
            f"{shown}: larger than {MAX_INPUT_BYTES // 1024**2} MiB, more than any such file needs; "
            "check that this is the file you mean"
        )
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"{shown}, line {line}: found the byte 0x{data[error.start]:02x} at offset {error.start}, "
            "expected UTF-8; save the file as UTF-8"
        ) from None


def read_json_file(path: Path) -> Any:
    """Return a JSON file's value, parsed strictly.

    Raises InputError as `read_text_file` does, and for bad JSON (with its line and column), a byte
    order mark, duplicate keys, NaN and infinities.
    """
    text = read_text_file(path)
    shown = printable(str(path))
    if text.startswith("\ufeff"):
        raise InputError(
            f"{shown}: begins with a byte order mark, expected JSON; save it as UTF-8 without one"
        )
    if not text.strip():
        raise InputError(f"{shown}: empty, expected JSON")
    try:
        return load_json(text)
    except json.JSONDecodeError as error:
        raise InputError(
            f"{shown}, line {error.lineno}, column {error.colno}: not valid JSON: {error.msg}; mend it there"
        ) from None
    except ValueError as error:
        raise InputError(f"{shown}: not valid JSON: {printable(str(error), 200)}; mend it there") from None


def validated(model: type[Model], value: Any, name: str) -> Model:
    """Return `value` as `model`; raises ProblemsError that names every problem, under `name` (a file)."""
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise explain(error, name, model) from None


def explain(error: ValidationError, name: str, model: type[BaseModel] | None = None) -> ProblemsError:
    """Return pydantic's complaints as one error: field, what was found, what was expected, what to do.

    With the model that was validated, an unknown key's message suggests the nearest known one.
    """
    details = complaints(error, model)
    problems = [f"{field_path(place)}: {message}" for place, message in details[:_SHOWN_PROBLEMS]]
    if len(details) > _SHOWN_PROBLEMS:
        problems.append(f"and {len(details) - _SHOWN_PROBLEMS} more")
    return ProblemsError(f"{printable(name)} is not valid:", problems)


def complaints(
    error: ValidationError, model: type[BaseModel] | None = None
) -> list[tuple[tuple[str | int, ...], str]]:
    """Return pydantic's complaints one by one: the field's place, and the message without the field."""
    return [(detail["loc"], _complaint(detail, model)) for detail in error.errors(include_url=False)]


def field_path(location: Iterable[str | int]) -> str:
    """Return a place in a document as people write it: `repositories[0].label`."""
    path = ""
    for part in location:
        if isinstance(part, int):
            path += f"[{part}]"
        else:
            path += f".{printable(part, _SHOWN_VALUE)}" if path else printable(part, _SHOWN_VALUE)
    return path or "the document"


def found(value: Any) -> str:
    """Return a value as a message shows it: JSON where it can be, on one line, cut short."""
    if isinstance(value, Mapping):
        return "an object"
    if isinstance(value, list | tuple):
        return "a list"
    try:
        shown = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError):
        shown = str(value)
    return printable(shown, _SHOWN_VALUE)


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the known word most like `word`, or None where none is near."""
    close = difflib.get_close_matches(word, list(known), n=1)
    return close[0] if close else None


def _complaint(detail: ErrorDetails, model: type[BaseModel] | None) -> str:
    location = detail["loc"]
    kind = detail["type"]
    if kind == "missing":
        return f"found nothing, expected a value; add {found(location[-1])}"
    if kind == "extra_forbidden":
        return _unknown_key(str(location[-1]), sorted(_known_keys(model, location[:-1])))
    if kind in ("value_error", "assertion_error"):
        reason = str(detail.get("ctx", {}).get("error", detail["msg"]))
        return f"found {found(detail['input'])}, {reason}"
    return f"found {found(detail['input'])}, expected {_expected(detail)}"


def _unknown_key(key: str, known: list[str]) -> str:
    close = nearest(key, known)
    if close is not None:
        return f"unknown key; did you mean {found(close)}?"
    listed = f", as the known keys are {', '.join(known)}" if known else ""
    return f"unknown key; remove it{listed}"


_EXPECTED = {
    "string_type": "text in quotes",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "bool_type": "true or false",
    "list_type": "a list",
    "tuple_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
    "model_attributes_type": "an object",
    "path_type": "a path in quotes",
    "is_instance_of": "a value of another kind",
    "literal_error": "{expected}",
    "enum": "{expected}",
    "string_pattern_mismatch": "text that matches {pattern}",
    "string_too_short": "at least {min_length} characters",
    "string_too_long": "at most {max_length} characters",
    "too_short": "at least {min_length} entries, not {actual_length}",
    "too_long": "at most {max_length} entries, not {actual_length}",
    "greater_than": "more than {gt}",
    "greater_than_equal": "at least {ge}",
    "less_than": "less than {lt}",
    "less_than_equal": "at most {le}",
    "union_tag_invalid": "{discriminator} to be one of {expected_tags}",
    "union_tag_not_found": "an object with {discriminator}",
}


def _expected(detail: ErrorDetails) -> str:
    form = _EXPECTED.get(detail["type"])
    context = detail.get("ctx", {})
    if form is None:
        message = detail["msg"]
        return message.removeprefix("Input should be ").removeprefix("Value should be ")
    return form.format_map(context)


def _known_keys(model: type[BaseModel] | None, location: tuple[str | int, ...]) -> set[str]:
    models = {model} if model is not None else set()
    for part in location:
        if isinstance(part, int):
            continue
        inner = {
            found_model
            for each in models
            for key, field in each.model_fields.items()
            if part in (key, field.alias)
            for found_model in _models_in(field.annotation)
        }
        # A part that is no field is the tag of a union, which pydantic puts into the location,
        # or a key of a mapping; the models stay the same.
        models = inner or models
        tagged = {each for each in models if part == each.__name__}
        models = tagged or models
    return {field.alias or key for each in models for key, field in each.model_fields.items()}


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in get_args(annotation):
        yield from _models_in(argument)
