"""The outcome for a terminal: verdict, leaderboard, differences and one example, in 80 columns or more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from core.ranking import CHANNELS, LEVELS
from core.reports.cautions import cautions
from core.reports.examples import Example, Outcome, place
from core.reports.facts import RunFacts
from core.reports.sentence import Name, Sentence
from core.reports.verdict import headline, standing
from core.reports.wording import (
    DASH,
    difference,
    disturbance,
    interval,
    mebibytes,
    metric,
    p_value,
    seconds,
    verdict_words,
)
from core.scoring.records import CandidateScore, Comparison, MetricName, Scoreboard
from core.text import printable

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.table import Table
    from rich.text import Text

WIDE = 120  # columns from which times and memory stand in the same table


class Leaderboard:
    """A Rich renderable of a scoreboard; colour only repeats what words say.

    Nothing of a private repository but its aggregate numbers is shown.
    """

    def __init__(self, board: Scoreboard, about: RunFacts, examples: Sequence[Example] = ()) -> None:
        self._board = board
        self._disturbed = disturbance(*about.disturbed)
        public = [example for example in examples if example.repository not in about.private]
        self._example = public[0] if public else None

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        """Yield the parts from top to bottom."""
        yield from self._sentences()
        yield self._standing(wide=options.max_width >= WIDE)
        if self._disturbed:
            yield _plain("Note: ", "yellow").append(self._disturbed)
        if self._board.comparisons:
            yield self._differences()
        if self._example is not None:
            yield from self._disagreement(self._example)

    def _sentences(self) -> Iterator[Text]:
        for sentence in headline(self._board):
            yield _sentence(sentence)
        board = self._board
        if board.level != LEVELS[0] and all(c.level == board.level for c in board.comparisons.values()):
            yield _plain(printable(f"Counted by the {board.level} rule: {board.level_reason}."))
        for sentence in cautions(board):
            yield _plain("Note: ", "yellow").append_text(_sentence(sentence))

    def _standing(self, *, wide: bool) -> Table:
        board = self._board
        cost = ["emb / docs", "ctx", "Index", "Sampled RSS"] if wide else ["emb / docs"]
        table = _table(["Candidate"], ["Hit@1", "Recall@5 (95 %)", "MRR@10 (95 %)", *cost])
        for name in standing(board):
            score = board.candidates[name]
            costs = [_query_medians(score)]
            if wide:
                ctx = score.latency.get("ctx")
                costs += [
                    seconds(ctx.median_s if ctx else None),
                    seconds(score.indexing.total_s),
                    mebibytes(score.sampled_peak_rss_bytes),
                ]
            table.add_row(
                _plain(name, "bold"),
                _plain(metric(score.macro[1].hit)),
                _plain(_with_interval(score, 5, "recall")),
                _plain(_with_interval(score, 10, "mrr")),
                *(_plain(value) for value in costs),
            )
        return table

    def _differences(self) -> Table:
        board = self._board
        against = f"Against {board.baseline}"
        table = _table([against, "Verdict"], ["Recall@5", "95 % interval", "adj. p", "MRR@10"])
        for name in standing(board):
            if name not in board.comparisons:
                continue
            found = board.comparisons[name]
            style = "green" if found.decision == "quality_profile_candidate" else ""
            table.add_row(
                _plain(name, "bold"),
                _plain(_verdict(board, found), style),
                _plain(difference(found.recall_at_5.difference)),
                _plain(interval(found.recall_at_5.interval, signed=True)),
                _plain(p_value(found.recall_at_5.p_holm)),
                _plain(difference(found.mrr_at_10.difference)),
            )
        return table

    def _disagreement(self, example: Example) -> Iterator[Text]:
        yield _plain("A case that they disagree on", "bold")
        yield _plain(f"  query   {printable(example.query, 200)}")
        yield _plain(f"  target  {printable(place(example), 200)}")
        for name in standing(self._board):
            if name in example.outcomes:
                yield _plain("  ").append(name, "bold").append(f": {_told(example.outcomes[name])}")


def _verdict(board: Scoreboard, found: Comparison) -> str:
    words = verdict_words(found.decision, found.support)
    return words if found.level == board.level else f"{words} ({found.level} rule)"


def _told(outcome: Outcome) -> str:
    if isinstance(outcome, int):
        return f"found at rank {outcome}"
    return {
        "miss": "not among the results",
        "empty": "no results",
        "failed": "the query failed",
        "missing": "not asked yet",
        "unsupported": "does not answer this channel",
    }.get(outcome, outcome)


def _query_medians(score: CandidateScore) -> str:
    medians = [found.median_s if (found := score.latency.get(kind)) else None for kind in CHANNELS]
    return " / ".join(seconds(median) for median in medians)


def _with_interval(score: CandidateScore, cutoff: int, name: MetricName) -> str:
    value = metric(getattr(score.macro[cutoff], name))
    ends = score.intervals[cutoff][name]
    return f"{value} ({metric(ends.low)}–{metric(ends.high)})" if ends else f"{value} ({DASH})"


def _table(words: Sequence[str], numbers: Sequence[str]) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, padding=(0, 1), pad_edge=False, collapse_padding=True)
    for title in words:
        table.add_column(_plain(title), overflow="fold")
    for title in numbers:
        table.add_column(_plain(title), justify="right", overflow="fold")
    return table


def _sentence(sentence: Sentence) -> Text:
    built = _plain("")
    for part in sentence:
        built.append(printable(part), "bold" if isinstance(part, Name) else None)
    return built


def _plain(value: str, style: str = "") -> Text:
    from rich.text import Text

    return Text(value, style)
