"""The floors file: TOML that says which metrics must keep to which bounds.

A gate without `each` and without a part (`shape`, `intent`, `repository`, `query`) is on all cases together:

    candidate = "minilm"        # or "all"; may be left out where a run has one candidate

    [[gate]]
    metric = "recall@5"
    min = 0.50                  # min ≥, above >, max ≤, below <

    [[gate]]
    metric = "recall@5"
    each = "query"              # or "shape", "intent", "repository"
    above = 0.0

Unknown keys and impossible bounds are refused.
"""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple, Self

from pydantic import Field, FiniteFloat, model_validator

from core.errors import InputError
from core.scoring.gate_records import Bound, Gate, Mean, Part
from core.text import printable
from core.validation import InputModel, read_text_file, validated

ALL = "all"
DEFAULT_NAME = "the default floors of graded runs"
_DEFAULT = Path(__file__).with_name("graded.toml")
_LOWER, _UPPER = ("min", "above"), ("max", "below")


class GateEntry(InputModel):
    """One gate."""

    metric: str = Field(min_length=1, max_length=100, description="Such as recall@5; docs/gates.md has all.")
    min: FiniteFloat | None = Field(default=None, description="A floor that may be met exactly.")
    above: FiniteFloat | None = Field(default=None, description="A floor that must be exceeded.")
    max: FiniteFloat | None = Field(default=None, description="A ceiling that may be met exactly.")
    below: FiniteFloat | None = Field(default=None, description="A ceiling that must not be met.")
    each: Literal["query", "shape", "intent", "repository"] | None = Field(
        default=None, description="Hold it for each of these, not for their mean."
    )
    shape: str | None = Field(default=None, min_length=1, description="Only the queries of this shape.")
    intent: str | None = Field(default=None, min_length=1, description="The same, as known targets call it.")
    repository: str | None = Field(default=None, min_length=1, description="Only this repository's queries.")
    query: str | None = Field(default=None, min_length=1, description="Only this query, by its id.")
    mean: Mean = Field(default="macro", description="macro: repositories weigh the same; micro: queries do.")
    name: str = Field(default="", max_length=200, description="What reports call the gate.")

    @model_validator(mode="after")
    def _makes_sense(self) -> Self:
        lower = [name for name in _LOWER if getattr(self, name) is not None]
        upper = [name for name in _UPPER if getattr(self, name) is not None]
        if not lower and not upper:
            raise ValueError("expected a bound; add min, above, max or below")
        if len(lower) > 1 or len(upper) > 1:
            raise ValueError(
                f"found both {' and '.join(lower if len(lower) > 1 else upper)}; keep one of them"
            )
        if lower and upper and getattr(self, lower[0]) > getattr(self, upper[0]):
            raise ValueError("the floor lies above the ceiling, which nothing can meet; mend one of them")
        self._demand_one_scope()
        return self

    def _demand_one_scope(self) -> None:
        group = self.shape if self.shape is not None else self.intent
        if self.shape is not None and self.intent is not None:
            raise ValueError("shape and intent are two words for one thing; keep one of them")
        if self.query is not None and (group or self.repository or self.each):
            raise ValueError("query names one query already; leave out each, shape, intent and repository")
        if self.each in ("shape", "intent") and group:
            raise ValueError(f"each {self.each} and one {self.each} exclude each other; keep one of them")
        if self.each == "repository" and self.repository:
            raise ValueError("each repository and one repository exclude each other; keep one of them")

    def gate(self) -> Gate:
        """Return it as scoring takes it."""
        bounds = [(name, getattr(self, name)) for name in (*_LOWER, *_UPPER)]
        return Gate(
            metric=self.metric,
            bounds=tuple(Bound(name, float(limit)) for name, limit in bounds if limit is not None),  # type: ignore[arg-type]
            part=Part(self.shape if self.shape is not None else self.intent, self.repository, self.query),
            each="intent" if self.each == "shape" else self.each,
            mean=self.mean,
            name=self.name,
        )


class FloorsFile(InputModel):
    """The floors file."""

    format: Literal["boresight-floors@1"] = "boresight-floors@1"
    candidate: str | None = Field(
        default=None, pattern=r"^[A-Za-z0-9_-]{1,64}$", description='The candidate held to them, or "all".'
    )
    allow_incomplete: bool = Field(
        default=False, description="Do not fall for failed or missing operations alone."
    )
    gate: list[GateEntry] = Field(min_length=1, max_length=1000)


class Floors(NamedTuple):
    """Gates to hold a run to; `candidate` is None where the file names none."""

    name: str
    gates: tuple[Gate, ...]
    candidate: str | None = None
    allow_incomplete: bool = False


def read_floors(path: Path) -> Floors:
    """Read a floors file; raises InputError, or ProblemsError that names every problem."""
    return parse_floors(read_text_file(path), str(path))


def parse_floors(text: str, name: str) -> Floors:
    """Read a floors file's text; `name` is what messages call it. Raises as `read_floors`."""
    try:
        data = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        reason = printable(str(error), 300)
        raise InputError(f"{printable(name)}: not valid TOML: {reason}; mend that line") from None
    parsed = validated(FloorsFile, data, name)
    gates = tuple(entry.gate() for entry in parsed.gate)
    return Floors(name, gates, parsed.candidate, parsed.allow_incomplete)


def floors_files(folder: Path) -> tuple[Path, ...]:
    """Return the floors files of a folder: `floors.toml` first, then `*.floors.toml` by name."""
    try:
        others = sorted(path for path in folder.glob("*.floors.toml") if path.is_file())
        plain = folder / "floors.toml"
        return (*([plain] if plain.is_file() else []), *others)
    except OSError:  # a folder that cannot be listed has none to offer
        return ()


def default_text() -> str:
    """Return the text of the floors that graded runs are held to where no file is named."""
    return _DEFAULT.read_text("utf-8")


@cache
def default_floors() -> Floors:
    """Return those floors."""
    return parse_floors(default_text(), DEFAULT_NAME)
