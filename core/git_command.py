"""Git commands with an environment and configuration of their own, through GitPython.

Nothing of the user's environment or configuration reaches Git, and nothing that a repository configures
is run: no hooks, filters, monitors, helpers or fetches.
"""

from __future__ import annotations

import contextlib
import functools
import os
import re
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from subprocess import PIPE, Popen
from typing import IO, TYPE_CHECKING, BinaryIO, NamedTuple, cast

from core.errors import InputError
from core.text import printable

if TYPE_CHECKING:
    from git import Git

MINIMUM_VERSION = (2, 31)
_ENV = "/usr/bin/env"

_CONFIGURATION = {
    "protocol.allow": "never",
    "advice.graftFileDeprecated": "false",  # else it complains about /dev/null
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    # Git refuses other people's repositories because their configuration could run programs as this
    # user. Nothing of a repository's configuration is run here, so ownership is no danger.
    "safe.directory": "*",
}
_ENVIRONMENT = {
    "LC_ALL": "C",
    "LANGUAGE": "C",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_GRAFT_FILE": os.devnull,
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
}


class Outcome(NamedTuple):
    """How a Git command ended: exit status, stdout, and stderr on one line that is safe to show."""

    status: int
    stdout: bytes
    complaint: str


def run_git(*arguments: str, directory: Path, stdin: bytes | None = None) -> Outcome:
    """Run one Git command in a folder, to its end.

    Raises InputError where Git is missing or too old.
    """
    command = _command(*arguments, directory=directory)
    if stdin is None:
        return _finish(command, None)
    with tempfile.TemporaryFile() as stream:
        stream.write(stdin)
        stream.seek(0)
        return _finish(command, cast("BinaryIO", stream))


def _finish(command: list[str], stdin: BinaryIO | None) -> Outcome:
    git = _git()
    from git.exc import GitCommandNotFound

    try:
        ended = git.execute(
            command,
            istream=stdin,
            with_extended_output=True,
            with_exceptions=False,
            stdout_as_string=False,
            strip_newline_in_stdout=False,
            shell=False,
        )
    except (GitCommandNotFound, OSError) as error:
        raise _not_started(error) from None
    status, output, complaint = ended
    return Outcome(status, output, one_line(complaint))


def _command(*arguments: str, directory: Path) -> list[str]:
    executable = shutil.which("git")
    if executable is None:
        raise InputError("Git is not installed, or not on PATH; install Git 2.31 or newer")
    _demand_version(executable)
    return [*_clean(executable, _CONFIGURATION), "-C", str(directory), *arguments]


def _clean(executable: str, configuration: Mapping[str, str]) -> list[str]:
    # GitPython adds to the user's environment and can remove nothing from it (GIT_DIR, GIT_TRACE,
    # GIT_CONFIG_PARAMETERS, HOME …), so the command empties it.
    environment = {"PATH": os.environ.get("PATH", os.defpath), **_ENVIRONMENT}
    environment["GIT_CONFIG_COUNT"] = str(len(configuration))
    for number, (key, value) in enumerate(configuration.items()):
        environment[f"GIT_CONFIG_KEY_{number}"] = key
        environment[f"GIT_CONFIG_VALUE_{number}"] = value
    return [_ENV, "-i", *(f"{key}={value}" for key, value in environment.items()), executable]


class ObjectStream:
    """One `git cat-file --batch` process.

    GitPython starts it and its protocol is spoken here: GitPython's own stream parses text at every
    object, and an abandoned one is drained in a destructor.
    """

    def __init__(self, directory: Path) -> None:
        command = _command("cat-file", "--batch", directory=directory)
        try:
            # Kept as long as the stream is used: GitPython ends the process when its owner goes.
            self._owner = _git().execute(command, istream=PIPE, as_process=True, shell=False)
        except OSError as error:
            raise _not_started(error) from None
        self._process = cast("Popen[bytes]", self._owner.proc)
        self._stdin = cast("IO[bytes]", self._process.stdin)
        self._stdout = cast("IO[bytes]", self._process.stdout)
        self.read = self._stdout.read

    def ask(self, name: str) -> bytes:
        """Return the header line that answers for one object name; empty where the process has ended."""
        try:
            self._stdin.write(name.encode("utf-8", "surrogatepass") + b"\n")
            self._stdin.flush()
        except BrokenPipeError:
            return b""
        return self._stdout.readline()

    def close(self) -> str:
        """End the process, whatever it is doing, and return its complaint."""
        with contextlib.suppress(BrokenPipeError):
            self._stdin.close()
        self._stdout.close()
        # It ends at the end of its input, or at the next write to its closed output.
        complaint = cast("IO[bytes]", self._process.stderr)
        with complaint:
            words = one_line(complaint.read())
        self._process.wait()
        return words


@functools.cache
def _demand_version(executable: str) -> None:
    output = _finish([*_clean(executable, {}), "version"], None).stdout
    match = re.match(rb"git version (\d+)\.(\d+)", output)
    needed = ".".join(map(str, MINIMUM_VERSION))
    if match is None:
        raise InputError(f"{printable(executable)}: does not act like Git; install Git {needed} or newer")
    if (int(match[1]), int(match[2])) < MINIMUM_VERSION:
        version = output.removeprefix(b"git version ")
        raise InputError(
            f"{printable(executable)}: is Git {one_line(version)}; install Git {needed} or newer"
        )


def _git() -> Git:
    try:
        from git import Git
    except ImportError as error:
        raise InputError(f"GitPython cannot start Git: {one_line(str(error))}") from None
    return Git()


def _not_started(error: Exception) -> InputError:
    return InputError(f"Git cannot be started: {one_line(str(error))}; check that `git version` works")


def one_line(output: bytes | str) -> str:
    """Return what Git said as one line that is safe to show, cut short."""
    text = output.decode("utf-8", "replace") if isinstance(output, bytes) else output
    return printable(" ".join(text.split()), 300)
