"""Commands that tell what finished runs found."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from core.arguments.parser import embed


def runs(commands: Any) -> None:
    """Add `runs`."""
    runs = commands.add_parser("runs", help="list runs and their state")
    runs.add_argument("folder", nargs="?", type=Path, default=Path(), metavar="DIR")
    runs.add_argument("--json", action="store_true", help="print them as JSON")
    runs.set_defaults(command="report:runs")


def rescore(commands: Any) -> None:
    """Add `rescore`."""
    rescore = commands.add_parser("rescore", help="verify a run's evidence and rebuild its reports from it")
    rescore.add_argument("run", type=Path, metavar="RUN")
    embed(rescore)
    rescore.set_defaults(command="report:rescore")


def report(commands: Any) -> None:
    """Add `report`."""
    report = commands.add_parser("report", help="print a run's report, derived from its evidence")
    report.add_argument("run", type=Path, metavar="RUN")
    report.add_argument(
        "--format",
        choices=("text", "md", "json", "csv", "metrics", "trec"),
        default="text",
        help="text: leaderboard; csv: a row for each query; metrics: a row for each mean; "
        "trec: run and qrels files",
    )
    report.add_argument("--output", type=Path, metavar="DIR", help="for trec (default RUN/exports)")
    embed(report)
    report.set_defaults(command="report:report")


def gate(commands: Any) -> None:
    """Add `gate`."""
    gate = commands.add_parser(
        "gate",
        help="hold a run to floors, for CI: exit 1 where one fell",
        description="Holds a run's metrics to the floors and ceilings of a file (docs/gates.md), or against "
        "an older run of the same bank. Runs of graded banks have default floors. Exit codes: 0 all hold; 1 "
        "something fell; 2 a bad file; 3 changed evidence.",
    )
    gate.add_argument("run", nargs="?", type=Path, metavar="RUN")
    gate.add_argument("--floors", type=Path, metavar="FLOORS.toml")
    gate.add_argument("--candidate", action="append", metavar="C", help="repeat to name several, or say all")
    gate.add_argument(
        "--against", type=Path, metavar="OLDER", help="fall where the same cases fell significantly"
    )
    gate.add_argument(
        "--allow-incomplete", action="store_true", help="failed or missing operations alone are no fall"
    )
    gate.add_argument("--embed", action="store_true", help="compute columns that need an embedding function")
    gate.add_argument("--junit", type=Path, metavar="FILE", help="also write a JUnit XML file")
    form = gate.add_mutually_exclusive_group()
    form.add_argument("--github", action="store_true", help="also print annotations for GitHub")
    form.add_argument("--json", action="store_true", help="print the outcome as JSON")
    gate.add_argument("--show-default", action="store_true", help="print the default floors and exit")
    gate.set_defaults(command="gate:gate")
