"""What each field of a case may hold, in banks of one case a line.

Written by hand rather than as a schema library's model: a bank of 100,000 lines is checked before
every run, and each message must say what was found, what was expected and what to do. Neither query
text nor paths are repeated in a message, since a bank may be of a private repository.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from core.ranking import CHANNELS, KINDS
from core.text import printable

FORMAT = "known-target-v1"
HISTORICAL = "historical-v1"
COMMIT_INTENT = "commit_lookup"
INTENTS = (  # in the order of a bank's lines
    "symbol_lookup",
    "architecture_lookup",
    "task_lookup",
    "docs_lookup",
    "error_or_trace_lookup",
)
INTENTS_OF: Mapping[str, tuple[str, ...]] = {FORMAT: INTENTS, HISTORICAL: (COMMIT_INTENT,)}
"""The formats of banks of one case a line, each with its intents."""
MAX_ID = 200
MAX_LABEL = 64
MAX_LINE = 2**31 - 1

_SAFE = re.compile(r"[A-Za-z0-9_-]+")
_RULE = re.compile(r"[a-z][a-z0-9_]{0,63}")
_COMMIT = re.compile(r"[0-9a-f]{40}")
_DIGEST = re.compile(r"[0-9a-f]{64}")
_KINDS = frozenset(KINDS)
_REBUILD = "build the bank again with `boresight bank build`"


class Problem(NamedTuple):
    """One thing that is wrong with a line; `field` is empty where it concerns the whole line."""

    field: str
    found: str
    expected: str
    remedy: str

    def __str__(self) -> str:
        place = f"{self.field}: " if self.field else ""
        return f"{place}found {self.found}; expected {self.expected}; {self.remedy}"


def path_fault(path: str) -> str | None:
    """Say why a path is not canonical and relative to its repository, or None where it is.

    A backslash is an ordinary character: Git allows it in names.
    """
    if not path:
        return "an empty path"
    if path[0] == "/":
        return "a path that begins with `/`"
    if "\0" in path:
        return "a path that holds NUL"
    for part in path.split("/"):
        if part == "":
            return "a path with an empty part"
        if part in (".", ".."):
            return f"a path with a `{part}` part"
    return None


def case_problems(value: object) -> list[Problem]:
    """List everything that is wrong with one decoded line; nothing where it is a sound case."""
    if not isinstance(value, dict):
        return [Problem("", shown(value), "a JSON object", _REBUILD)]
    problems = list(_shape("", value, _fields_of(value)))
    evidence = value.get("evidence")
    if isinstance(evidence, dict):
        problems += _shape("evidence.", evidence, _EVIDENCE_FIELDS)
    targets = value.get("targets")
    if isinstance(targets, list):
        problems += _targets(targets)
        if value.get("schema_version") == HISTORICAL:
            problems += _file_targets(targets)
    return problems


def shown(value: object) -> str:
    """Describe a found value on one short line."""
    if isinstance(value, str):
        return f'"{printable(value, 80)}"' if value else "an empty string"
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) and abs(value) > 10**20:
        return "a number beyond 20 digits"
    return str(value)


_Check = Callable[[Any], "Problem | None"]


def _shape(prefix: str, value: Mapping[str, Any], fields: Mapping[str, _Check]) -> Iterator[Problem]:
    """Yield missing and unknown keys, then what each known field says about its value."""
    if value.keys() != fields.keys():
        missing = [name for name in fields if name not in value]
        if missing:
            yield Problem(prefix[:-1], "no " + ", ".join(missing), "all of " + ", ".join(fields), _REBUILD)
        for name in sorted(value.keys() - fields.keys()):
            yield Problem(
                prefix + printable(name, 40),
                "a field that the format does not have",
                "only " + ", ".join(fields),
                "remove it",
            )
    for name, check in fields.items():
        if name in value:
            problem = check(value[name])
            if problem is not None:
                yield problem._replace(field=prefix + name)


def _targets(targets: list[Any]) -> Iterator[Problem]:
    seen: set[tuple[object, object, object]] = set()
    for number, target in enumerate(targets):
        prefix = f"targets[{number}]."
        if not isinstance(target, dict):
            yield Problem(prefix[:-1], shown(target), "an object with kind, line and path", _REBUILD)
            continue
        before = list(_shape(prefix, target, _TARGET_FIELDS))
        yield from before
        if before:
            continue
        line, kind = target["line"], target["kind"]
        if kind == "file" and line != 0:
            yield Problem(prefix + "line", str(line), "0, since a file target has no line", _REBUILD)
        elif kind != "file" and line == 0:
            yield Problem(prefix + "line", "0", f"a line from 1, since the kind is {kind}", _REBUILD)
        place = (target["path"], line, kind)
        if place in seen:
            yield Problem(prefix[:-1], "a repeated target", "each target once", "remove the repetition")
        seen.add(place)


def _file_targets(targets: list[Any]) -> Iterator[Problem]:
    for number, target in enumerate(targets):
        kind = target.get("kind") if isinstance(target, dict) else None
        if kind in _KINDS and kind != "file":
            yield Problem(f"targets[{number}].kind", str(kind), "file, as commits change files", _REBUILD)


def _matches(pattern: re.Pattern[str], limit: int, expected: str, remedy: str) -> _Check:
    def check(value: Any) -> Problem | None:
        if isinstance(value, str) and len(value) <= limit and pattern.fullmatch(value):
            return None
        return Problem("", shown(value), expected, remedy)

    return check


def _one_of(allowed: tuple[str, ...]) -> _Check:
    members = frozenset(allowed)

    def check(value: Any) -> Problem | None:
        if isinstance(value, str) and value in members:
            return None
        return Problem("", shown(value), "one of " + ", ".join(allowed), "use one of these words")

    return check


def _query(value: Any) -> Problem | None:
    if not isinstance(value, str):
        return Problem("", shown(value), "text", _REBUILD)
    if not value.strip():
        return Problem("", "no words", "a question", "write the query or remove the case")
    return None


def _path(value: Any) -> Problem | None:
    fault = path_fault(value) if isinstance(value, str) else shown(value)
    if fault is None:
        return None
    return Problem("", fault, "a path relative to the repository, such as a/b.py", _REBUILD)


def _line(value: Any) -> Problem | None:
    if type(value) is int and 0 <= value <= MAX_LINE:
        return None
    return Problem("", shown(value), f"a whole number from 0 to {MAX_LINE}", _REBUILD)


def _evidence(value: Any) -> Problem | None:
    if isinstance(value, dict):
        return None
    return Problem("", shown(value), "an object with rule and source_sha256", _REBUILD)


def _target_list(value: Any) -> Problem | None:
    if isinstance(value, list) and value:
        return None
    return Problem("", shown(value), "a list of one target or more", _REBUILD)


def _fields_of(value: Mapping[str, Any]) -> Mapping[str, _Check]:
    """Return what a case's own format asks of its fields; of an unknown one what known targets ask."""
    return _HISTORICAL_FIELDS if value.get("schema_version") == HISTORICAL else _CASE_FIELDS


