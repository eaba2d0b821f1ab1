from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import InputError
from core.ranking import LEVELS
from core.scoring.aggregate import score
from core.scoring.records import (
    CandidatePlan,
    Interval,
    LinesPerHit,
    Measures,
    PlannedCase,
    QueryCounts,
    QueryScore,
    Scoreboard,
)
from tests.unit.scoring.builders import case, index, outcome, plan, probe


def compared(gains: int, losses: int, same: int, *, repositories: int = 1) -> Scoreboard:
    """Two candidates: the baseline misses `gains` cases that the candidate ranks first, and the reverse."""
    total = gains + losses + same
    cases = [case(f"c{n}", f"r{n % repositories}") for n in range(total)]
    queries = []
    for n, planned in enumerate(cases):
        base = None if n < gains else 1
        cand = None if gains <= n < gains + losses else 1
        queries += [outcome("base", planned, base), outcome("cand", planned, cand)]
    return score(plan(cases), queries)


def known(interval: Interval | None) -> Interval:
    assert interval is not None
    return interval


def test_macro_weighs_repositories_and_micro_weighs_queries() -> None:
    cases = [case("a", "small"), *(case(f"b{n}", "large") for n in range(3))]
    found = score(plan(cases, ["m"], baseline=None), [outcome("m", cases[0], 2)]).candidates["m"]
    assert found.macro[5] == Measures(0.5, 0.5, 0.25)
    assert found.micro[5] == Measures(0.25, 0.25, 0.125)
    assert found.macro[1] == Measures(0.0, 0.0, 0.0)


def test_failed_missing_and_unsupported_score_zero_in_the_full_denominator() -> None:
    cases = [case(str(n)) for n in range(6)]
    queries = [
        outcome("m", cases[0], 1),
        outcome("m", cases[1], returned=0, lines_returned=0),
        outcome("m", cases[2], 1, status="failed", timed_out=True, error_class="timeout"),
        outcome("m", cases[3], 1, status="unsupported"),
        outcome("m", cases[4], 1, status="missing"),
    ]
    found = score(plan(cases, ["m"], baseline=None), queries).candidates["m"]
    assert found.counts == QueryCounts(
        planned=6, answered=2, failed=1, missing=2, unsupported=1, empty=1, timed_out=1
    )
    assert found.macro[10] == Measures(1 / 6, 1 / 6, 1 / 6)
    assert found.errors == {"timeout": 1}


def test_breakdowns_cover_repositories_intents_and_both() -> None:
    cases = [
        case("1", "r", intent="symbol_lookup"),
        case("2", "r", intent="docs_lookup", channel="docs"),
        case("3", "s", intent="symbol_lookup"),
        case("4", "s", intent="symbol_lookup"),
    ]
    queries = [outcome("m", cases[0], 1), outcome("m", cases[2], 4)]
    board = score(plan(cases, ["m"], baseline=None), queries)
    found = board.candidates["m"]
    assert (board.repositories, board.intents) == (("r", "s"), ("symbol_lookup", "docs_lookup"))
    assert {name: group.macro[5].mrr for name, group in found.repositories.items()} == {"r": 0.5, "s": 0.125}
    symbols = found.intents["symbol_lookup"]
    assert (symbols.counts.planned, symbols.counts.missing) == (3, 1)
    assert symbols.macro[5] == Measures(0.75, 0.75, (1 + 0.125) / 2)  # r and s weigh the same
    assert symbols.micro[5] == Measures(2 / 3, 2 / 3, 1.25 / 3)
    assert list(found.cells["r"]) == ["symbol_lookup", "docs_lookup"]
    assert list(found.cells["s"]) == ["symbol_lookup"]
    assert found.cells["s"]["symbol_lookup"].macro[5].hit == 0.5


def test_requested_cutoffs_are_scored_beside_those_always_kept() -> None:
    cases = [case("a")]
    board = score(plan(cases, ["m"], baseline=None, cutoffs=(3, 50)), [outcome("m", cases[0], 20)])
    assert board.cutoffs == (1, 3, 5, 10, 50)
    assert [board.candidates["m"].macro[k].hit for k in board.cutoffs] == [0, 0, 0, 0, 1]
    with pytest.raises(InputError, match="101"):
        score(plan(cases, ["m"], baseline=None, cutoffs=(101,)), [])


