"""Checks a run against every digest that it holds, in parallel, and names each file that differs."""

from __future__ import annotations

import hashlib
import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import NamedTuple

from core.campaign.frozen import frozen_features
from core.campaign.plan import make_plan, plan_lines
from core.campaign.sources import read_frozen
from core.campaign.tree_listing import (
    Listing,
    listing_bytes,
    parse_listing,
    read_record,
    read_tree,
    tree_paths,
)
from core.campaign.tree_names import shown_path
from core.canonical import sha256
from core.errors import BoresightError, IdentityError, InputError
from core.regular import open_regular, read_regular
from core.run.evidence import (
    COMMAND,
    MEASUREMENT,
    STDERR,
    STDOUT,
    Result,
    evidence_changed,
    load_measurement,
    read_result,
)
from core.run.layout import Operation, RunLayout
from core.run.record import RunRecord, read_cases, read_run
from core.text import printable

_MOST_THREADS = 8
_BATCH = 32  # files or operations a task: small ones cost more to hand out than to hash
_CHANGED = "changed since it was recorded"


class Verification(NamedTuple):
    """What was compared with its digest, and what differs; `interrupted` attempts never had digests.

    Each of the problems names a file and is safe to show.
    """

    files: int = 0
    bytes: int = 0
    interrupted: int = 0
    problems: tuple[str, ...] = ()

    def plus(self, other: Verification) -> Verification:
        """Return both together."""
        return Verification(
            self.files + other.files,
            self.bytes + other.bytes,
            self.interrupted + other.interrupted,
            self.problems + other.problems,
        )


Check = Callable[[], Verification]
OnProgress = Callable[[Verification], None]


def verify_run(path: Path, on_progress: OnProgress = lambda so_far: None) -> Verification:
    """Compare the frozen campaign, its sources and all evidence with their digests.

    `on_progress` is told the sum so far. Hashing lets other threads run, so a few threads read at once.
    Raises InputError where the folder is no run, IdentityError where its `campaign.json` was edited.
    """
    record = read_run(path)
    total = Verification(files=1, bytes=record.layout.campaign.stat().st_size)
    threads = min(os.cpu_count() or 1, _MOST_THREADS)
    pending: deque[Future[Verification]] = deque()
    with ThreadPoolExecutor(threads, thread_name_prefix="verify") as pool:
        for check in _checks(record):
            pending.append(pool.submit(check))
            if len(pending) > 4 * threads:
                total = total.plus(pending.popleft().result())
                on_progress(total)
        while pending:
            total = total.plus(pending.popleft().result())
            on_progress(total)
    return total


def demand_verified(path: Path, on_progress: OnProgress = lambda so_far: None) -> Verification:
    """Verify a run; raises IdentityError that names what differs."""
    found = verify_run(path, on_progress)
    if found.problems:
        raise evidence_changed(found.problems, path)
    return found


def _checks(record: RunRecord) -> Iterator[Check]:
    try:
        frozen = dict(_frozen_digests(record))
        trees = {
            label: str(record.controls["repositories"][label]["tree_digest"]) for label in record.repositories
        }
    except (KeyError, TypeError, ValueError, AttributeError):
        raise IdentityError(
            f"{record.layout.campaign}: fields are missing; restore it from a copy, or begin a new run"
        ) from None
    yield partial(_check_files, record.layout, frozen)
    yield partial(_check_plan, record)
    for label, digest in trees.items():
        yield from _source_checks(record, label, digest)
    for cell, identity in record.cells.items():
        operations = tuple(_operations(record.layout, *cell.split("/", 1)))
        for start in range(0, len(operations), _BATCH):
            yield partial(_check_operations, record.layout, operations[start : start + _BATCH], identity)


def _frozen_digests(record: RunRecord) -> Iterator[tuple[Path, str]]:
    yield record.layout.cases, record.controls["bank"]["sha256"]
    for name in record.candidates:
        rendered = record.controls["candidates"][name]["configuration"]
        suffix = str(rendered["suffix"]).removeprefix(".")
        if "/" in suffix:
            raise ValueError("a suffix that is a path")
        written = record.about.get("configurations", {})  # older runs have none: there, the text itself binds
        yield record.layout.configurations / f"{name}.{suffix}", written.get(name, rendered["sha256"])


def _check_files(layout: RunLayout, expected: dict[Path, str]) -> Verification:
    return _compared({path: (digest, _shown(layout, path)) for path, digest in expected.items()})


def _check_plan(record: RunRecord) -> Verification:
    """Compare the plan with the one that the frozen bank and candidates give."""
    layout = record.layout
    try:
        bank = read_cases(record)
    except BoresightError:  # the bank is named by its own check
        return Verification(problems=("plan.jsonl: cannot be checked, as the bank that it follows differs",))
    try:
        plan = make_plan(bank, record.repositories, frozen_features(record), record.controls["seed"])
    except (IdentityError, KeyError, TypeError, ValueError):
        return Verification(problems=("campaign.json: its candidates' features or its seed cannot be read",))
    return _compared({layout.plan: (sha256(plan_lines(plan)), "plan.jsonl")})


def _source_checks(record: RunRecord, label: str, digest: str) -> Iterator[Check]:
    layout = record.layout
    yield partial(_check_description, record, label, digest)
    listing = layout.repositories / f"{label}.files"
    try:
        raw = read_regular(listing)
    except OSError:
        raw = b""
    if sha256(raw) != digest:
        yield partial(_check_whole_tree, layout, label, digest)
        return
    expected = parse_listing(raw)
    yield partial(_check_added, layout, label, expected)
    paths = sorted(expected)
    for start in range(0, len(paths), _BATCH):
        yield partial(_check_tree_files, layout, label, expected, paths[start : start + _BATCH])


