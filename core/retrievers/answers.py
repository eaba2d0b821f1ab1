"""Reads the small JSON answers that the embedded retriever prints and that any tool can print.

A ranking:  {"format": "boresight-ranking@1", "results": [{"path", "line", "end_line", "kind", "score"}]}
A context:  {"format": "boresight-context@1", "results": [the same, and "excerpt"]}
An index:   {"format": "boresight-index@1", "units", "emb", "docs", "vectors", "skipped": {reason: files}}

Only `path` (and `excerpt`) must be there; the rest may be absent or null. Paths are relative to the
repository with `/` between their parts, lines count from 1, `end_line` is inclusive, and results stand
best first.

A session that is asked a line with an `id` puts the same `id` into its answer, so that an answer that comes
a line too late is never taken for the next one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from core.canonical import load_json
from core.ranking import KINDS, Kind, Location
from core.retrievers.protocol import Answer, AnswerError, Context
from core.text import printable

RANKING_FORMAT = "boresight-ranking@1"
CONTEXT_FORMAT = "boresight-context@1"
INDEX_FORMAT = "boresight-index@1"

MAX_ANSWER_BYTES = 16 * 1024 * 1024
MAX_PATH_BYTES = 4096
MAX_LINE = 2**31 - 1
_SHOWN_BEGINNING = 60  # characters

_ROW_FIELDS = frozenset({"path", "line", "end_line", "kind", "score"})
_COUNTS = ("units", "emb", "docs", "vectors")


class IndexReport(NamedTuple):
    """What an index step says that it holds, in units, and the files that it left out by reason."""

    units: int
    emb: int
    docs: int
    vectors: int
    skipped: Mapping[str, int]


class _Row(NamedTuple):
    location: Location
    excerpt: str


def read_ranking(stdout: bytes, limit: int) -> Answer:
    """Return a ranking of at most `limit` results; duplicates and surplus rows are dropped and counted.

    Two results are duplicates where path, lines and kind are the same; the first keeps its rank.
    Raises AnswerError: `empty_output`, `too_long`, `invalid_utf8`, `invalid_json`, `wrong_shape`,
    `outside_repository`, `bad_path`, `bad_line`, `unknown_kind`, `bad_score`.
    """
    return ranked((row.location for row in _results(stdout, RANKING_FORMAT, excerpts=False)), limit)


def read_context(stdout: bytes, limit: int) -> Context:
    """Return the text of at most `limit` results, each under a line that says where it stands.

    Raises AnswerError as `read_ranking` does.
    """
    return joined_context(_results(stdout, CONTEXT_FORMAT, excerpts=True), limit)


def joined_context(rows: Iterable[tuple[Location, str]], limit: int) -> Context:
    """Return the text of the first `limit` results, given with their excerpts; duplicates are dropped."""
    kept, _ = _distinct([_Row(*row) for row in rows])
    kept = kept[:limit]
    text = "\n\n".join(f"{_place(row.location)}\n{row.excerpt}" for row in kept)
    return Context(text, tuple(row.location for row in kept))


def read_index_report(stdout: bytes) -> IndexReport:
    """Return what an index step printed; raises AnswerError, with `empty_index` for no units at all."""
    document = _document(stdout, INDEX_FORMAT, frozenset({"format", *_COUNTS, "skipped"}))
    counts = {name: _count(document.get(name), name) for name in _COUNTS}
    skipped = document.get("skipped")
    if not isinstance(skipped, dict):
        raise AnswerError("wrong_shape", f"skipped: found {_shown(skipped)}, expected an object of counts")
    report = IndexReport(
        **counts, skipped={reason: _count(files, f"skipped.{reason}") for reason, files in skipped.items()}
    )
    if report.units != report.emb + report.docs:
        raise AnswerError(
            "wrong_shape", f"units: found {report.units}, expected emb + docs = {report.emb + report.docs}"
        )
    if report.units == 0:
        raise AnswerError("empty_index", "the index holds no units")
    return report


def _results(stdout: bytes, form: str, *, excerpts: bool) -> list[_Row]:
    results = _document(stdout, form, frozenset({"format", "id", "results"})).get("results")
    if not isinstance(results, list):
        raise AnswerError("wrong_shape", f"results: found {_shown(results)}, expected a list")
    return [_row(result, f"results[{number}]", excerpts) for number, result in enumerate(results)]


def read_text(stdout: bytes) -> str:
    """Return an output as text; raises AnswerError: `too_long`, `invalid_utf8`."""
    if len(stdout) > MAX_ANSWER_BYTES:
        raise AnswerError("too_long", f"found {len(stdout)} bytes, expected at most {MAX_ANSWER_BYTES}")
    try:
        return stdout.decode("utf-8")
    except UnicodeDecodeError as error:
        found = f"byte 0x{stdout[error.start]:02x} at offset {error.start}"
        raise AnswerError("invalid_utf8", f"found {found}, expected UTF-8") from None


def read_json(stdout: bytes, expected: str) -> Any:
    """Return an output that is one JSON document, `expected` in the words of messages.

    Raises AnswerError: those of `read_text`, `empty_output`, and `invalid_json` (a banner before it
    included), which tells what the output begins with.
    """
    text = read_text(stdout)
    if not text.strip():
        raise AnswerError("empty_output", f"found nothing, expected {expected}")
    return parsed_json(text, "the output")


def parsed_json(text: str, name: str) -> Any:
    """Return the JSON document that a text is; raises AnswerError `invalid_json` with its beginning."""
    try:
        return load_json(text)
    except ValueError as error:
        begins = printable(text.strip()[:_SHOWN_BEGINNING].partition("\n")[0])
        raise AnswerError(
            "invalid_json",
            f"{name} is not valid JSON: {printable(str(error), 200)}; it begins with {begins!r}",
        ) from None


def _document(stdout: bytes, form: str, fields: frozenset[str]) -> dict[str, Any]:
    document = read_json(stdout, form)
    if not isinstance(document, dict):
        raise AnswerError("wrong_shape", f"found {_shown(document)}, expected an object")
    if document.get("format") != form:
        raise AnswerError("wrong_shape", f"format: found {_shown(document.get('format'))}, expected {form!r}")
    _refuse_unknown(document, fields, "the answer")
    return document


def _row(result: Any, place: str, excerpts: bool) -> _Row:
    if not isinstance(result, dict):
        raise AnswerError("wrong_shape", f"{place}: found {_shown(result)}, expected an object")
    _refuse_unknown(result, _ROW_FIELDS | {"excerpt"} if excerpts else _ROW_FIELDS, place)
    find = result.get
    location = checked_location(
        place, find("path"), find("line"), find("end_line"), find("kind"), find("score")
    )
    excerpt = result.get("excerpt") if excerpts else ""
    if not isinstance(excerpt, str):
        raise AnswerError("wrong_shape", f"{place}.excerpt: found {_shown(excerpt)}, expected text")
    return _Row(location, excerpt.encode("utf-8", "replace").decode("utf-8"))


def _path(value: Any, place: str) -> str:
    if not isinstance(value, str):
        raise AnswerError("wrong_shape", f"{place}: found {_shown(value)}, expected text")
    try:
        length = len(value.encode("utf-8"))
    except UnicodeEncodeError:
        raise AnswerError("bad_path", f"{place}: holds a lone surrogate, which no path can") from None
    if length > MAX_PATH_BYTES:
        raise AnswerError("bad_path", f"{place}: {length} bytes long, expected at most {MAX_PATH_BYTES}")
    parts = value.split("/")
    if value.startswith("/") or ".." in parts:
        raise AnswerError(
            "outside_repository",
            f"{place}: found {_shown(value)}, expected a path relative to and inside the repository",
        )
    if "\0" in value or "" in parts or "." in parts:
        raise AnswerError(
            "bad_path", f"{place}: found {_shown(value)}, expected a path such as 'package/module.py'"
        )
    return value


def _line(value: Any, place: str) -> int | None:
    if value is None:
        return None
    if type(value) is not int or not 1 <= value <= MAX_LINE:
        raise AnswerError(
            "bad_line", f"{place}: found {_shown(value)}, expected a whole number from 1 to {MAX_LINE}"
        )
    return value


def _end_line(value: Any, line: int | None, place: str) -> int | None:
    end = _line(value, place)
    if end is not None and line is None:
        raise AnswerError("bad_line", f"{place}: found {end} without a line, expected both or neither")
    if end is not None and line is not None and end < line:
        raise AnswerError("bad_line", f"{place}: found {end}, expected at least the line, {line}")
    return end


def _kind(value: Any, place: str) -> Kind | None:
    if value is None:
        return None
    if not isinstance(value, str) or value not in KINDS:
        raise AnswerError(
            "unknown_kind", f"{place}: found {_shown(value)}, expected one of {', '.join(KINDS)}"
        )
    return value


def _score(value: Any, place: str) -> float | None:
    if value is None:
        return None
    try:
        score = float(value) if type(value) in (int, float) else math.nan
    except OverflowError:
        score = math.inf
    if not math.isfinite(score):
        raise AnswerError("bad_score", f"{place}: found {_shown(value)}, expected a finite number")
    return score


def _count(value: Any, place: str) -> int:
    if type(value) is not int or value < 0:
        raise AnswerError(
            "wrong_shape", f"{printable(place, 60)}: found {_shown(value)}, expected a count of at least 0"
        )
    return value


def _refuse_unknown(found: Mapping[str, Any], known: frozenset[str], place: str) -> None:
    unknown = sorted(set(found) - known)
    if unknown:
        raise AnswerError(
            "wrong_shape",
            f"{place}: found the unknown field {_shown(unknown[0])}, expected {', '.join(sorted(known))}",
        )


def _distinct(rows: list[_Row]) -> tuple[list[_Row], int]:
    kept: dict[tuple[Any, ...], _Row] = {}
    for row in rows:
        kept.setdefault(row.location[:4], row)
    return list(kept.values()), len(rows) - len(kept)


def checked_location(
    place: str, path: Any, line: Any = None, end_line: Any = None, kind: Any = None, score: Any = None
) -> Location:
    """Return a result that some other form tells of, held to the rules of this one.

    `place` is what messages call it, such as `results[0]`. Raises AnswerError as `read_ranking` does.
    """
    first = _line(line, f"{place}.line")
    return Location(
        path=_path(path, f"{place}.path"),
        line=first,
        end_line=_end_line(end_line, first, f"{place}.end_line"),
        kind=_kind(kind, f"{place}.kind"),
        score=_score(score, f"{place}.score"),
    )


def ranked(locations: Iterable[Location], limit: int) -> Answer:
    """Return a ranking of at most `limit` results, with what was dropped as duplicates or surplus counted."""
    rows = [_Row(location, "") for location in locations]
    kept, duplicates = _distinct(rows)
    surplus = max(len(kept) - limit, 0)
    return Answer(tuple(row.location for row in kept[:limit]), duplicates, surplus)


def session_id(stdout: bytes) -> str | None:
    """Return the request id that a session's answer bears; None where it has none or does not read."""
    try:
        document = load_json(stdout)
    except ValueError:
        return None
    found = document.get("id") if isinstance(document, dict) else None
    return found if isinstance(found, str) else None


def _place(location: Location) -> str:
    path = printable(location.path)
    if location.line is None:
        return path
    if location.end_line is None:
        return f"{path}:{location.line}"
    return f"{path}:{location.line}-{location.end_line}"


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "a list"
    return printable(
        repr(value) if not isinstance(value, int) or abs(value) < 10**30 else "a huge number", 60
    )