def test_known_target_recall_counts_each_target() -> None:
    planned = case("a", paths=["a.py", "b.py", "c.py", "d.py"])
    found = score(plan([planned], ["m"], baseline=None), [outcome("m", planned, 4, None, 2, 9)]).candidates[
        "m"
    ]
    assert found.macro[5] == Measures(1.0, 0.5, 0.5)
    assert found.macro[10] == Measures(1.0, 0.75, 0.5)


def at_levels(candidate: str, planned: PlannedCase, **ranks: int | None) -> QueryScore:
    """One query whose target was found at one rank for each level."""
    return outcome(candidate, planned)._replace(target_ranks={level: (ranks[level],) for level in LEVELS})


def test_a_comparison_is_unchanged_by_a_candidate_of_coarser_locations() -> None:
    """By file all find everything; by line `good` finds more: a file-level third must not hide that."""
    cases = [case(str(n)) for n in range(80)]
    queries = []
    for n, planned in enumerate(cases):
        queries += [
            at_levels("base", planned, exact=1 if n < 30 else None, span=1, file=1),
            at_levels("good", planned, exact=1 if n < 60 else None, span=1, file=1),
        ]
    coarse = [at_levels("coarse", planned, exact=None, span=None, file=2) for planned in cases]
    fine = [CandidatePlan(name, probes=False, indexes=False) for name in ("base", "good")]
    third = CandidatePlan("coarse", level="file", probes=False, indexes=False)
    two = score(plan(cases, fine), queries)
    three = score(plan(cases, [*fine, third]), [*queries, *coarse])

    before, after = two.comparisons["good"], three.comparisons["good"]
    assert (before.level, before.decision) == ("exact", "quality_profile_candidate")
    for ours, theirs in ((before.recall_at_5, after.recall_at_5), (before.mrr_at_10, after.mrr_at_10)):
        assert ours._replace(p_holm=0) == theirs._replace(p_holm=0)
        assert ours.p_holm <= theirs.p_holm  # Holm's family grew
    adjusted = before._replace(
        recall_at_5=after.recall_at_5, mrr_at_10=after.mrr_at_10, reasons=after.reasons
    )
    assert adjusted == after

    assert (three.level, three.level_reason) == ("file", "coarse supports nothing finer")
    assert {found.macro[5].recall for found in three.candidates.values()} == {1.0}
    assert three.comparisons["coarse"].level == "file"
    assert three.comparisons["coarse"].recall_at_5.difference == 0.0
    assert two.level == "exact"


def test_lines_per_hit_of_a_comparison_are_those_at_its_level() -> None:
    planned = case("a")
    queries = [at_levels(name, planned, exact=None, span=1, file=1) for name in ("base", "cand", "coarse")]
    candidates = [CandidatePlan(name, probes=False, indexes=False) for name in ("base", "cand")]
    third = CandidatePlan("coarse", level="span", probes=False, indexes=False)
    board = score(plan([planned], [*candidates, third]), queries)
    fine, coarse = board.comparisons["cand"], board.comparisons["coarse"]
    assert fine.lines_per_hit == LinesPerHit(value=None, lines=10, hits=0, unknown=0)
    assert coarse.lines_per_hit == coarse.baseline_lines_per_hit == LinesPerHit(10.0, 10, 1, 0)


def test_the_leaderboard_uses_the_finest_level_that_all_support() -> None:
    planned = case("a")
    candidates = [
        CandidatePlan("fine", probes=False, indexes=False),
        CandidatePlan("coarse", level="span", probes=False, indexes=False),
    ]
    ranks = dict(zip(LEVELS, [(None,), (2,), (1,)], strict=True))
    queries = [outcome(plan_.candidate, planned)._replace(target_ranks=ranks) for plan_ in candidates]
    board = score(plan([planned], candidates, baseline="fine"), queries)
    assert (board.level, board.level_reason) == ("span", "coarse supports nothing finer")
    assert board.candidates["fine"].macro[5].mrr == 0.5
    assert board.comparisons["coarse"].mrr_at_10.difference == 0.0
    fine = {level: scored.macro[5].mrr for level, scored in board.candidates["fine"].levels.items()}
    assert fine == {"exact": 0.0, "span": 0.5, "file": 1.0}
    assert list(board.candidates["coarse"].levels) == ["span", "file"]


