"""The order of a campaign's operations: fair to every candidate, and the same on every machine."""

from __future__ import annotations

import io
import json
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from core.banks.case import Bank, Case
from core.canonical import canonical_json
from core.errors import IdentityError
from core.retrievers.protocol import Features
from core.run.layout import INDEX, Operation
from core.text import printable


class Planned(NamedTuple):
    """One planned operation, with the channel and intent of its case."""

    operation: Operation
    channel: str | None = None
    intent: str | None = None


def make_plan(
    bank: Bank, repositories: Sequence[str], features: Mapping[str, Features], seed: int
) -> tuple[Planned, ...]:
    """Return all operations in their order.

    Repository by repository: first every candidate's index, then case by case with the candidates in a
    rotation that starts from a seeded shuffle, so that no candidate owns the quiet hour. A channel that a
    candidate does not answer, and the probe of one that has none, are not planned.
    """
    order = list(features)
    random.Random(seed).shuffle(order)  # noqa: S311 - fairness, not secrecy
    return tuple(
        planned
        for label in repositories
        for planned in _of_repository(bank.of_repository(label), order, features, label)
    )


def _of_repository(
    cases: Sequence[Case], order: Sequence[str], features: Mapping[str, Features], label: str
) -> Iterator[Planned]:
    for candidate in order:
        yield Planned(Operation(candidate, label, INDEX))
    for turn, case in enumerate(cases):
        start = turn % len(order)
        for candidate in (*order[start:], *order[:start]):
            if case.channel in features[candidate].channels:
                yield Planned(Operation(candidate, label, "primary", case.id), case.channel, case.intent)
            if features[candidate].probe:
                yield Planned(Operation(candidate, label, "ctx", case.id), "ctx", case.intent)


def plan_lines(plan: Sequence[Planned]) -> bytes:
    """Encode a plan as `plan.jsonl`."""
    return b"".join(
        canonical_json({**item.operation._asdict(), "channel": item.channel, "intent": item.intent}) + b"\n"
        for item in plan
    )


def parse_plan(raw: bytes, name: str) -> tuple[Planned, ...]:
    """Decode `plan.jsonl`; raises IdentityError naming the line that cannot be read."""
    return tuple(planned_lines(io.BytesIO(raw), name))


def read_plan(path: Path) -> Iterator[Planned]:
    """Yield a run's planned operations, holding none; raises IdentityError where one cannot be read."""
    try:
        stream = open(path, "rb")  # noqa: SIM115 - closed below
    except OSError as error:
        raise unreadable_plan(path, error) from None
    with stream:
        yield from planned_lines(stream, str(path))


def unreadable_plan(path: Path, error: OSError) -> IdentityError:
    """Return the error that says why a plan cannot be read."""
    return IdentityError(f"{printable(str(path))}: {error.strerror or error}; restore it from a copy")


def planned_lines(lines: Iterable[bytes], name: str) -> Iterator[Planned]:
    """Yield the operations of a plan's lines; raises IdentityError naming the line that cannot be read.

    Words that many operations share are held once: a plan may have a million lines.
    """
    words: dict[str, str] = {}
    for number, line in enumerate(lines, start=1):
        try:
            record = json.loads(line)
            operation = Operation(*(record[field] for field in Operation._fields))
            planned = Planned(operation, record["channel"], record["intent"])
        except (ValueError, KeyError, TypeError, RecursionError):
            planned = None
        if planned is None or not _is_sound(planned):
            raise IdentityError(
                f"{printable(name)}, line {number}: not a planned operation; restore the file from a copy"
            )
        yield _shared(planned, words)


def _shared(planned: Planned, words: dict[str, str]) -> Planned:
    (candidate, repository, kind, case), channel, intent = planned

    def once(word: str | None) -> str | None:
        return None if word is None else words.setdefault(word, word)

    operation = Operation(
        words.setdefault(candidate, candidate),
        words.setdefault(repository, repository),
        words.setdefault(kind, kind),
        once(case),
    )
    return Planned(operation, once(channel), once(intent))


def _is_sound(planned: Planned) -> bool:
    operation = planned.operation
    names = operation[:3]
    optional = (operation.case, planned.channel, planned.intent)
    return (
        all(isinstance(value, str) for value in names)
        and all(value is None or isinstance(value, str) for value in optional)
        and operation.kind in {INDEX, "primary", "ctx"}
        and (operation.kind == INDEX) == (operation.case is None)
    )
