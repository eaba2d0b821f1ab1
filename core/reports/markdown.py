"""`quality-summary.md`: the answer in a sentence, then what a reader asks next, details last."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from core.reports import cost_sections, graded_sections, group_sections, method_sections, quality_sections
from core.reports.cautions import cautions
from core.reports.examples import Example
from core.reports.facts import RunFacts
from core.reports.markup import prose, text
from core.reports.standing import standing
from core.reports.verdict import headline
from core.reports.wording import RESULTS_OF
from core.scoring.graded_records import GradedBoard
from core.scoring.records import Scoreboard


def markdown(
    board: Scoreboard,
    about: RunFacts,
    examples: Sequence[Example] = (),
    graded: GradedBoard | None = None,
) -> str:
    """Return the report as GitHub-flavoured Markdown; the same values give the same text.

    Examples from private repositories are left out whoever chose them, and so are graded questions.
    """
    public = [example for example in examples if example.repository not in about.private]
    sections = _sections(board, about, public) if graded is None else _graded(board, about, graded)
    return "\n".join(_lines(board, about, sections)) + "\n"


def _lines(board: Scoreboard, about: RunFacts, sections: Iterable[Iterator[str]]) -> Iterator[str]:
    yield f"# {RESULTS_OF[board.sought]}: {text(about.name)}"
    yield ""
    yield " ".join(prose(sentence) for sentence in headline(board))
    warned = [f"> - {prose(sentence)}" for sentence in cautions(board, about)]
    if warned:
        yield from ("", "> Before relying on this:", ">", *warned)
    for section in sections:
        lines = list(section)
        if lines:
            yield from ("", *lines)


def _sections(board: Scoreboard, about: RunFacts, examples: Sequence[Example]) -> tuple[Iterator[str], ...]:
    return (
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
        method_sections.limits(board),
        method_sections.identity(board, about),
    )


def _graded(board: Scoreboard, about: RunFacts, graded: GradedBoard) -> tuple[Iterator[str], ...]:
    names = standing(board)
    return (
        graded_sections.overall(graded, names),
        graded_sections.by_shape(graded, names),
        quality_sections.leaderboard(board),
        quality_sections.differences(board),
        cost_sections.cost(board, about),
        cost_sections.coverage(board),
        graded_sections.questions(graded, names, about),
        quality_sections.all_cutoffs(board),
        method_sections.method(board),
        method_sections.limits(board),
        method_sections.identity(board, about),
    )
