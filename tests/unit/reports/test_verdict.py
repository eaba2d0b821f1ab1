from __future__ import annotations

from core.reports.cautions import cautions
from core.reports.sentence import Name, plain
from core.reports.standing import standing
from core.reports.verdict import headline, headline_text
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
    assert sentence.endswith(
        ": no material gain, though one cannot be ruled out where none of 8 units of cases differs."
    )
    wide = campaign({"lexical": [1, None] * 6, "hybrid": [None, 1] * 6}, baseline="lexical")
    assert told(wide)[0].endswith(": no material gain, though these cases are too few to rule one out.")


def test_a_rejection_that_few_cases_bear_out() -> None:
    found = campaign(
        {"lexical": ranks((5, 1), (1, None), (24, 1)), "hybrid": ranks((5, None), (1, 1), (24, 1))},
        baseline="lexical",
    )
    assert found.board.comparisons["hybrid"].recall_at_5.nonzero_units == 6
    assert found.board.comparisons["hybrid"].support == "supported"
    assert told(found)[0].endswith(": no material gain, and these cases rule one out.")


def test_a_significant_loss_is_called_one() -> None:
    found = campaign({"lexical": ranks((30, 1)), "hybrid": ranks((20, 1), (10, None))}, baseline="lexical")
    assert found.board.comparisons["hybrid"].support == "supported"
    (sentence,) = told(found)
    assert ", 33.3 points less than lexical (95 % interval" in sentence
    assert sentence.endswith(": a significant loss, and no material gain.")
    assert "MRR@10" not in sentence  # it tells the same


def test_a_loss_on_the_other_metric_is_named_beside_what_was_found() -> None:
    found = campaign({"lexical": ranks((80, 1)), "hybrid": ranks((60, 1), (20, 2))}, baseline="lexical")
    (sentence,) = told(found)
    assert ", as much as lexical (95 % interval" in sentence
    assert ", but loses 12.5 points of MRR@10 (95 % interval −" in sentence
    assert sentence.endswith("adjusted p < .001): a significant loss, and no material gain.")


def test_a_gain_at_the_price_of_the_other_metric_names_both() -> None:
    found = campaign(
        {"lexical": ranks((60, 1), (20, None)), "hybrid": ranks((80, 4))},
        baseline="lexical",
    )
    (sentence,) = told(found)
    assert ", 25.0 points more than lexical (" in sentence
    assert ", but loses 50.0 points of MRR@10 (" in sentence
    assert sentence.endswith(": a material and supported gain in Recall@5, and a significant loss in MRR@10.")
    found = campaign({"lexical": ranks((80, 4)), "hybrid": ranks((60, 1), (20, None))}, baseline="lexical")
    (sentence,) = told(found)
    assert sentence.startswith("hybrid ranks the known target higher")
    assert ", but loses 25.0 points of Recall@5 (95 % interval" in sentence
    assert sentence.endswith(
        "gain in MRR@10, and a significant loss in Recall@5. Recall@5 is .750 against 1.000."
    )


def test_another_story_of_the_other_metric_is_named_where_it_is_no_loss() -> None:
    found = campaign(
        {"lexical": ranks((12, 3), (188, 1)), "hybrid": ranks((12, 2), (188, 1))}, baseline="lexical"
    )
    assert ", and gains 1.0 points of MRR@10 (95 % interval +" in told(found)[0]
    # Recall leaves a gain open, MRR does not.
    found = campaign(
        {"lexical": ranks((30, 5), (30, None), (40, 5)), "hybrid": ranks((30, None), (30, 5), (40, 5))},
        baseline="lexical",
    )
    assert ", while MRR@10 differs by .000 (95 % interval −.0" in told(found)[0]
    assert told(found)[0].endswith("too few to rule one out.")


def test_lists_name_losses_too() -> None:
    found = campaign(
        {
            "lexical": ranks((80, 1)),
            "a": ranks((60, 1), (20, 2)),
            "b": ranks((78, 1), (2, None)),
            "c": ranks((60, 1), (20, None)),
        },
        baseline="lexical",
    )
    first, second = told(found)
    assert "; the nearest is a at 100.0 % (0.0 points), which loses 12.5 points of MRR@10 (95 %" in first
    assert second == (
        "The others: b at 97.5 % (−2.5 points, supported); c at 75.0 % (a significant loss of 25.0 points)."
    )


