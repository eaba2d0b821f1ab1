"""Which cases to show and in what order: values that screens make, and the SQL that they stand for.

Only numbers reach the text of a statement; whatever a person typed is bound.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple, get_args

from core.browse.schema import ANSWERED, EMPTY, STATUSES, Names, rank_column
from core.errors import InputError
from core.ranking import LEVELS, Level
from core.scoring.records import LARGEST_CUTOFF
from core.text import printable

OutcomeWord = Literal["hit", "miss", "failed", "empty", "missing", "unsupported", "changed"]
SortBy = Literal["case", "rank", "delta", "elapsed"]
OUTCOME_WORDS: tuple[OutcomeWord, ...] = get_args(OutcomeWord)
DEFAULT_CUTOFF = 10
_SHOWN = 8


class OutcomeFilter(NamedTuple):
    """Cases whose primary query ended, with a candidate, in any of these ways.

    A hit has a known target among the first `Filters.cutoff` results; a miss was answered without. An answer
    without any result is `empty` here, though scores count it as a miss.
    """

    candidate: str
    words: tuple[OutcomeWord, ...]


class Disagreement(NamedTuple):
    """Cases that one candidate hits and another, which answered too (maybe with nothing), does not."""

    hits: str
    misses: str


class Filters(NamedTuple):
    """What cases must fulfil, all of it; the defaults ask for nothing.

    `text` must stand in the id, the query or a target's path, whatever its letters' case. `differ` asks for
    cases that some candidate hits and some other, which answered too, does not. `level` decides what a hit
    is; None means the finest that all candidates support.
    """

    intents: tuple[str, ...] = ()
    repositories: tuple[str, ...] = ()
    outcomes: tuple[OutcomeFilter, ...] = ()
    disagreements: tuple[Disagreement, ...] = ()
    differ: bool = False
    text: str = ""
    cutoff: int = DEFAULT_CUTOFF
    level: Level | None = None


class Sort(NamedTuple):
    """The order of cases; equal ones stand in the bank's order.

    `rank` and `elapsed` are those of `candidate`; cases without one stand last either way. `delta` is the
    difference of reciprocal ranks, `candidate` less `other`, where both answered; without `descending` the
    cases stand first that `candidate` loses most by.
    """

    by: SortBy = "case"
    candidate: str | None = None
    other: str | None = None
    descending: bool = False


class Condition(NamedTuple):
    """A part of a statement after WHERE, on `answers a` and, where `joins` says so, on `cases c`."""

    sql: str
    values: tuple[Any, ...]
    joins: bool


def condition(filters: Filters, names: Names) -> Condition:
    """Return the condition of filters; raises InputError for a name or number that the run does not have."""
    level = _level(filters.level, names)
    cutoff = _cutoff(filters.cutoff)
    parts = [
        *_one_of("a.intent", "intent", filters.intents, names.intents),
        *_one_of("a.repository", "repository", filters.repositories, names.repositories),
    ]
    for wanted in filters.outcomes:
        at = _candidate(wanted.candidate, names)
        ways = [_outcome(word, at, level, cutoff) for word in wanted.words]
        parts.append(f"({' OR '.join(ways) or 'FALSE'})")
    for split in filters.disagreements:
        hits, misses = (_candidate(name, names) for name in split)
        parts.append(f"{_hit(hits, level, cutoff)} AND {_lost(misses, level, cutoff)}")
    if filters.differ:
        every = range(len(names.candidates))
        parts.append(f"({_any(_hit(at, level, cutoff) for at in every)})")
        parts.append(f"({_any(_lost(at, level, cutoff) for at in every)})")
    values: tuple[str, ...] = ()
    if filters.text:
        parts.append("instr(c.searched, ?) > 0")
        values = (searchable(filters.text),)
    return Condition(" AND ".join(parts) or "TRUE", values, bool(filters.text))


def order(sort: Sort, names: Names, level: Level | None) -> str:
    """Return what stands after ORDER BY; raises InputError for a name or word that is none."""
    direction = "DESC" if sort.descending else "ASC"
    if sort.by == "case":
        return f"a.number {direction}"
    if sort.by not in get_args(SortBy):
        raise InputError(
            f"sorting by {printable(str(sort.by), 40)!r} is not known: {_told(get_args(SortBy))}"
        )
    at = _candidate(sort.candidate, names)
    level = _level(level, names)
    value = f"a.elapsed{at}" if sort.by == "elapsed" else f"a.{rank_column(level, at)}"
    if sort.by == "delta":
        value = _delta(at, _candidate(sort.other, names), level)
    status = f", a.status{at}" if sort.by == "rank" else ""
    return f"({value}) IS NULL, {value} {direction}{status}, a.number"


def _delta(ours: int, theirs: int, level: Level) -> str:
    both = f"{_answered(ours)} AND {_answered(theirs)}"
    gains = (f"ifnull(1.0 / a.{rank_column(level, at)}, 0.0)" for at in (ours, theirs))
    return f"CASE WHEN {both} THEN {' - '.join(gains)} END"


def _hit(at: int, level: Level, cutoff: int) -> str:
    return f"ifnull(a.{rank_column(level, at)} <= {cutoff:d}, FALSE)"


def _lost(at: int, level: Level, cutoff: int) -> str:
    return f"({_answered(at)} AND NOT {_hit(at, level, cutoff)})"


def _answered(at: int) -> str:
    return f"a.status{at:d} IN ({ANSWERED:d}, {EMPTY:d})"


def _outcome(word: str, at: int, level: Level, cutoff: int) -> str:
    if word not in OUTCOME_WORDS:
        raise InputError(f"the outcome {printable(str(word), 40)!r} is not known: {_told(OUTCOME_WORDS)}")
    if word == "hit":
        return _hit(at, level, cutoff)
    if word == "miss":
        return f"(a.status{at} = {ANSWERED:d} AND NOT {_hit(at, level, cutoff)})"
    return f"a.status{at} = {STATUSES.index(word):d}"


def _any(conditions: Iterable[str]) -> str:
    return " OR ".join(conditions) or "FALSE"


def _one_of(column: str, what: str, wanted: Sequence[str], known: Sequence[str]) -> list[str]:
    if not wanted:
        return []
    numbers = ", ".join(f"{_number(what, name, known):d}" for name in wanted)
    return [f"{column} IN ({numbers})"]


def _candidate(name: str | None, names: Names) -> int:
    return _number("candidate", name, names.candidates)


def _number(what: str, name: str | None, known: Sequence[str]) -> int:
    if name is None or name not in known:
        raise InputError(f"no {what} {printable(str(name), 60)!r} in this run: {_told(known)}")
    return known.index(name)


def _level(level: Level | None, names: Names) -> Level:
    if level is not None and level not in LEVELS:
        raise InputError(f"the level {printable(str(level), 40)!r} is not known: {_told(LEVELS)}")
    return level or names.level


def _cutoff(cutoff: int) -> int:
    if type(cutoff) is not int or not 1 <= cutoff <= LARGEST_CUTOFF:
        raise InputError(f"cutoff: found {cutoff!r}, expected a whole number from 1 to {LARGEST_CUTOFF}")
    return cutoff


def searchable(text: str) -> str:
    """Return text as it is looked for in `searched`; raises InputError where nothing can hold it."""
    if "\0" in text:
        raise InputError("a search cannot hold NUL; leave it out")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InputError("a search cannot hold half of a character; type it again") from None
    return text.casefold()


def _told(known: Sequence[str]) -> str:
    more = f" and {len(known) - _SHOWN} more" if len(known) > _SHOWN else ""
    return f"choose from {', '.join(printable(name, 60) for name in known[:_SHOWN])}{more}"
