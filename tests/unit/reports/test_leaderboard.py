from __future__ import annotations

import subprocess
import sys

import pytest
from rich.console import Console

from core.banks.case import Case
from core.reports.examples import Example
from core.reports.facts import Disturbance
from core.reports.leaderboard import Leaderboard
from tests.unit.reports.boards import SECRET, Campaign, Rank, campaign


@pytest.fixture(scope="module")
def compared() -> Campaign:
    lexical: list[Rank] = [1, None, 4, None, 2, 9, None, 1] * 10
    hybrid: list[Rank] = [1, 2, 2, None, 1, 3, None, 1] * 10
    return campaign(
        {"lexical": lexical, "hybrid": hybrid, "minilm": [None, *hybrid[1:]]},
        baseline="lexical",
        repositories={"alpha": False, "vault": True},
    )


def shown(found: Campaign, width: int, examples: tuple[Example, ...] | None = None) -> str:
    console = Console(width=width, force_terminal=False, color_system=None)
    with console.capture() as capture:
        console.print(Leaderboard(found.board, found.about, found.examples if examples is None else examples))
    return capture.get()


def test_eighty_columns_hold_every_number_whole(compared: Campaign) -> None:
    screen = shown(compared, 80)
    assert max(len(line.rstrip()) for line in screen.splitlines()) <= 80
    assert "…" not in screen
    for words in ("Recall@5", "MRR@10", "Hit@1", "95 % interval", "adj. p", "Gain"):
        assert words in screen
    assert "material gain" in screen


def test_the_verdict_stands_on_top_and_in_words(compared: Campaign) -> None:
    assert shown(compared, 200).startswith("hybrid finds the known target in the first five results for ")


@pytest.mark.parametrize("width", [80, 100, 140])
def test_what_it_costs_is_told_at_every_width(compared: Campaign, width: int) -> None:
    (header,) = [line for line in shown(compared, width).splitlines() if "Sampled RSS" in line]
    assert header.split() == ["Cost,", "median", "emb", "docs", "ctx", "Full", "indexing", "Sampled", "RSS"]
    assert "hybrid        50.0 ms  50.0 ms  200 ms         8.00 s      300 MiB" in shown(compared, width)


def test_both_metrics_are_told_with_interval_and_adjusted_p() -> None:
    lexical: list[Rank] = [1] * 80
    screen = shown(campaign({"lexical": lexical, "hybrid": [1, 1, 2, 1] * 20}, baseline="lexical"), 80)
    recall, mrr = (line for line in screen.splitlines() if line.split()[-1:] in (["1.000"], [".001"]))
    assert recall.split()[:5] == ["hybrid", "significant", "loss", "Recall@5", ".000"]
    assert mrr.split()[:5] == ["in", "MRR@10,", "supported", "MRR@10", "−.125"]
    assert "< .001" in mrr


def test_where_hardly_anything_was_answered_no_interval_or_p_is_shown() -> None:
    little: list[Rank] = [1, *["missing"] * 7]
    screen = shown(campaign({"lexical": little, "hybrid": list(little)}, baseline="lexical"), 80)
    assert screen.startswith("The run is incomplete: 20 of 34 planned operations")
    assert ".125 (—)" in screen
    assert "1.000" not in screen
    assert "needs more data" in screen


def test_one_disagreement_is_shown_case_by_candidate(compared: Campaign) -> None:
    screen = shown(compared, 80)
    assert "A case that they disagree on" in screen
    assert "found at rank" in screen
    assert "lexical: " in screen


def test_untrusted_text_is_shown_and_not_obeyed(compared: Campaign) -> None:
    case: Case = compared.cases[0]
    example = Example(
        case.id, "alpha", case.intent, "[bold red]x[/] \x1b]0;t\x07 [/nope]", case.targets, {"hybrid": 1}
    )
    screen = shown(compared, 80, (example,))
    assert "[bold red]x[/] ␛]0;t␇ [/nope]" in screen
    assert "\x1b" not in screen


def test_private_cases_are_not_shown(compared: Campaign) -> None:
    private = next(case for case in compared.cases if case.repo == "vault")
    example = Example(private.id, private.repo, private.intent, private.query, private.targets, {"hybrid": 1})
    assert SECRET not in shown(compared, 80, (example,))


def test_the_longest_names_fold_rather_than_push_numbers_off() -> None:
    found = campaign({"a" * 64: [1, None], "b" * 64: [1, 1]}, baseline="a" * 64)
    screen = shown(found, 80)
    assert max(len(line.rstrip()) for line in screen.splitlines()) <= 80
    assert ".500" in screen


def test_rich_is_imported_only_when_something_is_drawn() -> None:
    program = "import sys, core.reports.leaderboard; sys.exit('rich' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_the_rule_is_named_where_it_is_not_the_finest() -> None:
    own: dict[str, list[Rank]] = {"lexical": [1, None] * 40, "hybrid": [1, 1, 2, 3] * 20}
    exact = campaign(own, baseline="lexical")
    assert " rule" not in shown(exact, 200)
    coarse = campaign(own, baseline="lexical", levels={"lexical": "file"})
    assert "Counted by the file rule: lexical supports nothing finer." in shown(coarse, 200)
    mixed = campaign({**own, "grep": [2, 1] * 40}, baseline="lexical", levels={"grep": "file"})
    screen = shown(mixed, 200)
    assert "material gain (exact rule)" in screen
    assert "Note: The leaderboard counts by the file rule" in screen


def test_disturbed_latencies_are_noted_below_them(compared: Campaign) -> None:
    disturbed = compared._replace(about=compared.about._replace(disturbed=Disturbance(1, 604)))
    assert (
        "Note: 1 of 604 operations ran while another campaign was measuring on this machine; its latency is "
        "disturbed."
    ) in shown(disturbed, 200)
    assert "disturbed" not in shown(compared, 200)


def test_an_interval_that_cannot_be_told_is_a_dash() -> None:
    screen = shown(campaign({"a": [1], "b": [2]}, baseline="a"), 200)
    assert "1.000 (—)" in screen
    assert "Note: alpha holds a single unit of cases" in screen


def test_a_candidate_that_answered_nothing_yet_has_no_figures() -> None:
    found = campaign({"lexical": [1] * 8, "hybrid": ["missing"] * 8}, baseline="lexical")
    lines = [line.split() for line in shown(found, 80).splitlines()]
    assert ["hybrid", "—", "—", "—"] in lines
    assert ["hybrid", "needs", "more", "data", "Recall@5", "—", "—", "—"] in lines


def test_what_failed_for_good_counts_as_a_miss() -> None:
    found = campaign({"lexical": [1] * 8, "hybrid": ["failed"] * 8}, baseline="lexical")
    assert "hybrid" in shown(found, 80) and ".000" in shown(found, 80)


def test_the_command_to_go_on_names_the_run() -> None:
    found = campaign({"lexical": ["missing"] * 8})
    console = Console(width=200, force_terminal=False, color_system=None)
    with console.capture() as capture:
        console.print(Leaderboard(found.board, found.about, run="runs/demo-001"))
    assert "boresight resume runs/demo-001" in capture.get()
