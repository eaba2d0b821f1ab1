"""Graded banks: questions with a shape, a grade for every module, and the facts that an answer must hold.

One JSON file, as people write it:

    {"version": "1.0", "description": "…", "queries": [
      {"id": "jwt-verify", "question": "How is a token verified?", "shape": "focused",
       "relevance_grades": {"auth/jwt_utils.py": 3, "api/routes.py": 0},
       "gold_facts": ["decode_token checks the expiry",
                      {"fact": "HMAC-SHA256 is used", "aliases": ["HS256 is used"]}]}],
     "modules": {"include": ["*.py"], "exclude": ["tests/*"]}}

`channel` on a query (default `emb`) and `modules` (see `core.banks.modules`) may be left out. The file says
neither label nor commit: it fits the one repository of its manifest.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from pydantic import ConfigDict, Field, ValidationError, field_validator

from core.banks.case import Bank, Case, Evidence, GradedPart
from core.banks.fields import path_fault
from core.banks.modules import ModuleRules
from core.canonical import load_json, sha256
from core.errors import InputError, ProblemsError
from core.questions import LARGEST_GRADE, Fact, Question
from core.ranking import Channel, Target
from core.text import printable
from core.validation import InputModel, complaints, field_path

FORMAT = "graded-v1"
FEWEST_FACTS, MOST_FACTS = 2, 4
SHORTEST_FACT = 2  # characters
SHAPES = ("focused", "cross-file", "identity")  # the usual ones; a file may have others
MAX_PROBLEMS_TOLD = 100
RULE = "graded"
_ID = re.compile(r"[A-Za-z0-9_-]{1,200}")

_UNBOUND = ""  # the label and commit of a case before its repository is known


class FactEntry(InputModel):
    """A gold fact with other ways to say it."""

    fact: str = Field(min_length=1)
    aliases: list[str] = Field(default=[])


class QueryEntry(InputModel):
    """One question of the file."""

    id: str = Field(pattern=r"^[A-Za-z0-9_-]{1,200}$")
    question: str = Field(min_length=1)
    shape: str = Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")
    relevance_grades: dict[str, int]
    gold_facts: list[str | FactEntry]
    channel: Channel = "emb"

    @field_validator("question")
    @classmethod
    def _has_words(cls, value: str) -> str:
        if not value.strip():
            raise ValueError("expected a question; write it")
        return value


class GradedFile(InputModel):
    """The file; keys that it does not know are kept by whoever wrote them and read by nobody."""

    model_config = ConfigDict(extra="ignore", strict=True, frozen=True)

    version: str | int | float
    description: str = ""
    queries: list[QueryEntry] = Field(min_length=1)
    modules: ModuleRules = ModuleRules()


class Violation(NamedTuple):
    """What is wrong with a file: in full, and in words that tell nothing of a private repository."""

    text: str
    private: str


class Examined(NamedTuple):
    """A file with all that is wrong with it, however much of it could be read.

    `entries` are the questions that have the form of one, by their number; `graded` the paths that each
    question grades, by what messages call it. `modules` is None where the file's own rules do not read.
    """

    violations: tuple[Violation, ...]
    entries: Mapping[int, QueryEntry]
    graded: Mapping[str, frozenset[str]]
    modules: ModuleRules | None


def is_graded(raw: bytes) -> bool:
    """Tell a graded file from a bank of one case a line, also where either is broken."""
    first = raw.lstrip(b"\xef\xbb\xbf \t\r\n").split(b"\n", 1)[0]
    try:
        value = json.loads(first)
    except (ValueError, RecursionError):
        return b'"queries"' in raw
    return isinstance(value, dict) and "queries" in value


def parse_graded(raw: bytes, name: str) -> Bank:
    """Read a graded bank from its bytes, not yet bound to a repository; `name` is what messages call it.

    Raises ProblemsError that lists every violation with its place, what was found and what to do.
    """
    found = examine(raw, name)
    _check([violation.text for violation in found.violations], name)
    entries = list(found.entries.values())
    questions = {entry.id: _question(entry) for entry in entries}
    cases = tuple(_case(entry, questions[entry.id]) for entry in entries)
    graded = GradedPart(questions, found.modules or ModuleRules())
    return Bank(cases=cases, raw=raw, sha256=sha256(raw), format=FORMAT, graded=graded)


def bound(bank: Bank, label: str, commit: str) -> Bank:
    """Return a graded bank whose cases ask about one repository at a commit."""
    return replace(bank, cases=tuple(replace(case, repo=label, commit=commit) for case in bank.cases))


def is_bound(bank: Bank) -> bool:
    """Tell whether a bank's cases say which repository they ask about."""
    return bank.cases[0].commit != _UNBOUND


def examine(raw: bytes, name: str) -> Examined:
    """Find everything that is wrong with a graded file; raises InputError where it is no JSON."""
    value = _value(raw, name)
    queries = value.get("queries") if isinstance(value, dict) else None
    listed: Sequence[Any] = queries if isinstance(queries, list) else ()
    faults: list[tuple[int, Violation]] = []
    faulty: set[int] = set()
    modules: ModuleRules | None = ModuleRules()
    try:
        modules = GradedFile.model_validate(value).modules
    except ValidationError as error:
        details = complaints(error, GradedFile)
        faulty = {int(place[1]) for place, _ in details if len(place) > 1 and place[0] == "queries"}
        faults += [(_number(place), _complaint(place, message)) for place, message in details]
        modules = _modules(value, [place for place, _ in details])
    entries = {
        number: QueryEntry.model_validate(item) for number, item in enumerate(listed) if number not in faulty
    }
    faults += _semantic_faults(entries)
    faults.sort(key=lambda fault: fault[0])
    return Examined(tuple(fault for _, fault in faults), entries, dict(_graded_paths(listed)), modules)


