"""Parsers of words, and the options that several commands share."""

from __future__ import annotations

import argparse
from typing import Any, NoReturn

from core.errors import Exit


class Parser(argparse.ArgumentParser):
    """Refuses abbreviations, and says which command's help to read."""

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_abbrev=False, **options)

    def error(self, message: str) -> NoReturn:
        """End with a message and where to read more."""
        option, _, told = message.removeprefix("argument ").partition(": ")
        if told == "expected one argument" and option.startswith("--"):
            message += f" (a value that begins with - is written {option}=VALUE)"
        self.exit(Exit.BAD_INPUT, f"boresight: {message}\nSee `{self.prog} --help`.\n")


def hosting(command: argparse.ArgumentParser) -> None:
    """Add how a command's run is executed and told of."""
    quiet_progress(command)
    command.add_argument(
        "--detach",
        action="store_true",
        help="host the run in a process of its own that outlives this terminal",
    )
    together(command)


def quiet_progress(command: argparse.ArgumentParser) -> None:
    """Add leave to say nothing while working."""
    command.add_argument("--quiet-progress", action="store_true", help="no progress on stderr")


def together(command: argparse.ArgumentParser) -> None:
    """Add leave to run beside another campaign."""
    command.add_argument(
        "--together",
        action="store_true",
        help="run beside another campaign on this machine instead of waiting; both are marked as disturbed",
    )


def embed(command: argparse.ArgumentParser) -> None:
    """Add the columns that need an embedding function."""
    command.add_argument(
        "--embed",
        action="store_true",
        help="graded banks: also compare contexts with questions and facts by the embedded model",
    )