def test_a_list_says_why_an_interval_below_the_threshold_is_not_enough() -> None:
    found = campaign(
        {
            "lexical": ranks((20, 1)),
            "a": ranks((19, 1), (1, None)),
            "b": ranks((17, 1), (3, None)),
        },
        baseline="lexical",
    )
    first, second = told(found)
    assert first.endswith("a at 95.0 % (−5.0 points, inconclusive, as only 1 of 20 units of cases differs).")
    assert second.endswith("b at 85.0 % (−15.0 points, inconclusive, as only 3 of 20 units of cases differ).")


def test_of_a_run_hardly_begun_only_that_is_told() -> None:
    little: list[Rank] = [1, *["missing"] * 7]
    found = campaign({"lexical": little, "hybrid": list(little)}, baseline="lexical")
    first, second, third = told(found)
    assert first == (
        "The run is incomplete: 20 of 34 planned operations have an accepted result; there is no verdict "
        "before more is answered."
    )
    assert second == (
        "Needs more data: lexical: primary query missing, 7 of 8; hybrid: primary query missing, 7 of 8."
    )
    assert third == "To run what is missing: boresight resume RUN"
    (caution,) = cautions(found.board, found.about)
    assert plain(caution) == (
        "No interval is told where under half of the queries were answered: lexical 1 of 8, hybrid 1 of 8."
    )
    alone = told(campaign({"lexical": little}))
    assert alone[0].startswith("The run is incomplete: 10 of 17 planned operations have")
    assert alone[1:] == ["To run what is missing: boresight resume RUN"]


def test_where_most_failed_nothing_is_said_to_be_missing() -> None:
    found = campaign({"lexical": ["failed"] * 8, "hybrid": ["failed"] * 8}, baseline="lexical")
    first, second = told(found)
    assert first.startswith("Too much failed: 18 of 34 planned operations have an accepted result; there is")
    assert second.startswith("Needs more data: lexical: primary query failed, 8 of 8")


def test_a_candidate_that_hardly_answered_has_no_numbers_beside_one_that_did() -> None:
    found = campaign(
        {
            "lexical": ranks((40, 1), (40, None)),
            "hybrid": ranks((60, 1), (20, None)),
            "broken": ["failed"] * 80,
            "half": [*ranks((40, 1)), *["failed"] * 40],
        },
        baseline="lexical",
    )
    assert told(found)[1:] == [
        "No verdict yet on half and broken, because not everything planned was answered (half: primary query "
        "failed, 40 of 80; broken: primary query failed, 80 of 80).",
        "Counting that as misses: half at 50.0 % (0.0 points).",
    ]
    alone = campaign({"lexical": ranks((8, 1)), "broken": ["failed"] * 8}, baseline="lexical")
    assert told(alone)[-1].endswith("(broken: primary query failed, 8 of 8).")


def test_the_headline_as_text_is_printable_sentences_on_lines_of_their_own() -> None:
    found = campaign({"a\x1b[1m": [1, None], "b": [1, 1]})
    assert headline_text(found.board).splitlines() == [
        "b finds the known target in the first five results for 100.0 % of queries, the most of 2 "
        "candidates; next is a␛[1m at 50.0 %.",
        "No baseline was named, so no difference was tested.",
    ]


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
    start, first, second = told(campaign(own, baseline="lexical"))
    assert start == "The run is incomplete: 50 of 51 planned operations have an accepted result."
    assert first == (
        "No verdict yet on minilm and hybrid, because not everything planned was answered "
        "(lexical: primary query missing, 1 of 8)."
    )
    assert second.startswith("Counting that as misses: minilm at 100.0 % (+12.5 points); hybrid")


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
    assert third == "No material gain: worse at 25.0 % (a significant loss of 25.0 points)."
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
    assert second == "The others: a at 87.5 % (a significant loss of 12.5 points)."


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
    assert second == "No material gain: grep at 37.5 % (a significant loss of 12.5 points)."
    assert [plain(sentence) for sentence in cautions(found.board, found.about)] == [
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
    assert plain(cautions(found.board, found.about)[0]) == (
        "beta holds a single unit of cases that share a target file, which shows no variation: no interval "
        "can be told."
    )
    alone = campaign({"a": [1]})
    assert told(alone)[0] == ("a finds the known target in the first five results for 100.0 % of queries.")