def _check_description(record: RunRecord, label: str, digest: str) -> Verification:
    name = f"repositories/{label}.json"
    try:
        source = read_frozen(record.layout.repositories, label)
    except InputError as error:
        return Verification(problems=(f"{name}: {printable(str(error), 300)}",))
    if source is None:
        return Verification(problems=(f"repositories/{label}: missing: the whole tree",))
    same = (source.tree_digest, source.commit) == (digest, record.controls["repositories"][label]["commit"])
    return Verification(files=1, problems=() if same else (f"{name}: {_CHANGED}",))


def _check_whole_tree(layout: RunLayout, label: str, digest: str) -> Verification:
    """Check a tree whose listing is of no use: it can only be told as a whole."""
    problems = [f"repositories/{label}.files: {_CHANGED}"]
    listing: Listing = {}
    try:
        listing = read_tree(layout.source(label))
        if sha256(listing_bytes(listing)) != digest:
            problems.append(f"repositories/{label}: {_CHANGED} (which files, its listing would have told)")
    except OSError as error:
        problems.append(f"repositories/{label}: {error.strerror or error}")
    return Verification(files=len(listing), problems=tuple(problems))


def _check_added(layout: RunLayout, label: str, expected: Listing) -> Verification:
    try:
        added = sorted(path for path in tree_paths(layout.source(label)) if path not in expected)
    except OSError:  # a missing tree is named by its own check
        added = []
    return Verification(problems=tuple(f"repositories/{label}/{shown_path(path)}: added" for path in added))


def _check_tree_files(
    layout: RunLayout, label: str, expected: Listing, paths: Sequence[bytes]
) -> Verification:
    base = os.fsencode(layout.source(label))
    size, problems = 0, []
    for path in paths:
        place = base + b"/" + path
        try:
            size += os.lstat(place).st_size
            if read_record(place) == expected[path]:
                continue
            problem = _CHANGED
        except OSError as error:
            problem = _absent(error)
        problems.append(f"repositories/{label}/{shown_path(path)}: {problem}")
    return Verification(len(paths), size, 0, tuple(problems))


def _operations(layout: RunLayout, candidate: str, repository: str) -> Iterator[Operation]:
    """Yield every operation that a cell has a folder of, planned or not; sessions are none."""
    try:
        names = sorted(entry.name for entry in (layout.operations / candidate / repository).iterdir())
    except OSError:
        return
    for name in names:
        kind, dash, case = name.partition("-")
        if name != "session":
            yield Operation(candidate, repository, kind, case if dash else None)


def _check_operations(layout: RunLayout, operations: Sequence[Operation], cell: str) -> Verification:
    total = Verification()
    for operation in operations:
        total = total.plus(_check_operation(layout, operation, cell))
    return total


def _check_operation(layout: RunLayout, operation: Operation, cell: str) -> Verification:
    numbers = layout.attempts(operation)
    problems = []
    result = None
    try:
        result = read_result(layout, operation)
    except IdentityError as error:
        problems.append(printable(str(error)))
    if result is not None and result.cell != cell:
        problems.append(f"operations/{operation}/result.json: belongs to another cell than this one")
    if result is not None and result.attempt not in numbers:
        problems.append(f"operations/{operation}/attempt-{result.attempt:04d}: missing: the accepted attempt")
    total = Verification(problems=tuple(problems))
    for number in numbers:
        accepted = result if result is not None and result.attempt == number else None
        total = total.plus(_check_attempt(layout, operation, number, accepted))
    return total


def _check_attempt(
    layout: RunLayout, operation: Operation, number: int, accepted: Result | None
) -> Verification:
    """Compare an accepted attempt with its result's digests, another with those of its own measurement."""
    folder = layout.attempt(operation, number)
    name = _shown(layout, folder)
    expected = {}
    if accepted is not None:
        expected = {
            COMMAND: accepted.command_sha256,
            STDOUT: accepted.stdout_sha256,
            STDERR: accepted.stderr_sha256,
            MEASUREMENT: accepted.measurement_sha256,
        }
    else:
        try:
            record = load_measurement(read_regular(folder / MEASUREMENT), operation)
            expected = {each: record["digests"][each]["sha256"] for each in (COMMAND, STDOUT, STDERR)}
        except FileNotFoundError:
            return Verification(interrupted=1)
        except (OSError, IdentityError, KeyError, TypeError) as error:
            return Verification(problems=(f"{name}/{MEASUREMENT}: not readable: {printable(str(error))}",))
        if (record.get("operation"), record.get("attempt")) != (str(operation), number):
            return Verification(problems=(f"{name}/{MEASUREMENT}: belongs to another attempt",))
    return _compared({folder / each: (digest, f"{name}/{each}") for each, digest in expected.items()})


def _compared(expected: dict[Path, tuple[str, str]]) -> Verification:
    """Compare files with `(digest, name)`."""
    size, problems = 0, []
    for path, (digest, name) in expected.items():
        try:
            with open_regular(path) as stream:
                found = hashlib.file_digest(stream, "sha256").hexdigest()
                size += stream.tell()
        except OSError as error:
            problems.append(f"{name}: {_absent(error)}")
            continue
        if found != digest:
            problems.append(f"{name}: {_CHANGED}")
    return Verification(len(expected), size, 0, tuple(problems))


def _absent(error: OSError) -> str:
    return "missing" if isinstance(error, FileNotFoundError | NotADirectoryError) else str(error.strerror)


def _shown(layout: RunLayout, path: Path) -> str:
    return printable(str(path.relative_to(layout.root)))
