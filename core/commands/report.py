"""`boresight rescore`, `report` and `runs`."""

from __future__ import annotations

import argparse
import contextlib
import json
import shlex
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from core import api
from core.banks.case import Case, GradedPart
from core.commands.output import narrate, say, table, write
from core.commands.results import bank_format_of, say_results
from core.durable import write_durably
from core.errors import Exit, InputError
from core.ranking import Level, Location
from core.reports.verdict import headline_text
from core.reports.wording import size
from core.retrievers.protocol import AnswerError
from core.run.disk import DiskUse, disk_use
from core.run.evidence import evidence_changed
from core.run.layout import SEARCH_DEPTH
from core.scoring.relevance import Embedding
from core.sought import sought_by
from core.text import printable, printable_lines


def rescore(arguments: argparse.Namespace) -> int:
    """Verify a run's evidence and rebuild its reports; exit 1 where planned results are missing or failed."""
    rescored = api.rescore_run(arguments.run, _embedding(arguments))
    root = rescored.reader.layout.root
    if rescored.unaccepted:
        narrate(
            f"{rescored.unaccepted} of {len(rescored.reader.plan)} planned operations have no accepted result"
        )
    accepted = len(rescored.reader.plan) - rescored.unaccepted
    narrate(f"verified the evidence of {accepted} accepted operations and rebuilt the reports from it")
    say(headline_text(rescored.board))
    say_results(rescored.facts.bank_format, root)
    return Exit.NEGATIVE if rescored.unaccepted else Exit.DONE


def report(arguments: argparse.Namespace) -> int:
    """Print a run's report in one format; nothing in the run is changed but `exports/`."""
    if arguments.output is not None and arguments.format != "trec":
        raise InputError(f"--output goes with --format trec; redirect stdout for {arguments.format}")
    embedding = _embedding(arguments)
    if arguments.format == "trec":
        for path in _export_trec(api.RunReader(arguments.run), arguments.output):
            say(printable(str(path)))
    elif arguments.format == "csv" and not _is_graded(arguments.run):
        _print_queries(arguments.run)
    else:
        print_report(api.rescore(arguments.run, embedding=embedding), arguments.format)
    return Exit.DONE


def _is_graded(run: Path) -> bool:
    return sought_by(bank_format_of(run)) == "relevant module"


def _embedding(arguments: argparse.Namespace) -> Embedding | None:
    """Return the embedded model where it is asked for, which only graded banks have a use for."""
    if not getattr(arguments, "embed", False):
        return None
    if not _is_graded(arguments.run):
        raise InputError(
            "--embed goes with runs of graded banks: it compares contexts with gold facts, and the bank of "
            "this run has none"
        )
    if getattr(arguments, "format", "text") in ("metrics", "trec"):
        raise InputError("--embed changes nothing in this format; ask for text, md, json or csv")
    from core.embedding import embedded_model

    return embedded_model()


def print_report(rescored: api.Rescored, form: str) -> None:
    """Print a report of a run's scores on stdout."""
    from core.reports.graded_table import graded_csv
    from core.reports.leaderboard import Leaderboard
    from core.reports.markdown import markdown
    from core.reports.summary import summary_bytes
    from core.reports.table import metrics_csv

    board, facts, graded = rescored.board, rescored.facts, rescored.graded
    if form == "text":
        from rich.console import Console

        console = Console(highlight=False)
        run = shlex.quote(printable(str(rescored.reader.layout.root)))
        with console.capture() as drawn:
            console.print(Leaderboard(board, facts, rescored.examples, graded, run))
        write([drawn.get()])
    elif form == "md":
        write([markdown(board, facts, rescored.examples, graded)])
    elif form == "json":
        write([summary_bytes(board, facts, rescored.examples, graded).decode()])
    elif form == "csv" and graded is not None:
        write(graded_csv(graded, facts))
    else:
        write(metrics_csv(board))


def runs(arguments: argparse.Namespace) -> int:
    """List the runs of a folder with their state."""
    if not arguments.folder.is_dir():
        raise InputError(f"{arguments.folder}: no such folder; name one that holds runs")
    found = list(api.list_runs(arguments.folder))
    if arguments.json:
        say(json.dumps([_plain(status) for status in found], indent=1))
        return Exit.DONE
    if not found:
        say(f"No runs in {printable(str(arguments.folder.absolute()))} (searched {SEARCH_DEPTH} levels).")
        return Exit.DONE
    table(
        ("run", "campaign", "state", "done", "failed", "updated (UTC)", "disk", "of it indexes"),
        [_row(status, disk_use(status.path)) for status in found],
    )
    narrate(f"searched {SEARCH_DEPTH} levels below {printable(str(arguments.folder.absolute()))}")
    for status in found:
        if status.problem:
            narrate(f"{printable(str(status.path))}: {printable_lines(status.problem)}")
    return Exit.DONE


