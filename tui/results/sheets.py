"""The tabs of the results screen: for each what it shows of a view, as plain values."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from core.reports.details import Kind, candidate_details, cost_details, curve_details, group_details
from tui.results.cost import cost, cost_plot
from tui.results.curve import curve, curve_plot
from tui.results.graded import graded, graded_details
from tui.results.grid import Figure, Grid, Row
from tui.results.groups import groups
from tui.results.leaderboard import leaderboard
from tui.results.plot import Plot
from tui.results.view import View

GRADED = "graded"
INTENTS = "intents"


class Sheet(NamedTuple):
    """A tab: its name for files, its table, all of what is pointed at, its plot, and what `t` turns to."""

    name: str
    title: str
    grid: Callable[[View], Grid]
    details: Callable[[View, Row, Figure], tuple[str, ...]]
    turned: Callable[[View], View]
    plot: Callable[[View], Plot] | None = None


def sheets() -> tuple[Sheet, ...]:
    """Return the tabs, in their order; that of GRADED is for the runs of graded banks."""
    return (
        Sheet("leaderboard", "Leaderboard", leaderboard, _candidate, View.next_metric),
        Sheet(GRADED, "Graded", graded, graded_details, View.next_metric),
        _groups(INTENTS, "Intents", "intent"),
        _groups("repositories", "Repositories", "repository"),
        Sheet("cost", "Cost", cost, _cost, View.next_channel, cost_plot),
        Sheet("curve", "Curve", curve, _curve, View.next_curve, curve_plot),
    )


def _groups(name: str, title: str, kind: Kind) -> Sheet:
    def grid(view: View) -> Grid:
        return groups(view, kind)

    def details(view: View, row: Row, figure: Figure) -> tuple[str, ...]:
        if figure.candidate is not None:
            return group_details(view.board, figure.candidate, kind, row.key)
        return tuple(group_details(view.board, each, kind, row.key)[0] for each in view.candidates)

    return Sheet(name, title, grid, details, View.next_metric)


def _candidate(view: View, row: Row, figure: Figure) -> tuple[str, ...]:
    return candidate_details(view.board, row.key)


def _cost(view: View, row: Row, figure: Figure) -> tuple[str, ...]:
    return cost_details(view.board, row.key)


def _curve(view: View, row: Row, figure: Figure) -> tuple[str, ...]:
    return curve_details(view.board, row.key)
