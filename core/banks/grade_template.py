"""Files for people to grade in: a question with every module of a repository at grade 0."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from core.banks.graded import QueryEntry, query_record
from core.banks.modules import ModuleRules
from core.canonical import load_json
from core.errors import InputError
from core.text import printable
from core.validation import validated

VERSION = "1.0"
DEFAULT_SHAPE = "focused"
_NUMBERED = re.compile(r"question-(\d{1,9})\Z")


class Asked(NamedTuple):
    """What a person said of the question; what they did not is left for them to fill in."""

    question: str | None = None
    case_id: str | None = None
    shape: str | None = None


def check_asked(asked: Asked) -> None:
    """Raise ProblemsError where an id or shape is none, as `bank check` would."""
    record = query_record(asked.case_id or "id", asked.question or "?", asked.shape or DEFAULT_SHAPE, ())
    validated(QueryEntry, record, "the command line")


def new_file(asked: Asked, modules: Sequence[str]) -> bytes:
    """Return a graded file with one question, every module at grade 0 and no facts yet."""
    document = {"version": VERSION, "description": "", "queries": [_record(asked, (), modules)]}
    return _encoded(document)


def with_question(document: Mapping[str, Any], asked: Asked, modules: Sequence[str], name: str) -> bytes:
    """Return a graded file with one question more; all that it held stays, whatever is wrong with it.

    Raises InputError where the id is taken.
    """
    queries = list(document["queries"])
    taken = [str(query.get("id")) for query in queries if isinstance(query, dict)]
    if asked.case_id in taken:
        raise InputError(
            f'{printable(name)}: queries[{taken.index(asked.case_id)}] has the id "{asked.case_id}"; '
            "give another --id"
        )
    return _encoded({**document, "queries": [*queries, _record(asked, taken, modules)]})


def parse_document(raw: bytes, name: str) -> dict[str, Any]:
    """Return an existing graded file as it stands, so that a question can be added; raises InputError."""
    try:
        document = load_json(raw)
    except ValueError as error:
        raise InputError(
            f"{printable(name)}: not valid JSON: {printable(str(error), 200)}; mend it there"
        ) from None
    if not isinstance(document, dict) or not isinstance(document.get("queries"), list):
        raise InputError(
            f'{printable(name)}: no graded bank, which is an object with "queries"; name one, or a new file'
        )
    return document


def rules_of(document: Mapping[str, Any], name: str) -> ModuleRules:
    """Return which files count as modules in an existing file; raises ProblemsError."""
    return validated(ModuleRules, document.get("modules", {}), f"{name} (modules)")


def _record(asked: Asked, taken: Sequence[str], modules: Sequence[str]) -> dict[str, Any]:
    case_id = asked.case_id or _free_id(taken)
    return query_record(case_id, asked.question or "", asked.shape or DEFAULT_SHAPE, modules)


def _free_id(taken: Sequence[str]) -> str:
    numbers = [int(found[1]) for found in map(_NUMBERED.match, taken) if found]
    return f"question-{max(numbers, default=0) + 1}"


def _encoded(document: Mapping[str, Any]) -> bytes:
    return json.dumps(document, indent=2, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n"
