"""Filters and orders, held against plain Python over random outcomes; text that means harm to SQL."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Any, NamedTuple, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.banks.case import Case, Evidence
from core.browse.case_queries import LARGEST_PAGE, case_page, check_page, count_cases
from core.browse.filters import OUTCOME_WORDS, Disagreement, Filters, OutcomeFilter, Sort
from core.browse.operations import Facts, Slot
from core.browse.rows import CaseRow
from core.browse.schema import PRIMARIES, STATUSES, UNSUPPORTED, Names
from core.browse.writer import Writer
from core.errors import InputError
from core.ranking import LEVELS, Target

NAMES = Names(("a", "b", "c"), ("r", "s"), ("symbol_lookup", "docs_lookup"), "span")
WORDS = st.sampled_from(["load", "Straße", "100%", "a_b", "it's", '"x"', "ÉTÉ", "\\", "[x]", "*", "\n"])


class World(NamedTuple):
    """Cases, and what became of each with every candidate."""

    cases: tuple[Case, ...]
    facts: tuple[tuple[Facts, ...], ...]


@st.composite
def worlds(draw: st.DrawFn) -> World:
    size = draw(st.integers(1, 12))
    cases = tuple(_case(number, draw) for number in range(size))
    return World(cases, tuple(tuple(draw(outcomes()) for _ in NAMES.candidates) for _ in cases))


def _case(number: int, draw: st.DrawFn) -> Case:
    paths = draw(st.lists(WORDS, min_size=1, max_size=3))
    return Case(
        channel="emb",
        commit="0" * 40,
        evidence=Evidence("python_definition", "0" * 64),
        id=f"case-{number}",
        intent=draw(st.sampled_from(NAMES.intents)),
        query=" ".join(draw(st.lists(WORDS, max_size=3))),
        repo=draw(st.sampled_from(NAMES.repositories)),
        schema_version="known-target-v1",
        targets=tuple(Target(f"{path}.py", 1, "symbol") for path in paths),
    )


@st.composite
def outcomes(draw: st.DrawFn) -> Facts:
    status = draw(st.sampled_from(range(len(STATUSES))))
    ranks: tuple[int | None, ...] = (None, None, None)
    if STATUSES[status] == "answered":
        exact = draw(st.none() | st.integers(1, 12))
        span = draw(st.just(exact) | st.integers(1, exact or 12))
        ranks = (exact, span, draw(st.just(span) | st.integers(1, span or 12)))
    elapsed = draw(st.none() | st.sampled_from([0.5, 1.0, 2.0]))
    return Facts(status=status, elapsed_s=elapsed, ranks=ranks)


@contextmanager
def indexed(world: World) -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(":memory:")
    writer = Writer(connection, NAMES)
    writer.make_tables()
    writer.add_cases(world.cases)
    for number, facts in enumerate(world.facts):
        for candidate, each in enumerate(facts):
            writer.put([Slot(PRIMARIES, number, candidate, 0, "emb")], [each])
    writer.make_lookups()
    yield connection
    connection.close()


class Oracle:
    """The meaning of filters and orders, said in plain Python."""

    def __init__(self, world: World, filters: Filters) -> None:
        self._world = world
        self._filters = filters
        self._level = LEVELS.index(filters.level or NAMES.level)

    def rank(self, number: int, candidate: str) -> int | None:
        return self.facts(number, candidate).ranks[self._level]

    def facts(self, number: int, candidate: str) -> Facts:
        return self._world.facts[number][NAMES.candidates.index(candidate)]

    def word(self, number: int, candidate: str) -> str:
        status = STATUSES[self.facts(number, candidate).status]
        rank = self.rank(number, candidate)
        if status != "answered":
            return status
        return "hit" if rank is not None and rank <= self._filters.cutoff else "miss"

    def keeps(self, number: int) -> bool:
        case, filters = self._world.cases[number], self._filters
        words = {name: self.word(number, name) for name in NAMES.candidates}
        fields = (case.id, case.query, *(target.path for target in case.targets))
        return (
            (not filters.intents or case.intent in filters.intents)
            and (not filters.repositories or case.repo in filters.repositories)
            and all(words[each.candidate] in each.words for each in filters.outcomes)
            and all(
                words[each.hits] == "hit" and words[each.misses] in {"miss", "empty"}
                for each in filters.disagreements
            )
            and (
                not filters.differ
                or ("hit" in words.values() and bool({"miss", "empty"} & {*words.values()}))
            )
            and any(filters.text.casefold() in field.casefold() for field in fields)
        )

    def found(self) -> list[int]:
        return [number for number in range(len(self._world.cases)) if self.keeps(number)]

    def delta(self, number: int, ours: str, theirs: str) -> float | None:
        if not {self.facts(number, name).status for name in (ours, theirs)} <= {1, 2}:
            return None
        gains = [1 / rank if (rank := self.rank(number, name)) else 0.0 for name in (ours, theirs)]
        return gains[0] - gains[1]


candidates = st.sampled_from(NAMES.candidates)
filters_of = st.builds(
    Filters,
    intents=st.lists(st.sampled_from(NAMES.intents), max_size=2).map(tuple),
    repositories=st.lists(st.sampled_from(NAMES.repositories), max_size=1).map(tuple),
    outcomes=st.lists(
        st.builds(OutcomeFilter, candidates, st.lists(st.sampled_from(OUTCOME_WORDS), max_size=4).map(tuple)),
        max_size=2,
    ).map(tuple),
    disagreements=st.lists(st.builds(Disagreement, candidates, candidates), max_size=1).map(tuple),
    differ=st.booleans(),
    text=st.sampled_from(
        ["", "", "", "LOAD", "strasse", "%", "_", "'", '"', "été", "\\", "case-1", "x.PY", "*"]
    ),
    cutoff=st.integers(1, 12),
    level=st.sampled_from([None, *LEVELS]),
)


@given(worlds(), filters_of)
def test_combined_filters_find_what_plain_python_finds(world: World, filters: Filters) -> None:
    expected = Oracle(world, filters).found()
    with indexed(world) as connection:
        rows = case_page(connection, NAMES, filters, Sort(), 0, 100)
        assert [row.number for row in rows] == expected
        assert count_cases(connection, NAMES, filters) == len(expected)
        for row in rows:
            oracle = Oracle(world, filters)
            assert [standing.rank for standing in row.standings] == [
                oracle.rank(row.number, name) for name in NAMES.candidates
            ]


@given(worlds(), filters_of, st.integers(1, 4), candidates, st.booleans())
def test_pages_put_together_are_the_whole(
    world: World, filters: Filters, size: int, candidate: str, descending: bool
) -> None:
    sort = Sort("rank", candidate, descending=descending)
    with indexed(world) as connection:
        whole = case_page(connection, NAMES, filters, sort, 0, 100)
        count = count_cases(connection, NAMES, filters)
        pages = [
            case_page(connection, NAMES, filters, sort, offset, size) for offset in range(0, count + 1, size)
        ]
        assert tuple(row for page in pages for row in page) == whole
        assert len(whole) == count
        assert all(len(page) == size for page in pages[: count // size])


def ordered(rows: Sequence[CaseRow], key: Callable[[int], Any], descending: bool) -> None:
    """Assert that rows with a value stand first, in order, equal ones by number."""
    values = [(key(row.number), row.number) for row in rows]
    known = [value is not None for value, _ in values]
    assert known == sorted(known, reverse=True)
    for (first, at), (second, then) in pairwise([each for each in values if each[0] is not None]):
        assert (
            (first > second or (first == second and at < then))
            if descending
            else (first < second or (first == second and at < then))
        )


@given(worlds(), candidates, candidates, st.booleans(), st.sampled_from([None, *LEVELS]))
def test_orders_are_those_of_the_values(
    world: World, ours: str, theirs: str, descending: bool, level: Any
) -> None:
    filters = Filters(level=level)
    oracle = Oracle(world, filters)
    with indexed(world) as connection:

        def rows(sort: Sort) -> tuple[CaseRow, ...]:
            return case_page(connection, NAMES, filters, sort._replace(descending=descending), 0, 100)

        ordered(rows(Sort()), lambda number: number, descending)
        ordered(rows(Sort("elapsed", ours)), lambda number: oracle.facts(number, ours).elapsed_s, descending)
        ordered(rows(Sort("delta", ours, theirs)), lambda at: oracle.delta(at, ours, theirs), descending)
        by_rank = rows(Sort("rank", ours))
        ranked = [row for row in by_rank if oracle.rank(row.number, ours) is not None]
        ordered(ranked, lambda number: oracle.rank(number, ours), descending)
        rest = by_rank[len(ranked) :]
        statuses = [oracle.facts(row.number, ours).status for row in rest]
        assert all(oracle.rank(row.number, ours) is None for row in rest)
        assert statuses == sorted(statuses)


SOME = World(
    (
        Case(
            "emb",
            "0" * 40,
            Evidence("python_definition", "0" * 64),
            "case-0",
            "symbol_lookup",
            "load\0more 100% 'quoted' \"too\" [/x] \x1b]52;c;AAAA\x07",
            "r",
            "known-target-v1",
            (Target("we ird'; DROP TABLE cases; --.py", 3, "symbol"), Target("b.py", 0, "file")),
        ),
    ),
    ((Facts(),) * 3,),
)


@pytest.mark.parametrize(
    ("text", "hits"),
    [
        ("'; DROP TABLE cases; --", 1),
        ("%' OR '1'='1", 0),
        ("100%", 1),
        ("1%0", 0),
        ("100_", 0),
        ('"TOO"', 1),
        ("[/X]", 1),
        ("\x1b]52", 1),
        ("b.py", 1),
        ("case-0load", 0),
        ("x" * 1_000_000, 0),
    ],
)
def test_a_search_is_only_ever_text(text: str, hits: int) -> None:
    with indexed(SOME) as connection:
        assert count_cases(connection, NAMES, Filters(text=text)) == hits
        (row,) = case_page(connection, NAMES, Filters(), Sort(), 0, 10)
        assert row.query == SOME.cases[0].query
        assert row.target == "we ird'; DROP TABLE cases; --.py:3 (and 1 more)"


@pytest.mark.parametrize(
    ("filters", "told"),
    [
        (Filters(text="a\0b"), "NUL"),
        (Filters(text="\ud800"), "half of a character"),
        (Filters(intents=("' OR 1=1",)), "no intent"),
        (Filters(repositories=("nowhere",)), "choose from r, s"),
        (Filters(outcomes=(OutcomeFilter("d", ("hit",)),)), "no candidate 'd'"),
        (Filters(outcomes=(OutcomeFilter("a", cast(Any, ("1=1",))),)), "outcome"),
        (Filters(disagreements=(Disagreement("a", "d"),)), "no candidate"),
        (Filters(cutoff=0), "from 1 to 100"),
        (Filters(cutoff=cast(Any, "1 OR 1")), "from 1 to 100"),
        (Filters(level=cast(Any, "near"), differ=True), "level"),
    ],
)
def test_filters_that_mean_nothing_are_refused_in_words(filters: Filters, told: str) -> None:
    with indexed(SOME) as connection, pytest.raises(InputError, match=told):
        count_cases(connection, NAMES, filters)


@pytest.mark.parametrize("sort", [Sort("rank"), Sort("delta", "a"), Sort(cast(Any, "1; --"), "a")])
def test_orders_that_mean_nothing_are_refused_in_words(sort: Sort) -> None:
    with indexed(SOME) as connection, pytest.raises(InputError):
        case_page(connection, NAMES, Filters(), sort, 0, 10)


@pytest.mark.parametrize(("offset", "limit"), [(-1, 10), (0, -1), (0, LARGEST_PAGE + 1), (2**63, 1)])
def test_a_page_that_would_be_cut_is_refused(offset: int, limit: int) -> None:
    with pytest.raises(InputError, match="a page from"):
        check_page(offset, limit)


def test_unsupported_is_an_outcome_of_its_own() -> None:
    world = SOME._replace(facts=((Facts(status=UNSUPPORTED), Facts(), Facts()),))
    with indexed(world) as connection:
        wanted = Filters(outcomes=(OutcomeFilter("a", ("unsupported",)),))
        assert count_cases(connection, NAMES, wanted) == 1
