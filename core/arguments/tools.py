"""Commands that look at retrievers, this machine and the files that people write."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from core.arguments.parser import Parser
from core.text import printable


def retriever(commands: Any) -> None:
    """Add `retriever` and its actions."""
    retriever = commands.add_parser("retriever", help="try a candidate of a campaign out before measuring it")
    retriever.set_defaults(command=None)
    actions = retriever.add_subparsers(title="actions", metavar="ACTION", parser_class=Parser, required=True)

    attempt = actions.add_parser(
        "try",
        help="ask one query, and show the command, its output and how that was read",
        description="Indexes one repository in a temporary folder, asks one query there, and keeps nothing.",
    )
    attempt.add_argument("--query", required=True, metavar="TEXT")
    attempt.add_argument("--channel", choices=("emb", "docs"), help="default: emb where it is answered")
    attempt.add_argument("--probe", action="store_true", help="ask for context instead of a ranking")
    attempt.add_argument(
        "--limit", type=_limit, default=10, metavar="N", help="how many results (default 10)"
    )
    attempt.set_defaults(command="retriever:try_")

    check = actions.add_parser(
        "check",
        help="ask what tools get wrong, and say what to mend",
        description="Indexes one repository in a temporary folder and asks some twenty queries there: the "
        "same twice, few and many results, nothing to be found, odd characters. Exit 1 where something is to "
        "be mended.",
    )
    check.add_argument("--query", metavar="TEXT", help="one that finds something (default: from the sources)")
    check.add_argument("--json", action="store_true", help="print the findings as JSON")
    check.set_defaults(command="retriever:check_")
    for action in (attempt, check):
        action.add_argument("campaign", type=Path, metavar="CAMPAIGN.toml")
        action.add_argument("candidate", metavar="CANDIDATE")
        action.add_argument("--repository", metavar="LABEL", help="default: the campaign's first")


def _limit(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text[:4]) <= 100:
        raise argparse.ArgumentTypeError(f"found {printable(text, 20)!r}, expected a number from 1 to 100")
    return int(text)


def doctor(commands: Any) -> None:
    """Add `doctor`."""
    doctor = commands.add_parser(
        "doctor",
        help="tell what works on this machine, and what mends the rest",
        description="Tells of the system and of each retriever: installed or not, its version, what it can "
        "answer, what is missing and the command that mends it. Exit 1 where no campaign can run, or where a "
        "retriever that is named is not ready.",
    )
    doctor.add_argument("retrievers", nargs="*", metavar="RETRIEVER", help="only these; all must be ready")
    doctor.add_argument("--json", action="store_true", help="print it as JSON")
    doctor.set_defaults(command="doctor:doctor")


def schema(commands: Any) -> None:
    """Add `schema`."""
    schema = commands.add_parser("schema", help="print the JSON Schema of a file that people write")
    schema.add_argument("name", nargs="?", metavar="NAME", help="without it, the names are listed")
    schema.set_defaults(command="schema:schema")
