"""Runs a command that is no measurement: one that tells what a tool is, or counts an index."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from core.errors import InputError
from core.text import printable

TIMEOUT_S = 300.0
MAX_TOLD_BYTES = 1024 * 1024
_LOCALE = "C.UTF-8"
_PASSED = ("PATH", "LD_LIBRARY_PATH")


class Told(NamedTuple):
    """What a command that ended by itself has printed, each stream cut to its first MiB."""

    exit_code: int
    stdout: bytes
    stderr: bytes

    @property
    def complaint(self) -> str:
        """The last line that it complained with, safe to show."""
        lines = self.stderr.decode("utf-8", "replace").strip().splitlines()
        return printable(lines[-1], 200) if lines else "it said nothing on stderr"


def ask(
    argv: Sequence[str],
    environment: Mapping[str, str],
    *,
    home: Path,
    cwd: Path,
    secrets: Sequence[str] = (),
    timeout_s: float = TIMEOUT_S,
) -> Told:
    """Run a command to its end; its whole process group is gone on return.

    Its environment holds PATH, `environment`, the variables named in `secrets`, and `home` as HOME and
    TMPDIR. Raises InputError where it cannot be started or does not end in time.
    """
    passed = {name: os.environ[name] for name in (*_PASSED, *secrets) if name in os.environ}
    whole = {"PATH": os.defpath, "LANG": _LOCALE, **passed, **environment}
    with tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
        try:
            process = subprocess.Popen(
                list(argv),
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                cwd=cwd,
                env={**whole, "HOME": str(home), "TMPDIR": str(home)},
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            told = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            raise InputError(f"{_shown(argv)} could not be started: {printable(told, 200)}") from None
        try:
            code = process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            raise InputError(f"{_shown(argv)} did not end within {timeout_s:g} s") from None
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        return Told(code, *(_begin(stream.fileno()) for stream in (stdout, stderr)))


def _begin(descriptor: int) -> bytes:
    return os.pread(descriptor, MAX_TOLD_BYTES, 0)


def _shown(argv: Sequence[str]) -> str:
    return f"`{printable(' '.join(argv), 120)}`"
