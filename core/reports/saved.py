"""Reads `quality-summary.json` back into the scores and facts that it was made of.

What is read is only as good as the file: it is derived, anyone may have edited it, and the run may have gone
on since. Whoever shows it says so, and verifies the evidence.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from core.canonical import load_json
from core.errors import InputError
from core.reports.facts import RunFacts
from core.reports.summary import SUMMARY_FORMAT
from core.scoring.records import ALWAYS_KEPT_CUTOFFS, METRIC_NAMES, Scoreboard
from core.text import printable


class SavedReport(NamedTuple):
    """What a saved report held."""

    board: Scoreboard
    facts: RunFacts


def parse_summary(data: bytes, place: str) -> SavedReport:
    """Return the scores and facts of a saved report; raises InputError that names `place`."""
    from pydantic import TypeAdapter

    remedy = "`boresight rescore` writes it anew"
    try:
        document = load_json(data)
        told = document["format"]
        if told != SUMMARY_FORMAT:
            shown = printable(str(told), 60)
            raise InputError(f"{place}: format {shown!r}, expected {SUMMARY_FORMAT!r}; {remedy}")
        board = TypeAdapter(Scoreboard).validate_python(_board(document))
        facts = TypeAdapter(RunFacts).validate_python(_facts(document["run"]))
        _demand_whole(board, facts)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"{place}: not readable as a report ({type(error).__name__}); {remedy}") from None
    return SavedReport(board, facts)


def _demand_whole(board: Scoreboard, facts: RunFacts) -> None:
    """Raise ValueError or KeyError where parts refer to others that are not there."""
    names = {*board.candidates}
    if not board.repositories or names != {each.candidate for each in facts.candidates}:
        raise ValueError("candidates or repositories")
    for name, found in board.comparisons.items():
        if not {name, found.candidate, found.baseline, board.baseline} <= names:
            raise ValueError(name)
    for score in board.candidates.values():
        if any({*score.intervals[cutoff]} != {*METRIC_NAMES} for cutoff in ALWAYS_KEPT_CUTOFFS):
            raise ValueError(score.candidate)
        groups = [*score.repositories.values(), *score.intents.values()]
        groups += [group for by_intent in score.cells.values() for group in by_intent.values()]
        means = [score.macro, score.micro, score.levels[board.level].macro]
        means += [by_cutoff for group in groups for by_cutoff in (group.macro, group.micro)]
        means += [by_cutoff for found in score.levels.values() for by_cutoff in (found.macro, found.micro)]
        if any(not {*board.cutoffs} <= {*by_cutoff} for by_cutoff in means):
            raise ValueError(score.candidate)
    if not {*ALWAYS_KEPT_CUTOFFS} <= {*board.cutoffs}:
        raise ValueError(board.cutoffs)


def _board(document: Mapping[str, Any]) -> dict[str, Any]:
    models = document["models"]
    return {
        "level": document["level"]["used"],
        "level_reason": document["level"]["reason"],
        "cutoffs": document["cutoffs"],
        "cases": document["cases"],
        "repositories": list(document["run"]["repositories"]),
        "intents": document["intents"],
        "baseline": document["baseline"],
        "candidates": {name: _candidate(name, model) for name, model in models.items()},
        "comparisons": {
            name: _comparison(name, model["comparison"])
            for name, model in models.items()
            if model["comparison"] is not None
        },
        "method": document["method"],
        "sought": document.get("sought", "known target"),
    }


def _candidate(name: str, model: Mapping[str, Any]) -> dict[str, Any]:
    same = (
        "decision",
        "counts",
        "macro",
        "micro",
        "intervals",
        "repositories",
        "intents",
        "cells",
        "levels",
        "lines_per_hit",
        "errors",
        "probes",
        "latency",
        "budgets",
    )
    index = model["index"]
    return {
        "candidate": name,
        **{field: model[field] for field in same},
        "indexing": {
            "counts": index["counts"],
            "total_s": index["total_s"],
            "by_repository": index["by_repository_s"],
            "units": index["units"],
        },
        "sampled_peak_rss_bytes": model["memory"]["sampled_peak_rss_bytes"],
    }


def _comparison(name: str, told: Mapping[str, Any]) -> dict[str, Any]:
    same = ("baseline", "recall_at_5", "mrr_at_10", "latency", "decision", "support", "reasons")
    return {
        "candidate": name,
        **{field: told[field] for field in same},
        "level": told["level"]["used"],
        "level_reason": told["level"]["reason"],
        "lines_per_hit": told["lines_per_hit"]["candidate"],
        "baseline_lines_per_hit": told["lines_per_hit"]["baseline"],
    }


def _facts(run: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "name": run["name"],
        "identity": run["identity"],
        "bank_format": run["bank"]["format"],
        "bank_sha256": run["bank"]["sha256"],
        "repositories": [
            {"label": label, "commit": found["commit"], "private": found["private"]}
            for label, found in run["repositories"].items()
        ],
        "candidates": [{"candidate": name, **found} for name, found in run["candidates"].items()],
        "boresight": run["boresight"],
        "python": run["python"],
        "platform": run["platform"],
        "created_at": run["created_at"],
        "index_timeout_s": run["limits"]["index_timeout_s"],
        "query_timeout_s": run["limits"]["query_timeout_s"],
        "taken_over": run["taken_over"],
        "disturbed": run["disturbed"],
        "ambiguous": run["bank"]["ambiguous"],
    }
