"""The sections of the Markdown report that say how sure it is, what it does not say, and how to check it."""

from __future__ import annotations

from collections.abc import Iterator

from core.reports.facts import CandidateFacts, RunFacts, TakenOverFacts
from core.reports.markup import code, table, text
from core.reports.wording import DASH, LIMITS_OF, UNIT_OF, count, counted, difference, metric, seconds
from core.scoring.comparison import (
    MATERIAL_GAIN,
    NO_INTERVAL,
    RULE_OF_THREE,
    SIGNIFICANT_P,
    TRUSTED_FROM_UNITS,
)
from core.scoring.records import Method, Scoreboard

Lines = Iterator[str]


def method(board: Scoreboard) -> Lines:
    """Yield how intervals, probabilities and detectable differences were computed."""
    used = board.method
    scope = (
        "Units vary within their repository, so the intervals speak of these repositories only."
        if used.resampling == "within repositories"
        else "Whole repositories are the units, so the intervals speak of repositories like these."
    )
    yield "## How sure this is"
    yield ""
    yield (
        f"{UNIT_OF[board.sought].capitalize()} are one unit ({counted(used.units, 'unit')} here). "
        f"{_intervals(used)} {scope}"
    )
    yield ""
    yield (
        "p is two-sided, by randomization of the units' signs on the statistic shown: by enumeration up to "
        f"{count(used.exact_up_to_units)} units that differ, else {count(used.randomization_draws)} draws "
        f"with the +1 correction (seed {used.seed}). Holm's correction covers all candidates and both "
        "metrics."
    )
    yield ""
    yield (
        f"A material gain is *supported* where p (Holm) is below {metric(SIGNIFICANT_P)} and the interval "
        "lies above 0. A rejection is *supported* where the intervals of both metrics end below "
        f"{difference(MATERIAL_GAIN)} and can be trusted: at least {TRUSTED_FROM_UNITS} units differ or, "
        f"where fewer do, there are more than {RULE_OF_THREE / MATERIAL_GAIN:.0f} units (the rule of three: "
        f"a gain that no unit shows can still be {RULE_OF_THREE} / units). A significant loss (interval "
        f"below 0, p (Holm) below {metric(SIGNIFICANT_P)}) always supports a rejection. All else is "
        "*inconclusive*."
    )


def _intervals(used: Method) -> str:
    if used.lone_units:
        return f"There is {NO_INTERVAL}."
    if used.intervals == "percentile bootstrap":
        return f"Intervals are percentiles of {count(used.bootstrap_draws)} bootstrap draws of units."
    return (
        "Intervals are the estimate ± 1.96 standard errors of the same units, which is what the bootstrap "
        f"comes to above {count(used.bootstrap_up_to_units)} units, cut at the metric's own bounds."
    )


def limits(board: Scoreboard) -> Lines:
    """Yield what the numbers do not establish."""
    yield "## What this does not say"
    yield ""
    for sentence in LIMITS_OF[board.sought]:
        yield f"- {sentence}"


def identity(board: Scoreboard, about: RunFacts) -> Lines:
    """Yield the facts that identify the run, and how to check a number against the evidence."""
    yield "## What was run"
    yield ""
    rows = [
        ["Run", code(about.name)],
        ["Identity", code(about.identity)],
        ["Frozen", text(about.created_at) if about.created_at else DASH],
        [
            "Bank",
            f"{counted(board.cases, 'case')} in {code(about.bank_format)}, SHA-256 {code(about.bank_sha256)}",
        ],
        [
            "Time limits",
            f"{seconds(about.index_timeout_s)} an index, {seconds(about.query_timeout_s)} a query",
        ],
        *(["Taken over", _taken_over(facts)] for facts in about.taken_over),
        ["Boresight", text(about.boresight)],
        ["Python", text(about.python)],
        ["Platform", text(about.platform)],
    ]
    yield from table(["Fact", "Value"], rows, words=2)
    yield ""
    yield from table(
        ["Candidate", "Retriever", "Model", "Version", "Process form"],
        [_candidate(facts) for facts in about.candidates],
        words=5,
    )
    yield ""
    yield from table(
        ["Repository", "Commit", ""],
        [[text(r.label), code(r.commit), "private" if r.private else ""] for r in about.repositories],
        words=3,
    )
    yield ""
    if about.private:
        yield (
            "Of private repositories, reports hold the label, the commit and aggregate numbers; their single "
            "queries are shown by the local screens only."
        )
        yield ""
    yield (
        "To check a number: `boresight rescore RUN` verifies the digests of all evidence and derives this "
        "report again, without models or Git. Raw output lies in "
        "`operations/CANDIDATE/REPOSITORY/OPERATION/attempt-NNNN/`; `boresight report RUN --format csv` and "
        "`--format trec` give single queries."
    )


def _taken_over(facts: TakenOverFacts) -> str:
    return (
        f"{counted(facts.operations, 'operation')} measured by the run {code(facts.run)}, "
        f"identity {code(facts.identity)}"
    )


def _candidate(facts: CandidateFacts) -> list[str]:
    return [
        text(facts.candidate),
        code(facts.retriever),
        code(facts.model) if facts.model else DASH,
        text(facts.version) if facts.version else DASH,
        facts.form or f"{DASH} (not executed)",
    ]
