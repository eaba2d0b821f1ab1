"""Errors that a person can act on; each carries the exit code of the command that it ends."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum


class Exit(IntEnum):
    """Exit codes of every Boresight command."""

    DONE = 0
    NEGATIVE = 1  # done, and the answer is no: failed operations, a gate fell, a bank not borne out
    BAD_INPUT = 2  # nothing was written
    IDENTITY = 3  # identity or evidence differs
    BUSY = 4  # another writer holds the run
    STOPPED = 130


class BoresightError(Exception):
    """An expected failure: the message names the thing, the reason and the remedy."""

    exit_code: Exit = Exit.BAD_INPUT


class InputError(BoresightError):
    """A file, flag or value from outside is not what is needed."""


class ProblemsError(InputError):
    """Several input problems, all told at once, one a line."""

    def __init__(self, heading: str, problems: Sequence[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join([heading, *(f"  - {problem}" for problem in self.problems)]))


class RunError(BoresightError):
    """A run could not go on; what it finished until then is kept."""

    exit_code = Exit.NEGATIVE


class IdentityError(BoresightError):
    """A run's identity or retained evidence is not what it was."""

    exit_code = Exit.IDENTITY


class BusyError(BoresightError):
    """Another process writes to the same run."""

    exit_code = Exit.BUSY


class StoppedError(BoresightError):
    """The person, or the system on their behalf, ended the work."""

    exit_code = Exit.STOPPED


def is_thread_refusal(error: RuntimeError) -> bool:
    """Tell whether Python could start no thread because the user's limit of processes is reached."""
    return str(error) == "can't start new thread"
