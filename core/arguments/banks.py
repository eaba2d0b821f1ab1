"""Commands that make banks and look at them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from core.arguments.parser import Parser


def bank(commands: Any) -> None:
    """Add `bank` and its actions."""
    bank = commands.add_parser("bank", help="derive, check, describe and grade banks of questions")
    bank.set_defaults(command=None)
    actions = bank.add_subparsers(title="actions", metavar="ACTION", parser_class=Parser, required=True)

    build = actions.add_parser("build", help="derive a bank from repositories at pinned commits")
    build.add_argument("--repo-manifest", type=Path, required=True, metavar="M")
    build.add_argument(
        "--kind",
        choices=("known-target", "historical"),
        default="known-target",
        help="historical: commit subjects and the files that they changed, which are not gold",
    )
    build.add_argument("--per-intent", type=int, metavar="N", help="cases per repository and intent")
    build.add_argument(
        "--per-repository", type=int, metavar="N", help="with --kind historical; default all there are"
    )
    build.add_argument(
        "--output", type=Path, required=True, metavar="CASES", help="a new file; never overwritten"
    )
    build.add_argument(
        "--intents", nargs="+", metavar="INTENT", help="only these intents, where a repository lacks others"
    )
    build.set_defaults(command="bank:build")

    check = actions.add_parser(
        "check", help="derive every case again, or compare grades with modules, and name what is wrong"
    )
    check.add_argument("cases", type=Path, metavar="CASES")
    check.add_argument("--repo-manifest", type=Path, required=True, metavar="M")
    check.add_argument("--json", action="store_true", help="print findings as JSON")
    check.set_defaults(command="bank:check")

    stats = actions.add_parser(
        "stats", help="cases per cell, ambiguous queries, words shared with the target"
    )
    stats.add_argument("cases", type=Path, metavar="CASES")
    stats.add_argument("--repo-manifest", type=Path, metavar="M", help="also read the repositories")
    stats.add_argument("--json", action="store_true", help="print the figures as JSON")
    stats.set_defaults(command="bank:stats")

    template = actions.add_parser(
        "grade-template",
        help="a question with every module at grade 0, for a person to fill in",
        description="Writes a graded bank with one question for the one repository of the manifest. Raise "
        "the grades of the modules that answer it, add 2 to 4 gold facts, then `boresight bank check` it.",
    )
    template.add_argument("--repo-manifest", type=Path, required=True, metavar="M")
    template.add_argument(
        "--output", type=Path, required=True, metavar="FILE", help="a new file; never overwritten"
    )
    template.add_argument("--question", metavar="TEXT", help="left open where it is not given")
    template.add_argument("--id", metavar="ID", help="letters, digits, _ and - (default question-NUMBER)")
    template.add_argument("--shape", metavar="SHAPE", help="focused (default), cross-file or identity")
    template.add_argument("--add", action="store_true", help="add the question to FILE, which is there")
    template.set_defaults(command="bank:grade_template")