def _value(raw: bytes, name: str) -> Any:
    shown = printable(name)
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise InputError(f"{shown}, line {line}: not UTF-8; save the file as UTF-8") from None
    if text.startswith("\ufeff"):
        raise InputError(f"{shown}: begins with a byte order mark; save it as UTF-8 without one")
    try:
        return load_json(text)
    except json.JSONDecodeError as error:
        raise InputError(
            f"{shown}, line {error.lineno}, column {error.colno}: not valid JSON: {error.msg}; mend it there"
        ) from None
    except ValueError as error:
        raise InputError(f"{shown}: not valid JSON: {printable(str(error), 200)}; mend it there") from None


def _number(place: Sequence[str | int]) -> int:
    return int(place[1]) if len(place) > 1 and place[0] == "queries" else -1


def _complaint(place: tuple[str | int, ...], message: str) -> Violation:
    field = field_path(place[:3])  # what follows can be a path of the repository
    return Violation(f"{field_path(place)}: {message}", f"{field}: not what the format expects; mend it")


def _modules(value: Any, places: Sequence[tuple[str | int, ...]]) -> ModuleRules | None:
    """Return the file's rules where they read, though other parts of it do not."""
    if not isinstance(value, dict) or any(place[:1] == ("modules",) for place in places):
        return None
    return ModuleRules.model_validate(value.get("modules", {}))


def _graded_paths(queries: Sequence[Any]) -> Iterator[tuple[str, frozenset[str]]]:
    taken: set[str] = set()
    for number, item in enumerate(queries):
        if isinstance(item, dict) and isinstance(item.get("relevance_grades"), dict):
            own = item.get("id")
            label = f"queries[{number}]"
            if isinstance(own, str) and _ID.fullmatch(own) and own not in taken:
                label = own
            taken.add(label)
            yield label, frozenset(item["relevance_grades"])


def _semantic_faults(entries: Mapping[int, QueryEntry]) -> Iterator[tuple[int, Violation]]:
    first: dict[str, int] = {}
    for number, entry in entries.items():
        for fault in _problems(number, entry):
            yield number, fault
        if first.setdefault(entry.id, number) != number:
            told = (
                f'queries[{number}].id: found "{entry.id}", which queries[{first[entry.id]}] has; rename one'
            )
            yield number, Violation(told, told)


def _problems(number: int, entry: QueryEntry) -> Iterator[Violation]:
    """Yield what the file alone shows to be wrong with a question; coverage needs the repository."""
    place = f"queries[{number}] ({entry.id})"
    grades, facts = f"{place}.relevance_grades", f"{place}.gold_facts"
    for path, grade in entry.relevance_grades.items():
        fault = path_fault(path)
        if fault is not None:
            remedy = "name a file relative to the repository"
            yield Violation(
                f"{grades}: found {fault}; {remedy}", f"{grades}: found a path that is none; {remedy}"
            )
        if not 0 <= grade <= LARGEST_GRADE:
            told = f"found {grade}, expected 0 to {LARGEST_GRADE}"
            yield Violation(f"{grades}: {printable(path, 100)}: {told}", f"{grades}: {told}")
    if not any(grade >= 1 for grade in entry.relevance_grades.values()):
        yield _open(f"{grades}: no module has a grade of 1 or more, so none can be found; grade one")
    count = len(entry.gold_facts)
    if not FEWEST_FACTS <= count <= MOST_FACTS:
        yield _open(f"{facts}: found {count}, expected {FEWEST_FACTS} to {MOST_FACTS}")
    for at, fact in enumerate(map(_fact, entry.gold_facts)):
        if any(len(text.strip()) < SHORTEST_FACT for text in fact):
            yield _open(f"{facts}[{at}]: found under {SHORTEST_FACT} characters; state it whole")
    texts = [_fact(fact)[0].casefold() for fact in entry.gold_facts]
    if len({*texts}) != len(texts):
        yield _open(f"{facts}: found a fact twice; keep it once")


def _open(text: str) -> Violation:
    """Return a violation whose words tell nothing of the repository."""
    return Violation(text, text)


def _check(problems: list[str], name: str) -> None:
    if problems:
        told = problems[:MAX_PROBLEMS_TOLD]
        if len(problems) > len(told):
            told.append(f"and {len(problems) - len(told):,} more")
        raise ProblemsError(f"{printable(name)} is not a valid graded bank:", told)


def _fact(entry: str | FactEntry) -> tuple[str, ...]:
    return (entry,) if isinstance(entry, str) else (entry.fact, *entry.aliases)


def _question(entry: QueryEntry) -> Question:
    facts = tuple(Fact(texts[0], texts[1:]) for texts in map(_fact, entry.gold_facts))
    return Question(entry.id, entry.shape, entry.question, dict(entry.relevance_grades), facts)


def _case(entry: QueryEntry, question: Question) -> Case:
    return Case(
        channel=entry.channel,
        commit=_UNBOUND,
        evidence=Evidence(RULE, ""),
        id=entry.id,
        intent=entry.shape,
        query=entry.question,
        repo=_UNBOUND,
        schema_version=FORMAT,
        targets=tuple(Target(path, 0, "file") for path in question.relevant),
    )


def query_record(case_id: str, question: str, shape: str, modules: Iterable[str]) -> dict[str, Any]:
    """Return a question as its object in the file, with every module at grade 0."""
    return {
        "id": case_id,
        "question": question,
        "shape": shape,
        "relevance_grades": dict.fromkeys(modules, 0),
        "gold_facts": [],
    }
