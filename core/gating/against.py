"""Holds a run against an older one: did a candidate of the same name fall on the same cases?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from core.errors import InputError
from core.graded_outcomes import read_graded
from core.outcomes import Outcomes, planned_cases, read_outcomes
from core.ranking import LEVELS, Level
from core.rankings import RunReader
from core.rescoring import Rescored
from core.run.evidence import evidence_changed
from core.scoring.gate_metrics import GRADED_QUERIES
from core.scoring.graded_records import GradedBoard
from core.scoring.paired import Pair, PairedDifference, paired_differences
from core.scoring.profile import measures_of
from core.scoring.records import MetricName, PlannedCase, QueryScore
from core.text import printable

KNOWN_METRICS: tuple[tuple[MetricName, int], ...] = (("recall", 5), ("mrr", 10))
GRADED_METRICS = ("recall@5", "mrr", "ndcg@5", "faithfulness")
_DIGITS = 12

_Values = Mapping[str, float]


class Against(NamedTuple):
    """A run compared with an older one, candidate by candidate; `left_out` counts the cases not compared.

    `notes` say, by candidate, by which rule results counted where the two runs support different ones.
    """

    older: str
    differences: tuple[PairedDifference, ...]
    left_out: Mapping[str, int]
    unanswered: tuple[str, ...]  # candidates without any case that both runs answered
    notes: Mapping[str, str]

    @property
    def held(self) -> bool:
        """Whether nothing fell significantly, and every candidate could be compared."""
        return not self.unanswered and not any(found.fell for found in self.differences)


class _Side(NamedTuple):
    outcomes: Outcomes
    graded: GradedBoard | None


def against(newer: Rescored, older: Path, candidates: Sequence[str]) -> Against:
    """Compare a scored run with an older one, which is verified as it is read.

    Only cases that both answered count. Raises InputError where the two do not ask the same of the same
    sources or the older one lacks a candidate, IdentityError where its evidence was changed.
    """
    before = read_outcomes(older)
    _demand_same(newer.reader, before.reader, older, candidates)
    graded = read_graded(before.reader) if newer.graded is not None else None
    if before.reader.changed:
        raise evidence_changed(before.reader.changed, before.reader.layout.root)
    ours, theirs = _Side(newer.outcomes, newer.graded), _Side(before, graded)
    cases = planned_cases(newer.reader.bank)
    pairs: list[Pair] = []
    left_out, unanswered, notes = {}, [], {}
    for name in candidates:
        common = _common(name, cases, ours, theirs)
        left_out[name] = len(cases) - len(common)
        if not common:
            unanswered.append(name)
            continue
        level, differs = _level(name, newer.reader, before.reader)
        if differs:
            notes[name] = f"the two runs support different rules; both count by the {level} rule here"
        pairs += _pairs(name, common, ours, theirs, level)
    seed = int(newer.reader.record.controls["seed"])
    return Against(
        str(older),
        paired_differences(pairs, seed),
        left_out,
        tuple(unanswered),
        notes,
    )


def _demand_same(newer: RunReader, older: RunReader, path: Path, candidates: Sequence[str]) -> None:
    """Raise InputError unless both runs ask the same cases about the same commits."""
    shown = printable(str(path))
    ours, theirs = newer.record, older.record
    if ours.layout.root.resolve() == theirs.layout.root.resolve():
        raise InputError(f"--against {shown}: is the run itself; name an older run of the same bank")
    banks = [record.controls["bank"]["sha256"] for record in (ours, theirs)]
    if banks[0] != banks[1]:
        raise InputError(
            f"--against {shown}: asked other questions (bank SHA-256 {banks[1][:_DIGITS]}…, here "
            f"{banks[0][:_DIGITS]}…), and a difference would be of the questions; run both on one bank: keep "
            "the older run's cases.jsonl as the bank of new runs"
        )
    commits = [
        {label: facts["commit"] for label, facts in record.controls["repositories"].items()}
        for record in (ours, theirs)
    ]
    for label, commit in commits[0].items():
        if commits[1].get(label) != commit:
            was = str(commits[1].get(label, "not there"))[:_DIGITS]
            raise InputError(
                f"--against {shown}: {label} was at {was}, here it is at {commit[:_DIGITS]}, and a "
                "difference would be of the sources; pin the same commit in the manifests of both"
            )
    missing = [name for name in candidates if name not in theirs.candidates]
    if missing:
        raise InputError(
            f"--against {shown}: has no candidate {', '.join(missing)} (it has "
            f"{', '.join(theirs.candidates)}); name one that both have with --candidate"
        )


def _common(name: str, cases: Sequence[PlannedCase], *sides: _Side) -> tuple[PlannedCase, ...]:
    answered = [
        {q.case_id for q in side.outcomes.queries if q.candidate == name and q.status == "answered"}
        for side in sides
    ]
    return tuple(case for case in cases if all(case.case_id in found for found in answered))


def _level(name: str, *readers: RunReader) -> tuple[Level, bool]:
    levels = [reader.features[name].level for reader in readers]
    return max(levels, key=LEVELS.index), len({*levels}) > 1


def _pairs(
    name: str, cases: tuple[PlannedCase, ...], ours: _Side, theirs: _Side, level: Level
) -> Iterator[Pair]:
    if ours.graded is None or theirs.graded is None:
        for metric, cutoff in KNOWN_METRICS:
            new, old = (_ranked(name, side, _measure(metric, cutoff, level)) for side in (ours, theirs))
            yield Pair(name, f"{metric}@{cutoff}", cases, new, old)
        return
    for graded_metric in GRADED_METRICS:
        new, old = (_graded(name, side.graded, graded_metric) for side in (ours, theirs))
        told = tuple(case for case in cases if case.case_id in new and case.case_id in old)
        if told:
            yield Pair(name, graded_metric, told, new, old)


def _measure(metric: MetricName, cutoff: int, level: Level) -> Callable[[QueryScore], float]:
    return lambda query: float(getattr(measures_of(query.target_ranks[level], cutoff), metric))


def _ranked(name: str, side: _Side, value: Callable[[QueryScore], float]) -> _Values:
    return {query.case_id: value(query) for query in side.outcomes.queries if query.candidate == name}


def _graded(name: str, board: GradedBoard | None, metric: str) -> _Values:
    """Return a metric of each question that has one: faithfulness needs a context."""
    if board is None:
        return {}
    read = GRADED_QUERIES[metric]
    values = {query.question.case_id: read(query) for query in board.candidates[name].queries}
    return {case_id: value for case_id, value in values.items() if value is not None}
