from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.ranking import KINDS, LEVELS, Level, Location, Target
from core.scoring.matching import (
    answered_query,
    comparison_level,
    lines_returned,
    matches,
    supported_levels,
    target_ranks,
    target_ranks_by_level,
    unanswered_query,
)
from core.scoring.records import CandidatePlan
from tests.unit.scoring.builders import case

SYMBOL = Target("a.py", 10, "symbol")
HEADING = Target("a.md", 10, "documentation")
MODULE = Target("a.py", 0, "file")

lines = st.none() | st.integers(1, 12)
locations = st.builds(
    Location,
    path=st.sampled_from(["a.py", "a.md", "b.py"]),
    line=lines,
    end_line=lines,
    kind=st.none() | st.sampled_from(KINDS),
)
targets = st.builds(
    Target, path=st.sampled_from(["a.py", "a.md"]), line=st.integers(0, 12), kind=st.sampled_from(KINDS)
)


@pytest.mark.parametrize(
    ("location", "target", "levels"),
    [
        (Location("a.py", 10, None, "symbol"), SYMBOL, "exact span file"),
        (Location("a.py", 10, 20, "symbol"), SYMBOL, "exact span file"),
        (Location("a.py", 10), SYMBOL, "exact span file"),  # no kind fits any
        (Location("a.py", 9), SYMBOL, "file"),
        (Location("a.py", 5, 10, "symbol"), SYMBOL, "span file"),
        (Location("a.py", 5, 9, "symbol"), SYMBOL, "file"),
        (Location("a.py", 11, 20, "symbol"), SYMBOL, "file"),
        (Location("a.py", 10, 3, "symbol"), SYMBOL, "exact span file"),  # an end before the line is ignored
        (Location("a.py", 10, None, "documentation"), SYMBOL, "file"),
        (Location("a.py", 10, None, "file"), SYMBOL, "file"),
        (Location("a.py"), SYMBOL, "file"),  # no line: only line-0 targets
        (Location("a.py", None, 20), SYMBOL, "file"),
        (Location("b.py", 10), SYMBOL, ""),
        (Location("A.py", 10), SYMBOL, ""),
        (Location("a.md", 10, None, "documentation"), HEADING, "exact span file"),
        (Location("a.md", 10, None, "symbol"), HEADING, "file"),
        (Location("a.py"), MODULE, "exact span file"),
        (Location("a.py", 7, 9, "symbol"), MODULE, "exact span file"),  # kind `file` takes every kind
        (Location("a.py", None, None, "documentation"), MODULE, "exact span file"),
        (Location("b.py"), MODULE, ""),
        (Location("a.py", 3, None, "symbol"), Target("a.py", 0, "symbol"), "exact span file"),
        (Location("a.py", 3, None, "file"), Target("a.py", 0, "symbol"), "file"),
        (Location("a.py", 3, None, "symbol"), Target("a.py", 3, "file"), "exact span file"),
        (Location("a.py", 4, None, "symbol"), Target("a.py", 3, "file"), "file"),
    ],
)
def test_a_result_answers_a_target_at_exactly_these_levels(
    location: Location, target: Target, levels: str
) -> None:
    assert [level for level in LEVELS if matches(location, target, level)] == levels.split()


@given(locations, targets)
def test_each_level_accepts_what_the_finer_ones_accept(location: Location, target: Target) -> None:
    accepted = [matches(location, target, level) for level in LEVELS]
    assert accepted == sorted(accepted)


@given(st.lists(locations, max_size=15), st.lists(targets, max_size=4), st.sampled_from(LEVELS))
def test_a_targets_rank_is_that_of_its_first_match(
    ranking: list[Location], wanted: list[Target], level: Level
) -> None:
    counted = [Location(path) for path in dict.fromkeys(found.path for found in ranking)]
    places = counted if level == "file" else ranking
    expected = tuple(
        next((rank for rank, found in enumerate(places, 1) if matches(found, target, level)), None)
        for target in wanted
    )
    assert target_ranks(ranking, wanted, level) == expected


def test_by_file_several_places_of_a_file_take_one_rank() -> None:
    places = [Location("x.py", 1), Location("x.py", 5), Location("x.py", 9), Location("a.py", 3)]
    assert target_ranks(places, [MODULE], "file") == (2,)
    assert target_ranks(places, [MODULE], "exact") == (4,)


def test_ranks_count_from_one_and_one_result_can_answer_two_targets() -> None:
    ranking = [Location("x.py", 1), Location("a.py", 8, 12), Location("a.py", 10)]
    ranks = target_ranks_by_level(ranking, [SYMBOL, MODULE, HEADING])
    assert ranks == {"exact": (3, 2, None), "span": (2, 2, None), "file": (2, 2, None)}


def test_an_empty_ranking_finds_nothing() -> None:
    assert target_ranks([], [SYMBOL], "file") == (None,)


def test_lines_returned_counts_the_first_ten_results_with_overlaps() -> None:
    assert lines_returned([Location("a.py", 1, 5), Location("a.py", 3, 4), Location("a.py", 9)]) == 8
    assert lines_returned([Location("a.py", n, n + 1) for n in range(1, 40)]) == 20
    assert lines_returned([Location("a.py", 7, 2)]) == 1
    assert lines_returned([]) == 0


def test_lines_returned_is_unknown_where_a_counted_result_has_no_line() -> None:
    assert lines_returned([Location("a.py", 1, 5), Location("b.py")]) is None
    assert lines_returned([*(Location("a.py", n) for n in range(1, 11)), Location("b.py")]) == 10


def test_a_comparison_uses_the_finest_level_that_all_support() -> None:
    exact, span, file = (CandidatePlan(level, level=level) for level in LEVELS)
    assert comparison_level([exact, exact])[0] == "exact"
    assert comparison_level([exact, span]) == ("span", "span supports nothing finer")
    assert comparison_level([file, exact, span]) == ("file", "file supports nothing finer")
    assert comparison_level([span, exact, CandidatePlan("other", level="span")]) == (
        "span",
        "span, other support nothing finer",
    )
    with pytest.raises(ValueError, match="at least one candidate"):
        comparison_level([])


def test_a_candidate_supports_its_level_and_the_coarser_ones() -> None:
    assert [supported_levels(level) for level in LEVELS] == [LEVELS, ("span", "file"), ("file",)]


def test_an_answer_is_reduced_to_ranks_and_counts() -> None:
    planned = case("c", paths=["a.py"])
    found = answered_query(
        "m", planned, [SYMBOL], [Location("b.py", 1, 3), Location("a.py", 10)], elapsed_s=0.5
    )
    assert (found.status, found.returned, found.relevant, found.elapsed_s) == ("answered", 2, 1, 0.5)
    assert (found.target_ranks["exact"], found.lines_returned, found.timed_out) == ((2,), 4, False)


def test_an_unanswered_query_finds_no_target() -> None:
    planned = case("c", paths=["a.py", "b.py"])
    lost = unanswered_query("m", planned, "failed", error_class="timeout", timed_out=True, elapsed_s=900.0)
    assert lost.target_ranks == dict.fromkeys(LEVELS, (None, None))
    assert (lost.status, lost.error_class, lost.timed_out, lost.returned) == ("failed", "timeout", True, 0)
    with pytest.raises(ValueError, match="use answered_query"):
        unanswered_query("m", planned, "answered")
