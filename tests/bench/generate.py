"""Makes a finished run of any size without running anything, for what reads runs: `make bench`, screens.

    python -m tests.bench.generate FOLDER --cases 100000 --candidates 3

The repositories, bank, plan and identity are real, frozen by `core.api.create_run`. The evidence is made up,
in the run's own format with its digests: every operation has one accepted attempt, whose ranking holds the
case's target at a rank that follows from the case and the candidate. Nothing is synced to the disk.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

from core import api
from core.banks.case import Case
from core.campaign.plan import Planned
from core.canonical import canonical_json, sha256
from core.engine.cell import Cell, make_cells
from core.engine.checkpoint import cell_name
from core.engine.commands import command_record, portable_text
from core.repositories import RepositoryEntry
from core.retrievers.answers import CONTEXT_FORMAT, INDEX_FORMAT, RANKING_FORMAT
from core.run.evidence import COMMAND_FORMAT, MEASUREMENT_FORMAT, Result, result_bytes
from core.run.layout import INDEX, Operation
from tests.support.repositories import git

INTENTS = ("symbol_lookup", "task_lookup", "docs_lookup", "error_or_trace_lookup")
REPOSITORIES = 4
PER_FILE = 100
PROCESSES = 2
LONGEST_RUN_OF_RANKS = 20  # a target stands at one of these ranks, or is not found
STARTED_NS = 1_000_000_000


class Shape(NamedTuple):
    """How large a run is to be: `cases` is rounded up to fill all intents of all repositories alike."""

    cases: int
    candidates: int
    results: int = 10  # of each ranking
    probes: bool = True  # also make a context probe of each case; without them a run lacks operations
    repositories: int = REPOSITORIES

    @property
    def per_intent(self) -> int:
        """Cases of one intent of one repository."""
        return -(-self.cases // (self.repositories * len(INTENTS)))


def generate(folder: Path, shape: Shape) -> Path:
    """Make the repositories, their bank and the run in a new folder; returns the run."""
    folder.mkdir(parents=True)
    with freeze(folder, shape) as run:
        cells = make_cells(run.record, run.retrievers)
        by_cell: dict[str, list[Planned]] = {name: [] for name in cells}
        for planned in run.plan:
            if shape.probes or planned.operation.kind != "ctx":
                by_cell[cell_name(planned.operation)].append(planned)
        cases = {case.id: case for case in run.bank.cases}
        writers = [_Writer(cells[name], plan, cases, shape.results) for name, plan in by_cell.items()]
        with ProcessPoolExecutor(PROCESSES, get_context("fork")) as pool:
            list(pool.map(_write, writers))
        return run.layout.root


def freeze(folder: Path, shape: Shape) -> api.OpenRun:
    """Make the run without any operation."""
    entries = [_repository(folder, f"repository-{number}", shape) for number in range(shape.repositories)]
    api.build_bank(entries, shape.per_intent, INTENTS, folder / "cases.jsonl")
    candidates = [_candidate(f"candidate-{number}", 4000 - number) for number in range(shape.candidates)]
    campaign = api.Campaign(
        "generated", folder / "cases.jsonl", tuple(entries), tuple(candidates), baseline=candidates[0].id
    )
    return api.create_run(campaign, folder / "run")


def _candidate(name: str, text_limit: int) -> api.Candidate:
    entry = {"id": name, "retriever": "embedded", "engine": "lexical", "config": {"text_limit": text_limit}}
    return api.Candidate(name, entry, Path("/"), name)


# The repositories


def _repository(folder: Path, label: str, shape: Shape) -> RepositoryEntry:
    root = folder / label
    root.mkdir()
    git(root, "init", "--quiet", "--initial-branch=main")
    numbers = range(shape.per_intent)
    for start in range(0, shape.per_intent, PER_FILE):
        some = numbers[start : start + PER_FILE]
        name = f"part_{start // PER_FILE:05}"
        (root / f"{name}.py").write_text("\n\n".join(_definition(label, number) for number in some) + "\n")
        (root / f"{name}.md").write_text(
            "".join(f"# Chapter {number} of {label}\n\nText.\n\n" for number in some)
        )
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "A commit")
    commit = git(root, "rev-parse", "HEAD").decode().strip()
    return RepositoryEntry(label=label, path=root, commit=commit)


def _definition(label: str, number: int) -> str:
    return (
        f"def look_up_record_{number}(key):\n"
        f'    """Look up record {number} of {label} by its key."""\n'
        f"    if key is None:\n"
        f'        raise KeyError("record {number} of {label} needs a key")\n'
        f"    return {number}"
    )


# The evidence


class _Writer(NamedTuple):
    """Writes the operations of one cell."""

    cell: Cell
    plan: Sequence[Planned]
    cases: Mapping[str, Case]
    results: int


def _write(writer: _Writer) -> None:
    cell = writer.cell
    places = [
        {"kind": target.kind, "line": target.line, "path": target.path}
        for case in writer.cases.values()
        if case.repo == cell.repository
        for target in case.targets
    ]
    session = command_record([cell.session_step()], cell.layout, cell.place, b"")
    os.makedirs(cell.layout.operations / cell.candidate / cell.repository, mode=0o700)  # noqa: PTH103
    index: Result | None = None
    for planned in writer.plan:
        operation = planned.operation
        if operation.case is None:
            report = {"units": len(places), "emb": len(places), "docs": 0, "vectors": 0, "skipped": {}}
            stdout = canonical_json({"format": INDEX_FORMAT, **report}) + b"\n"
            index = _publish(cell, operation, cell.expected_command(operation, None), stdout, None)
            continue
        case = writer.cases[operation.case]
        request = cell.request(operation.kind, case.channel, case.query)
        command = {**session, "request": portable_text(request.decode(), cell.layout, cell.place)}
        _publish(
            cell, operation, command, _answer(cell, operation, case, request, places, writer.results), index
        )


def _answer(
    cell: Cell, operation: Operation, case: Case, request: bytes, places: Sequence[Any], results: int
) -> bytes:
    draw = random.Random(f"{cell.candidate}/{case.id}")
    rows = [dict(draw.choice(places)) for _ in range(results)]
    rank = draw.randrange(LONGEST_RUN_OF_RANKS)
    if rank < results:
        target = case.targets[0]
        rows[rank] = {"kind": target.kind, "line": target.line, "path": target.path}
    probe = operation.kind == "ctx"
    if probe:
        rows = [{**row, "excerpt": "…"} for row in rows]
    number = request[8:24].decode()  # {"id": "0123456789abcdef", …
    form = CONTEXT_FORMAT if probe else RANKING_FORMAT
    return canonical_json({"format": form, "id": number, "results": rows}) + b"\n"


def _publish(
    cell: Cell, operation: Operation, command: Mapping[str, Any], stdout: bytes, index: Result | None
) -> Result:
    root = str(cell.layout.root)
    folder = f"{root}/operations/{operation}"
    raw = canonical_json({"format": COMMAND_FORMAT, "root": root, "command": command}) + b"\n"
    accepted = {"units": 1} if operation.kind == INDEX else {"returned": stdout.count(b'"path"')}
    digests: dict[str, dict[str, Any]] = {
        "command.json": {"sha256": sha256(raw)},
        "stdout": {"bytes": len(stdout), "sha256": sha256(stdout)},
        "stderr": {"bytes": 0, "sha256": sha256(b"")},
    }
    measurement = canonical_json(
        {
            "format": MEASUREMENT_FORMAT,
            "operation": str(operation),
            "attempt": 1,
            "digests": digests,
            "disturbed": False,
            "measurement": _measured(operation, stdout),
            "validation": {"status": "accepted", "duplicates": 0, "surplus": 0, **accepted},
        }
    )
    result = Result(
        1, cell.identity, digests["command.json"]["sha256"], digests["stdout"]["sha256"], sha256(b""),
        sha256(measurement + b"\n"), root,
        index.attempt if index else None, index.measurement_sha256 if index else None,
    )  # fmt: skip
    os.mkdir(folder, 0o700)  # noqa: PTH102 - one of millions
    os.mkdir(f"{folder}/attempt-0001", 0o700)  # noqa: PTH102
    for name, data in _files(raw, stdout, measurement + b"\n", result_bytes(operation, result)):
        descriptor = os.open(f"{folder}/{name}", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        os.write(descriptor, data)
        os.close(descriptor)
    return result


def _files(command: bytes, stdout: bytes, measurement: bytes, result: bytes) -> Iterator[tuple[str, bytes]]:
    yield "attempt-0001/command.json", command
    yield "attempt-0001/stdout", stdout
    yield "attempt-0001/stderr", b""
    yield "attempt-0001/measurement.json", measurement
    yield "result.json", result


def _measured(operation: Operation, stdout: bytes) -> dict[str, Any]:
    elapsed_ns = 1_000_000 + 1000 * stdout[-20]  # some millisecond, the same each time
    return {
        "started_at": "2024-01-02T03:04:05.000000+00:00",
        "started_ns": STARTED_NS,
        "ended_ns": STARTED_NS + elapsed_ns,
        "elapsed_s": elapsed_ns / 1e9,
        "outcome": "exited" if operation.kind == INDEX else "answered",
        "exit_code": 0 if operation.kind == INDEX else None,
        "signal": None,
        "spawn_error": None,
        "cpu_user_s": 0.0,
        "cpu_system_s": 0.0,
        "largest_process_peak_bytes": None,
        "sampled_peak_rss_bytes": 50_000_000,
        "samples": 2,
        "leftover_processes": 0,
        "unkilled_processes": 0,
        "steps_completed": 0,
        "stalled_s": 0.0,
    }


def main(words: Sequence[str]) -> None:
    """Make a run as the command line says, and print where it is."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--candidates", type=int, default=3)
    parser.add_argument("--results", type=int, default=10)
    parser.add_argument("--without-probes", action="store_true", help="a third of the files less")
    given = parser.parse_args(words)
    shape = Shape(given.cases, given.candidates, given.results, not given.without_probes)
    print(generate(given.folder.absolute(), shape))


if __name__ == "__main__":
    main(sys.argv[1:])
