"""What is wrong with a campaign file that is being edited: each problem with its field and its line.

Three kinds of checks, from the quickest to the slowest: what the text says, what each retriever says of its
candidates, and what of it all is really there: bank, repositories, installed parts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic import ValidationError

from core.campaign.bank_fit import Banks, bank_problems
from core.campaign.document import Snapshot
from core.campaign.manifest import CampaignFile, CandidateHead, parse_campaign
from core.campaign.repository_checks import Repositories
from core.campaign.toml_map import Place, TomlMap, map_toml
from core.errors import BoresightError, InputError, ProblemsError
from core.retrievers.registry import create_retriever, entry_model, retriever_names
from core.validation import complaints, field_path, found

IsCancelled = Callable[[], bool]
OnProgress = Callable[[str], None]
Severity = Literal["error", "warning"]

KEPT = 2000  # entries whose answers are remembered; every pause in typing makes another one
_PLACE = re.compile(
    r"(?P<path>[A-Za-z_][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+|\[\d+\])*): (?P<rest>.*)", re.DOTALL
)
_PART = re.compile(r"\[(\d+)\]|([A-Za-z0-9_-]+)")


class FieldProblem(NamedTuple):
    """Something wrong with a field; an `error` keeps the campaign from running, a `warning` does not."""

    place: Place
    message: str
    line: int | None = None
    severity: Severity = "error"

    def __str__(self) -> str:
        """Return the problem as a line: field, line number, message."""
        field = field_path(self.place) if self.place else "the file"
        at = f", line {self.line}" if self.line is not None else ""
        return f"{field}{at}: {self.message}"


class Checker:
    """Checks one campaign file again and again, and remembers what cannot have changed in between."""

    def __init__(self, base: Path) -> None:
        self.base = base  # relative paths start here
        self._banks = Banks()
        self._repositories = Repositories()
        self._entries: dict[str, tuple[FieldProblem, ...]] = {}
        self._ready: dict[str, str | None] = {}

    def forget(self) -> None:
        """Look at everything on disk again, as something may have been installed or fetched meanwhile."""
        self._banks, self._repositories = Banks(), Repositories()
        self._ready.clear()

    def quick(self, snapshot: Snapshot) -> tuple[FieldProblem, ...]:
        """Return what is wrong with what is written; nothing on disk is looked at."""
        if snapshot.fault is not None:
            fault = snapshot.fault
            message = f"not valid TOML, column {fault.column}: {fault.message}"
            return (FieldProblem((), message, fault.line),)
        problems = list(self._written(snapshot))
        return _with_lines(problems, map_toml(snapshot.text))

    def thorough(
        self,
        snapshot: Snapshot,
        is_cancelled: IsCancelled = lambda: False,
        on_progress: OnProgress = lambda text: None,
    ) -> tuple[FieldProblem, ...]:
        """Return also what of bank, repositories and candidates is not there; reads disk, runs Git.

        What is asked of the disk is only what the text says soundly. A cancelled check tells what it found.
        """
        quick = self.quick(snapshot)
        if snapshot.fault is not None:
            return quick
        bad = [problem.place for problem in quick if problem.severity == "error"]
        problems = list(self._on_disk(snapshot.data, bad, is_cancelled, on_progress))
        return (*quick, *_with_lines(problems, map_toml(snapshot.text)))

    def _written(self, snapshot: Snapshot) -> Iterator[FieldProblem]:
        data = snapshot.data
        problems = list(_schema_problems(data))
        problems += _repeated(data, "candidates", "id")
        problems += _repeated(data, "repositories", "label")
        problems += _baseline_problems(data)
        for number, entry in enumerate(_tables(data, "candidates")):
            if entry is not None:
                problems += (
                    problem._replace(place=("candidates", number, *problem.place))
                    for problem in self._entry_problems(entry)
                )
        if not problems:
            problems += _remaining(snapshot, self.base)
        yield from problems

    def _entry_problems(self, entry: Mapping[str, Any]) -> tuple[FieldProblem, ...]:
        key = _key(entry)
        if key not in self._entries:
            if len(self._entries) >= KEPT:
                self._entries.clear()
            self._entries[key] = tuple(_entry_problems(entry, self.base))
        return self._entries[key]

    def _on_disk(
        self, data: Mapping[str, Any], bad: Sequence[Place], is_cancelled: IsCancelled, tell: OnProgress
    ) -> Iterator[FieldProblem]:
        commits: Mapping[str, str] = {}
        cases = data.get("cases")
        if isinstance(cases, str) and not _touches(bad, ("cases",)):
            tell("reading the bank")
            answer = self._banks.look(self.base / cases)
            if isinstance(answer, str):
                yield FieldProblem(("cases",), answer)
            else:
                commits = answer
                entries = list(enumerate(_tables(data, "repositories")))
                yield from (FieldProblem(*found) for found in bank_problems(commits, entries))
        yield from self._repositories_on_disk(data, bad, commits, is_cancelled, tell)
        yield from self._candidates_here(data, bad, is_cancelled, tell)

    def _repositories_on_disk(
        self,
        data: Mapping[str, Any],
        bad: Sequence[Place],
        commits: Mapping[str, str],
        is_cancelled: IsCancelled,
        tell: OnProgress,
    ) -> Iterator[FieldProblem]:
        entries = _tables(data, "repositories")
        for number, entry in enumerate(entries):
            if is_cancelled():
                return
            place: Place = ("repositories", number)
            if entry is None or _touches(bad, place) or not isinstance(entry.get("path"), str):
                continue
            if number % 20 == 0 and len(entries) > 20:
                tell(f"looking at repository {number + 1:,} of {len(entries):,}")
            pinned = entry.get("commit")
            for key, message, severity in self._repositories.look(
                self.base / str(entry["path"]), pinned, commits.get(str(entry.get("label")))
            ):
                yield FieldProblem((*place, key), message, severity=severity)

    def _candidates_here(
        self, data: Mapping[str, Any], bad: Sequence[Place], is_cancelled: IsCancelled, tell: OnProgress
    ) -> Iterator[FieldProblem]:
        entries = _tables(data, "candidates")
        for number, entry in enumerate(entries):
            if is_cancelled():
                return
            place: Place = ("candidates", number)
            if entry is None or _touches(bad, place):
                continue
            tell(f"looking for what candidate {number + 1:,} of {len(entries):,} needs")
            message = self._readiness(entry)
            if message is not None:
                yield FieldProblem(place, message)

    def _readiness(self, entry: Mapping[str, Any]) -> str | None:
        key = _key({**entry, "id": ""})
        if key not in self._ready:
            if len(self._ready) >= KEPT:
                self._ready.clear()
            try:
                retriever = create_retriever(entry, self.base, "this candidate")
                retriever.configuration()
                retriever.fingerprint()
                self._ready[key] = None
            except (BoresightError, OSError) as error:
                self._ready[key] = f"cannot run here: {error}"
        return self._ready[key]


def _schema_problems(data: Mapping[str, Any]) -> Iterator[FieldProblem]:
    try:
        CampaignFile.model_validate(data)
    except ValidationError as error:
        for place, message in complaints(error, CampaignFile):
            yield FieldProblem(place, message)


def _entry_problems(entry: Mapping[str, Any], base: Path) -> Iterator[FieldProblem]:
    try:
        CandidateHead.model_validate(entry)
    except ValidationError as error:
        for place, message in complaints(error, CandidateHead):
            yield FieldProblem(place, message)
    wanted, known = entry.get("retriever", "codira"), retriever_names()
    if wanted not in known:
        yield FieldProblem(("retriever",), f"found {found(wanted)}, expected one of: {', '.join(known)}")
        return
    try:
        model = entry_model(str(wanted))
        model.model_validate(dict(entry))
    except ValidationError as error:
        heads = {"id"} if "id" in entry else set()
        for place, message in complaints(error, model):
            if not (place and place[0] in heads):
                yield FieldProblem(place, message)
        return
    except AttributeError:  # a retriever that describes no entry: what it says of it comes next
        pass
    try:
        create_retriever(entry, base, "this candidate")
    except ProblemsError as error:
        for text in error.problems:
            yield _placed(text, entry)
    except InputError as error:
        yield FieldProblem((), str(error))


def _placed(text: str, entry: Mapping[str, Any]) -> FieldProblem:
    """Return a problem that begins with its field's path as one that knows its field."""
    match = _PLACE.fullmatch(text)
    if match is None:
        return FieldProblem((), text)
    place: Place = tuple(int(number) if number else word for number, word in _PART.findall(match["path"]))
    return FieldProblem(place, match["rest"])


