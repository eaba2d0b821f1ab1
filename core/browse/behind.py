"""Which cases stand behind a number of a scoreboard, and which of them to show first."""

from __future__ import annotations

from typing import NamedTuple

from core.browse.filters import DEFAULT_CUTOFF, OUTCOME_WORDS, Filters, OutcomeFilter, OutcomeWord, Sort
from core.ranking import Level
from core.scoring.records import CandidateScore, GroupScore, Scoreboard

NOT_HIT: tuple[OutcomeWord, ...] = tuple(word for word in OUTCOME_WORDS if word != "hit")


class Behind(NamedTuple):
    """The filters and the order that show the cases behind a number."""

    filters: Filters
    sort: Sort = Sort()


class Number(NamedTuple):
    """A number of one candidate: over which cases, up to which rank, by which level.

    Without a repository or intent it is over all of them. `outcomes` are those that the number counts; none
    where it counts all.
    """

    candidate: str
    repository: str | None = None
    intent: str | None = None
    cutoff: int = DEFAULT_CUTOFF
    level: Level | None = None
    outcomes: tuple[OutcomeWord, ...] = ()


def behind(board: Scoreboard, number: Number) -> Behind:
    """Return the cases that a number is over, those that the candidate loses most by first.

    Where there is no other candidate to lose against, these are the cases that it does not hit, or all where
    it hits every one.
    """
    filters = _scope(number)
    if number.outcomes:
        return Behind(filters)
    if number.candidate in board.comparisons and board.baseline is not None:
        return Behind(filters, Sort("delta", number.candidate, board.baseline))
    return lost(board, number)


def lost(board: Scoreboard, number: Number) -> Behind:
    """Return the cases that a candidate does not hit, those first that another finds; all if it hits all."""
    found = _score(board, number)
    if found is None or _hits_all(found, number.cutoff):
        return Behind(_scope(number), Sort("rank", number.candidate, descending=True))
    filters = _scope(number._replace(outcomes=number.outcomes or NOT_HIT))
    other = _best_other(board, number.candidate)
    return Behind(filters, Sort("rank", other) if other else Sort())


def _scope(number: Number) -> Filters:
    return Filters(
        intents=(number.intent,) if number.intent else (),
        repositories=(number.repository,) if number.repository else (),
        outcomes=(OutcomeFilter(number.candidate, number.outcomes),) if number.outcomes else (),
        cutoff=number.cutoff,
        level=number.level,
    )


def _score(board: Scoreboard, number: Number) -> CandidateScore | GroupScore | None:
    whole = board.candidates[number.candidate]
    if number.repository and number.intent:
        return whole.cells.get(number.repository, {}).get(number.intent)
    if number.repository:
        return whole.repositories.get(number.repository)
    return whole.intents.get(number.intent) if number.intent else whole


def _hits_all(found: CandidateScore | GroupScore, cutoff: int) -> bool:
    return cutoff in found.micro and found.micro[cutoff].hit >= 1.0


def _best_other(board: Scoreboard, candidate: str) -> str | None:
    others = [name for name in board.candidates if name != candidate]
    if board.baseline in others:
        return board.baseline
    return max(others, key=lambda name: board.candidates[name].macro[10].mrr, default=None)
