r"""CSV for programs: one row for each group of cases, or one for each primary query.

RFC 4180 quoting, `\n` after each row, a header first, `.` as the decimal point, every digit that a
double needs; an empty field is what was not measured. Labels, case ids and intents hold letters,
digits, `_` and `-` only. The one field of free text, `error_class`, is made printable and, where it
begins like a formula (`=`, `+`, `-`, `@`), gets a leading `'`, so that a spreadsheet shows it as text.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Iterable, Iterator
from typing import Any

from core.ranking import LEVELS
from core.reports.examples import first_rank
from core.scoring.records import (
    METRIC_NAMES,
    ByCutoff,
    CandidateScore,
    GroupScore,
    QueryCounts,
    QueryScore,
    Scoreboard,
)
from core.text import printable

METRIC_COLUMNS = (
    "candidate",
    "repository",
    "intent",
    "mean",
    "cutoff",
    *METRIC_NAMES,
    *(f"{name}_{end}" for name in METRIC_NAMES for end in ("low", "high")),
    *QueryCounts._fields,
)
QUERY_COLUMNS = (
    "case",
    "repository",
    "intent",
    "channel",
    "candidate",
    "status",
    "error_class",
    "returned",
    *(f"first_rank_{level}" for level in LEVELS),
    *(f"targets_found_{level}" for level in LEVELS),
    "targets",
    "elapsed_s",
    "timed_out",
    "lines_returned",
    "sampled_peak_rss_bytes",
)
_FORMULA = ("=", "+", "-", "@")


def metrics_csv(board: Scoreboard) -> Iterator[str]:
    """Yield, line by line, each candidate's metrics: all cases, then repositories, intents and cells.

    An empty `repository` or `intent` stands for all of them. The interval's ends belong to the macro
    rows over all cases, at the cutoffs that have one.
    """
    yield csv_line(METRIC_COLUMNS)
    for name, score in board.candidates.items():
        whole = GroupScore(score.counts, score.macro, score.micro)
        yield from _group_lines((name, "", ""), whole, score)
        for label, group in score.repositories.items():
            yield from _group_lines((name, label, ""), group)
        for intent, group in score.intents.items():
            yield from _group_lines((name, "", intent), group)
        for label, by_intent in score.cells.items():
            for intent, group in by_intent.items():
                yield from _group_lines((name, label, intent), group)


def queries_csv(queries: Iterable[QueryScore], private: Collection[str]) -> Iterator[str]:
    """Yield, line by line, what became of each primary query, with the ranks by every matching rule.

    Queries of the repositories labelled in `private` are left out. A candidate whose locations do not
    support a rule has no meaningful rank by it: `levels` in the summary tells which it supports.
    """
    yield csv_line(QUERY_COLUMNS)
    for query in queries:
        if query.repository not in private:
            yield csv_line(_query_row(query))


def _group_lines(
    where: tuple[str, str, str], group: GroupScore, intervals_of: CandidateScore | None = None
) -> Iterator[str]:
    means: tuple[tuple[str, ByCutoff], ...] = (("macro", group.macro), ("micro", group.micro))
    for mean, by_cutoff in means:
        for cutoff, measures in by_cutoff.items():
            ends: list[Any] = []
            for metric in METRIC_NAMES:
                found = None
                if intervals_of is not None and mean == "macro":
                    found = intervals_of.intervals.get(cutoff, {}).get(metric)
                ends += [found.low, found.high] if found else [None, None]
            yield csv_line([*where, mean, cutoff, *measures, *ends, *group.counts])


def _query_row(query: QueryScore) -> list[Any]:
    return [
        query.case_id,
        query.repository,
        query.intent,
        query.channel,
        query.candidate,
        query.status,
        None if query.error_class is None else free_text(query.error_class),
        query.returned,
        *(first_rank(query, level) for level in LEVELS),
        *(sum(rank is not None for rank in query.target_ranks[level]) for level in LEVELS),
        query.relevant,
        query.elapsed_s,
        str(query.timed_out).lower(),
        query.lines_returned,
        query.sampled_peak_rss_bytes,
    ]


def free_text(value: str) -> str:
    """Return text as a field that no spreadsheet takes for a formula."""
    shown = printable(value, 200)
    return f"'{shown}" if shown.startswith(_FORMULA) else shown


def csv_line(cells: Iterable[Any]) -> str:
    """Return one row with its line end."""
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerow(cells)
    return buffer.getvalue()
