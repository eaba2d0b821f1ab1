"""What a case's detail holds: values only. Text in them is as it was found, and not yet safe to show."""

from __future__ import annotations

from typing import Literal, NamedTuple

from core.browse.rows import CaseRow, OutcomeStatus
from core.questions import Question
from core.ranking import Level, Location, Target
from core.scoring.graded_records import FactFinding

SourceCheck = Literal["matches", "differs", "unknown"]


class Excerpt(NamedTuple):
    """Lines of a source; `first` is the number of the first of them, `more` how many follow in the file."""

    first: int
    lines: tuple[str, ...]
    more: int = 0


class TargetSource(NamedTuple):
    """A target with its lines in the frozen tree, or the reason why they cannot be shown."""

    target: Target
    excerpt: Excerpt | None
    problem: str | None = None


class Witness(NamedTuple):
    """What a case was derived by, and whether its source still is the one that it was derived from.

    `problem` says what could not be told.
    """

    rule: str | None
    text: str
    source_sha256: str | None
    check: SourceCheck
    problem: str | None = None


class Overlap(NamedTuple):
    """A query's distinct words: those in the target's text, and those in no part of it.

    `beyond_witness` are those that stand in it elsewhere than where the query was copied from; None where
    that is not known.
    """

    shared: tuple[str, ...]
    absent: tuple[str, ...]
    beyond_witness: tuple[str, ...] | None


class RankedResult(NamedTuple):
    """One result: its rank from 1, which targets it hits (positions from 0), and its first lines."""

    rank: int
    location: Location
    hits: tuple[int, ...]
    excerpt: Excerpt | None
    problem: str | None = None


class FactView(NamedTuple):
    """A graded question's fact in a context: the context's line where it begins, from 1, and its words."""

    finding: FactFinding
    line: int | None = None
    quote: str = ""


class ProbeView(NamedTuple):
    """What a candidate's context probe gave.

    `text` is the context's beginning, `characters` and `words` count all of it. `result` is the rank of the
    first location that holds a target, `quotes_target` whether a target's own line stands in the text.
    `facts` are those of a graded question.
    """

    status: OutcomeStatus
    elapsed_s: float | None
    problem: str | None = None
    text: str = ""
    characters: int = 0
    words: int = 0
    results: int = 0
    result: int | None = None
    quotes_target: bool = False
    facts: tuple[FactView, ...] = ()

    @property
    def holds_target(self) -> bool:
        """Whether a target is within the context."""
        return self.result is not None or self.quotes_target


class AnswerView(NamedTuple):
    """What became of a case's primary query with one candidate.

    `rank` is that of the first hit, counted as scores count: in results, or at the level `file` in files,
    each at its best place. `ranked` is how many of them there are. `attempts` is the newest attempt's number,
    `problem` says why there is no ranking, `probe` is None where none was planned.
    """

    candidate: str
    status: OutcomeStatus
    rank: int | None
    ranked: int
    results: tuple[RankedResult, ...]
    elapsed_s: float | None
    attempt: int | None
    attempts: int
    problem: str | None
    probe: ProbeView | None


class CaseView(NamedTuple):
    """One case in full; ranks and hits are those at `level`. `question` is there where the bank is graded."""

    row: CaseRow
    level: Level
    targets: tuple[TargetSource, ...]
    witness: Witness
    overlap: Overlap | None
    answers: tuple[AnswerView, ...]
    question: Question | None = None
