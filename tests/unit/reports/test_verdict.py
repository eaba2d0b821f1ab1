from __future__ import annotations

from core.reports.cautions import cautions
from core.reports.sentence import Name, plain
from core.reports.verdict import headline, standing
from tests.unit.reports.boards import Campaign, Rank, campaign


def told(found: Campaign) -> list[str]:
    return [plain(sentence) for sentence in headline(found.board)]


def ranks(*runs: tuple[int, Rank]) -> list[Rank]:
    """Spell ranks as runs: (40, 1), (20, None) is forty firsts and twenty misses."""
    return [rank for length, rank in runs for _ in range(length)]


def test_a_material_and_supported_gain_is_the_first_sentence() -> None:
    found = campaign(
        {"lexical": ranks((40, 1), (40, None)), "hybrid": ranks((60, 1), (20, None))}, baseline="lexical"
    )
    (sentence,) = told(found)
    assert sentence.startswith(
        "hybrid finds the known target in the first five results for 75.0 % of queries, "
        "25.0 points more than lexical (95 % interval +"
    )
    assert sentence.endswith("adjusted p < .001): a material and supported gain.")


def test_names_are_marked_for_the_renderer() -> None:
    found = campaign(
        {"lexical": ranks((40, 1), (40, None)), "hybrid": ranks((60, 1), (20, None))}, baseline="lexical"
    )
    (sentence,) = headline(found.board)
    assert [part for part in sentence if isinstance(part, Name)] == ["hybrid", "lexical"]


def test_a_material_gain_without_support_says_so_and_what_could_be_seen() -> None:
    found = campaign(
        {
            "lexical": [1, None, 1, None, 1, None, 1, None, None, None],
            "hybrid": [1, 1, 1, 1, None, 1, 1, None, 1, 1],
        },
        baseline="lexical",
    )
    assert found.board.comparisons["hybrid"].support == "inconclusive"
    first, second = told(found)
    assert first.endswith("a material gain, but not a supported one; chance could explain it.")
    assert second.startswith("With these cases, a difference of ")


def test_the_power_sentence_is_left_out_where_it_cannot_be_estimated() -> None:
    found = campaign({"lexical": [1, None, None], "hybrid": [1, 1, None]}, baseline="lexical")
    assert found.board.comparisons["hybrid"].recall_at_5.smallest_detectable is None
    assert len(told(found)) == 1


def test_a_gain_in_mrr_alone_is_told_as_better_ranks() -> None:
    found = campaign({"lexical": ranks((80, 4)), "hybrid": ranks((80, 2))}, baseline="lexical")
    (sentence,) = told(found)
    assert sentence.startswith(
        "hybrid ranks the known target higher, with MRR@10 .500 against .250 of lexical (+.250, 95 % interval"
    )
    assert sentence.endswith("a material and supported gain. Recall@5 is 1.000 against 1.000.")


def test_a_rejection_that_the_cases_bear_out() -> None:
    found = campaign({"lexical": ranks((80, 1)), "hybrid": ranks((79, 1), (1, None))}, baseline="lexical")
    assert told(found)[0].endswith(": no material gain, and these cases rule one out.")
    assert "1.2 points less than lexical" in told(found)[0]


def test_a_rejection_from_too_few_cases() -> None:
    found = campaign({"lexical": ranks((8, 1)), "hybrid": ranks((8, 1))}, baseline="lexical")
    (sentence,) = told(found)
    assert ", as much as lexical (" in sentence
    assert sentence.endswith(": no material gain, though these cases are too few to rule one out.")


def test_failures_leave_no_verdict_whichever_side_they_are_on() -> None:
    for failing in ("lexical", "hybrid"):
        own: dict[str, list[Rank]] = {"lexical": ranks((8, 1)), "hybrid": ranks((8, 1))}
        own[failing][2] = "failed"
        (sentence,) = told(campaign(own, baseline="lexical"))
        assert sentence.startswith(
            "No verdict yet on hybrid, because not everything planned was answered "
            f"({failing}: primary query failed, 1 of 8); counting that as misses, it finds"
        )


def test_several_without_a_verdict_share_a_sentence() -> None:
    own: dict[str, list[Rank]] = {name: ranks((8, 1)) for name in ("lexical", "minilm", "hybrid")}
    own["lexical"][0] = "missing"
    first, second = told(campaign(own, baseline="lexical"))
    assert first == (
        "No verdict yet on minilm and hybrid, because not everything planned was answered "
        "(lexical: primary query missing, 1 of 8)."
    )
    assert second.startswith(
        "Counting that as misses: minilm at 100.0 % (+12.5 points, inconclusive); hybrid"
    )


