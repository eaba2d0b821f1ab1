"""The outcome for a terminal: verdict, leaderboard, differences, cost and one example, in 80 columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from core.ranking import LEVELS
from core.reports.cautions import cautions
from core.reports.examples import Example, Outcome, place
from core.reports.facts import RunFacts
from core.reports.sentence import Name, Sentence
from core.reports.standing import is_untold, standing
from core.reports.verdict import headline
from core.reports.wording import (
    DASH,
    decision_words,
    difference,
    disturbance,
    interval,
    mebibytes,
    metric,
    metric_name,
    p_value,
    seconds,
    support_word,
)
from core.scoring.records import LATENCY_KINDS, CandidateScore, Comparison, MetricName, Scoreboard
from core.text import printable

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.table import Table
    from rich.text import Text


class Leaderboard:
    """A Rich renderable of a scoreboard; colour only repeats what words say.

    Nothing of a private repository but its aggregate numbers is shown.
    """

    def __init__(self, board: Scoreboard, about: RunFacts, examples: Sequence[Example] = ()) -> None:
        self._board = board
        self._about = about
        self._disturbed = disturbance(*about.disturbed)
        public = [example for example in examples if example.repository not in about.private]
        self._example = public[0] if public else None

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        """Yield the parts from top to bottom."""
        yield from self._sentences()
        yield self._standing()
        if self._board.comparisons:
            yield self._differences()
        yield self._cost()
        if self._disturbed:
            yield _plain("Note: ", "yellow").append(self._disturbed)
        if self._example is not None:
            yield from self._disagreement(self._example)

    def _sentences(self) -> Iterator[Text]:
        for sentence in headline(self._board):
            yield _sentence(sentence)
        board = self._board
        if board.level != LEVELS[0] and all(c.level == board.level for c in board.comparisons.values()):
            yield _plain(printable(f"Counted by the {board.level} rule: {board.level_reason}."))
        for sentence in cautions(board, self._about):
            yield _plain("Note: ", "yellow").append_text(_sentence(sentence))

    def _standing(self) -> Table:
        board = self._board
        table = _table(["Candidate"], ["Hit@1", "Recall@5 (95 %)", "MRR@10 (95 %)"])
        for name in standing(board):
            score = board.candidates[name]
            table.add_row(
                _plain(name, "bold"),
                _plain(metric(score.macro[1].hit)),
                _plain(_with_interval(score, 5, "recall")),
                _plain(_with_interval(score, 10, "mrr")),
            )
        return table

    def _differences(self) -> Table:
        board = self._board
        against = f"Against {board.baseline}"
        table = _table([against, "Verdict", "Metric"], ["Gain", "95 % interval", "adj. p"])
        for name in standing(board):
            if name not in board.comparisons:
                continue
            found = board.comparisons[name]
            style = "green" if found.decision == "quality_profile_candidate" else ""
            lines = ((name, _decision(board, found)), ("", support_word(found)))
            untold = is_untold(board, found)
            for (own, words), d in zip(lines, (found.recall_at_5, found.mrr_at_10), strict=True):
                table.add_row(
                    _plain(own, "bold"),
                    _plain(words, style),
                    _plain(metric_name(d)),
                    _plain(difference(d.difference)),
                    _plain(interval(d.interval, signed=True)),
                    _plain(p_value(None if untold else d.p_holm)),
                )
        return table

    def _cost(self) -> Table:
        board = self._board
        table = _table(["Cost, median"], [*LATENCY_KINDS, "Full indexing", "Sampled RSS"])
        for name in standing(board):
            score = board.candidates[name]
            latencies = (score.latency.get(kind) for kind in LATENCY_KINDS)
            table.add_row(
                _plain(name, "bold"),
                *(_plain(seconds(found.median_s if found else None)) for found in latencies),
                _plain(seconds(score.indexing.total_s)),
                _plain(mebibytes(score.sampled_peak_rss_bytes)),
            )
        return table

    def _disagreement(self, example: Example) -> Iterator[Text]:
        yield _plain("A case that they disagree on", "bold")
        yield _plain(f"  query   {printable(example.query, 200)}")
        yield _plain(f"  target  {printable(place(example), 200)}")
        for name in standing(self._board):
            if name in example.outcomes:
                yield _plain("  ").append(name, "bold").append(f": {_told(example.outcomes[name])}")


def _decision(board: Scoreboard, found: Comparison) -> str:
    words = decision_words(found)
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
