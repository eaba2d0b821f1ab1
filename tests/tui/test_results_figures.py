"""What the results screen shows, as values: columns that fit, orders, figures and plots."""

from __future__ import annotations

from dataclasses import replace

import pytest
from rich.cells import cell_len
from textual.content import Content

from core.reports.details import ALL
from tests.unit.reports.boards import campaign
from tui.results.cost import cost, cost_plot
from tui.results.curve import curve, curve_plot
from tui.results.grid import Column, Figure, Grid, Row, Sorting, exported, fitting, in_order, next_sorting
from tui.results.groups import groups, heat
from tui.results.leaderboard import answered_words, leaderboard
from tui.results.plot import log_ticks, share_ticks
from tui.results.sheets import sheets
from tui.results.view import View
from tui.widgets.verdict_text import wrapped

MADE = campaign(
    {
        "first": [1, 1, 1, None, 1, 2],
        "second": [2, None, 2, None, 1, 3],
        "third": [1, 1, "failed", "empty", 1, 1],
    },
    baseline="first",
    repositories={"alpha": False, "beta": True},
    memory_budget_mib=500,
)
VIEW = View(MADE.board, MADE.about, {"first": 2**20})


def column(grid: Grid, title: str) -> list[Figure]:
    at = [each.title for each in grid.columns].index(title)
    return [row.figures[at] for row in grid.rows]


def grid_of(*rows: float | None) -> Grid:
    made = [Row(str(at), (Figure(f"r{at}", f"r{at}"), Figure("x", value))) for at, value in enumerate(rows)]
    return Grid("", (Column("NAME", numeric=False), Column("V", 1)), tuple(made))


def test_columns_are_chosen_by_rank_and_shown_in_their_order() -> None:
    columns = (Column("a"), Column("bbbbbbbb", 2), Column("cc", 1))
    grid = Grid("", columns, (Row("", (Figure("aa"), Figure("b"), Figure("cccc"))),))
    assert fitting(grid, 10) == (0, 2)
    assert fitting(grid, 20) == (0, 1, 2)
    assert fitting(grid, 1) == (0,)


def test_sorting_leaves_unknown_values_last_either_way() -> None:
    grid = grid_of(0.5, None, 0.9, 0.1)
    keys = [[row.key for row in in_order(grid, Sorting("V", way))] for way in (True, False)]
    assert keys == [["2", "0", "3", "1"], ["3", "0", "2", "1"]]
    assert in_order(grid, Sorting("gone", True)) == grid.rows


def test_asking_again_for_a_column_turns_its_order_then_takes_it_back() -> None:
    grid = grid_of(0.5)
    first = next_sorting(grid, 1, None)
    assert first == Sorting("V", descending=True)
    second = next_sorting(grid, 1, first)
    assert second == Sorting("V", descending=False)
    assert next_sorting(grid, 1, second) is None
    assert next_sorting(grid, 0, second) == Sorting("NAME", descending=False)


def test_the_leaderboard_fits_80_columns_with_verdict_and_support() -> None:
    grid = leaderboard(VIEW)
    shown = {grid.columns[at].title for at in fitting(grid, 80)}
    assert {"CANDIDATE", "Recall@5", "Δ R@5", "DECISION", "SUPPORT"} <= shown
    assert {each.title for each in grid.columns} >= {
        "detects R@5",
        "adj. p MRR@10",
        "Δ R@5 95 %",
        "EMPTY",
        "FAILED",
    }


def test_the_metric_in_the_foreground_comes_first() -> None:
    grid = leaderboard(replace(VIEW, metric_number=1))
    shown = {grid.columns[at].title for at in fitting(grid, 70)}
    assert {"MRR@10", "Δ MRR@10"} <= shown and "Recall@5" not in shown


def test_micro_has_no_intervals_or_tests() -> None:
    grid = leaderboard(VIEW.other_mean())
    titles = {each.title for each in grid.columns}
    assert "adj. p R@5" not in titles and "Δ R@5" in titles
    assert all("(" not in figure.text for figure in column(grid, "Recall@5"))
    assert "intervals and tests are of macro" in grid.caption
    assert VIEW.other_mean().other_mean() == VIEW


