"""Reads a declared tool's own output: JSON by JMESPath, JSON lines, or lines of text by a pattern."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from core.errors import ProblemsError
from core.ranking import Location
from core.retrievers.answers import (
    checked_location,
    joined_context,
    parsed_json,
    ranked,
    read_json,
    read_text,
)
from core.retrievers.declared.entry import Mapped
from core.retrievers.declared.line_pattern import NUMBERS, LinePattern, parse_pattern
from core.retrievers.protocol import Answer, AnswerError, Context
from core.text import printable

Find = Callable[[Any], Any]

_ROW_FIELDS = ("path", "line", "end_line", "kind", "score", "excerpt")
_OF_JSON = ("rows", *_ROW_FIELDS, "error", "id")
_HEAD = 60


class Row(NamedTuple):
    """One result with its excerpt, empty where the form tells none."""

    location: Location
    excerpt: str


class Form:
    """A declared form, checked and ready to read; raises ProblemsError that names each field."""

    def __init__(self, mapped: Mapped, form: str, field: str) -> None:
        self._mapped = mapped
        self._form = form
        self._finds: dict[str, Find] = {}
        self._expected: list[tuple[str, Find, Any]] = []
        self._pattern: LinePattern | None = None
        problems = [*_misplaced(mapped, form, field)]
        for name in _OF_JSON:
            expression = getattr(mapped, name)
            if expression is not None:
                self._finds[name] = _compiled(expression, f"{field}.{name}", problems)
        for expression, value in mapped.expect.items():
            found = _compiled(expression, f"{field}.expect", problems)
            self._expected.append((expression, found, value))
        if form == "lines" and mapped.pattern is not None:
            try:
                self._pattern = parse_pattern(mapped.pattern, f"{field}.pattern")
            except ProblemsError as error:
                problems += error.problems
        if problems:
            raise ProblemsError(f"{field} is not valid:", problems)

    @property
    def fields(self) -> frozenset[str]:
        """The fields of a result that this form tells."""
        return self._pattern.fields if self._pattern else frozenset(self._finds)

    @property
    def uses_jmespath(self) -> bool:
        """Whether any of it is looked up by an expression."""
        return bool(self._finds or self._expected)

    def ranking(self, stdout: bytes, repository: Path, limit: int) -> Answer:
        """Read a query's output; raises AnswerError."""
        return ranked((row.location for row in self._rows(stdout, repository)), limit)

    def context(self, stdout: bytes, repository: Path, limit: int) -> Context:
        """Read a probe's output; raises AnswerError."""
        return joined_context(self._rows(stdout, repository), limit)

    def session_id(self, stdout: bytes) -> str | None:
        """Return the id that a session's line bears, None where it has none or does not read."""
        try:
            document = read_json(stdout, "JSON")
            found = self._find("id", document) if "id" in self._finds else document.get("id")
        except (AnswerError, AttributeError):
            return None
        return found if isinstance(found, str) else None

    def _rows(self, stdout: bytes, repository: Path) -> Iterator[Row]:
        inside = _Inside(repository)
        if self._pattern is not None:
            yield from self._of_lines(stdout, self._pattern, inside)
            return
        document = _lines_parsed(stdout) if self._form == "json-lines" else read_json(stdout, "JSON")
        self._demand_success(document)
        rows = self._find("rows", document) if "rows" in self._finds else document
        if not isinstance(rows, list):
            where = f"rows ({printable(self._mapped.rows, _HEAD)})" if self._mapped.rows else "the answer"
            raise AnswerError("wrong_shape", f"{where}: found {_shown(rows)}, expected a list of results")
        told = [name for name in _ROW_FIELDS if name in self._finds]
        for number, row in enumerate(rows):
            yield self._row({name: self._find(name, row) for name in told}, number, inside)

    def _of_lines(self, stdout: bytes, pattern: LinePattern, inside: _Inside) -> Iterator[Row]:
        # Lines of source may hold any bytes; only a path and what is told of it must be text.
        text = stdout.decode("utf-8", "surrogateescape")
        number = 0
        for line in map(_without_return, text.split("\n")):
            if not line:
                continue
            found = pattern.read(line)
            if found is not None:
                yield self._row(_typed(found), number, inside)
                number += 1
            elif not self._mapped.skip_other_lines:
                raise AnswerError(
                    "unreadable_line",
                    f"found the line {_quoted(line)}, expected {printable(pattern.shown, _HEAD)}",
                )

    def _row(self, found: Mapping[str, Any], number: int, inside: _Inside) -> Row:
        place = f"result {number + 1}"
        line, end_line = (self._line(found.get(name), f"{place}.{name}") for name in ("line", "end_line"))
        location = checked_location(
            place,
            inside.relative(found.get("path"), place),
            line,
            end_line,
            self._kind(found.get("kind"), place),
            found.get("score"),
        )
        excerpt = found.get("excerpt", "")
        if not isinstance(excerpt, str):
            raise AnswerError("wrong_shape", f"{place}.excerpt: found {_shown(excerpt)}, expected text")
        return Row(location, excerpt.encode("utf-8", "surrogateescape").decode("utf-8", "replace"))

    def _line(self, value: Any, place: str) -> Any:
        if self._mapped.first_line == 1 or value is None:
            return value
        if type(value) is not int:
            raise AnswerError("bad_line", f"{place}: found {_shown(value)}, expected a whole number from 0")
        return value + 1

    def _kind(self, value: Any, place: str) -> Any:
        if value is None or not self._mapped.kinds:
            return value
        try:
            return self._mapped.kinds[value]
        except (KeyError, TypeError):
            raise AnswerError(
                "unknown_kind",
                f"{place}.kind: found {_shown(value)}, expected one that the manifest's `kinds` names: "
                f"{', '.join(self._mapped.kinds)}",
            ) from None

    def _demand_success(self, document: Any) -> None:
        """Refuse an error object, and an answer to something else, which exit 0 does not tell."""
        if "error" in self._finds:
            error = self._find("error", document)
            if error not in (None, False, "", [], {}):
                raise AnswerError("tool_error", f"the answer tells an error: {_shown(error)}")
        for expression, find, expected in self._expected:
            found = _searched(expression, find, document)
            if type(found) is not type(expected) or found != expected:
                raise AnswerError(
                    "wrong_answer", f"{expression}: found {_shown(found)}, expected {_shown(expected)}"
                )

    def _find(self, name: str, value: Any) -> Any:
        return _searched(name, self._finds[name], value)


