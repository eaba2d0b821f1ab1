"""Which cases stand behind a number."""

from __future__ import annotations

from core.browse.behind import NOT_HIT, Number, behind, lost
from core.browse.filters import Filters, OutcomeFilter, Sort
from tests.unit.reports.boards import campaign

BOARD = campaign({"a": [1, 1, 1, None], "b": [1, None, 2, 1], "c": [1, 1, 1, 1]}, baseline="a").board
ALONE = campaign({"a": [1, None, 1, 1]}).board


def test_a_candidates_number_shows_first_what_it_loses_to_the_baseline() -> None:
    found = behind(BOARD, Number("b", intent="docs_lookup", cutoff=5))
    assert found.filters == Filters(intents=("docs_lookup",), cutoff=5)
    assert found.sort == Sort("delta", "b", "a")


def test_the_baselines_number_shows_what_it_does_not_hit() -> None:
    found = behind(BOARD, Number("a", cutoff=5))
    assert found.filters.outcomes == (OutcomeFilter("a", NOT_HIT),)
    assert "hit" not in NOT_HIT and "failed" in NOT_HIT
    assert found.sort.by == "rank" and found.sort.candidate == "c"


def test_where_every_case_is_hit_all_are_shown_the_lowest_first() -> None:
    assert lost(BOARD, Number("c")) == (Filters(), Sort("rank", "c", descending=True))


def test_without_another_candidate_the_misses_stand_in_the_banks_order() -> None:
    assert behind(ALONE, Number("a")).sort == Sort()


def test_a_count_shows_the_cases_that_it_counts() -> None:
    found = behind(BOARD, Number("b", repository="alpha", outcomes=("failed",)))
    assert found.filters == Filters(repositories=("alpha",), outcomes=(OutcomeFilter("b", ("failed",)),))


def test_a_difference_is_looked_at_by_its_own_level() -> None:
    assert behind(BOARD, Number("b", level="file")).filters.level == "file"


def test_misses_within_a_part_that_has_none_are_all_its_cases() -> None:
    board = campaign({"a": [1, None, 1, None]}).board  # the intents alternate
    assert lost(board, Number("a", intent="symbol_lookup")).filters.outcomes == ()
    assert lost(board, Number("a", intent="docs_lookup")).filters.outcomes != ()
    assert lost(board, Number("a", repository="alpha", intent="symbol_lookup")).filters.outcomes == ()