def test_many_units_get_the_normal_interval_of_their_standard_error() -> None:
    few, many = (compared(gains=n // 10, losses=0, same=n - n // 10) for n in (200, 2001))
    assert few.method.intervals == "percentile bootstrap"
    assert many.method.intervals == "normal approximation"
    recall = many.comparisons["cand"].recall_at_5
    reach = known(recall.interval).high - recall.difference
    assert reach == pytest.approx(1.96 * (recall.standard_error or 0.0), rel=1e-4)
    assert many.candidates["cand"].intervals[5]["recall"] == Interval(1.0, 1.0)
    assert many == compared(gains=200, losses=0, same=1801)


def test_a_repository_with_one_unit_leaves_no_interval_and_no_support() -> None:
    cases = [case("lone", "small"), *(case(f"c{n}", "large") for n in range(100))]
    queries = [outcome("cand", planned, 1) for planned in cases]
    queries += [outcome("base", planned, None) for planned in cases]
    board = score(plan(cases), queries)
    assert board.method.lone_units == ("small",)
    assert board.candidates["base"].intervals[5]["recall"] is None
    comparison = board.comparisons["cand"]
    assert (comparison.recall_at_5.interval, comparison.recall_at_5.smallest_detectable) == (None, None)
    assert (comparison.decision, comparison.support) == ("quality_profile_candidate", "inconclusive")
    assert "no interval, as a repository with a single unit" in comparison.reasons[0]


def test_lines_returned_per_hit_leave_out_answers_without_lines() -> None:
    cases = [case(str(n)) for n in range(4)]
    queries = [
        outcome("m", cases[0], 1, lines_returned=30),
        outcome("m", cases[1], 11, lines_returned=50),  # found, but not among the ten that count
        outcome("m", cases[2], 1, lines_returned=None),
        outcome("m", cases[3], status="failed", lines_returned=None),
    ]
    found = score(plan(cases, ["m"], baseline=None), queries).candidates["m"]
    assert found.lines_per_hit == LinesPerHit(value=80.0, lines=80, hits=1, unknown=1)


def test_costs_are_told_for_each_candidate() -> None:
    a, b = case("a"), case("b", channel="docs")
    planned = plan([a, b], ["m"], baseline=None, costs=True, memory_budget_mib=1.0, max_index_seconds=1.0)
    found = score(
        planned,
        [
            outcome("m", a, 1, elapsed_s=0.5, sampled_peak_rss_bytes=3 * 2**20),
            outcome("m", b, 1, elapsed_s=0.25),
        ],
        [probe("m", a, elapsed_s=2.0), probe("m", b, "failed")],
        [index("m", "r", elapsed_s=3.0)],
    ).candidates["m"]
    assert {kind: entry.median_s for kind, entry in found.latency.items()} == {
        "emb": 0.5,
        "docs": 0.25,
        "ctx": 2.0,
    }
    assert (found.probes.planned, found.probes.answered, found.probes.failed) == (2, 1, 1)
    assert (found.indexing.total_s, found.sampled_peak_rss_bytes) == (3.0, 3 * 2**20)
    assert [(note.budget, note.within) for note in found.budgets] == [
        ("memory_budget_mib", False),
        ("max_index_seconds", False),
    ]


def test_without_a_baseline_nothing_is_compared_or_decided() -> None:
    cases = [case("a")]
    board = score(plan(cases, ["m", "n"], baseline=None), [])
    assert board.comparisons == {}
    assert [found.decision for found in board.candidates.values()] == [None, None]


def test_a_sure_gain_is_supported() -> None:
    board = compared(gains=30, losses=2, same=68)
    comparison = board.comparisons["cand"]
    recall = comparison.recall_at_5
    assert (recall.baseline, recall.candidate) == (0.7, 0.98)
    assert recall.difference == pytest.approx(0.28)
    assert (recall.units, recall.nonzero_units, recall.exact) == (100, 32, False)
    interval = known(recall.interval)
    assert 0.15 < interval.low < 0.28 < interval.high < 0.4
    assert recall.p < recall.p_holm < 0.05
    assert recall.smallest_detectable == pytest.approx(2.8 * (recall.standard_error or 0.0))
    assert (comparison.decision, comparison.support) == ("quality_profile_candidate", "supported")
    assert board.candidates["base"].decision == "reference"
    assert board.candidates["cand"].decision == "quality_profile_candidate"


def test_a_gain_on_few_cases_is_decided_but_inconclusive() -> None:
    comparison = compared(gains=3, losses=0, same=17).comparisons["cand"]
    assert (comparison.decision, comparison.support) == ("quality_profile_candidate", "inconclusive")
    assert (comparison.recall_at_5.p, comparison.recall_at_5.exact) == (0.25, True)
    assert comparison.recall_at_5.p_holm == 0.5
    assert comparison.recall_at_5.smallest_detectable is None


def test_identical_systems_are_rejected_with_p_one() -> None:
    comparison = compared(gains=0, losses=0, same=80).comparisons["cand"]
    for difference in (comparison.recall_at_5, comparison.mrr_at_10):
        assert (difference.p, difference.p_holm, difference.nonzero_units) == (1.0, 1.0, 0)
        assert difference.interval == Interval(0.0, 0.0)
    assert (comparison.decision, comparison.support) == ("rejected", "supported")


def test_nothing_is_told_around_a_candidate_that_answered_under_half_of_its_queries() -> None:
    cases = [case(str(n)) for n in range(20)]
    queries = [outcome("base", planned, 1) for planned in cases]
    queries += [outcome("cand", planned, 1) for planned in cases[:9]]
    board = score(plan(cases), queries)
    assert board.candidates["cand"].intervals[5]["recall"] is None
    assert board.candidates["base"].intervals[5]["recall"] == Interval(1.0, 1.0)
    recall = board.comparisons["cand"].recall_at_5
    assert (recall.interval, recall.standard_error, recall.smallest_detectable) == (None, None, None)
    half = score(plan(cases), [*queries, outcome("cand", cases[9], 1)])
    assert half.candidates["cand"].intervals[5]["recall"] is not None
    assert half.comparisons["cand"].recall_at_5.interval is not None


def test_holm_adjusts_over_all_candidates_and_both_metrics() -> None:
    cases = [case(str(n)) for n in range(5)]
    queries = [outcome(name, planned, 1) for name in ("x", "y") for planned in cases]
    board = score(plan(cases, ["x", "base", "y"]), queries)
    assert list(board.comparisons) == ["x", "y"]
    for comparison in board.comparisons.values():
        assert comparison.recall_at_5.p == 2 / 2**5
        assert comparison.recall_at_5.p_holm == 4 * 2 / 2**5


def test_the_test_weighs_units_as_the_macro_mean_does() -> None:
    """One gain in a repository of one case outweighs three losses in one of four: it is the larger half."""
    cases = [case("a", "small"), *(case(f"b{n}", "large") for n in range(4))]
    queries = [outcome("cand", cases[0], 1), *(outcome("base", planned, 1) for planned in cases[1:4])]
    recall = score(plan(cases), queries).comparisons["cand"].recall_at_5
    assert recall.difference == pytest.approx(0.5 - 0.375)
    # Of the 16 sign patterns of (1/2, 1/8, 1/8, 1/8) all lie at least 1/8 from 0.
    assert recall.p == 1.0
    assert compared(gains=1, losses=3, same=0).comparisons["cand"].recall_at_5.p == 10 / 16


def test_cases_that_share_a_target_file_are_one_unit() -> None:
    cases = [case(str(n), paths=["same.py"]) for n in range(10)]
    board = score(plan(cases), [outcome("cand", planned, 1) for planned in cases])
    recall = board.comparisons["cand"].recall_at_5
    assert (recall.units, recall.nonzero_units, recall.p) == (1, 1, 1.0)
    assert (recall.standard_error, recall.interval) == (None, None)
    assert (board.method.units, board.method.lone_units) == (1, ("r",))


def test_ten_repositories_are_resampled_themselves() -> None:
    few = compared(gains=20, losses=5, same=75, repositories=9)
    many = compared(gains=20, losses=5, same=75, repositories=10)
    assert few.method.resampling == "within repositories"
    assert many.method.resampling == "over repositories"
    # Every repository holds 2 gains, and half of them a loss: they differ less than single cases do.
    wide, narrow = (known(board.comparisons["cand"].recall_at_5.interval) for board in (few, many))
    assert narrow.high - narrow.low < wide.high - wide.low


@pytest.mark.parametrize("broken", ["query", "probe", "index", "none", "unsupported"])
@pytest.mark.parametrize("whose", ["base", "cand"])
def test_any_failure_of_candidate_or_baseline_needs_more_data(broken: str, whose: str) -> None:
    planned = case("a")
    queries = {name: outcome(name, planned, 1) for name in ("base", "cand", "other")}
    probes = {name: probe(name, planned) for name in queries}
    indexes = {name: index(name, "r") for name in queries}
    if broken == "query":
        queries[whose] = outcome(whose, planned, status="failed")
    elif broken == "unsupported":
        queries[whose] = outcome(whose, planned, status="unsupported")
    elif broken == "probe":
        del probes[whose]
    elif broken == "index":
        indexes[whose] = index(whose, "r", "failed")
    board = score(
        plan([planned], list(queries), costs=True), queries.values(), probes.values(), indexes.values()
    )
    decision = board.comparisons["cand"].decision
    if broken in ("none", "unsupported"):
        assert decision in ("rejected", "quality_profile_candidate")
    else:
        assert decision == "needs_more_data"
        assert board.comparisons["cand"].reasons[0].startswith(f"{whose}: ")
        assert board.comparisons["cand"].support == "inconclusive"
        expected = "needs_more_data" if whose == "base" else "rejected"
        assert board.comparisons["other"].decision == expected


def test_latency_and_budgets_never_decide() -> None:
    cases = [case(str(n)) for n in range(4)]
    queries = [outcome("base", planned, elapsed_s=0.1) for planned in cases]
    queries += [outcome("cand", planned, 1, elapsed_s=90.0) for planned in cases]
    planned = plan(
        cases,
        [CandidatePlan(name, probes=False) for name in ("base", "cand")],
        memory_budget_mib=1e-6,
        max_index_seconds=1e-6,
    )
    comparison = score(planned, queries, (), [index("base", "r"), index("cand", "r")]).comparisons["cand"]
    assert comparison.latency["emb"].ratio == pytest.approx(900)
    assert comparison.latency["emb"].within_limit is False
    assert comparison.latency["ctx"].ratio is None
    assert comparison.decision == "quality_profile_candidate"


def _random_outcomes(cases: list[PlannedCase], candidates: list[str]) -> list[QueryScore]:
    source = random.Random(5)
    ranks = [1, 2, 3, 7, 12, None]
    return [outcome(name, planned, source.choice(ranks)) for name in candidates for planned in cases]


def test_the_scoreboard_depends_neither_on_the_order_of_outcomes_nor_on_iterables() -> None:
    cases = [case(str(n), f"r{n % 3}", paths=[f"p{n // 2}-{n % 3}.py"]) for n in range(60)]
    queries = _random_outcomes(cases, ["base", "cand"])

    def once() -> Iterator[QueryScore]:
        yield from reversed(queries)

    assert score(plan(cases), queries) == score(plan(cases), once())


def test_another_candidate_changes_only_the_adjusted_p() -> None:
    cases = [case(str(n), f"r{n % 3}") for n in range(60)]
    queries = _random_outcomes(cases, ["base", "cand", "third"])
    two = score(plan(cases), [query for query in queries if query.candidate != "third"])
    three = score(plan(cases, ["base", "cand", "third"]), queries)
    assert two.candidates == {name: three.candidates[name] for name in ("base", "cand")}
    ours, theirs = two.comparisons["cand"].recall_at_5, three.comparisons["cand"].recall_at_5
    assert ours._replace(p_holm=0) == theirs._replace(p_holm=0)
    assert ours.p_holm <= theirs.p_holm


@settings(deadline=None, max_examples=15)
@given(st.lists(st.tuples(st.sampled_from("rst"), st.none() | st.integers(1, 12)), min_size=1, max_size=25))
def test_macro_and_intervals_agree_with_plain_arithmetic(drawn: list[tuple[str, int | None]]) -> None:
    cases = [case(str(n), repository) for n, (repository, _) in enumerate(drawn)]
    queries = [outcome("m", planned, rank) for planned, (_, rank) in zip(cases, drawn, strict=True)]
    found = score(plan(cases, ["m"], baseline=None), queries).candidates["m"]
    by_repository: dict[str, list[float]] = {}
    for repository, rank in drawn:
        by_repository.setdefault(repository, []).append(1 / rank if rank and rank <= 10 else 0.0)
    means = [sum(values) / len(values) for values in by_repository.values()]
    assert found.macro[10].mrr == pytest.approx(sum(means) / len(means))
    lone = min(len(values) for values in by_repository.values()) == 1
    for cutoff, metrics in found.intervals.items():
        for name, interval in metrics.items():
            assert (interval is None) == lone
            assert interval is None or 0.0 <= interval.low <= interval.high <= 1.0, (cutoff, name)
    assert sum(group.counts.planned for group in found.repositories.values()) == len(cases)
