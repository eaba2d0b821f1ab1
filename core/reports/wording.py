"""How numbers are written, in one style for Markdown and the terminal.

Every metric shows three places: `.812` in tables, and the same digits as `81.2 %` and `9.0 points`
in sentences. Probabilities are written like metrics, `.004`. What is not known is a dash.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from core.scoring.comparison import is_sure_loss
from core.scoring.records import (
    Comparison,
    Decision,
    Difference,
    Interval,
    LinesPerHit,
    MetricName,
    Scoreboard,
    Sought,
)

DASH: Final = "—"
MINUS: Final = "−"
MIB: Final = 1024 * 1024
_TOLD = 3  # of several things, before the rest is only counted

DECISION_WORDS: Final[dict[Decision, str]] = {
    "reference": "baseline",
    "quality_profile_candidate": "material gain",
    "rejected": "no material gain",
    "needs_more_data": "needs more data",
}

METRIC_TITLES: Final[dict[MetricName, str]] = {"hit": "Hit", "recall": "Recall", "mrr": "MRR"}

RSS_CAVEAT: Final = (
    "Memory is the largest sum of resident memory over the process tree, sampled every 50 ms: a lower bound "
    "on the peak that can count shared pages twice, so it cannot establish that a hard limit was kept."
)

NO_WIDTH: Final = (
    "An interval without width says that every unit of cases gave the same value here; it cannot show how "
    "far other cases would differ."
)

LINES_LEFT_OUT: Final = "Left out of lines per hit are the cases for which a result came without its lines."

LIMITS: Final = (
    "The labels are not exhaustive judgments of relevance: each case knows the place that it was derived "
    "from, and unlabelled results are not established as irrelevant.",
    "Cases that ask for a module's file are coarser than those that ask for a definition or a heading.",
    "Queries derived from the source share words with it, which can favour lexical matching.",
    "Recall is recall of known targets; with one target a case, it equals Hit at the same cutoff.",
    "A better score does not prove more useful answers of an agent, and no candidate is promoted to a "
    "default by it: a material gain still needs wider checks of usefulness and resources.",
)

GRADED_LIMITS: Final = (
    "Grades and facts are people's judgments: a module graded 0 may still help somebody, and the questions "
    "are those that their authors thought of, about one repository.",
    "A module is relevant where its grade is 1 or more. Rankings of locations are collapsed to modules at "
    "their best rank first; which place inside a module was found is not judged.",
    "Recall, precision and reciprocal rank are trec_eval's; nDCG has the gain 2^rel − 1 and the discount "
    "log2(rank + 1) (Burges et al. 2005), over the ideal order of all graded modules.",
    "Fact recall is conservative: a fact counts where all its words, in its own wording or an alias's, occur "
    "in the context. A paraphrase counts for nothing, and words that stand far apart do count.",
    "The context is what the ctx probe returned, often excerpts that were cut: a fact that was cut away "
    "cannot be found, so low fact recall may speak of the excerpts rather than of the ranking.",
    "Contradiction is a heuristic: a negating word shortly before a fact's words, and a short list of "
    "choices that exclude each other. Faithfulness = fact recall × (1 − contradiction). The definitions are "
    "those of NeuralMind's offline judge (neuralmind.ragas 4.22), after Es et al. 2024, RAGAs.",
    "Embedded columns are similarities of texts by one model, not judgments; a candidate that uses the same "
    "model may look better by them.",
    "Reduction compares counts of words and marks, which are no model's tokens, of contexts and all modules.",
    LIMITS[-1],
)

NOT_GOLD: Final = "Not gold: the answers are the files that commits changed, and nobody judged them."

HISTORICAL_LIMITS: Final = (
    "The answers are not gold: a commit's files were touched when the work was done, which says neither that "
    "each of them answers the subject nor that no other file does. These numbers never stand beside those of "
    "known targets.",
    "Subjects were written after the work by people who knew the files, and may name what no longer stands "
    "in them: the sources asked are those of the pinned commit, not of the time of the change.",
    "Commits of different sets of files count as independent, although many share a file, so that intervals "
    "are rather too narrow.",
    "Recall is the share of the files that a commit changed; merges, reverts, bots and large commits are "
    "left out, as the bank's meta file counts.",
    LIMITS[-1],
)

LIMITS_OF: Final[dict[Sought, tuple[str, ...]]] = {
    "known target": LIMITS,
    "relevant module": GRADED_LIMITS,
    "changed file": HISTORICAL_LIMITS,
}
RESULTS_OF: Final[dict[Sought, str]] = {
    "known target": "Known-target results",
    "relevant module": "Graded results",
    "changed file": "Historical results (not gold)",
}
UNIT_OF: Final[dict[Sought, str]] = {
    "known target": "cases that share a target file",
    "relevant module": "questions that share a module of their highest grade",
    "changed file": "commits that changed the same files",
}


def rule_words(board: Scoreboard) -> str:
    """Return by which rule a result counts: `exact rule`; graded banks know modules only."""
    return f"{board.level} rule" if board.sought != "relevant module" else "modules by path"


def metric(value: float | None) -> str:
    """Write a metric as `.812`."""
    if value is None:
        return DASH
    text = f"{abs(value):.3f}"
    sign = MINUS if value < 0 and float(text) else ""
    return sign + (text[1:] if text.startswith("0") else text)


def difference(value: float | None) -> str:
    """Write a difference of metrics as `+.090` or `−.012`; one that rounds to nothing has no sign."""
    if value is None:
        return DASH
    return _signed(value, metric(abs(value)))


def interval(value: Interval | None, *, signed: bool = False) -> str:
    """Write an interval as `.741 to .880`, or `+.030 to +.150` for differences."""
    if value is None:
        return DASH
    write = difference if signed else metric
    return f"{write(value.low)} to {write(value.high)}"


def with_interval(value: float | None, ends: Interval | None) -> str:
    """Write a metric with its interval beside it, `.812 (.741–.880)`, or a dash for one that is not known."""
    if value is None:
        return DASH
    return (
        f"{metric(value)} ({metric(ends.low)}–{metric(ends.high)})" if ends else f"{metric(value)} ({DASH})"
    )


def has_no_width(value: Interval | None) -> bool:
    """Tell whether an interval's ends are one but for rounding."""
    return value is not None and value.high - value.low < 1e-9


