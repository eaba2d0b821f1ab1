"""Makes a run's index anew, in a file of its own that then takes the old one's place."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from core.banks.case import Case
from core.browse.filling import CANCELLED, Filling, IsCancelled, OnProgress, all_indexes
from core.browse.freshness import key_of, stamp_of
from core.browse.guard import sole_writer
from core.browse.operations import NOTHING, Pending, Slot, Task
from core.browse.reading import Readers
from core.browse.schema import (
    KINDS,
    PRIMARIES,
    PROBES,
    SCHEMA,
    UNSUPPORTED,
    Names,
    changes,
    connect,
    write_meta,
)
from core.browse.writer import Writer
from core.campaign.frozen import frozen_features
from core.errors import StoppedError
from core.retrievers.protocol import Features
from core.run.record import RunRecord, read_cases
from core.scoring.matching import comparison_level
from core.scoring.records import CandidatePlan


def build(record: RunRecord, file: Path, on_progress: OnProgress, is_cancelled: IsCancelled) -> None:
    """Make a new index and put it in place of whatever stood there.

    Two processes may do so at once: the last one to end wins. Raises OSError, IdentityError where the bank
    or the candidates' features differ from those frozen, and StoppedError where it was cancelled; nothing
    partial is left.
    """
    _sweep(file)
    descriptor, name = tempfile.mkstemp(prefix=f"{_partial(file)}{os.getpid()}-", dir=file.parent)
    temporary = Path(name)
    try:
        with open(descriptor, "rb") as stream:
            _fill(record, temporary, on_progress, is_cancelled)
            os.fsync(stream.fileno())
        _put_in_place(temporary, file, is_cancelled)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _put_in_place(temporary: Path, file: Path, is_cancelled: IsCancelled) -> None:
    while True:
        with sole_writer(file, lambda _: is_cancelled()) as mine:
            if mine:
                # What a killed writer left to roll back belongs to the file that goes.
                file.with_name(f"{file.name}-journal").unlink(missing_ok=True)
                temporary.replace(file)
                return
        if is_cancelled():
            raise StoppedError(CANCELLED)


def seal(file: Path) -> None:
    """Write into a new index how often it was written, so that a later write by a stranger shows."""
    counted = changes(file)
    with contextlib.closing(connect(file, writable=True)) as connection:
        write_meta(connection, [("written", counted + 1)])


def _fill(record: RunRecord, file: Path, on_progress: OnProgress, is_cancelled: IsCancelled) -> None:
    stamp = stamp_of(record)  # before anything is read, so that what changes meanwhile is seen next time
    cases = read_cases(record).cases
    features = frozen_features(record)
    names = _names(record, cases, features)
    total = len(record.cells) + len(cases) * sum(1 + each.probe for each in features.values())
    with contextlib.closing(connect(file, writable=True)) as connection:
        connection.execute("PRAGMA journal_mode = OFF")
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("BEGIN")
        writer = Writer(connection, names)
        writer.make_tables()
        writer.add_cases(cases)
        unsupported = list(_unsupported(names, cases, features))
        writer.put(unsupported, [NOTHING._replace(status=UNSUPPORTED)] * len(unsupported))
        total -= len(unsupported)
        with Readers(record, total) as readers:
            filling = Filling(writer, readers, total, on_progress, is_cancelled)
            filling.read_indexes(all_indexes(names))
            filling.read(_of_cases(names, cases, features))
        writer.make_lookups()
        facts = {**names._asdict(), **key_of(record)._asdict(), "schema": SCHEMA, "stamp": stamp}
        write_meta(connection, facts.items())
        connection.execute("COMMIT")
    seal(file)


def _names(record: RunRecord, cases: Sequence[Case], features: Mapping[str, Features]) -> Names:
    plans = [CandidatePlan(name, level=each.level) for name, each in features.items()]
    intents = tuple(dict.fromkeys(case.intent for case in cases))
    return Names(tuple(features), record.repositories, intents, comparison_level(plans)[0])


def _of_cases(names: Names, cases: Sequence[Case], features: Mapping[str, Features]) -> Iterator[Pending]:
    repositories = {name: at for at, name in enumerate(names.repositories)}
    for number, case in enumerate(cases):
        for candidate, (name, able) in enumerate(features.items()):
            place = (number, candidate, repositories[case.repo])
            if case.channel in able.channels:
                task = Task(name, case.repo, KINDS[PRIMARIES], case.id, case.targets)
                yield Pending(Slot(PRIMARIES, *place, case.channel), task)
            if able.probe:
                yield Pending(Slot(PROBES, *place, None), Task(name, case.repo, KINDS[PROBES], case.id))


def _unsupported(names: Names, cases: Sequence[Case], features: Mapping[str, Features]) -> Iterator[Slot]:
    repositories = {name: at for at, name in enumerate(names.repositories)}
    for number, case in enumerate(cases):
        for candidate, able in enumerate(features.values()):
            if case.channel not in able.channels:
                yield Slot(PRIMARIES, number, candidate, repositories[case.repo], case.channel)


def _partial(file: Path) -> str:
    return f".{file.name}.partial-"


def _sweep(file: Path) -> None:
    """Remove what processes that were killed left half made."""
    with contextlib.suppress(OSError):
        for left in file.parent.glob(f"{_partial(file)}*"):
            number = left.name.removeprefix(_partial(file)).split("-")[0]
            if number.isdigit() and not _lives(int(number)):
                left.unlink(missing_ok=True)


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True
