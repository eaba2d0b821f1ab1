"""The heat tables: every candidate's metric on each intent or each repository."""

from __future__ import annotations

from core.browse.behind import Number, behind, lost
from core.reports.details import ALL, Kind, group_of
from core.reports.standing import is_unanswered
from core.reports.wording import DASH, count, difference, metric, rule_words
from tui.results.grid import Column, Figure, Grid, Row
from tui.results.view import View

ALL_CASES = "all cases"
_LEVELS = "▁▂▃▄▅▆▇█"


def groups(view: View, kind: Kind) -> Grid:
    """Return a row for each group of cases and a column for each candidate, with a bar beside each number."""
    keys = view.board.intents if kind == "intent" else view.board.repositories
    names = view.candidates
    columns = (
        Column(_title(view, kind), numeric=False),
        Column("CASES"),
        *(Column(name) for name in names),
        *(Column(f"Δ {name}", 2) for name in names if _compares(view, name)),
    )
    rows = tuple(_row(view, kind, key, names) for key in (ALL, *keys))
    return Grid(_caption(view, kind), columns, rows)


def heat(value: float) -> str:
    """Return a block that is the higher the nearer a value from 0 to 1 comes to 1."""
    return _LEVELS[min(int(max(value, 0.0) * len(_LEVELS)), len(_LEVELS) - 1)]


def _title(view: View, kind: Kind) -> str:
    if kind == "repository":
        return "REPOSITORY"
    return "INTENT" if view.board.sought != "relevant module" else "SHAPE"


def _caption(view: View, kind: Kind) -> str:
    over = (
        "over a row's repositories" if kind == "intent" and view.mean == "macro" else "over a row's queries"
    )
    baseline = f"; Δ to {view.board.baseline}, untested" if view.board.comparisons else ""
    rule = rule_words(view.board)
    return f"{view.metric_title}, {view.mean} {over}; {rule}; unanswered counts as a miss{baseline}"


def _compares(view: View, name: str) -> bool:
    return view.board.baseline is not None and name != view.board.baseline


def _row(view: View, kind: Kind, key: str, names: tuple[str, ...]) -> Row:
    board = view.board
    found = [group_of(score, kind, key) for score in board.candidates.values()]
    planned = max((group.counts.planned for group in found if group is not None), default=0)
    label = f"{key} (private)" if kind == "repository" and key in view.facts.private else key or ALL_CASES
    figures = (
        Figure(label, label),
        Figure(count(planned), float(planned)),
        *(_figure(view, kind, key, name) for name in names),
        *(_gain(view, kind, key, name) for name in names if _compares(view, name)),
    )
    return Row(key, figures, key if kind == "repository" and key else None)


def _number(view: View, kind: Kind, key: str, name: str) -> Number:
    return Number(
        name,
        repository=key or None if kind == "repository" else None,
        intent=key or None if kind == "intent" else None,
        cutoff=view.metric[1],
    )


def _value(view: View, kind: Kind, key: str, name: str) -> float | None:
    group = group_of(view.board.candidates[name], kind, key)
    metric_name, cutoff = view.metric
    if group is None or is_unanswered(group.counts):
        return None
    return float(getattr(view.means_of(group)[cutoff], metric_name))


def _figure(view: View, kind: Kind, key: str, name: str) -> Figure:
    value = _value(view, kind, key, name)
    if value is None:
        return Figure(DASH, candidate=name)
    number = _number(view, kind, key, name)
    text = f"{metric(value)} {heat(value)}"
    return Figure(text, value, name, behind(view.board, number), lost(view.board, number), value)


def _gain(view: View, kind: Kind, key: str, name: str) -> Figure:
    ours, theirs = (_value(view, kind, key, each) for each in (name, str(view.board.baseline)))
    if ours is None or theirs is None:
        return Figure(DASH, candidate=name)
    number = _number(view, kind, key, name)
    gain = ours - theirs
    return Figure(difference(gain), gain, name, behind(view.board, number), lost(view.board, number))
