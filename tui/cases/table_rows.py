"""Cases as the rows of a table, in the columns that there is room for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from core.banks.rules import RULES
from core.browse.filters import Filters
from core.browse.rows import CaseRow
from tui.cases.names import short_case, short_intent, short_names
from tui.cases.standings import difference_words, standing_cell
from tui.text import LazyCell, lazy_cell

WIDE = 120  # columns of the terminal from which ids and intents are told in full
CANDIDATES_FROM = 3  # the first column of a candidate
_QUERY_CHARACTERS = 80
_OTHER_COLUMNS = {True: 70, False: 36}  # of the terminal, that all but the candidates take


class TableForm(NamedTuple):
    """How a table is laid out for a width: the heads of its columns and the words for candidates in it."""

    heads: list[str]
    short: tuple[str, ...]
    wide: bool
    width: int


def table_form(candidates: Sequence[str], width: int, group: str = "intent") -> TableForm:
    """Return the form of a table for a terminal of that width; `group` is what the cases are grouped by."""
    wide = width >= WIDE
    short = short_names(candidates, max(width - _OTHER_COLUMNS[wide], 0))
    return TableForm(["CASE", group.upper(), "REPO", *short, "Δ", "QUERY"], short, wide, width)


def table_row(row: CaseRow, form: TableForm, filters: Filters) -> tuple[LazyCell, ...]:
    """Return a case's cells."""
    ranks = [standing_cell(standing, filters.cutoff) for standing in row.standings]
    return (
        lazy_cell(short_case(row.id, row.repository, row.intent, wide=form.wide)),
        lazy_cell(short_intent(row.intent, wide=form.wide), 20 if form.wide else 9),
        lazy_cell(row.repository, 24 if form.wide else 10),
        *ranks,
        lazy_cell(difference_words(form.short, row.standings, filters.cutoff), 40 if form.wide else 24),
        lazy_cell(_asked(row.query), _QUERY_CHARACTERS),
    )


def _asked(query: str) -> str:
    """Return a query without the words that its rule begins all of its queries with."""
    for rule in RULES.values():
        if rule.prefix and query.startswith(rule.prefix):
            return query.removeprefix(rule.prefix)
    return query


def export_header(candidates: Sequence[str]) -> list[str]:
    """Return the columns of an exported list of cases."""
    each = [f"{name} {what}" for name in candidates for what in ("outcome", "rank", "seconds")]
    return ["case", "intent", "repository", "channel", "query", "target", *each]


def export_cells(row: CaseRow) -> list[object]:
    """Return a case's cells for an export; the rank is that of the first hit wherever it stands."""
    found: list[object] = [row.id, row.intent, row.repository, row.channel, row.query, row.target]
    for standing in row.standings:
        found += (standing.status, standing.rank, standing.elapsed_s)
    return found