def _row(status: api.RunStatus, use: DiskUse) -> Sequence[str]:
    return (
        printable(str(status.path)),
        printable(status.name),
        status.state or "unreadable",
        f"{status.accepted}/{status.planned}",
        str(status.failed),
        status.updated_at.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S") if status.updated_at else "—",
        size(use.total),
        size(use.state),
    )


def _plain(status: api.RunStatus) -> dict[str, object]:
    updated: datetime | None = status.updated_at
    use = disk_use(status.path)
    return {
        **status._asdict(),
        "disk_bytes": use.total,
        "state_bytes": use.state,
        "path": str(status.path),
        "updated_at": updated.isoformat() if updated else None,
    }


def _print_queries(run: Path) -> None:
    from core.outcomes import read_outcomes
    from core.reports.table import queries_csv

    outcomes = read_outcomes(run)
    write(queries_csv(outcomes.queries, outcomes.reader.record.private))


def _export_trec(reader: api.RunReader, folder: Path | None) -> Iterator[Path]:
    """Write `qrels.txt` and one run file a candidate; private repositories' queries are withheld.

    Results bear their targets' names by the rule that the leaderboard uses, so that all run files are judged
    alike. Raises IdentityError where evidence was changed; nothing is written then.
    """
    from core.reports.trec import qrels_lines, run_lines
    from core.rescoring import scoring_plan
    from core.scoring.matching import comparison_level

    private = reader.record.private
    level: Level = "file"
    if reader.bank.graded is not None:
        files = _graded_files(reader, reader.bank.graded)
    else:
        level, _ = comparison_level(scoring_plan(reader).candidates)
        rankings = _rankings(reader)
        files = {"qrels.txt": qrels_lines(reader.bank.cases, private)}
        for name in reader.record.candidates:
            files[f"{name}.run"] = run_lines(name, rankings[name], level, private)
    chosen = folder is not None
    folder = folder or reader.layout.root / "exports"
    taken = [name for name in files if (folder / name).exists()] if chosen else []
    if taken:
        raise InputError(f"{folder / taken[0]}: exists already and is never overwritten; name a new --output")
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        for name, lines in files.items():
            write_durably(folder / name, "".join(lines).encode())
            yield folder / name
    except OSError as error:
        raise InputError(
            f"{folder}: cannot be written: {error.strerror or error}; name another --output"
        ) from None
    narrate(
        f'results are named by the {level} rule; an entry that replays these files says level = "{level}"'
    )
    withheld = sum(case.repo in private for case in reader.bank.cases)
    if withheld:
        narrate(f"{withheld} cases of private repositories were withheld")


def _graded_files(reader: api.RunReader, graded: GradedPart) -> dict[str, Iterator[str]]:
    """Return the lines of a graded bank's files; none of a private repository."""
    from core.graded_outcomes import read_graded
    from core.reports.graded_trec import graded_qrels, graded_run

    board = read_graded(reader)
    if reader.changed:
        raise evidence_changed(reader.changed, reader.layout.root)
    if board is None or reader.record.private:
        return {name: iter(()) for name in ("qrels.txt", *(f"{n}.run" for n in reader.record.candidates))}
    runs = {f"{name}.run": graded_run(found) for name, found in board.candidates.items()}
    return {"qrels.txt": graded_qrels(graded.questions.values()), **runs}


def _rankings(reader: api.RunReader) -> dict[str, list[tuple[Case, Sequence[Location]]]]:
    found: dict[str, list[tuple[Case, Sequence[Location]]]] = {name: [] for name in reader.record.candidates}
    for seen in reader.observations():
        operation = seen.planned.operation
        if operation.kind == "primary" and seen.status == "accepted":
            with contextlib.suppress(AnswerError):  # counted as failed by whoever scores it
                found[operation.candidate].append((reader.cases[str(operation.case)], reader.ranking(seen)))
    if reader.changed:
        raise evidence_changed(reader.changed, reader.layout.root)
    return found
