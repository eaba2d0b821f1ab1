"""The outcome for a terminal: verdict, leaderboard, differences, cost and one example, in 80 columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from core.ranking import LEVELS
from core.reports.cautions import cautions
from core.reports.drawing import drawn, drawn_sentence, drawn_table
from core.reports.examples import Example, Outcome, place
from core.reports.facts import RunFacts
from core.reports.graded_tables import graded_tables
from core.reports.standing import is_unanswered, is_untold, standing
from core.reports.verdict import headline
from core.reports.wording import (
    decision_alone,
    difference,
    disturbance,
    interval,
    lost_metric,
    mebibytes,
    metric,
    metric_name,
    p_value,
    seconds,
    support_word,
    with_interval,
)
from core.scoring.graded_records import GradedBoard
from core.scoring.records import LATENCY_KINDS, CandidateScore, Comparison, MetricName, Scoreboard
from core.text import printable

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.table import Table
    from rich.text import Text


class Leaderboard:
    """A Rich renderable of a scoreboard; colour only repeats what words say.

    A graded bank's metrics take the place of the standing. Nothing of a private repository but its aggregate
    numbers is shown.
    """

    def __init__(
        self,
        board: Scoreboard,
        about: RunFacts,
        examples: Sequence[Example] = (),
        graded: GradedBoard | None = None,
        run: str = "RUN",
    ) -> None:
        """`run` is the run's path, for commands to copy."""
        self._board = board
        self._about = about
        self._graded = graded
        self._run = run
        self._disturbed = disturbance(*about.disturbed)
        public = [example for example in examples if example.repository not in about.private]
        self._example = public[0] if public else None

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        """Yield the parts from top to bottom."""
        yield from self._sentences()
        if self._graded is None:
            yield self._standing()
        else:
            yield from graded_tables(self._graded, self._about, standing(self._board))
        if self._board.comparisons:
            yield self._differences()
        yield self._cost()
        if self._disturbed:
            yield drawn("Note: ", "yellow").append(self._disturbed)
        if self._example is not None:
            yield from self._disagreement(self._example)

    def _sentences(self) -> Iterator[Text]:
        for sentence in headline(self._board, self._run):
            yield drawn_sentence(sentence)
        board = self._board
        one_rule = all(c.level == board.level for c in board.comparisons.values())
        if board.sought != "relevant module" and board.level != LEVELS[0] and one_rule:
            yield drawn(printable(f"Counted by the {board.level} rule: {board.level_reason}."))
        for sentence in cautions(board, self._about):
            yield drawn("Note: ", "yellow").append_text(drawn_sentence(sentence))

    def _standing(self) -> Table:
        board = self._board
        table = drawn_table(["Candidate"], ["Hit@1", "Recall@5 (95 %)", "MRR@10 (95 %)"])
        for name in standing(board):
            score = board.candidates[name]
            table.add_row(
                drawn(name, "bold"),
                drawn(metric(None if is_unanswered(score.counts) else score.macro[1].hit)),
                drawn(_with_interval(score, 5, "recall")),
                drawn(_with_interval(score, 10, "mrr")),
            )
        return table

    def _differences(self) -> Table:
        board = self._board
        against = f"Against {board.baseline}"
        table = drawn_table([against, "Verdict", "Metric"], ["Gain", "95 % interval", "adj. p"])
        for name in standing(board):
            if name not in board.comparisons:
                continue
            found = board.comparisons[name]
            style = "green" if found.decision == "quality_profile_candidate" else ""
            lines = ((name, _decision(board, found)), ("", _support(found)))
            untold = is_untold(board, found)
            unknown = any(is_unanswered(board.candidates[each].counts) for each in (name, found.baseline))
            for (own, words), d in zip(lines, (found.recall_at_5, found.mrr_at_10), strict=True):
                table.add_row(
                    drawn(own, "bold"),
                    drawn(words, style),
                    drawn(metric_name(d)),
                    drawn(difference(None if unknown else d.difference)),
                    drawn(interval(d.interval, signed=True)),
                    drawn(p_value(None if untold else d.p_holm)),
                )
        return table

    def _cost(self) -> Table:
        board = self._board
        table = drawn_table(["Cost, median"], [*LATENCY_KINDS, "Full indexing", "Sampled RSS"])
        for name in standing(board):
            score = board.candidates[name]
            latencies = (score.latency.get(kind) for kind in LATENCY_KINDS)
            table.add_row(
                drawn(name, "bold"),
                *(drawn(seconds(found.median_s if found else None)) for found in latencies),
                drawn(seconds(score.indexing.total_s)),
                drawn(mebibytes(score.sampled_peak_rss_bytes)),
            )
        return table

    def _disagreement(self, example: Example) -> Iterator[Text]:
        yield drawn("A case that they disagree on", "bold")
        yield drawn(f"  query   {printable(example.query, 200)}")
        yield drawn(f"  target  {printable(place(example), 200)}")
        for name in standing(self._board):
            if name in example.outcomes:
                yield drawn("  ").append(name, "bold").append(f": {_told(example.outcomes[name])}")


def _decision(board: Scoreboard, found: Comparison) -> str:
    words = decision_alone(found)
    coarser = found.level != board.level and board.sought != "relevant module"
    return f"{words} ({found.level} rule)" if coarser else words


def _support(found: Comparison) -> str:
    """Name the metric of a loss, as the decision stands on the line of the other one."""
    lost = lost_metric(found)
    return f"in {lost}, {support_word(found)}" if lost else support_word(found)


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
    value = None if is_unanswered(score.counts) else getattr(score.macro[cutoff], name)
    return with_interval(value, score.intervals[cutoff][name])
