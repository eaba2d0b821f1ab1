"""Reads what the Codira CLI prints with `--json`: `index`, `emb`, `docs` and `ctx`.

`emb` and `docs` name themselves in `command` and list their rows in `results`; `ctx` lists its rows in
`top_matches` and the text for an agent, section by section, in `context`. Rows stand best first, with an
absolute `file` and a `lineno`. Only these rows are ranked: what else the answers hold (`module_expansion`,
`references`, inventories) never becomes a hit.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from core.ranking import Kind, Location
from core.retrievers.answers import checked_location, ranked, read_json
from core.retrievers.protocol import Answer, AnswerError, Context, Place
from core.text import printable

_DOCUMENTATION: Kind = "documentation"
_STATUSES = ("ok", "no_matches")
_SHOWN = 200  # characters


def read_index(stdout: bytes) -> None:
    """Check what `index --full --json` printed.

    Raises AnswerError: those of `_document`, `empty_index` where no file was indexed, and `incomplete_index`
    where it says that embeddings are pending.
    """
    summary = _document(stdout, {"index"}).get("summary")
    if not isinstance(summary, dict):
        raise AnswerError("wrong_shape", f"summary: found {_shown(summary)}, expected an object")
    indexed, failed = summary.get("indexed"), summary.get("failed")
    if not indexed:
        raise AnswerError("empty_index", f"it indexed no file; {_shown(failed)} failed")
    pending = summary.get("embeddings_pending", 0)
    if pending or summary.get("embedding_complete", True) is not True:
        raise AnswerError("incomplete_index", f"it says that {_shown(pending)} embeddings are pending")


def read_ranking(stdout: bytes, place: Place, limit: int) -> Answer:
    """Return the ranking that `emb` or `docs` printed.

    Raises AnswerError: those of `_document` and of `core.retrievers.answers.read_ranking`.
    """
    document = _document(stdout, {"emb", "docs"})
    documentation = document["command"] == "docs"
    return ranked(_locations(document, "results", place, documentation=documentation), limit)


def read_context(stdout: bytes, place: Place, limit: int) -> Context:
    """Return the text that `ctx` would give an agent, and its top matches; raises as `read_ranking`."""
    document = _document(stdout, {"ctx"}, named=False)
    answer = ranked(_locations(document, "top_matches", place), limit)
    return Context("\n\n".join(_sections(document)), answer.ranking)


def _document(stdout: bytes, commands: Collection[str], *, named: bool = True) -> dict[str, Any]:
    """Return an answer that says it is one of these commands', and went well.

    `named` is False for a command that some versions do not name in their answers. Raises AnswerError:
    `too_long`, `invalid_utf8`, `empty_output`, `invalid_json` (a banner before it included),
    `wrong_shape`, `error_answer` for one that says it failed, and `wrong_command`.
    """
    document = _object(stdout)
    status, command = document.get("status"), document.get("command")
    if document.get("error"):
        raise AnswerError("error_answer", f"it answered with an error: {_shown(document['error'])}")
    expected = " or ".join(sorted(commands))
    if command not in commands and (named or command is not None):
        raise AnswerError("wrong_command", f"command: found {_shown(command)}, expected {expected}")
    if status not in _STATUSES:
        detail = document.get("message") or document.get("detail")
        told = f": {_shown(detail)}" if detail else ""
        raise AnswerError("error_answer", f"status: found {_shown(status)}, expected 'ok'{told}")
    return document


def _object(stdout: bytes) -> dict[str, Any]:
    document = read_json(stdout, "a JSON object")
    if not isinstance(document, dict):
        raise AnswerError("wrong_shape", f"found {_shown(document)}, expected an object")
    return document


def _locations(
    document: dict[str, Any], field: str, place: Place, *, documentation: bool = False
) -> Iterator[Location]:
    rows = document.get(field)
    if not isinstance(rows, list):
        raise AnswerError("wrong_shape", f"{field}: found {_shown(rows)}, expected a list")
    if rows and document["status"] != "ok":
        raise AnswerError(
            "wrong_shape", f"{field}: found {len(rows)} rows, expected none with {document['status']!r}"
        )
    roots = _roots(place.repository)
    for number, row in enumerate(rows):
        name = f"{field}[{number}]"
        if not isinstance(row, dict):
            raise AnswerError("wrong_shape", f"{name}: found {_shown(row)}, expected an object")
        score = row.get("score", row.get("confidence"))
        kind = _DOCUMENTATION if documentation else _kind(row.get("type"), f"{name}.type")
        path = _relative(row.get("file"), place.repository, roots)
        yield checked_location(name, path, row.get("lineno"), row.get("end_lineno"), kind, score)


def _kind(type_: Any, name: str) -> Kind:
    """Return the kind of a row: everything that is no documentation is a symbol of the source."""
    if not isinstance(type_, str):
        raise AnswerError("wrong_shape", f"{name}: found {_shown(type_)}, expected text")
    return _DOCUMENTATION if type_ == _DOCUMENTATION else "symbol"


def _roots(repository: Path) -> tuple[str, ...]:
    """Return what may stand before a path in the repository: its place, and that with links resolved."""
    return (f"{repository}/", f"{os.path.realpath(repository)}/")


def _relative(file: Any, repository: Path, roots: tuple[str, ...]) -> Any:
    """Return a row's path below the repository; what lies elsewhere is returned as it is, to be refused.

    Codira resolves links. Of a run that was moved since, the links above it can no longer be resolved: there
    the path's part from the run's own name on decides.
    """
    if not isinstance(file, str):
        return file
    for root in roots:
        if file.startswith(root):
            return file.removeprefix(root)
    if not repository.exists():
        _, found, path = file.partition(f"/{'/'.join(repository.parts[-3:])}/")
        return path if found else file
    return file


def _sections(document: dict[str, Any]) -> Iterator[str]:
    sections = document.get("context")
    if not isinstance(sections, list):
        raise AnswerError("wrong_shape", f"context: found {_shown(sections)}, expected a list")
    for number, section in enumerate(sections):
        lines = [section] if isinstance(section, str) else section
        if not isinstance(lines, list) or not all(isinstance(line, str) for line in lines):
            raise AnswerError("wrong_shape", f"context[{number}]: found {_shown(section)}, expected lines")
        yield "\n".join(lines).encode("utf-8", "replace").decode()


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return f"an object ({printable(str(value), _SHOWN)})" if value else "an empty object"
    if isinstance(value, list):
        return "a list"
    return printable(
        repr(value) if not isinstance(value, int) or abs(value) < 10**30 else "a huge number", _SHOWN
    )
