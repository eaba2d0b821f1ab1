from __future__ import annotations

import re

import pytest

from core.reports.examples import Example
from core.reports.facts import Disturbance
from core.reports.markdown import markdown
from tests.unit.reports.boards import SECRET, Campaign, Rank, campaign

HOSTILE_CLASS = "bad | <b>*x*</b>\n# heading"


@pytest.fixture(scope="module")
def compared() -> Campaign:
    lexical: list[Rank] = [1, None, 4, None, 2, 9, None, 1] * 10
    hybrid: list[Rank] = [1, 2, 2, None, 1, 3, None, 1] * 10
    broken: list[Rank] = [*hybrid]
    broken[:4] = ["failed", "empty", "unsupported", "missing"]
    return campaign(
        {"lexical": lexical, "hybrid": hybrid, "broken": broken},
        baseline="lexical",
        repositories={"alpha": False, "beta": False, "vault": True},
        error_class=HOSTILE_CLASS,
        memory_budget_mib=200.0,
        max_index_seconds=3.0,
    )


@pytest.fixture(scope="module")
def report(compared: Campaign) -> str:
    return markdown(compared.board, compared.about, compared.examples)


def section(report: str, title: str) -> str:
    return report.split(f"## {title}\n", 1)[1].split("\n## ", 1)[0]


def test_the_answer_comes_first(report: str) -> None:
    lines = report.splitlines()
    assert lines[0] == "# Known-target results: demo"
    assert lines[2].startswith("**hybrid** finds the known target in the first five results for ")


def test_sections_stand_in_the_order_that_a_reader_asks_in(report: str) -> None:
    assert re.findall(r"^## (.*)$", report, re.MULTILINE) == [
        "Leaderboard",
        "Differences to lexical",
        "Cost",
        "Coverage",
        "By repository",
        "By intent",
        "Where they disagree",
        "All cutoffs, macro and micro",
        "Other matching rules, and lines per hit",
        "By repository and intent",
        "How sure this is",
        "What this does not say",
        "What was run",
    ]
    assert len(report.splitlines()) < 230


def test_every_table_row_has_its_headers_columns(report: str) -> None:
    width = 0
    rows = 0
    for line in report.splitlines():
        if not line.startswith("|"):
            width = 0
            continue
        columns = len(re.findall(r"(?<!\\)\|", line)) - 1
        width = width or columns
        assert columns == width, line
        rows += 1
    assert rows > 40


def test_the_leaderboard_is_ordered_by_recall_and_shows_intervals(report: str) -> None:
    rows = [line for line in section(report, "Leaderboard").splitlines() if line.startswith("| ")][2:]
    assert [row.split(" | ")[0] for row in rows] == ["| hybrid", "| broken", "| lexical"]
    assert all(len(re.findall(r"\(\.\d{3} to (?:\.|1\.)\d{3}\)", row)) == 4 for row in rows)


def test_differences_tell_decision_and_support_apart(report: str) -> None:
    found = section(report, "Differences to lexical")
    assert "| hybrid | `quality_profile_candidate` | supported |" in found
    assert "| broken | `needs_more_data` | inconclusive |" in found
    assert "+.050 or more" in found


def test_coverage_counts_each_kind_of_outcome_apart(report: str) -> None:
    found = section(report, "Coverage")
    assert "| broken | 80 | 77 | 1 | 1 (0) | 1 | 1 | 0 / 0 of 3 | 0 / 0 of 80 |" in found


def test_error_classes_cannot_become_markup(report: str) -> None:
    assert "\\<b>" not in report
    assert "\n# heading" not in report
    assert "- broken: bad &#124; \\<b\\>\\*x\\*\\</b\\>␊\\# heading 1" in report


def test_memory_is_told_with_its_caveat_and_never_as_kept(report: str) -> None:
    found = section(report, "Cost")
    assert "lower bound" in found
    assert "| hybrid | `memory_budget_mib` | 200 MiB | 300 MiB | exceeded |" in found
    assert "| hybrid | `max_index_seconds` | 3.00 s | 12.0 s | exceeded |" in found
    assert "1.25×" in found


def test_a_memory_budget_is_not_said_to_be_kept() -> None:
    found = campaign({"a": [1, 2]}, memory_budget_mib=400.0)
    report = markdown(found.board, found.about)
    assert "not seen to exceed it (sampled)" in report


def test_the_limits_of_the_labels_are_told(report: str) -> None:
    found = section(report, "What this does not say")
    for words in (
        "not exhaustive",
        "coarser",
        "favour lexical",
        "equals Hit",
        "not established as irrelevant",
    ):
        assert words in found
    assert "more useful answers of an agent" in found


def test_nothing_of_a_private_repository_but_numbers_is_told(compared: Campaign, report: str) -> None:
    assert any(SECRET in query.case_id for query in compared.queries)
    assert SECRET not in report
    assert "| vault | 26 |" in section(report, "By repository")
    assert "| private |" in report


def test_a_private_example_is_left_out_whoever_chose_it(compared: Campaign) -> None:
    case = next(case for case in compared.cases if case.repo == "vault")
    example = Example(case.id, case.repo, case.intent, case.query, case.targets, {"hybrid": 1})
    assert SECRET not in markdown(compared.board, compared.about, [example])


def test_the_same_values_give_the_same_text(compared: Campaign, report: str) -> None:
    assert markdown(compared.board, compared.about, compared.examples) == report