@pytest.mark.parametrize(
    "view", [VIEW, VIEW.other_mean(), VIEW.next_metric(), View(campaign({"x": [1]}).board, MADE.about)]
)
def test_every_row_of_every_tab_has_a_figure_for_every_column(view: View) -> None:
    for sheet in sheets():
        grid = sheet.grid(view)
        assert all(len(row.figures) == len(grid.columns) for row in grid.rows)
        for row in grid.rows:
            for figure in row.figures:
                assert sheet.details(view, row, figure)


def test_counts_have_their_cases_behind_them_only_where_there_are_any() -> None:
    rows = dict(
        zip((row.key for row in leaderboard(VIEW).rows), column(leaderboard(VIEW), "FAILED"), strict=True)
    )
    assert rows["first"].text == "0" and rows["first"].behind is None
    behind = rows["third"].behind
    assert rows["third"].text == "1" and behind is not None
    assert behind.filters.outcomes[0].words == ("failed",)
    answered = dict(
        zip((row.key for row in leaderboard(VIEW).rows), column(leaderboard(VIEW), "ANSWERED"), strict=True)
    )
    assert answered["third"].text == "5/6"


def test_how_much_was_answered_is_said() -> None:
    assert answered_words(MADE.board) == "17 of 18 queries answered, the rest count as misses"
    assert answered_words(campaign({"a": [1, 1]}).board) == "all 2 queries answered"


def test_groups_have_a_row_each_and_one_of_all() -> None:
    grid = groups(VIEW, "repository")
    assert [row.key for row in grid.rows] == [ALL, "alpha", "beta"]
    assert [row.repository for row in grid.rows] == [None, "alpha", "beta"]
    assert [figure.text for figure in column(grid, "CASES")] == ["6", "3", "3"]
    assert [figure.text for figure in column(grid, "REPOSITORY")] == ["all cases", "alpha", "beta (private)"]
    first = column(grid, "first")[1]
    assert first.text == "1.000 █" and first.fill == 1.0
    assert [row.repository for row in groups(VIEW, "intent").rows] == [None, None, None]


def test_heat_rises_with_the_value() -> None:
    assert [heat(value) for value in (-1, 0, 0.49, 0.51, 1)] == ["▁", "▁", "▄", "▅", "█"]


def test_a_filter_leaves_the_candidates_whose_name_holds_it_and_their_marks() -> None:
    view = replace(VIEW, needle="EC")
    assert [row.key for row in leaderboard(view).rows] == ["second"]
    assert view.marks == VIEW.marks
    assert [each.title for each in groups(view, "intent").columns] == [
        "INTENT",
        "CASES",
        "second",
        "Δ second",
    ]
    assert leaderboard(replace(VIEW, needle="[/foo]")).rows == ()


def test_exports_hold_all_columns_with_a_plain_minus_and_name_repositories() -> None:
    header, rows = exported(groups(VIEW, "repository"))
    assert len(header) == len(rows[0][1])
    assert [label for label, _ in rows] == [None, "alpha", "beta"]
    assert not any("−" in str(value) for _, cells in rows for value in cells)


def test_the_cost_tab_places_each_timed_candidate_by_a_letter() -> None:
    plot = cost_plot(VIEW)
    assert {series.mark for series in plot.series} == set("ABC")
    assert plot.note == ""
    grid = cost(VIEW)
    assert [figure.text for figure in column(grid, "ON DISK")].count("1.00 MiB") == 1
    assert "RSS BUDGET 500 MiB" in {each.title for each in grid.columns}


def test_what_was_not_timed_is_named_in_place_of_drawn() -> None:
    board = campaign({"a": [1, 1], "b": ["failed", "failed"]}, baseline="a").board
    plot = cost_plot(View(board, MADE.about))
    assert [series.name for series in plot.series] == ["a"]
    assert plot.note == "not timed in emb: b"


