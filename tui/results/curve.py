"""The curve tab: a metric over the kept cutoffs, drawn, and in figures."""

from __future__ import annotations

from core.browse.behind import Number, behind, lost
from core.reports.wording import METRIC_TITLES, counted, macro_words, metric, rule_words
from tui.results.grid import Column, Figure, Grid, Row
from tui.results.plot import Plot, Series, share_ticks
from tui.results.view import MEAN_TITLES, View


def curve(view: View) -> Grid:
    """Return a row for each candidate with its metric at every cutoff."""
    cutoffs = view.board.cutoffs
    title = METRIC_TITLES[view.curve]
    columns = (
        Column(" ", numeric=False),
        Column("CANDIDATE", numeric=False),
        *(Column(f"@{cutoff}") for cutoff in cutoffs),
    )
    rows = tuple(Row(name, _figures(view, name)) for name in view.candidates)
    if view.mean == "macro":
        mean = macro_words(view.board)
    else:
        mean = f"the mean over {counted(view.board.cases, 'query', 'queries')}"
    told = f"{title}@k, {MEAN_TITLES[view.mean].lower()}: {mean}; {rule_words(view.board)}"
    return Grid(told, columns, rows)


def curve_plot(view: View) -> Plot:
    """Return each candidate's metric over the cutoffs, which stand at equal distances."""
    cutoffs = view.board.cutoffs
    series = []
    for name in reversed(view.candidates):  # the best is drawn last, over the others
        points = tuple((float(at), _value(view, name, cutoff)) for at, cutoff in enumerate(cutoffs))
        series.append(Series(view.marks[name], name, points, joined=True))
    values = [y for one in series for _, y in one.points]
    return Plot(
        title=f"{METRIC_TITLES[view.curve]}@k",
        x_title="k at equal distances; the better candidate on top",
        series=tuple(series),
        x_ticks={float(at): str(cutoff) for at, cutoff in enumerate(cutoffs)},
        y_ticks={tick: metric(tick) for tick in share_ticks(values)},
    )


def _figures(view: View, name: str) -> tuple[Figure, ...]:
    mark = view.marks[name]
    whole = behind(view.board, Number(name))
    return (
        Figure(mark, mark, name, whole),
        Figure(name, name, name, whole),
        *(_figure(view, name, cutoff) for cutoff in view.board.cutoffs),
    )


def _figure(view: View, name: str, cutoff: int) -> Figure:
    value = _value(view, name, cutoff)
    number = Number(name, cutoff=cutoff)
    return Figure(metric(value), value, name, behind(view.board, number), lost(view.board, number))


def _value(view: View, name: str, cutoff: int) -> float:
    return float(getattr(view.means_of(view.board.candidates[name])[cutoff], view.curve))