_CASE_FIELDS: Mapping[str, _Check] = {
    "channel": _one_of(CHANNELS),
    "commit": _matches(
        _COMMIT, 40, "40 lower-case hexadecimal digits", "take them from `git rev-parse REVISION`"
    ),
    "evidence": _evidence,
    "id": _matches(_SAFE, MAX_ID, f"1 to {MAX_ID} of the characters A-Z a-z 0-9 _ -", _REBUILD),
    "intent": _one_of(INTENTS),
    "query": _query,
    "repo": _matches(
        _SAFE, MAX_LABEL, f"1 to {MAX_LABEL} of the characters A-Z a-z 0-9 _ -", "use the manifest's label"
    ),
    "schema_version": _one_of(tuple(INTENTS_OF)),
    "targets": _target_list,
}
_HISTORICAL_FIELDS: Mapping[str, _Check] = {
    **_CASE_FIELDS,
    "channel": _one_of(("emb",)),
    "intent": _one_of(INTENTS_OF[HISTORICAL]),
}
_EVIDENCE_FIELDS: Mapping[str, _Check] = {
    "rule": _matches(_RULE, 64, "the name of a rule in lower case, such as python_definition", _REBUILD),
    "source_sha256": _matches(_DIGEST, 64, "64 lower-case hexadecimal digits", _REBUILD),
}
_TARGET_FIELDS: Mapping[str, _Check] = {"kind": _one_of(KINDS), "line": _line, "path": _path}
