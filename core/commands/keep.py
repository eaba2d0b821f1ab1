"""`boresight verify`, `export`, `import` and `clean`: keeping runs whole, elsewhere and small."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from pathlib import Path

from core import api
from core.commands.output import narrate, say, table
from core.commands.results import bank_format_of, say_results
from core.commands.ticker import Ticker
from core.errors import BusyError, Exit, InputError
from core.rankings import RunReader
from core.reports.wording import size
from core.run.cleaning import clean_state
from core.run.disk import cell_states
from core.run.evidence import read_result
from core.run.layout import INDEX
from core.run.lock import is_held
from core.run.record import read_run
from core.text import printable


def verify(arguments: argparse.Namespace) -> int:
    """Compare a run with every digest that it holds; exit 3 where something differs."""
    with Ticker(quiet=arguments.quiet_progress) as ticker:
        found = api.verify_run(
            arguments.run,
            lambda so_far: ticker.tell(lambda: f"verified {so_far.files} files, {size(so_far.bytes)}"),
        )
    if arguments.json:
        say(json.dumps({"run": str(arguments.run), **found._asdict()}, indent=1))
    else:
        for problem in found.problems:
            say(problem)
        verdict = f"{len(found.problems)} differ" if found.problems else "all match"
        say(f"{found.files} files, {found.bytes} bytes checked: {verdict}")
        if found.interrupted:
            narrate(
                f"{found.interrupted} interrupted attempts hold no digests, so nothing of them was checked"
            )
    if found.problems and is_held(read_run(arguments.run).layout.lock):
        narrate("a process writes to this run now: verify it again once that has ended")
    return Exit.IDENTITY if found.problems else Exit.DONE


def export(arguments: argparse.Namespace) -> int:
    """Write a run into one file."""
    run: Path = arguments.run
    file: Path = arguments.file or Path(f"{run.absolute().name}.tar.gz")
    with Ticker(quiet=arguments.quiet_progress) as ticker:
        exported = api.export_run(
            run,
            file,
            with_state=not arguments.without_state,
            include_private=arguments.include_private,
            on_bytes=lambda done, total: ticker.tell(
                lambda: f"exported {done * 100 // max(total, 1)} % of {size(total // 2)}"
            ),
        )
    narrate(f"{exported.files} files, {size(exported.bytes)}, in {size(file.stat().st_size)}")
    if exported.left_out:
        narrate(
            f"{len(exported.left_out)} links, sockets and pipes of indexes were left out (the first is "
            f"{exported.left_out[0]}); an index that needs them is built again by a resume"
        )
    say(printable(str(file)))
    return Exit.DONE


def import_(arguments: argparse.Namespace) -> int:
    """Unpack an archive into a new run directory, and verify it."""
    with Ticker(quiet=arguments.quiet_progress) as ticker:
        found = api.import_run(
            arguments.file,
            arguments.target,
            on_bytes=lambda done, total: ticker.tell(
                lambda: f"unpacked {done * 100 // max(total, 1)} % of {size(total)}"
            ),
        )
    narrate(f"{found.files} files, {size(found.bytes)} verified")
    say_results(bank_format_of(arguments.target), arguments.target.absolute())
    return Exit.DONE


def clean(arguments: argparse.Namespace) -> int:
    """Show what a run's indexes take, and free them where that was confirmed."""
    if not arguments.state:
        raise InputError("nothing to clean was named; add --state for the retrievers' indexes")
    reader = RunReader(arguments.run)
    layout = reader.layout
    if is_held(layout.lock):
        raise BusyError(
            f"{layout.root}: a process writes to this run; wait until it ends, or stop it: "
            f"boresight stop {layout.root}"
        )
    taken = _show_states(reader)
    if arguments.yes:
        say(f"Freed {size(clean_state(arguments.run))}.")
    elif taken:
        narrate(f"Nothing was removed. To free this: boresight clean {layout.root} --state --yes")
    return Exit.DONE


def _show_states(reader: RunReader) -> int:
    """Print what each index takes, and what a resume would do without it; return the sum in bytes."""
    states = cell_states(reader.layout)
    if not states:
        say("This run holds no indexes.")
        return 0
    accepted, planned = _counts(reader)
    rows = []
    for state in states:
        cell = f"{state.candidate}/{state.repository}"
        whole = accepted[cell] == planned[cell]
        rows.append(
            (
                printable(cell),
                size(state.bytes),
                f"{accepted[cell]}/{planned[cell]}",
                "stays complete" if whole else "is indexed and queried again by a resume",
            )
        )
    total = sum(state.bytes for state in states)
    table(("cell", "index", "accepted", "without its index the cell"), [*rows, ("all", size(total), "", "")])
    return total


def _counts(reader: RunReader) -> tuple[Counter[str], Counter[str]]:
    """Count each cell's operations that have a result of the index that stands, and all of them."""
    accepted: Counter[str] = Counter()
    planned: Counter[str] = Counter()
    indexes: dict[str, str] = {}
    for item in reader.plan:
        operation = item.operation
        cell = f"{operation.candidate}/{operation.repository}"
        planned[cell] += 1
        result = read_result(reader.layout, operation)
        if result is None:
            continue
        if operation.kind == INDEX:
            indexes[cell] = result.measurement_sha256
            accepted[cell] += 1
        else:
            accepted[cell] += result.index_measurement_sha256 == indexes.get(cell)
    return accepted, planned
