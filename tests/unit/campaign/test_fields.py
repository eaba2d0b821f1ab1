"""Forms are made from models: kinds, defaults, limits and help; and what is typed becomes a value."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from core.campaign.fields import FieldSpec, as_typed, fields_of, parse_typed
from core.retrievers.embedded_entry import EmbeddedEntry
from core.retrievers.registry import entry_model, retriever_names
from core.text import printable


class Inner(BaseModel):
    deep: bool = Field(default=True, description="A flag.")


class Model(BaseModel):
    name: str = Field(description="A name.")
    number: Annotated[int, Field(ge=2, le=5)] = 3
    ratio: float | None = Field(default=None, gt=0)
    choice: Literal["one", "two"] = "one"
    words: list[str] = []
    counts: list[int] | None = None
    table: dict[str, str] = {}
    either: int | str = 1
    models: list[Inner] = []
    inner: Inner = Inner()


def specs() -> dict[str, FieldSpec]:
    return {".".join(map(str, spec.place)): spec for spec in fields_of(Model)}


def test_each_kind_of_field() -> None:
    assert {name: spec.kind for name, spec in specs().items()} == {
        "name": "text",
        "number": "integer",
        "ratio": "number",
        "choice": "choice",
        "words": "list",
        "counts": "list",
        "table": "snippet",
        "either": "snippet",
        "models": "snippet",
        "inner.deep": "flag",
    }


def test_what_is_needed_allowed_and_assumed_is_said() -> None:
    found = specs()
    assert found["name"].required and found["name"].help == "A name."
    assert found["number"].hint == "whole number, 2 to 5, default 3"
    assert found["ratio"].hint == "number, more than 0, optional"
    assert found["choice"].choices == ("one", "two")
    assert found["inner.deep"].place == ("inner", "deep")


@pytest.mark.parametrize(
    ("field", "value", "kind", "text"),
    [
        ("name", "plain", "text", "plain"),
        ("name", None, "text", ""),
        ("name", "", "snippet", '""'),
        ("name", "a\x1b]52;c;x\x07\u202e", "snippet", '"a\\u001b]52;c;x\\u0007\\u202e"'),
        ("name", {"a": [1]}, "snippet", "{ a = [1] }"),
        ("number", 4, "integer", "4"),
        ("number", "four", "integer", "four"),
        ("counts", [1, 5], "list", "1, 5"),
        ("words", ["a,b"], "snippet", '["a,b"]'),
        ("words", ["1"], "list", "1"),
        ("counts", [True], "snippet", "[true]"),
        ("table", {"A": "b"}, "snippet", '{ A = "b" }'),
        ("name", True, "snippet", "true"),
    ],
)
def test_a_value_is_shown_so_that_it_can_be_typed_back(field: str, value: Any, kind: str, text: str) -> None:
    spec = specs()[field]
    typed = as_typed(spec, value)
    assert (typed.kind, typed.text) == (kind, text)
    assert printable(str(typed.text)) == typed.text
    if field != "number" or value != "four":
        assert parse_typed(spec, typed.kind, str(typed.text)) == value


def test_what_is_too_long_is_not_offered_to_be_typed() -> None:
    assert as_typed(specs()["name"], "x" * 1_000_000).text is None


@pytest.mark.parametrize(
    ("field", "text", "value"),
    [
        ("number", "abc", "abc"),
        ("number", " 7 ", 7),
        ("number", "9" * 5000, "9" * 5000),
        ("ratio", "nan", "nan"),
        ("ratio", "2.5", 2.5),
        ("counts", "1, x,, 3", [1, "x", 3]),
        ("name", "  ", None),
    ],
)
def test_what_is_no_number_stays_text_for_the_checks(field: str, text: str, value: Any) -> None:
    assert parse_typed(specs()[field], specs()[field].kind, text) == value


@pytest.mark.parametrize("text", ["{", "1\ny = 2", "a = 1", "[" * 5000])
def test_a_snippet_that_is_no_single_value_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="TOML value"):
        parse_typed(specs()["table"], "snippet", text)


def test_every_retriever_describes_its_entries() -> None:
    for name in retriever_names():
        if name == "fake":
            continue
        fields = fields_of(entry_model(name))
        assert {"id", "retriever"} <= {spec.name for spec in fields}


def test_every_option_of_the_embedded_retriever_has_help() -> None:
    assert [spec.name for spec in fields_of(EmbeddedEntry) if not spec.help] == []