def test_without_a_baseline_there_are_no_differences() -> None:
    found = campaign({"a": [1, None], "b": [2, None]})
    report = markdown(found.board, found.about, found.examples)
    assert "## Differences" not in report
    assert "so no difference was tested" in report
    assert "Latency against" not in report


def test_more_cutoffs_than_fit_beside_each_other_get_rows() -> None:
    found = campaign({"a": [1, None], "b": [2, None]}, cutoffs=(1, 3, 5, 10, 50))
    rows = section(markdown(found.board, found.about), "All cutoffs, macro and micro")
    assert "| a | macro | 3 | .500 | .500 | .500 |" in rows


def test_many_candidates_and_repositories_keep_the_report_short() -> None:
    own: dict[str, list[Rank]] = {f"c{n}": [1] * 100 for n in range(8)}
    found = campaign(own, baseline="c0", repositories={f"r{n}": False for n in range(50)})
    report = markdown(found.board, found.about)
    assert "And 45 more, in `quality-summary.json`." in section(report, "By repository")
    assert "## By repository and intent" not in report


def test_each_comparison_names_its_rule_and_lines_per_hit_beside_the_decision() -> None:
    own: dict[str, list[Rank]] = {"lexical": [1, None] * 40, "hybrid": [1] * 80, "grep": [2] * 80}
    found = campaign(own, baseline="lexical", levels={"grep": "file"})
    report = markdown(found.board, found.about)
    decisions = section(report, "Differences to lexical")
    assert "| hybrid | `quality_profile_candidate` | supported | exact | 86.0 | 176.0 |" in decisions
    assert (
        "| grep | `quality_profile_candidate` | supported | file | — (no lines returned) | 176.0 |"
        in decisions
    )
    assert "by the *file* rule: grep supports nothing finer." in section(report, "Leaderboard")


def test_an_interval_that_cannot_be_told_is_a_dash_with_its_reason() -> None:
    found = campaign({"a": [1], "b": [2]}, baseline="a")
    report = markdown(found.board, found.about)
    assert "| a | baseline | 1.000 (—) | 1.000 (—) | 1.000 (—) | 1.000 (—) |" in report
    assert "There is no interval, as a repository with a single unit" in section(report, "How sure this is")
    assert "alpha holds a single unit of cases" in report


def test_the_report_says_how_its_intervals_were_computed(report: str) -> None:
    assert "percentiles of 1,999 bootstrap draws of units" in section(report, "How sure this is")
    own: dict[str, list[Rank]] = {"a": [1, 2, None] * 700}
    large = campaign(own)
    sure = section(markdown(large.board, large.about), "How sure this is")
    assert "estimate ± 1.96 standard errors" in sure
    assert "above 2,000 units" in sure
    assert "bootstrap draws" not in sure


def test_what_a_detectable_difference_is_and_when_there_is_none_is_said_once(report: str) -> None:
    found = section(report, "Differences to lexical")
    assert "p (Holm) is adjusted for all of these tests. The smallest detectable difference is not" in found
    assert "— where it cannot be estimated: fewer than 6 units differ" in found
    assert "not estimable" not in report
    assert report.count("2.80 standard errors") == 1


def test_the_report_says_when_a_decision_is_supported(report: str) -> None:
    sure = section(report, "How sure this is")
    assert (
        "end below +.050 and can be trusted: at least 6 units differ or, where fewer do, there are more"
        in (sure)
    )
    assert "more than 60 units (the rule of three" in sure
    assert "A significant loss (interval below 0, p (Holm) below .050) always supports a rejection." in sure


def test_queries_with_further_answers_are_a_caution_near_the_leaderboard(compared: Campaign) -> None:
    about = compared.about._replace(ambiguous=49)
    before, _ = markdown(compared.board, about).split("## Leaderboard")
    assert (
        "> - 49 of 80 queries have further answers in their repository that do not count (the same name or "
        "summary stands elsewhere), so scores understate what is found; this affects all candidates alike."
    ) in before
    for none in (0, None):
        quiet = compared.about._replace(ambiguous=none)
        assert "further answers" not in markdown(compared.board, quiet)


def test_where_hardly_anything_was_answered_there_are_dashes() -> None:
    little: list[Rank] = [1, *["missing"] * 7]
    found = campaign({"lexical": little, "hybrid": list(little)}, baseline="lexical")
    report = markdown(found.board, found.about)
    assert report.splitlines()[2].startswith("The run is incomplete: 20 of 34 planned operations have")
    assert "| hybrid | needs more data | .125 (—) | .125 (—) | .125 (—) | .125 (—) |" in report
    assert "| hybrid | Recall@5 | .000 | — | — | — | — | no | 0 of 8 |" in report


def test_a_significant_loss_is_the_verdict_in_the_leaderboard() -> None:
    found = campaign({"lexical": [1] * 80, "hybrid": [1, 1, 2, 1] * 20}, baseline="lexical")
    assert "| hybrid | significant loss (MRR@10), supported | .750 (" in markdown(found.board, found.about)


def test_disturbed_latencies_are_told_next_to_them(compared: Campaign) -> None:
    assert "disturbed" not in markdown(compared.board, compared.about)
    about = compared.about._replace(disturbed=Disturbance(312, 604))
    assert (
        "**Caution:** 312 of 604 operations ran while another campaign was measuring on this machine; "
        "their latencies are disturbed."
    ) in section(markdown(compared.board, about), "Cost")
