"""Reads what `neuralmind search --json` and `neuralmind query --json` print.

A search prints a list of rows, best first: `{"metadata": {"source_file", "file_type", …}, "score", …}`. No
row tells a line. A query prints `{"query", "context", …}`, where the context is the text for an agent.
"""

from __future__ import annotations

import re
from typing import Any

from core.ranking import Location, Ranking
from core.retrievers.answers import checked_location, ranked, read_json
from core.retrievers.protocol import Answer, AnswerError, Context, Place
from core.text import printable

_FILE_LINE = re.compile(r"^   File: (.+)$", re.MULTILINE)
_NO_FILE = "(no file)"


def read_search(stdout: bytes, place: Place, limit: int) -> Answer:
    """Return a search's ranking by file: each file once, at its best row's rank among files.

    A row that names no file (for what the code imports from elsewhere) keeps its rank, as whoever reads the
    answer reads it too, under a path that no file has: `(no file) re`. Rows past the first `limit` are
    surplus. Raises AnswerError as `core.retrievers.answers` does, and `tool_error` for an error object.
    """
    rows = _document(stdout, "search", "a list of results")
    if not isinstance(rows, list):
        raise AnswerError("wrong_shape", "found no list of results: this is not the answer of a search")
    located = [_location(row, f"results[{number}]", place) for number, row in enumerate(rows[:limit])]
    answer = ranked(located, limit)
    return answer._replace(surplus=max(len(rows) - limit, 0))


def read_query(stdout: bytes, place: Place, limit: int) -> Context:
    """Return a query's context, and the files that it names as found, each once; raises AnswerError."""
    document = _document(stdout, "query", "an object with a context")
    context = document.get("context") if isinstance(document, dict) else None
    if not isinstance(context, str):
        raise AnswerError("wrong_shape", "found no text in `context`: this is not the answer of a query")
    text = context.encode("utf-8", "replace").decode("utf-8")
    return Context(text, _files_named(text, place)[:limit])


def repository_path(path: str, place: Place) -> str:
    """Return a path as it is in the repository, without the prefixes that a tool may put before it."""
    for root in _roots(place):
        before, found, inside = path.partition(root)
        if found and (not before or path.startswith("/")):
            return inside
    while path.startswith("./"):
        path = path[2:]
    return path


def _roots(place: Place) -> tuple[str, ...]:
    """Return the copy's path with its slash, and its last parts, which survive a link or a move above it."""
    tail = "/".join(place.repository.parts[-4:])
    return (f"{place.repository}/", f"/{tail}/")


def _document(stdout: bytes, command: str, expected: str) -> Any:
    document = read_json(stdout, expected)
    if isinstance(document, dict) and "error" in document:
        raise AnswerError("tool_error", f"neuralmind {command}: {printable(str(document['error']), 300)}")
    return document


def _location(row: Any, name: str, place: Place) -> Location:
    metadata = row.get("metadata") if isinstance(row, dict) else None
    if not isinstance(metadata, dict) or "source_file" not in metadata:
        raise AnswerError("wrong_shape", f"{name}: found no metadata.source_file")
    path = metadata["source_file"]
    if path in ("", None):
        path = f"{_NO_FILE} {printable(str(row.get('id')), 80).replace('/', '_')}"
    elif isinstance(path, str):
        path = repository_path(path, place)
    return checked_location(name, path, score=row.get("score"))


def _files_named(text: str, place: Place) -> Ranking:
    files = []
    for path in _FILE_LINE.findall(text):
        try:
            files.append(checked_location("File", repository_path(path.strip(), place)))
        except AnswerError:  # the text is free: a line of it that looks like a path need not be one
            continue
    return ranked(files, len(files)).ranking
