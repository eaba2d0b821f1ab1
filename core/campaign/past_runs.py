"""What earlier runs in a folder tell of the same candidates: how long they took, how much they differ."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from core.errors import BoresightError
from core.outcomes import planned_cases
from core.regular import read_regular
from core.run.layout import find_runs
from core.run.record import RunRecord, read_cases, read_run
from core.scoring.records import PlannedCase


class PastTimes(NamedTuple):
    """What a candidate took: seconds by (label, commit) for indexes, median seconds by kind of query."""

    indexes: Mapping[tuple[str, str], float]
    medians: Mapping[str, float]

    def index_seconds(self, label: str, commit: str) -> float:
        """Return what its index took on a repository, or on the average of those that are known."""
        known = self.indexes.get((label, commit))
        if known is not None:
            return known
        return math.fsum(self.indexes.values()) / len(self.indexes) if self.indexes else 0.0

    def query_seconds(self, kind: str) -> float:
        """Return the median of a kind of query, or the largest of those that are known."""
        return self.medians.get(kind, max(self.medians.values(), default=0.0))


class PastComparison(NamedTuple):
    """How uncertain a past comparison in Recall@5 was, and what share of its units differed."""

    standard_error: float
    share: float


class PastRun:
    """A run with a report: its candidates by their entries, whatever their ids were."""

    def __init__(self, record: RunRecord, summary: Mapping[str, Any]) -> None:
        self.path = record.layout.root
        self.created_at = str(record.about.get("created_at", ""))
        self._record = record
        self._summary = summary
        self._ids = {_key(item["entry"]): str(item["id"]) for item in record.about["candidates"]}

    def times(self, entry: Mapping[str, Any]) -> PastTimes | None:
        """Return what a candidate took here, None where it was not here or answered nothing."""
        name = self._ids.get(_key(entry))
        try:
            model = self._summary["models"][name]
            repositories = self._summary["run"]["repositories"]
            commits = {label: facts["commit"] for label, facts in repositories.items()}
            indexes = {
                (label, commits[label]): float(seconds)
                for label, seconds in model["index"]["by_repository_s"].items()
                if seconds is not None
            }
            medians = {
                kind: float(found["median_s"])
                for kind, found in model["latency"].items()
                if found["median_s"] is not None
            }
        except (KeyError, TypeError, ValueError, AttributeError):
            return None
        return PastTimes(indexes, medians) if medians else None

    def compared(self, entry: Mapping[str, Any], baseline: Mapping[str, Any]) -> PastComparison | None:
        """Return how a candidate compared with a baseline here, None where that was not or told nothing."""
        name = self._ids.get(_key(entry))
        try:
            found = self._summary["models"][name]["comparison"]
            if found is None or found["baseline"] != self._ids.get(_key(baseline)):
                return None
            recall = found["recall_at_5"]
            error, units = recall["standard_error"], int(recall["units"])
            if recall["smallest_detectable"] is None or not error or units < 1:
                return None
            return PastComparison(float(error), int(recall["nonzero_units"]) / units)
        except (KeyError, TypeError, ValueError):
            return None

    @property
    def bank_format(self) -> str:
        """The format of its bank: how much candidates differ depends on what is asked."""
        return str(self._record.controls["bank"]["format"])

    def planned_cases(self) -> tuple[PlannedCase, ...]:
        """Return the cases of its bank, none where that cannot be read."""
        try:
            return planned_cases(read_cases(self._record))
        except (BoresightError, OSError):
            return ()


def past_runs(folder: Path) -> Iterator[PastRun]:
    """Yield the runs in a folder that have a report, the newest first; what cannot be read is passed over."""
    found = []
    for path in find_runs(folder):
        try:
            record = read_run(path)
            summary = json.loads(read_regular(record.layout.summary))
            if isinstance(summary, dict):
                found.append(PastRun(record, summary))
        except (BoresightError, OSError, ValueError, KeyError, TypeError, RecursionError):
            continue
    yield from sorted(found, key=lambda run: run.created_at, reverse=True)


def earlier_runs(folder: Path, name: str) -> tuple[Path, ...]:
    """Return the runs in a folder of the campaign of this name, the newest first."""
    found = []
    for path in find_runs(folder):
        try:
            record = read_run(path)
        except (BoresightError, OSError, ValueError):
            continue
        if record.about.get("name") == name:
            found.append((str(record.about.get("created_at", "")), path))
    return tuple(path for _, path in sorted(found, reverse=True))


def _key(entry: Mapping[str, Any]) -> str:
    """Return what an entry says but for its id, which only names it."""
    said = {key: value for key, value in entry.items() if key != "id" and value is not None}
    return json.dumps(said, sort_keys=True, default=repr)