def _repeated(data: Mapping[str, Any], table: str, key: str) -> Iterator[FieldProblem]:
    first: dict[str, int] = {}
    for number, entry in enumerate(_tables(data, table)):
        name = entry.get(key) if entry is not None else None
        if isinstance(name, str) and first.setdefault(name, number) != number:
            message = (
                f"found {found(name)} again ({table}[{first[name]}] has it), expected another; rename one"
            )
            yield FieldProblem((table, number, key), message)


def _baseline_problems(data: Mapping[str, Any]) -> Iterator[FieldProblem]:
    baseline = data.get("baseline")
    ids = [entry["id"] for entry in _tables(data, "candidates") if entry and isinstance(entry.get("id"), str)]
    if isinstance(baseline, str) and baseline not in ids:
        shown = ", ".join(ids[:10]) + (" …" if len(ids) > 10 else "")
        yield FieldProblem(
            ("baseline",),
            f"found {found(baseline)}, expected a candidate of this campaign: {shown or 'none yet'}",
        )
    elif baseline is None and len(ids) > 1:
        message = "none is chosen, so nothing will be compared; choose the candidate to compare with"
        yield FieldProblem(("baseline",), message, severity="warning")


def _remaining(snapshot: Snapshot, base: Path) -> Iterator[FieldProblem]:
    """Yield what only the reader of campaign files itself would refuse."""
    try:
        parse_campaign(snapshot.text, snapshot.path or base / "campaign.toml")
    except ProblemsError as error:
        for text in error.problems:
            yield FieldProblem((), text)
    except InputError as error:
        yield FieldProblem((), str(error))


def _tables(data: Mapping[str, Any], name: str) -> list[Mapping[str, Any] | None]:
    """Return the entries of an array of tables; what is no table stands as None."""
    entries = data.get(name)
    if not isinstance(entries, list):
        return []
    return [entry if isinstance(entry, Mapping) else None for entry in entries]


def _touches(bad: Iterable[Place], place: Place) -> bool:
    return any(each[: len(place)] == place for each in bad)


def _with_lines(problems: Sequence[FieldProblem], where: TomlMap) -> tuple[FieldProblem, ...]:
    return tuple(problem._replace(line=where.line(problem.place)) for problem in problems)


def _key(entry: Mapping[str, Any]) -> str:
    return json.dumps(entry, sort_keys=True, default=repr)
