"""Cases, and banks of them: one canonical JSON object a line, read strictly and written canonically.

`known-target-v1` and `historical-v1` share this form; a bank is of one of them, never of both.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, cast

from core.banks.fields import FORMAT, INTENTS, Problem, case_problems
from core.banks.modules import ModuleRules
from core.canonical import canonical_json, load_json, sha256
from core.errors import ProblemsError
from core.questions import Question
from core.ranking import Channel, Kind, Target
from core.text import printable

__all__ = ["FORMAT", "INTENTS", "Bank", "Case", "Evidence", "GradedPart", "case_line", "parse_bank"]

MAX_PROBLEMS_TOLD = 20


class Evidence(NamedTuple):
    """What a case was derived by, and the SHA-256 of the raw blob that it was derived from."""

    rule: str
    source_sha256: str


@dataclass(frozen=True, slots=True)
class Case:
    """One query with its intent, primary channel and known targets."""

    channel: Channel
    commit: str
    evidence: Evidence
    id: str
    intent: str
    query: str
    repo: str
    schema_version: str
    targets: tuple[Target, ...]


class GradedPart(NamedTuple):
    """What a graded bank holds beside its cases: the questions by case id, and which files are modules."""

    questions: Mapping[str, Question]
    modules: ModuleRules


@dataclass(frozen=True)
class Bank:
    """An immutable set of cases in the order of their file.

    `raw` is the file's bytes and `sha256` their hexadecimal digest; `format` names their schema. `graded` is
    there where the cases are graded questions.
    """

    cases: tuple[Case, ...]
    raw: bytes
    sha256: str
    format: str = FORMAT
    graded: GradedPart | None = None

    @cached_property
    def commits(self) -> dict[str, str]:
        """The commit of each repository, by label, in the order of the file."""
        return {case.repo: case.commit for case in self.cases}

    @property
    def repositories(self) -> tuple[str, ...]:
        """The labels of the repositories, in the order of the file."""
        return tuple(self.commits)

    def of_repository(self, label: str) -> tuple[Case, ...]:
        """Return the cases of one repository, in the order of the file."""
        return tuple(case for case in self.cases if case.repo == label)


def case_line(case: Case) -> bytes:
    """Encode a case as its line of a bank, with the line's end.

    Raises UnicodeEncodeError for text that UTF-8 cannot hold (a lone surrogate).
    """
    return canonical_json(case_record(case)) + b"\n"


def case_record(case: Case) -> dict[str, Any]:
    """Return a case as the JSON object of its line."""
    return {
        "channel": case.channel,
        "commit": case.commit,
        "evidence": case.evidence._asdict(),
        "id": case.id,
        "intent": case.intent,
        "query": case.query,
        "repo": case.repo,
        "schema_version": case.schema_version,
        "targets": [target._asdict() for target in case.targets],
    }


def parse_bank(raw: bytes, name: str) -> Bank:
    """Read a bank of one case a line from its bytes; `name` is what messages call it.

    Raises ProblemsError that lists up to 20 problems, each with its line, field, what was found, what was
    expected and what to do, and says how many more there are.
    """
    problems = _Problems()
    cases = list(_cases(raw, problems))
    if not raw:
        problems.add(
            0, Problem("", "an empty file", "one case or more", "build it with `boresight bank build`")
        )
    bank_format = cases[0].schema_version if cases else FORMAT
    problems.check(name, bank_format)
    return Bank(cases=tuple(cases), raw=raw, sha256=sha256(raw), format=bank_format)


class _Problems:
    """Keeps the first problems and counts the others, so that a hostile file cannot fill the memory."""

    def __init__(self) -> None:
        self._told: list[str] = []
        self._more = 0

    def add(self, number: int, problem: Problem) -> None:
        if len(self._told) == MAX_PROBLEMS_TOLD:
            self._more += 1
            return
        self._told.append(f"line {number}, {problem}" if number else str(problem))

    def check(self, name: str, bank_format: str) -> None:
        if self._told:
            more = [f"and {self._more:,} more problems"] if self._more else []
            raise ProblemsError(f"{name} is not a valid {bank_format} bank:", [*self._told, *more])


def _cases(raw: bytes, problems: _Problems) -> Iterator[Case]:
    lines = raw.split(b"\n")
    unended = lines.pop()
    if unended:
        lines.append(unended)
    ids: dict[str, int] = {}
    commits: dict[str, tuple[str, int]] = {}
    formats: dict[str, int] = {}
    for number, line in enumerate(lines, start=1):
        case = _case(line, number, problems)
        if case is None:
            continue
        if formats.setdefault(case.schema_version, number) == number and len(formats) > 1:
            problems.add(number, _both(case.schema_version, *next(iter(formats.items()))))
        first = ids.setdefault(case.id, number)
        if first != number:
            problems.add(number, _repeated(case, first))
        commit, where = commits.setdefault(case.repo, (case.commit, number))
        if commit != case.commit:
            problems.add(number, _mixed(case, commit, where))
        yield case
    if unended:
        problems.add(
            len(lines),
            Problem("", "a last line without its end", "`\\n` after every line", "add the line end"),
        )


def _case(line: bytes, number: int, problems: _Problems) -> Case | None:
    fault = _line_fault(line)
    if fault is not None:
        problems.add(number, fault)
        return None
    try:
        value = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        problems.add(number, _unreadable(error))
        return None
    found = case_problems(value)
    fault = _canonical_fault(line, value)
    if fault is not None:
        found.append(fault)
    for problem in found:
        problems.add(number, problem)
    return None if found else _to_case(value)


def _line_fault(line: bytes) -> Problem | None:
    if line.endswith(b"\r"):
        return Problem("", "a carriage return at its end", "`\\n` alone", "convert the line ends to LF")
    if not line.strip():
        return Problem("", "a blank line", "a case", "remove the line")
    if line.startswith(b"\xef\xbb\xbf"):
        return Problem("", "a byte order mark", "a case", "save the file as UTF-8 without a mark")
    return None


def _unreadable(error: Exception) -> Problem:
    if isinstance(error, UnicodeDecodeError):
        return Problem("", f"byte {error.start + 1}, which is not UTF-8", "UTF-8 text", "save it as UTF-8")
    if isinstance(error, json.JSONDecodeError):
        where = f"{error.msg} at column {error.colno}"
        return Problem("", f"broken JSON ({where})", "one JSON object a line", "mend or remove the line")
    reason = "nested too deeply" if isinstance(error, RecursionError) else "a number too long to read"
    return Problem("", f"JSON that is {reason}", "one JSON object a line", "mend or remove the line")


def _canonical_fault(line: bytes, value: Any) -> Problem | None:
    """Compare a line with its canonical bytes; equal bytes also rule out repeated keys and NaN."""
    try:
        canonical = canonical_json(value)
    except RecursionError:
        return Problem("", "JSON that is nested too deeply", "one case a line", "mend or remove the line")
    except UnicodeEncodeError:
        return Problem("", "text that UTF-8 cannot hold", "no lone surrogates", "remove the case")
    except ValueError:
        return Problem("", "a number that JSON does not have", "finite numbers", "mend or remove the line")
    if canonical == line:
        return None
    try:
        load_json(line)
    except ValueError as error:
        return Problem(
            "", printable(str(error), 100), "each key once and JSON numbers only", "mend or remove the line"
        )
    same = next(
        (at for at, (a, b) in enumerate(zip(line, canonical, strict=False)) if a != b), len(canonical)
    )
    return Problem(
        "",
        f"bytes that leave the canonical form at byte {same + 1}",
        "sorted keys, no spaces after `,` and `:`, and no `\\u` escapes for printable text",
        "build the bank again with `boresight bank build`",
    )


def _repeated(case: Case, first: int) -> Problem:
    return Problem("id", f'"{case.id}", also on line {first}', "each id once", "remove one of the two cases")


def _both(found: str, first: str, where: int) -> Problem:
    return Problem(
        "schema_version",
        f"{found} (line {where} has {first})",
        "one format in a bank, as changed files are no known targets and their numbers never stand together",
        "keep the cases of each format in a file of their own",
    )


def _mixed(case: Case, commit: str, where: int) -> Problem:
    return Problem(
        "commit",
        f"mixed commits of {case.repo} ({case.commit[:12]} here, {commit[:12]} on line {where})",
        "one commit per repository",
        "give the other revision a label of its own or build the bank again at one commit",
    )


def _to_case(value: dict[str, Any]) -> Case:
    return Case(
        channel=cast(Channel, value["channel"]),
        commit=value["commit"],
        evidence=Evidence(**value["evidence"]),
        id=value["id"],
        intent=value["intent"],
        query=value["query"],
        repo=value["repo"],
        schema_version=value["schema_version"],
        targets=tuple(Target(t["path"], t["line"], cast(Kind, t["kind"])) for t in value["targets"]),
    )