def test_several_candidates_are_told_best_first_with_the_others_after() -> None:
    found = campaign(
        {
            "lexical": ranks((40, 1), (40, None)),
            "minilm": ranks((55, 1), (25, None)),
            "worse": ranks((20, 1), (60, None)),
            "hybrid": ranks((60, 1), (20, None)),
        },
        baseline="lexical",
    )
    first, second, third = told(found)
    assert first.startswith("hybrid finds")
    assert second == "Material gains too: minilm at 68.8 % (+18.8 points, supported)."
    assert third == "No material gain: worse at 25.0 % (−25.0 points, supported)."
    assert standing(found.board) == ("hybrid", "minilm", "lexical", "worse")


def test_when_none_gains_the_baseline_and_the_nearest_are_named() -> None:
    found = campaign(
        {"lexical": ranks((80, 1)), "a": ranks((70, 1), (10, None)), "b": ranks((79, 1), (1, None))},
        baseline="lexical",
    )
    first, second = told(found)
    assert first == (
        "None of the 2 candidates gains materially on lexical, which finds the known target in the first "
        "five results for 100.0 % of queries; the nearest is b at 98.8 % (−1.2 points, supported)."
    )
    assert second == "The others: a at 87.5 % (−12.5 points, supported)."


def test_candidates_that_gain_equally_are_said_to_tie() -> None:
    same = ranks((60, 1), (20, None))
    found = campaign({"lexical": ranks((40, 1), (40, None)), "a": same, "b": list(same)}, baseline="lexical")
    assert told(found)[-1] == "a and b find equally much in their first five results."


def test_a_single_candidate_is_told_with_its_interval() -> None:
    first, second = told(campaign({"hybrid": ranks((6, 1), (2, None))}))
    assert first.startswith(
        "hybrid finds the known target in the first five results for 75.0 % of queries (95 %"
    )
    assert second == "There is nothing to compare it with: run a second candidate and name a baseline."


def test_a_single_candidate_named_as_baseline_is_no_comparison() -> None:
    assert told(campaign({"hybrid": [1, None]}, baseline="hybrid"))[1].startswith(
        "There is nothing to compare"
    )


def test_without_a_baseline_the_order_is_told_and_that_nothing_was_tested() -> None:
    first, second = told(campaign({"a": [1, None, None, None], "b": [1, 1, None, None]}))
    assert first.endswith("for 50.0 % of queries, the most of 2 candidates; next is a at 25.0 %.")
    assert second == "No baseline was named, so no difference was tested."


def test_ties_without_a_baseline_are_told_with_what_sets_them_apart() -> None:
    first, _ = told(campaign({"a": [2, None], "b": [1, None]}))
    assert first == (
        "b and a find equally much: the known target in the first five results for 50.0 % of queries; "
        "b ranks it higher (MRR@10 .500, next .250)."
    )
    first, _ = told(campaign({"a": [1, None], "b": [1, None]}))
    assert first.endswith("for 50.0 % of queries.")


def test_finding_nothing_at_all_has_a_sentence_of_its_own() -> None:
    assert told(campaign({"a": [None, None], "b": [None, None]}))[0] == (
        "No candidate found a known target in its first five results."
    )


def test_several_repositories_are_said_to_be_averaged() -> None:
    found = campaign({"a": [1, None, 1, 1]}, repositories={"alpha": False, "beta": False})
    assert "for 75.0 % of queries (mean of 2 repositories)" in told(found)[0]


def mixed() -> Campaign:
    """A file-level third beside two that return lines; by file nothing sets the two apart."""
    return campaign(
        {
            "lexical": ranks((40, 1), (40, None)),
            "hybrid": ranks((60, 1), (20, None)),
            "grep": ranks((30, 1), (50, None)),
        },
        baseline="lexical",
        levels={"grep": "file"},
    )


def test_a_comparison_by_another_rule_than_the_leaderboards_names_it() -> None:
    found = mixed()
    first, second = told(found)
    assert "25.0 points more than lexical by the exact rule (95 % interval" in first
    assert second == "No material gain: grep at 37.5 % (−12.5 points, supported)."
    assert [plain(sentence) for sentence in cautions(found.board)] == [
        "The leaderboard counts by the file rule, as grep supports nothing finer; hybrid against lexical by "
        "the exact rule, the finest that both support."
    ]


def test_a_missing_interval_is_told_with_its_reason() -> None:
    found = campaign(
        {"a": [1, None, 1], "b": [1, 1, 1]},
        baseline="a",
        repositories={"alpha": False, "beta": False},
    )
    assert found.board.method.lone_units == ("beta",)
    assert "(no interval can be told, adjusted p = 1.000)" in told(found)[0]
    assert plain(cautions(found.board)[0]) == (
        "beta holds a single unit of cases that share a target file, which shows no variation: no interval "
        "can be told."
    )
    alone = campaign({"a": [1]})
    assert told(alone)[0] == ("a finds the known target in the first five results for 100.0 % of queries.")