class _Inside:
    """Makes absolute paths relative to a repository, by its own path and by where that really lies."""

    def __init__(self, repository: Path) -> None:
        self._roots = _roots(repository)

    def relative(self, path: Any, place: str) -> Any:
        """Return a path relative to the repository; what is no text is left to the checks of results."""
        if not isinstance(path, str):
            return path
        for root in self._roots:
            if path.startswith(f"{root}/"):
                return path[len(root) + 1 :]
        if path.startswith("/"):
            raise AnswerError(
                "outside_repository",
                f"{place}.path: found {_quoted(path)}, expected a path inside the repository",
            )
        while path.startswith("./"):
            path = path[2:].lstrip("/")
        return path


@lru_cache(maxsize=1024)
def _roots(repository: Path) -> tuple[str, ...]:
    return tuple(dict.fromkeys((str(repository), os.path.realpath(repository))))


def _misplaced(mapped: Mapped, form: str, field: str) -> Iterator[str]:
    """Yield what is said that this form has no use for, and what it lacks."""
    given = {name for name in Mapped.model_fields if getattr(mapped, name) != _default(name)}
    own = {"json": {*_OF_JSON, "kinds", "first_line", "expect"}, "lines": _OF_LINES}
    allowed = own.get("json" if form == "json-lines" else form, set())
    for name in sorted(given - allowed):
        yield f"{field}.{name}: has no meaning with format = {form!r}; take it out, or change the format"
    needed = {"json": "path", "json-lines": "path", "lines": "pattern"}.get(form)
    if needed is not None and needed not in given:
        yield f"{field}.{needed}: found nothing, which format = {form!r} needs; add it"


_OF_LINES = {"pattern", "skip_other_lines", "kinds", "first_line"}


def _default(name: str) -> Any:
    return Mapped.model_fields[name].default


def _compiled(expression: str, field: str, problems: list[str]) -> Find:
    import jmespath
    from jmespath.exceptions import JMESPathError

    try:
        compiled = jmespath.compile(expression)
        found: Find = compiled.search
        _demand_known_functions(compiled.parsed)
    except (JMESPathError, RecursionError) as error:
        told = " ".join(str(error).split())
        problems.append(
            f"{field}: {printable(expression, _HEAD)!r} is no JMESPath expression ({printable(told, 120)}); "
            "see https://jmespath.org"
        )
        return lambda value: None
    return found


def _demand_known_functions(node: Any) -> None:
    """Raise UnknownFunctionError, which the library itself does only where it looks into an answer."""
    from jmespath.exceptions import UnknownFunctionError
    from jmespath.functions import Functions

    waiting = [node]
    while waiting:
        part = waiting.pop()
        if not isinstance(part, dict):
            continue
        if part.get("type") == "function_expression" and part.get("value") not in Functions.FUNCTION_TABLE:
            raise UnknownFunctionError(f"Unknown function: {part.get('value')}()")
        waiting += part.get("children", ())


def _searched(name: str, find: Find, value: Any) -> Any:
    from jmespath.exceptions import JMESPathError

    try:
        return find(value)
    except (JMESPathError, RecursionError, TypeError, ValueError) as error:
        told = printable(" ".join(str(error).split()), 160)
        raise AnswerError("wrong_shape", f"{name}: cannot be found in the answer: {told}") from None


def _lines_parsed(stdout: bytes) -> list[Any]:
    lines = [line for line in read_text(stdout).split("\n") if line.strip()]
    return [parsed_json(line, f"line {number}") for number, line in enumerate(lines, start=1)]


def _without_return(line: str) -> str:
    return line.removesuffix("\r")


def _typed(found: Mapping[str, str]) -> dict[str, Any]:
    """Return a line's fields with its numbers as numbers; one that is none is left to be refused."""
    return {
        name: int(value)
        if name in NUMBERS and len(value) < 20
        else _number(value)
        if name == "score"
        else value
        for name, value in found.items()
    }


def _number(value: str) -> float | str:
    try:
        return float(value)
    except ValueError:
        return value


def _quoted(text: str) -> str:
    return repr(printable(text.strip().partition("\n")[0].encode("utf-8", "replace").decode(), _HEAD))


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "a list"
    return "nothing" if value is None else printable(repr(value), _HEAD)