def rule_beside(board: Scoreboard, comparison: Comparison) -> str:
    """Return ` by the span rule` where a comparison uses a finer rule than the leaderboard, else nothing."""
    if comparison.level == board.level or board.sought == "relevant module":
        return ""
    return f" by the {comparison.level} rule"


def metric_name(d: Difference) -> str:
    """Name a difference's metric: `Recall@5`."""
    return f"{METRIC_TITLES[d.metric]}@{d.cutoff}"


def lines_per_hit(value: LinesPerHit) -> str:
    """Write source lines per hit as `12.5`, or a dash with the reason; LINES_LEFT_OUT explains the rest."""
    if value.value is None:
        return f"{DASH} ({'no hit' if not value.unknown else 'no lines returned'})"
    left_out = f" ({counted(value.unknown, 'case')} left out)" if value.unknown else ""
    return f"{value.value:,.1f}{left_out}"


def disturbance(operations: int, planned: int) -> str:
    """Return the caution about operations that ran beside another campaign; empty where none did."""
    if not operations:
        return ""
    latencies = "its latency is" if operations == 1 else "their latencies are"
    return (
        f"{count(operations)} of {counted(planned, 'operation')} ran while another campaign was measuring on "
        f"this machine; {latencies} disturbed."
    )


def coverage(value: Interval) -> str:
    """Write an interval's nominal coverage as `95 %`."""
    return f"{value.level * 100:g} %"


def p_value(p: float | None) -> str:
    """Write a probability as `.004`, and as `< .001` below that."""
    if p is None:
        return DASH
    return "< .001" if p < 0.001 else metric(p)


def equals_p(p: float) -> str:
    """Write a probability in a sentence as `p = .004` or `p < .001`."""
    return f"p {p_value(p)}" if p < 0.001 else f"p = {p_value(p)}"


def percent(value: float) -> str:
    """Write a share as `81.2 %`."""
    return f"{value * 100:.1f} %"


def points(value: float) -> str:
    """Write the size of a difference of shares as `9.0 points`."""
    return f"{abs(value) * 100:.1f} points"


def signed_points(value: float) -> str:
    """Write a difference of shares in points as `+9.0` or `−1.2`."""
    return _signed(value, f"{abs(value) * 100:.1f}")


