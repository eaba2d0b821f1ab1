"""The sections of the Markdown report that say how well the candidates find what is known."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from core.ranking import LEVELS
from core.reports.examples import Example, place
from core.reports.markup import code, table, text
from core.reports.standing import is_unanswered, is_untold, standing
from core.reports.wording import (
    DASH,
    DECISION_WORDS,
    LINES_LEFT_OUT,
    METRIC_TITLES,
    UNIT_OF,
    count,
    difference,
    interval,
    lines_per_hit,
    macro_words,
    metric,
    metric_name,
    p_value,
    verdict_words,
)
from core.scoring.comparison import MATERIAL_GAIN
from core.scoring.records import (
    METRIC_NAMES,
    ByCutoff,
    CandidateScore,
    Comparison,
    Difference,
    LinesPerHit,
    MetricName,
    Scoreboard,
)
from core.scoring.significance import SMALLEST_UNITS_FOR_POWER

Lines = Iterator[str]


def leaderboard(board: Scoreboard) -> Lines:
    """Yield the macro results at the cutoffs that every run keeps, best first."""
    yield "## Leaderboard" if board.sought != "relevant module" else "## Recall and rank, with intervals"
    yield ""
    rule = f"A result counts by the *{board.level}* rule: {text(board.level_reason)}."
    if board.sought == "relevant module":
        rule = f"What counts is the {board.sought}, at whatever place inside it."
    yield f"Macro: {macro_words(board)}. In brackets the 95 % interval. {rule}"
    yield ""
    rows = [_standing_row(board, name) for name in standing(board)]
    yield from table(["Candidate", "Verdict", "Hit@1", "Recall@5", "MRR@5", "MRR@10"], rows, words=2)


def differences(board: Scoreboard) -> Lines:
    """Yield each candidate's differences to the baseline; nothing where there is none."""
    if not board.comparisons or board.baseline is None:
        return
    yield f"## Differences to {text(board.baseline)}"
    yield ""
    rule = " Each comparison uses the finest matching rule that its two candidates support."
    yield (
        f"A gain of {difference(MATERIAL_GAIN)} or more in macro Recall@5 or MRR@10 is material; that alone "
        "makes the decision. Support says whether the cases bear it out."
        f"{rule if board.sought != 'relevant module' else ''}"
    )
    yield ""
    rows = []
    for name in standing(board):
        if name in board.comparisons:
            comparison = board.comparisons[name]
            untold = is_untold(board, comparison)
            both = (comparison.recall_at_5, comparison.mrr_at_10)
            rows += [_difference_row(name, found, untold=untold) for found in both]
    yield from table(
        [
            "Candidate",
            "Metric",
            "Difference",
            "95 % interval",
            "p",
            "p (Holm)",
            "Smallest detectable",
            "Material",
            "Units that differ",
        ],
        rows,
        words=2,
    )
    yield ""
    yield (
        "p (Holm) is adjusted for all of these tests. The smallest detectable difference is not: it is what "
        "cases like these would show four times in five by a single two-sided 5 % test (2.80 standard "
        f"errors); {DASH} where it cannot be estimated: fewer than {SMALLEST_UNITS_FOR_POWER} units differ, "
        f"or there is no interval. A unit is the {UNIT_OF[board.sought]}."
    )
    yield ""
    found = _in_standing(board, board.comparisons)
    if board.sought == "relevant module":  # which has neither rules nor lines
        yield from table(["Candidate", "Decision", "Support"], [_decision_row(one)[:3] for one in found], 3)
        return
    yield from table(
        ["Candidate", "Decision", "Support", "Rule", "Lines per hit", f"of {text(board.baseline)}"],
        [_decision_row(comparison) for comparison in found],
        words=4,
    )
    yield from _left_out(
        [value for one in found for value in (one.lines_per_hit, one.baseline_lines_per_hit)]
    )


def all_cutoffs(board: Scoreboard) -> Lines:
    """Yield every metric at every cutoff, macro and micro."""
    yield "## All cutoffs, macro and micro"
    yield ""
    yield "Macro weighs repositories equally, micro weighs queries equally. MRR@1 and Hit@1 are the same."
    yield ""
    titles = [f"{METRIC_TITLES[name]}@{k}" for k in board.cutoffs for name in METRIC_NAMES]
    if len(board.cutoffs) <= 3:
        rows = [
            [text(name), mean, *_flat(by_cutoff, board.cutoffs)]
            for name in standing(board)
            for mean, by_cutoff in _means(board.candidates[name])
        ]
        yield from table(["Candidate", "Mean", *titles], rows, words=2)
        return
    rows = [
        [text(name), mean, str(k), *(metric(getattr(by_cutoff[k], field)) for field in METRIC_NAMES)]
        for name in standing(board)
        for mean, by_cutoff in _means(board.candidates[name])
        for k in board.cutoffs
    ]
    yield from table(
        ["Candidate", "Mean", "Cutoff", *(METRIC_TITLES[m] for m in METRIC_NAMES)], rows, words=2
    )


