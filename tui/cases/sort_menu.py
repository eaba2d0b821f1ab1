"""The menu of orders, asked step by step: what to sort by, of which candidate, against which other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from core.browse.filters import Sort
from tui.screens.dialogs import Choice, ChoiceDialog


class _Order(NamedTuple):
    sort: Sort
    label: str
    candidates: int  # how many it must be told


ORDERS = {
    "case": _Order(Sort(), "Case, in the bank's order", 0),
    "rank": _Order(Sort("rank"), "Rank of a candidate, best first", 1),
    "worst": _Order(Sort("rank", descending=True), "Rank of a candidate, worst first", 1),
    "loses": _Order(Sort("delta"), "Where a candidate loses most against another", 2),
    "gains": _Order(Sort("delta", descending=True), "Where a candidate gains most against another", 2),
    "slowest": _Order(Sort("elapsed", descending=True), "Latency of a candidate, slowest first", 1),
    "fastest": _Order(Sort("elapsed"), "Latency of a candidate, fastest first", 1),
}


def order_dialog(candidates: Sequence[str]) -> ChoiceDialog:
    """Return the menu of what to sort by; its answer is a key of ORDERS."""
    choices = [
        Choice(key, order.label) for key, order in ORDERS.items() if order.candidates <= len(candidates)
    ]
    return ChoiceDialog("Sort the cases by", "", choices)


def next_dialog(order: str, chosen: Sequence[str], candidates: Sequence[str]) -> ChoiceDialog | None:
    """Return the menu of candidates that an order still needs to be told, None once it has them all."""
    if len(chosen) >= ORDERS[order].candidates:
        return None
    title = ORDERS[order].label if not chosen else f"{ORDERS[order].label}: {chosen[0]} against"
    return ChoiceDialog(title, "", [Choice(name, name) for name in candidates if name not in chosen])


def sort_of(order: str, chosen: Sequence[str]) -> Sort:
    """Return the order that was chosen."""
    first, other = (*chosen, None, None)[:2]
    return ORDERS[order].sort._replace(candidate=first, other=other)