def test_channels_in_which_nothing_was_timed_are_passed_over() -> None:
    board = campaign({"a": [1]}).board  # a symbol alone: no docs
    assert View(board, MADE.about).next_channel().channel == "ctx"


def test_a_curve_joins_each_candidates_cutoffs_the_best_on_top() -> None:
    plot = curve_plot(VIEW)
    assert plot.series[-1].name == VIEW.candidates[0]
    assert all(series.joined and len(series.points) == 3 for series in plot.series)
    assert list(plot.x_ticks.values()) == ["1", "5", "10"]
    assert "MRR@k" in curve(VIEW.next_curve()).caption


def test_logarithmic_ticks_enclose_the_values() -> None:
    assert log_ticks([0.003, 0.04]) == pytest.approx((0.002, 0.005, 0.01, 0.02, 0.05))
    assert log_ticks([0.01]) == pytest.approx((0.01, 0.02))
    assert log_ticks([]) == ()


@pytest.mark.parametrize("values", [[0.0], [1.0], [0.5], [0.31, 0.99], [0.0, 1.0], [0.1 + 0.2, 0.7]])
def test_ticks_of_shares_enclose_the_values_within_0_and_1(values: list[float]) -> None:
    ticks = share_ticks(values)
    assert ticks[0] <= min(values) + 1e-9 and max(values) - 1e-9 <= ticks[-1]
    assert 0 <= ticks[0] < ticks[-1] <= 1


def test_marks_are_letters_while_there_are_some() -> None:
    names = {f"c{number:02d}": [1] for number in range(54)}
    marks = View(campaign(names).board, MADE.about).marks
    assert marks["c00"] == "A" and len(set(marks.values())) <= 54


def test_a_loss_is_told_with_its_metric() -> None:
    made = campaign({"a": [1] * 80, "b": [2] * 80}, baseline="a")
    grid = leaderboard(View(made.board, made.about))
    texts = [figure.text for figure in column(grid, "DECISION")]
    assert sorted(texts) == ["baseline", "significant loss (MRR@10)"]


def test_intervals_come_before_what_a_test_could_detect() -> None:
    columns = {each.title: each.rank for each in leaderboard(VIEW).columns}
    assert columns["Δ MRR@10 95 %"] < columns["detects R@5"]


def test_candidates_that_answered_nothing_yet_have_dashes() -> None:
    made = campaign({"a": [1] * 8, "b": ["missing"] * 8}, baseline="a")
    view = View(made.board, made.about)
    for grid in (leaderboard(view), leaderboard(view.other_mean())):
        row = next(row for row in grid.rows if row.key == "b")
        titles = [each.title for each in grid.columns]
        assert all(row.figures[titles.index(title)].text == "—" for title in ("Recall@5", "Δ R@5"))
    assert [row.figures[3].text for row in groups(view, "intent").rows] == ["—"] * 3


@pytest.mark.parametrize("width", range(20, 60))
def test_the_answer_parts_no_number_from_its_unit_and_keeps_its_emphasis(width: int) -> None:
    told = Content.assemble("It finds ", ("hybrid", "bold"), " for 92.6 % of queries, 3 points (80 % power).")
    lines = wrapped(told, width).plain.splitlines()
    assert " ".join(lines) == told.plain
    assert all(cell_len(line) <= width and not line.startswith("%") for line in lines)
    emphasised = [wrapped(told, width).plain[span.start : span.end] for span in wrapped(told, width).spans]
    assert emphasised == ["hybrid"]


def test_an_answer_that_is_cut_says_so_and_how_to_see_all() -> None:
    told = Content("None of the 3 candidates gains materially on lexical; the nearest is hybrid.")
    cut = wrapped(told, 40, 1).plain
    assert cut.endswith("… v shows all") and cut.startswith("None of the 3") and cell_len(cut) <= 40
    assert wrapped(told, 40, 3).plain.endswith("hybrid.")
