"""Commands that check, move and thin out runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from core.arguments.parser import quiet_progress


def verify(commands: Any) -> None:
    """Add `verify`."""
    verify = commands.add_parser("verify", help="compare a run with every digest that it holds")
    verify.add_argument("run", type=Path, metavar="RUN")
    verify.add_argument("--json", action="store_true", help="print the outcome as JSON")
    quiet_progress(verify)
    verify.set_defaults(command="keep:verify")


def export(commands: Any) -> None:
    """Add `export`."""
    export = commands.add_parser("export", help="write a run into one file, to be moved or kept")
    export.add_argument("run", type=Path, metavar="RUN")
    export.add_argument(
        "file",
        nargs="?",
        type=Path,
        metavar="FILE",
        help="ends with .tar.gz (default), .tar.xz, .tar.zst, .tar",
    )
    export.add_argument("--without-state", action="store_true", help="leave the retrievers' indexes out")
    export.add_argument(
        "--include-private",
        action="store_true",
        help="also carry sources and queries of private repositories",
    )
    quiet_progress(export)
    export.set_defaults(command="keep:export")


def import_(commands: Any) -> None:
    """Add `import`."""
    command = commands.add_parser("import", help="unpack an exported run and verify every digest")
    command.add_argument("file", type=Path, metavar="FILE")
    command.add_argument("target", type=Path, metavar="DIR", help="the new run directory")
    quiet_progress(command)
    command.set_defaults(command="keep:import_")


def clean(commands: Any) -> None:
    """Add `clean`."""
    clean = commands.add_parser("clean", help="show what a run's indexes take, and free them")
    clean.add_argument("run", type=Path, metavar="RUN")
    clean.add_argument("--state", action="store_true", help="the retrievers' indexes; evidence always stays")
    clean.add_argument("--yes", action="store_true", help="remove them instead of only showing them")
    clean.set_defaults(command="keep:clean")
