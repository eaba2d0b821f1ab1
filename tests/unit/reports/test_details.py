"""All that a scoreboard holds of one candidate, in lines."""

from __future__ import annotations

from core.reports.details import ALL, candidate_details, cost_details, curve_details, group_details, group_of
from tests.unit.reports.boards import campaign

MADE = campaign(
    {"a": [1, 1, 1, None], "b": [1, "failed", 2, "empty"], "c": ["unsupported", 1, 1, 1]},
    baseline="a",
    memory_budget_mib=200,
    max_index_seconds=60,
)


def text(lines: tuple[str, ...]) -> str:
    return "\n".join(lines)


def test_a_candidate_is_told_with_decision_tests_and_denominators() -> None:
    told = text(candidate_details(MADE.board, "b"))
    assert "b: needs more data (decision: needs_more_data)" in told
    assert "Recall@5 .500, −.250 to a" in told
    assert "MRR@10" in told and "smallest detectable not estimable" in told
    assert "4 queries planned: 3 answered (1 empty), 1 failed (0 timed out), 0 missing, 0 unsupported" in told
    assert "why primary queries failed: invalid_json 1" in told
    assert "index failed / missing: 0 / 0 of 1" in told


def test_unsupported_queries_are_counted_apart() -> None:
    told = text(candidate_details(MADE.board, "c"))
    assert "4 queries planned: 3 answered (0 empty), 0 failed (0 timed out), 0 missing, 1 unsupported" in told


def test_the_baseline_has_no_difference() -> None:
    told = text(candidate_details(MADE.board, "a"))
    assert told.startswith("a: baseline; exact rule")
    assert "smallest detectable" not in told


def test_without_a_baseline_that_is_said() -> None:
    assert "no baseline was named" in text(candidate_details(campaign({"a": [1, 1]}).board, "a"))


def test_p_is_untold_where_under_half_was_answered() -> None:
    board = campaign({"a": [1, 1, 1, 1], "b": ["failed", "failed", "failed", 1]}, baseline="a").board
    assert "(—), —; smallest" in text(candidate_details(board, "b"))


def test_a_group_is_told_with_its_parts_and_the_baseline() -> None:
    two = campaign(
        {"a": [1, 1, 1, 1], "b": [1, None, 1, 1]}, baseline="a", repositories={"x": False, "y": True}
    )
    lines = group_details(two.board, "b", "repository", "y")
    assert lines[0].startswith("b on y: ") and "(macro, n = 2)" in lines[0]
    assert any(line.startswith("less a (not tested by group)") for line in lines)
    assert any("2 queries planned" in line for line in lines)
    assert group_details(two.board, "b", "repository", ALL)[0].startswith("b on all cases: ")


def test_a_group_without_cases_is_said_to_have_none() -> None:
    assert group_of(MADE.board.candidates["a"], "intent", "task_lookup") is None
    assert group_details(MADE.board, "a", "intent", "task_lookup") == (
        "a on task_lookup: no case was planned",
    )


def test_costs_are_told_with_what_they_are_over() -> None:
    told = text(cost_details(MADE.board, "b"))
    assert "ctx 200 ms (n = 4)" in told
    assert "against a, on the cases that both answered: " in told and "1.00×, within (n = 1" in told
    assert "full indexing 4.00 s (alpha 70 units)" in told
    assert "budget of memory: 200 MiB, observed 300 MiB: exceeded" in told
    assert "budget of indexing: 60 s" in told.replace("1 min 00 s", "60 s") and ": within" in told


def test_a_curve_has_every_metric_at_every_cutoff() -> None:
    told = text(curve_details(MADE.board, "a"))
    assert told.count("@10 ") == 6
    assert "macro  Recall  @1 .750  @5 .750  @10 .750" in told


def test_where_nothing_was_answered_nothing_is_said_of_what_answers_hold() -> None:
    board = campaign({"first": ["failed", "failed"], "second": ["missing", "missing"]}).board
    (told, *_) = candidate_details(board, "first")
    assert told.endswith("; exact rule")
    answered = campaign({"first": [1, "failed"], "second": ["missing", "missing"]}).board
    assert candidate_details(answered, "first")[0].endswith(
        "exact rule, all return the line and kind of what they find"
    )
