"""Reads TREC run files as `boresight report --format trec` writes them.

Each line is `CASE Q0 DOCNO RANK SCORE TAG`. Results are ranked by RANK. A score that rises as the ranks go on
is refused, since evaluators that follow the score would see another ranking. `core.docno` says how documents
are named.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from core.canonical import sha256_file
from core.docno import parse_docno
from core.errors import InputError, ProblemsError
from core.ranking import Location, Ranking
from core.retrievers.answers import checked_location
from core.retrievers.protocol import AnswerError
from core.text import printable

_SHOWN_PROBLEMS = 20
_LARGEST_RANK = 2**31 - 1
_FIELDS = "CASE Q0 DOCNO RANK SCORE TAG"


class Line(NamedTuple):
    """One result of a run file."""

    case: str
    docno: str
    rank: int
    score: float
    location: Location


class TrecRun(NamedTuple):
    """A run file: each query's lines as they stand in it, best first, and the SHA-256 of the whole."""

    queries: Mapping[str, bytes]
    rows: int
    sha256: str


class _Seen(NamedTuple):
    number: int  # of the line in the file
    line: Line
    raw: bytes


def read_trec_run(path: Path) -> TrecRun:
    """Read and check a whole run file; raises ProblemsError that names bad lines by their numbers."""
    shown = printable(str(path))
    queries: dict[str, list[_Seen]] = {}
    problems = _Problems(shown)
    try:
        if path.exists() and not (path.is_file() or path.is_dir()):  # a pipe would wait for its writer
            raise InputError(f"{shown}: is no regular file, expected a run file; write its lines into one")
        with open(path, "rb") as stream:
            for number, raw in enumerate(stream, start=1):
                if not raw.strip():
                    continue
                try:
                    line = parse_line(raw)
                except AnswerError as error:
                    problems.add(f"line {number}: {error}")
                    continue
                queries.setdefault(line.case, []).append(_Seen(number, line, raw.rstrip(b"\r\n") + b"\n"))
        digest = sha256_file(path)
    except (OSError, ValueError) as error:
        told = error.strerror if isinstance(error, OSError) and error.strerror else "not a possible path"
        raise InputError(f"{shown}: the run file cannot be read: {told}; check the path") from None
    for case, seen in queries.items():
        seen.sort(key=lambda each: each.line.rank)
        problems.extend(_contradictions(case, seen))
    problems.raise_any()
    if not queries:
        raise InputError(
            f"{shown}: holds no result, expected lines of {_FIELDS}; check that it is the run file"
        )
    return TrecRun(
        {case: b"".join(each.raw for each in seen) for case, seen in queries.items()},
        sum(map(len, queries.values())),
        digest,
    )


def read_lines(lines: bytes) -> Ranking:
    """Return the ranking of one query's lines, which stand best first; raises AnswerError.

    Names that differ only in their `#N` are results at one place that differed otherwise when they were
    exported. They are kept, so that every rank stays what it was.
    """
    return tuple(parse_line(raw).location for raw in lines.split(b"\n") if raw)


def parse_line(raw: bytes) -> Line:
    """Read one line; raises AnswerError that says what was found and expected."""
    try:
        fields = raw.decode("ascii").split()
    except UnicodeDecodeError:
        raise AnswerError(
            "bad_run_line", "holds other than ASCII; document names are percent-encoded"
        ) from None
    if len(fields) != 6:
        hint = "; that is how qrels look" if len(fields) == 4 else ""
        raise AnswerError("bad_run_line", f"found {len(fields)} fields, expected {_FIELDS}{hint}")
    case, _, name, rank, score, _ = fields
    try:
        docno = parse_docno(name)
    except InputError as error:
        raise AnswerError("bad_run_line", str(error)) from None
    if not (rank.isdecimal() and len(rank) <= 10 and int(rank) <= _LARGEST_RANK):
        raise AnswerError("bad_run_line", f"found the rank {printable(rank, 40)!r}, expected a whole number")
    value = _finite(score)
    location = checked_location("the document", docno.path, docno.line or None, None, docno.kind, value)
    return Line(case, name, int(rank), value, location)


def _finite(score: str) -> float:
    try:
        value = math.nan if "_" in score else float(score)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise AnswerError(
            "bad_run_line", f"found the score {printable(score, 40)!r}, expected a finite number"
        )
    return value


def _contradictions(case: str, seen: list[_Seen]) -> Iterator[str]:
    """Yield what a query's lines, sorted by rank, say against each other."""
    named: dict[str, int] = {}
    before: _Seen | None = None
    for each in seen:
        line = each.line
        place = f"line {each.number}: {printable(case, 60)}"
        if line.docno in named:
            yield f"{place}: the document of line {named[line.docno]} again; keep the better rank"
        named.setdefault(line.docno, each.number)
        if before is not None and before.line.rank == line.rank:
            yield f"{place}: the rank of line {before.number} again, {line.rank}; each result needs its own"
        elif before is not None and before.line.score < line.score:
            yield (
                f"{place}: scored higher than line {before.number}, which stands before it by rank: "
                "evaluators that follow the score see another ranking; make both agree"
            )
        before = each


class _Problems:
    """Problems of a file, of which the first few are told and the rest counted."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._told: list[str] = []
        self._count = 0

    def add(self, problem: str) -> None:
        """Take one."""
        self._count += 1
        if len(self._told) < _SHOWN_PROBLEMS:
            self._told.append(problem)

    def extend(self, problems: Iterable[str]) -> None:
        """Take several."""
        for problem in problems:
            self.add(problem)

    def raise_any(self) -> None:
        """Raise ProblemsError where there are any."""
        if self._count:
            more = [f"and {self._count - len(self._told)} more"] if self._count > len(self._told) else []
            raise ProblemsError(f"{self._name} is no sound run file:", [*self._told, *more])
