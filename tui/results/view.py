"""What of a run's scores is shown: which mean, metric and channel, and which candidates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from string import ascii_letters
from typing import Literal

from core.reports.details import SHOWN_OF_GROUPS
from core.reports.facts import RunFacts
from core.reports.standing import standing
from core.reports.wording import METRIC_TITLES
from core.scoring.graded_records import GradedBoard
from core.scoring.records import (
    LATENCY_KINDS,
    ByCutoff,
    CandidateScore,
    GroupScore,
    LatencyKind,
    MetricName,
    Scoreboard,
)

Mean = Literal["macro", "micro"]
MEAN_TITLES: Mapping[Mean, str] = {"macro": "Macro", "micro": "Micro"}
_METRICS = (SHOWN_OF_GROUPS[1], SHOWN_OF_GROUPS[2], SHOWN_OF_GROUPS[0])  # the decision's own two first
_CURVES: tuple[MetricName, ...] = ("recall", "mrr", "hit")


@dataclass(frozen=True)
class View:
    """A scoreboard with the choices that a person made of it; `sizes` are bytes of indexes on disk.

    `graded` is there for the runs of graded banks.
    """

    board: Scoreboard
    facts: RunFacts
    sizes: Mapping[str, int] = field(default_factory=dict)
    mean: Mean = "macro"
    metric_number: int = 0
    channel_number: int = 0
    curve_number: int = 0
    needle: str = ""
    graded: GradedBoard | None = None

    @property
    def metric(self) -> tuple[MetricName, int]:
        """The metric and cutoff in the foreground."""
        return _METRICS[self.metric_number % len(_METRICS)]

    @property
    def metric_title(self) -> str:
        """The metric in the foreground, as `Recall@5`."""
        name, cutoff = self.metric
        return f"{METRIC_TITLES[name]}@{cutoff}"

    @property
    def channel(self) -> LatencyKind:
        """The channel whose latency is drawn."""
        return LATENCY_KINDS[self.channel_number % len(LATENCY_KINDS)]

    @property
    def curve(self) -> MetricName:
        """The metric that is drawn over the cutoffs."""
        return _CURVES[self.curve_number % len(_CURVES)]

    @property
    def candidates(self) -> tuple[str, ...]:
        """The candidates whose name holds what was typed, best first."""
        needle = self.needle.casefold()
        return tuple(name for name in standing(self.board) if needle in name.casefold())

    @property
    def marks(self) -> Mapping[str, str]:
        """The letter that stands for each candidate in plots, whichever are shown."""
        names = standing(self.board)
        return {name: ascii_letters[26:][at : at + 1] or "·" for at, name in enumerate(names)}

    def means_of(self, score: CandidateScore | GroupScore) -> ByCutoff:
        """Return the metrics by the mean that was chosen."""
        return score.macro if self.mean == "macro" else score.micro

    def median(self, candidate: str, kind: LatencyKind | None = None) -> float | None:
        """Return a candidate's median seconds in a channel, the foreground's unless named."""
        found = self.board.candidates[candidate].latency.get(kind or self.channel)
        return found.median_s if found else None

    def next_metric(self) -> View:
        """Return the view with the next metric in the foreground."""
        return replace(self, metric_number=self.metric_number + 1)

    def next_channel(self) -> View:
        """Return the view with the next channel in the foreground in which anything was timed."""
        for step in range(1, len(LATENCY_KINDS)):
            turned = replace(self, channel_number=self.channel_number + step)
            if any(turned.median(name) is not None for name in self.board.candidates):
                return turned
        return self

    def next_curve(self) -> View:
        """Return the view with the next metric drawn over the cutoffs."""
        return replace(self, curve_number=self.curve_number + 1)

    def other_mean(self) -> View:
        """Return the view with micro in place of macro, or the other way."""
        return replace(self, mean="micro" if self.mean == "macro" else "macro")