def seconds(value: float | None) -> str:
    """Write a duration with three significant digits: `12.3 ms`, `4.21 s`, `2 min 05 s`, `1 h 02 min`."""
    if value is None:
        return DASH
    if value < 0.9995:
        return f"{_three_digits(value * 1000)} ms"
    if value < 59.95:
        return f"{_three_digits(value)} s"
    whole = round(value)
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def mebibytes(size: int | None) -> str:
    """Write a size in bytes as `412 MiB`."""
    return DASH if size is None else f"{_three_digits(size / MIB)} MiB"


def size(count: int) -> str:
    """Write bytes in the unit that a person reads: `0 B`, `532 KiB`, `1.2 GiB`."""
    if count < 1024:
        return f"{count} B"
    value, unit = count / 1024, "KiB"
    for larger in ("MiB", "GiB", "TiB"):
        if value < 1024:
            break
        value, unit = value / 1024, larger
    return f"{value:.1f} {unit}" if value < 10 else f"{value:.0f} {unit}"


def ratio(value: float | None) -> str:
    """Write a quotient as `1.10×`."""
    return DASH if value is None else f"{value:.2f}×"


def count(number: int | None) -> str:
    """Write a count with separators of thousands."""
    return DASH if number is None else f"{number:,}"


def counted(number: int, one: str, many: str | None = None) -> str:
    """Write a count with its noun: `1 case`, `75 cases`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def failed_words(failed: int, unasked: int = 0) -> str:
    """Count failures, with those that were never asked apart: `241 failed · 120 not asked (index failed)`.

    `failed` counts both, as either has no result.
    """
    told = f"{count(failed - unasked)} failed"
    return f"{told} · {count(unasked)} not asked (index failed)" if unasked else told


def some(things: Sequence[str], one: str, many: str | None = None) -> str:
    """List a few things, and count the rest: `a; b; c; and 2 more gaps`."""
    more = len(things) - _TOLD
    rest = [f"and {counted(more, f'more {one}', f'more {many}' if many else None)}"] if more > 0 else []
    return "; ".join([*things[:_TOLD], *rest])


def decision_words(comparison: Comparison) -> str:
    """Write a decision: `material gain`; a loss in one metric names it: `significant loss (MRR@10)`."""
    lost = lost_metric(comparison)
    return f"{decision_alone(comparison)} ({lost})" if lost else decision_alone(comparison)


def decision_alone(comparison: Comparison) -> str:
    """Write a decision: `material gain`; a rejection for a significant loss says `significant loss`."""
    words = DECISION_WORDS[comparison.decision]
    if comparison.decision == "rejected" and _lost(comparison):
        return "significant loss"
    gained = comparison.decision == "quality_profile_candidate"
    return f"{words} and loss" if gained and _lost(comparison) else words


def lost_metric(comparison: Comparison) -> str:
    """Name the metric of the loss that a decision tells of; nothing where there is none, or both are lost."""
    lost = _lost(comparison) if comparison.decision in {"rejected", "quality_profile_candidate"} else []
    return metric_name(lost[0]) if len(lost) == 1 else ""


def _lost(comparison: Comparison) -> list[Difference]:
    return [found for found in (comparison.recall_at_5, comparison.mrr_at_10) if is_sure_loss(found)]


def support_word(comparison: Comparison) -> str:
    """Write a decision's support; nothing where there is no decision yet."""
    return "" if comparison.decision == "needs_more_data" else comparison.support


def verdict_words(comparison: Comparison) -> str:
    """Write a decision with its support: `material gain, supported`."""
    return ", ".join(filter(None, (decision_words(comparison), support_word(comparison))))


def macro_words(board: Scoreboard) -> str:
    """Say what a macro metric is the mean of: `75 cases, the mean of the means of 3 repositories`."""
    cases = counted(board.cases, "case")
    repositories = len(board.repositories)
    if repositories < 2:
        return f"the mean over {cases} of one repository"
    return f"{cases}, the mean of the means of {repositories:,} repositories"


def _signed(value: float, size: str) -> str:
    if not size.strip("0."):
        return size
    return f"{MINUS if value < 0 else '+'}{size}"


def _three_digits(value: float) -> str:
    if value >= 99.95:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 9.995 else f"{value:.2f}"