def levels(board: Scoreboard) -> Lines:
    """Yield the same rankings by every matching rule, and how much text a find costs."""
    yield "## Other matching rules, and lines per hit"
    yield ""
    yield (
        "*exact*: path, line and kind agree; *span*: the target's line lies within the result; *file*: the "
        "path agrees, and ranks count files. Lines per hit: source lines in the first ten results for each "
        f"case found in them, here by the *{board.level}* rule."
    )
    yield ""
    shown = [level for level in LEVELS if any(level in s.levels for s in board.candidates.values())]
    rows = []
    for name in standing(board):
        score = board.candidates[name]
        cells = [
            f"{metric(found.macro[5].recall)} · {metric(found.macro[10].mrr)}"
            if (found := score.levels.get(level))
            else DASH
            for level in shown
        ]
        rows.append([text(name), *cells, lines_per_hit(score.lines_per_hit)])
    titles = [f"{level} (Recall@5 · MRR@10)" for level in shown]
    yield from table(["Candidate", *titles, "Lines per hit"], rows)
    yield from _left_out([score.lines_per_hit for score in board.candidates.values()])


def where_they_disagree(board: Scoreboard, examples: Sequence[Example]) -> Lines:
    """Yield single cases with the rank at which each candidate found the target."""
    if not examples:
        return
    yield "## Where they disagree"
    yield ""
    yield (
        f"The first {board.sought}'s rank with each candidate, by the *{board.level}* rule; `boresight "
        "report RUN --format csv` has every case."
    )
    yield ""
    names = standing(board)
    rows = [
        [
            code(example.query, 90),
            code(place(example), 80),
            *(str(example.outcomes.get(name, DASH)) for name in names),
        ]
        for example in examples
    ]
    yield from table(["Query", board.sought.capitalize(), *(text(name) for name in names)], rows, words=2)


def _left_out(values: Sequence[LinesPerHit]) -> Lines:
    if any(value.unknown and value.value is not None for value in values):
        yield ""
        yield LINES_LEFT_OUT


def _standing_row(board: Scoreboard, name: str) -> list[str]:
    score = board.candidates[name]
    if name in board.comparisons:
        verdict = verdict_words(board.comparisons[name])
    else:
        verdict = DASH if score.decision is None else DECISION_WORDS[score.decision]
    return [
        text(name),
        verdict,
        _with_interval(score, 1, "hit"),
        _with_interval(score, 5, "recall"),
        _with_interval(score, 5, "mrr"),
        _with_interval(score, 10, "mrr"),
    ]


def _with_interval(score: CandidateScore, cutoff: int, name: MetricName) -> str:
    if is_unanswered(score.counts):
        return DASH
    value = metric(getattr(score.macro[cutoff], name))
    return f"{value} ({interval(score.intervals[cutoff][name])})"


def _difference_row(name: str, found: Difference, *, untold: bool) -> list[str]:
    return [
        text(name),
        metric_name(found),
        difference(found.difference),
        interval(found.interval, signed=True),
        p_value(None if untold else found.p),
        p_value(None if untold else found.p_holm),
        metric(found.smallest_detectable),
        "yes" if found.material else "no",
        f"{count(found.nonzero_units)} of {count(found.units)}",
    ]


def _decision_row(comparison: Comparison) -> list[str]:
    return [
        text(comparison.candidate),
        code(comparison.decision),
        comparison.support,
        comparison.level,
        lines_per_hit(comparison.lines_per_hit),
        lines_per_hit(comparison.baseline_lines_per_hit),
    ]


def _in_standing(board: Scoreboard, comparisons: Mapping[str, Comparison]) -> list[Comparison]:
    return [comparisons[name] for name in standing(board) if name in comparisons]


def _means(score: CandidateScore) -> tuple[tuple[str, ByCutoff], ...]:
    return (("macro", score.macro), ("micro", score.micro))


def _flat(by_cutoff: ByCutoff, cutoffs: Sequence[int]) -> list[str]:
    return [metric(getattr(by_cutoff[k], field)) for k in cutoffs for field in METRIC_NAMES]
