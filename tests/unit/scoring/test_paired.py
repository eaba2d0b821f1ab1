"""A fall between two runs: the same statistics as a comparison with a baseline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from core.scoring.aggregate import score
from core.scoring.paired import Pair, PairedDifference, paired_differences
from core.scoring.profile import measures_of
from core.scoring.records import PlannedCase
from tests.unit.scoring import builders

CASES = tuple(builders.case(f"c{number:02}", "rs"[number % 2]) for number in range(24))


def pair(new: Sequence[float], old: Sequence[float], cases: Sequence[PlannedCase] = CASES) -> Pair:
    ids = [case.case_id for case in cases]
    return Pair(
        "cand", "recall@5", tuple(cases), dict(zip(ids, new, strict=True)), dict(zip(ids, old, strict=True))
    )


def only(asked: Pair) -> PairedDifference:
    (found,) = paired_differences([asked], seed=0)
    return found


def test_it_agrees_with_a_comparison_of_two_candidates() -> None:
    new: Mapping[str, int | None] = {case.case_id: [1, None, 3][at % 3] for at, case in enumerate(CASES)}
    old: Mapping[str, int | None] = {case.case_id: [1, 2, None, 4][at % 4] for at, case in enumerate(CASES)}
    queries = [builders.outcome("base", case, old[case.case_id]) for case in CASES]
    queries += [builders.outcome("cand", case, new[case.case_id]) for case in CASES]
    expected = score(builders.plan(CASES), queries).comparisons["cand"].recall_at_5
    values = [[measures_of((ranks[case.case_id],), 5).recall for case in CASES] for ranks in (new, old)]
    found = only(pair(values[0], values[1]))
    assert found.difference == pytest.approx(expected.difference)
    assert (found.p, found.exact, found.nonzero_units) == (expected.p, expected.exact, expected.nonzero_units)
    assert found.interval == expected.interval
    assert found.smallest_detectable == expected.smallest_detectable


def test_a_large_fall_is_significant_and_a_rise_never_fell() -> None:
    fall = only(pair([0.0] * 12 + [1.0] * 12, [1.0] * 24))
    assert fall.fell and fall.difference == pytest.approx(-0.5)
    assert fall.interval is not None and fall.interval.high < 0
    rise = only(pair([1.0] * 24, [0.0] * 12 + [1.0] * 12))
    assert not rise.fell and rise.p == fall.p


def test_equal_runs_give_p_1_and_no_fall() -> None:
    found = only(pair([0.5] * 24, [0.5] * 24))
    assert (found.p, found.p_holm, found.difference, found.fell) == (1.0, 1.0, 0.0, False)
    assert found.smallest_detectable is None


def test_few_differing_units_cannot_fall() -> None:
    found = only(pair([0.0] * 5 + [1.0] * 19, [1.0] * 24))
    assert found.nonzero_units == 5 and not found.fell


def test_a_lone_unit_has_no_interval() -> None:
    found = only(pair([0.0], [1.0], [CASES[0]]))
    assert found.interval is None and not found.fell


def test_p_is_adjusted_over_all_pairs() -> None:
    falls = pair([0.0] * 7 + [1.0] * 17, [1.0] * 24)
    alone, among = only(falls), paired_differences([falls] * 4, seed=0)
    assert alone.fell
    assert [found.p_holm for found in among] == [pytest.approx(min(1, 4 * alone.p))] * 4
    assert not any(found.fell for found in among)


def test_a_case_without_a_value_is_refused() -> None:
    with pytest.raises(ValueError, match="every case needs a value"):
        only(pair([1.0] * 24, [1.0] * 24)._replace(old={}))
