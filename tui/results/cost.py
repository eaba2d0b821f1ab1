"""The cost tab: quality against latency, and latencies, indexing, memory and sizes in a table."""

from __future__ import annotations

import math
from collections.abc import Iterator

from core.browse.behind import Behind
from core.browse.filters import Filters, Sort
from core.reports.cost_wording import budget_words, indexing_words
from core.reports.wording import DASH, count, mebibytes, metric, ratio, seconds
from core.scoring.comparison import LATENCY_RATIO_LIMIT
from core.scoring.records import LATENCY_KINDS, BudgetNote
from tui.results.grid import Column, Figure, Grid, Row
from tui.results.plot import Plot, Series, log_ticks, share_ticks
from tui.results.view import View


def cost(view: View) -> Grid:
    """Return a row for each candidate, best first; the channel in the foreground is shown at any width."""
    rows = tuple(Row(name, tuple(_figures(view, name))) for name in view.candidates)
    return Grid(_caption(view), tuple(_columns(view)), rows)


def cost_plot(view: View) -> Plot:
    """Return each candidate's metric over its median latency in one channel, on a logarithmic scale."""
    placed: list[tuple[str, float, float]] = []
    absent = []
    metric_name, cutoff = view.metric
    for name in view.candidates:
        score = view.board.candidates[name]
        median = view.median(name)
        if median is None or median <= 0:
            absent.append(name)
            continue
        placed.append((name, median, getattr(view.means_of(score)[cutoff], metric_name)))
    ticks = log_ticks(median for _, median, _ in placed)
    return Plot(
        title=f"{view.metric_title} over median {view.channel} latency",
        x_title="left is faster, up finds more",
        series=tuple(
            Series(view.marks[name], name, ((math.log10(median), value),)) for name, median, value in placed
        ),
        x_ticks={math.log10(tick): seconds(tick) for tick in ticks},
        y_ticks={tick: metric(tick) for tick in share_ticks([value for _, _, value in placed])},
        note=f"not timed in {view.channel}: {', '.join(absent)}" if absent else "",
    )


def _caption(view: View) -> str:
    told = [f"{view.metric_title} {view.mean}; medians of what answered"]
    if view.board.comparisons:
        told.append(
            f"ratio to {view.board.baseline} where both answered (suggested limit {LATENCY_RATIO_LIMIT:g}×)"
        )
    told.append("RSS sampled, a lower bound")
    return "; ".join(told)


def _columns(view: View) -> Iterator[Column]:
    yield Column(" ", numeric=False)
    yield Column("CANDIDATE", numeric=False)
    yield Column(view.metric_title, 1)
    for kind in LATENCY_KINDS:
        yield Column(kind, 0 if kind == view.channel else 2)
        if view.board.comparisons:
            yield Column(f"{kind} ratio", 3 if kind == view.channel else 7)
    yield Column("INDEXING", 4)
    yield Column("RSS", 5)
    yield Column("UNITS", 8)
    yield Column("ON DISK", 6)
    for title, _ in _budgets(view):
        yield Column(title, 6, numeric=False)


def _figures(view: View, name: str) -> Iterator[Figure]:
    board, score = view.board, view.board.candidates[name]
    metric_name, cutoff = view.metric
    value = getattr(view.means_of(score)[cutoff], metric_name)
    slowest = Behind(Filters(), Sort("elapsed", name, descending=True))
    yield Figure(view.marks[name], view.marks[name], name, slowest)
    yield Figure(name, name, name, slowest)
    yield Figure(metric(value), value, name, slowest)
    for kind in LATENCY_KINDS:
        median = view.median(name, kind)
        yield Figure(seconds(median), median, name, slowest if kind != "ctx" else None)
        if board.comparisons:
            comparison = board.comparisons.get(name)
            found = comparison.latency.get(kind) if comparison else None
            quotient = found.ratio if found else None
            yield Figure(ratio(quotient), quotient, name)
    yield Figure(indexing_words(score.indexing), score.indexing.total_s, name)
    peak = score.sampled_peak_rss_bytes
    yield Figure(mebibytes(peak), None if peak is None else float(peak), name)
    units = [number for number in score.indexing.units.values() if number is not None]
    yield Figure(count(sum(units)) if units else DASH, float(sum(units)) if units else None, name)
    size = view.sizes.get(name)
    yield Figure(mebibytes(size), None if size is None else float(size), name)
    for _, budget in _budgets(view):
        note = next((note for note in score.budgets if note.budget == budget), None)
        yield Figure(_outcome(note), _outcome(note), name)


def _budgets(view: View) -> list[tuple[str, str]]:
    """Return the titles and names of the budgets that the campaign set."""
    notes = {note.budget: note for score in view.board.candidates.values() for note in score.budgets}
    titles = {"memory_budget_mib": "RSS BUDGET", "max_index_seconds": "INDEX BUDGET"}
    return [(f"{titles[name]} {budget_words(note)[0]}", name) for name, note in notes.items()]


def _outcome(note: BudgetNote | None) -> str:
    return DASH if note is None else budget_words(note)[2]
