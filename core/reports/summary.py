"""`quality-summary.json`: everything the scores hold, as JSON that a program can rely on.

Format `boresight-summary@1`. Metric values lie in [0, 1], times are seconds, sizes bytes; `null` is
what was not measured or cannot be told. Keys of cutoffs are strings. Every single query is in what
`boresight report RUN --format csv` prints; here are only the few that show best where candidates
disagree, and none of private repositories.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from core.reports.cautions import cautions
from core.reports.examples import Example
from core.reports.facts import CandidateFacts, RunFacts
from core.reports.graded_summary import graded_summary
from core.reports.sentence import plain
from core.reports.standing import standing
from core.reports.verdict import headline
from core.reports.wording import LIMITS_OF, RSS_CAVEAT, disturbance
from core.scoring.comparison import LATENCY_RATIO_LIMIT, MATERIAL_GAIN, SIGNIFICANT_P
from core.scoring.graded_records import GradedBoard
from core.scoring.records import (
    ByCutoff,
    CandidateScore,
    Comparison,
    GroupScore,
    IndexCost,
    Interval,
    Scoreboard,
)
from core.sought import kind_of
from core.text import printable

SUMMARY_FORMAT = "boresight-summary@1"
TEXT_LIMIT = 400
_ONE_LINE = 100


def summary(
    board: Scoreboard,
    about: RunFacts,
    examples: Sequence[Example] = (),
    graded: GradedBoard | None = None,
) -> dict[str, Any]:
    """Return the report as a JSON-able value; the same scores and facts give the same value.

    Examples from private repositories are left out whoever chose them. `graded` is there for graded banks.
    """
    return {
        "format": SUMMARY_FORMAT,
        "headline": [plain(sentence) for sentence in headline(board)],
        "cautions": _cautions(board, about),
        "run": _run(board, about),
        "level": {"used": board.level, "reason": board.level_reason},
        "cutoffs": list(board.cutoffs),
        "cases": board.cases,
        "sought": board.sought,
        "intents": list(board.intents),
        "baseline": board.baseline,
        "standing": list(standing(board)),
        "models": {name: _model(board, name) for name in board.candidates},
        **({} if graded is None else {"graded": graded_summary(graded, about)}),
        "disagreements": [_example(found) for found in examples if found.repository not in about.private],
        "method": {**board.method._asdict(), "lone_units": list(board.method.lone_units)},
        "thresholds": {
            "material_gain": MATERIAL_GAIN,
            "latency_ratio_limit": LATENCY_RATIO_LIMIT,
            "significant_p": SIGNIFICANT_P,
        },
        "limits": list(LIMITS_OF[board.sought]),
    }


def summary_bytes(
    board: Scoreboard,
    about: RunFacts,
    examples: Sequence[Example] = (),
    graded: GradedBoard | None = None,
) -> bytes:
    """Return the content of `quality-summary.json`: UTF-8, small objects on one line, a line end last."""
    return ("".join(_encoded(summary(board, about, examples, graded), "")) + "\n").encode("utf-8")


def _cautions(board: Scoreboard, about: RunFacts) -> list[str]:
    disturbed = disturbance(*about.disturbed)
    return [*(plain(sentence) for sentence in cautions(board, about)), *([disturbed] if disturbed else [])]


def _run(board: Scoreboard, about: RunFacts) -> dict[str, Any]:
    any_score = next(iter(board.candidates.values()), None)
    planned = any_score.repositories if any_score else {}
    return {
        "name": printable(about.name, TEXT_LIMIT),
        "identity": about.identity,
        "created_at": about.created_at,
        "bank": {
            "format": about.bank_format,
            **_kind(about.bank_format),
            "sha256": about.bank_sha256,
            "cases": board.cases,
            "ambiguous": about.ambiguous,
        },
        "repositories": {
            facts.label: {
                "commit": facts.commit,
                "private": facts.private,
                "cases": planned[facts.label].counts.planned if facts.label in planned else None,
            }
            for facts in about.repositories
        },
        "candidates": {facts.candidate: _candidate(facts) for facts in about.candidates},
        "boresight": printable(about.boresight, TEXT_LIMIT),
        "python": printable(about.python, TEXT_LIMIT),
        "platform": printable(about.platform, TEXT_LIMIT),
        "limits": {"index_timeout_s": about.index_timeout_s, "query_timeout_s": about.query_timeout_s},
        "taken_over": [
            {**facts._asdict(), "run": printable(facts.run, TEXT_LIMIT)} for facts in about.taken_over
        ],
        "disturbed": about.disturbed._asdict(),
    }


def _kind(bank_format: str) -> dict[str, Any]:
    kind = kind_of(bank_format)
    return {"kind": kind, **({"gold": False} if kind == "historical" else {})}


def _candidate(facts: CandidateFacts) -> dict[str, Any]:
    return {
        "retriever": printable(facts.retriever, TEXT_LIMIT),
        "model": None if facts.model is None else printable(facts.model, TEXT_LIMIT),
        "version": None if facts.version is None else printable(facts.version, TEXT_LIMIT),
        "form": facts.form,
        "undigested": facts.undigested,
    }


def _model(board: Scoreboard, name: str) -> dict[str, Any]:
    score = board.candidates[name]
    comparison = board.comparisons.get(name)
    return {
        "decision": score.decision,
        "support": comparison.support if comparison else None,
        "macro": _by_cutoff(score.macro),
        "micro": _by_cutoff(score.micro),
        "intervals": {
            str(cutoff): {metric: _interval(found) for metric, found in by_metric.items()}
            for cutoff, by_metric in score.intervals.items()
        },
        "comparison": _comparison(comparison) if comparison else None,
        "counts": score.counts._asdict(),
        "errors": {printable(kind, TEXT_LIMIT): number for kind, number in score.errors.items()},
        "probes": score.probes._asdict(),
        **_costs(score),
        "levels": {
            level: {"macro": _by_cutoff(found.macro), "micro": _by_cutoff(found.micro)}
            for level, found in score.levels.items()
        },
        "lines_per_hit": score.lines_per_hit._asdict(),
        "repositories": {label: _group(found) for label, found in score.repositories.items()},
        "intents": {intent: _group(found) for intent, found in score.intents.items()},
        "cells": {
            label: {intent: _group(found) for intent, found in by_intent.items()}
            for label, by_intent in score.cells.items()
        },
    }


def _costs(score: CandidateScore) -> dict[str, Any]:
    return {
        "latency": {kind: found._asdict() for kind, found in score.latency.items()},
        "index": _index(score.indexing),
        "memory": {"sampled_peak_rss_bytes": score.sampled_peak_rss_bytes, "caveat": RSS_CAVEAT},
        "budgets": [note._asdict() for note in score.budgets],
    }


def _index(cost: IndexCost) -> dict[str, Any]:
    return {
        "counts": cost.counts._asdict(),
        "total_s": cost.total_s,
        "by_repository_s": dict(cost.by_repository),
        "units": dict(cost.units),
    }


def _comparison(found: Comparison) -> dict[str, Any]:
    return {
        "baseline": found.baseline,
        "level": {"used": found.level, "reason": found.level_reason},
        "recall_at_5": {
            **found.recall_at_5._asdict(),
            "interval": _interval(found.recall_at_5.interval),
        },
        "mrr_at_10": {**found.mrr_at_10._asdict(), "interval": _interval(found.mrr_at_10.interval)},
        "lines_per_hit": {
            "candidate": found.lines_per_hit._asdict(),
            "baseline": found.baseline_lines_per_hit._asdict(),
        },
        "latency": {kind: ratio._asdict() for kind, ratio in found.latency.items()},
        "decision": found.decision,
        "support": found.support,
        "reasons": list(found.reasons),
    }


def _interval(found: Interval | None) -> dict[str, float] | None:
    return None if found is None else dict(found._asdict())


def _by_cutoff(found: ByCutoff) -> dict[str, dict[str, float]]:
    return {str(cutoff): dict(measures._asdict()) for cutoff, measures in found.items()}


def _group(found: GroupScore) -> dict[str, Any]:
    return {
        "counts": found.counts._asdict(),
        "macro": _by_cutoff(found.macro),
        "micro": _by_cutoff(found.micro),
    }


def _example(found: Example) -> dict[str, Any]:
    return {
        "case": found.case_id,
        "repository": found.repository,
        "intent": found.intent,
        "query": printable(found.query, TEXT_LIMIT),
        "targets": [
            {**target._asdict(), "path": printable(target.path, TEXT_LIMIT)} for target in found.targets
        ],
        "outcomes": dict(found.outcomes),
    }


def _encoded(value: Any, indent: str) -> Iterator[str]:
    """Yield a value's JSON, with containers of scalars on one line where they fit."""
    if not isinstance(value, Mapping | list) or not value:
        yield _scalars(value)
        return
    items = list(value.values()) if isinstance(value, Mapping) else value
    if not any(isinstance(item, Mapping | list) and item for item in items):
        line = _scalars(value)
        if len(indent) + len(line) <= _ONE_LINE:
            yield line
            return
    inner = indent + "  "
    opening, closing = "{}" if isinstance(value, Mapping) else "[]"
    yield opening
    for position, item in enumerate(value.items() if isinstance(value, Mapping) else value):
        yield f"{',' if position else ''}\n{inner}"
        if isinstance(value, Mapping):
            key, item = item
            yield f"{_scalars(key)}: "
        yield from _encoded(item, inner)
    yield f"\n{indent}{closing}"


def _scalars(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
