"""The sections of the Markdown report that break the results down by repository and intent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from core.reports.markup import table, text
from core.reports.standing import is_unanswered, standing
from core.reports.wording import DASH, count, metric
from core.scoring.records import GroupScore, Scoreboard

MAX_ROWS = 40
MAX_SIDE_BY_SIDE = 6  # candidates that fit beside each other in one table

Lines = Iterator[str]


def by_repository(board: Scoreboard) -> Lines:
    """Yield each repository's results."""
    groups = {
        label: {name: score.repositories.get(label) for name, score in board.candidates.items()}
        for label in board.repositories
    }
    yield from _groups(board, "By repository", "Repository", groups)


def by_intent(board: Scoreboard) -> Lines:
    """Yield each intent's results, with repositories weighing equally within it."""
    groups = {
        intent: {name: score.intents.get(intent) for name, score in board.candidates.items()}
        for intent in board.intents
    }
    yield from _groups(board, "By intent", "Intent", groups)


def by_cell(board: Scoreboard) -> Lines:
    """Yield each repository's results by intent, where there are few enough to read."""
    cells = [
        (label, intent)
        for label in board.repositories
        for intent in board.intents
        if any(intent in score.cells.get(label, {}) for score in board.candidates.values())
    ]
    if len(board.repositories) < 2 or len(cells) > MAX_ROWS:
        return
    groups = {
        f"{label} / {intent}": {
            name: score.cells.get(label, {}).get(intent) for name, score in board.candidates.items()
        }
        for label, intent in cells
    }
    yield from _groups(board, "By repository and intent", "Repository / intent", groups)


def _groups(
    board: Scoreboard, title: str, first: str, groups: Mapping[str, Mapping[str, GroupScore | None]]
) -> Lines:
    yield f"## {title}"
    yield ""
    names = standing(board)
    beside = len(names) <= MAX_SIDE_BY_SIDE
    shown = list(groups)[: MAX_ROWS if beside else max(MAX_ROWS // len(names), 1)]
    if beside:
        yield "Each cell: Hit@1 · Recall@5 · MRR@10."
        yield ""
        rows = [
            [
                text(group),
                _cases(groups[group]),
                *(" · ".join(_three(groups[group].get(name))) for name in names),
            ]
            for group in shown
        ]
        yield from table([first, "Cases", *(text(name) for name in names)], rows)
    else:
        rows = [
            [text(group), text(name), _cases(groups[group]), *_three(groups[group].get(name))]
            for group in shown
            for name in names
        ]
        yield from table([first, "Candidate", "Cases", "Hit@1", "Recall@5", "MRR@10"], rows, words=2)
    if len(groups) > len(shown):
        yield ""
        yield f"And {len(groups) - len(shown):,} more, in `quality-summary.json`."


def _three(group: GroupScore | None) -> list[str]:
    if group is None or is_unanswered(group.counts):
        return [DASH] * 3
    macro = group.macro
    return [metric(value) for value in (macro[1].hit, macro[5].recall, macro[10].mrr)]


def _cases(group: Mapping[str, GroupScore | None]) -> str:
    return count(max((score.counts.planned for score in group.values() if score), default=0))
