"""`boresight retry`: new attempts for chosen failures, and nothing else."""

from __future__ import annotations

import argparse

from core import api
from core.commands import run as running
from core.commands.output import narrate
from core.commands.results import bank_format_of, say_results
from core.errors import Exit
from core.failures import Filters, choose, failures
from core.text import printable


def retry(arguments: argparse.Namespace) -> int:
    """Give the failures that match every filter new attempts under the run's identity."""
    found = failures(arguments.run)
    if not found:
        narrate(f"{printable(str(arguments.run))}: no operation has failed: nothing to retry")
        say_results(bank_format_of(arguments.run), arguments.run.absolute())
        return Exit.DONE
    chosen = choose(
        found,
        Filters(
            arguments.candidate or (),
            arguments.repository or (),
            arguments.operation or (),
            arguments.error or (),
        ),
    )
    narrate(f"retrying {len(chosen)} of {len(found)} failures")
    opened = api.reopen_run(arguments.run, only=chosen)
    for candidate, repository in sorted({(each.candidate, each.repository) for each in chosen}):
        if not opened.layout.state(candidate, repository).exists():
            narrate(f"{candidate}/{repository} has no index here: it is built again, and all its queries run")
    return running.finish(opened, running.execute(opened, arguments))
