"""`quality-summary.md`: the answer in a sentence, then what a reader asks next, details last."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from core.reports import cost_sections, group_sections, method_sections, quality_sections
from core.reports.cautions import cautions
from core.reports.examples import Example
from core.reports.facts import RunFacts
from core.reports.markup import prose, text
from core.reports.verdict import headline
from core.scoring.records import Scoreboard


def markdown(board: Scoreboard, about: RunFacts, examples: Sequence[Example] = ()) -> str:
    """Return the report as GitHub-flavoured Markdown; the same values give the same text.

    Examples from private repositories are left out whoever chose them.
    """
    public = [example for example in examples if example.repository not in about.private]
    return "\n".join(_lines(board, about, public)) + "\n"


def _lines(board: Scoreboard, about: RunFacts, examples: Sequence[Example]) -> Iterator[str]:
    yield f"# Known-target results: {text(about.name)}"
    yield ""
    yield " ".join(prose(sentence) for sentence in headline(board))
    warned = [f"> - {prose(sentence)}" for sentence in cautions(board, about)]
    if warned:
        yield from ("", "> Before relying on this:", ">", *warned)
    sections = (
        quality_sections.leaderboard(board),
        quality_sections.differences(board),
        cost_sections.cost(board, about),
        cost_sections.coverage(board),
        group_sections.by_repository(board),
        group_sections.by_intent(board),
        quality_sections.where_they_disagree(board, examples),
        quality_sections.all_cutoffs(board),
        quality_sections.levels(board),
        group_sections.by_cell(board),
        method_sections.method(board),
        method_sections.limits(),
        method_sections.identity(board, about),
    )
    for section in sections:
        lines = list(section)
        if lines:
            yield from ("", *lines)
