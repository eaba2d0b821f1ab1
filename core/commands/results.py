"""The last line of every command that ends with a run's results."""

from __future__ import annotations

from pathlib import Path

from core.commands.output import say
from core.reports.wording import RESULTS_OF
from core.run.record import read_run
from core.sought import sought_by
from core.text import printable


def say_results(bank_format: str, run: Path) -> None:
    """Print where a run's results lie, in the words of its bank's kind."""
    say(f"{RESULTS_OF[sought_by(bank_format)]}: {printable(str(run))}")


def bank_format_of(run: Path) -> str:
    """Return the format of a run's bank; raises InputError or IdentityError where it is no sound run."""
    return str(read_run(run).controls["bank"]["format"])
