"""Environments of their own for real tools, kept in a cache folder outside the checkout.

The cache lies where `BORESIGHT_TEST_CACHE` says, else in the platform's folder for caches. An environment
is made once for its requirements, files and interpreter, and found again by every later run and every
worker; a half-made one is made anew. Where one cannot be made (no such Python, no network), the test that
asks for it is skipped with the reason, unless `BORESIGHT_REQUIRE_REAL` is set: then it fails.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import NamedTuple, NoReturn

import platformdirs
import pytest

_CACHE_VARIABLE = "BORESIGHT_TEST_CACHE"
_REQUIRE_VARIABLE = "BORESIGHT_REQUIRE_REAL"
_INSTALL_TIMEOUT = 1800.0  # seconds
_ASK_TIMEOUT = 30.0  # seconds
_SHOWN_OUTPUT = 600  # characters
_MARKER = "complete.json"


class Interpreter(NamedTuple):
    """A Python that is installed here, with its exact version and build."""

    executable: str
    version: tuple[int, int]
    build: str


class _NoEnvironmentError(Exception):
    """An environment cannot be made here; the message says why."""


def cache_folder() -> Path:
    """Return the folder that everything made for real tools is kept in; it may not exist yet."""
    named = os.environ.get(_CACHE_VARIABLE)
    return Path(named).absolute() if named else platformdirs.user_cache_path("boresight-tests")


def environment(
    name: str, requirements: Sequence[str], python: str | None = None, files: Mapping[str, str] | None = None
) -> Path:
    """Return the folder of executables of an environment with `requirements` installed.

    `python` is the oldest version that will do, such as "3.13"; None takes the one that runs the tests.
    `files` are texts to put beside the installed packages, by name (a `sitecustomize.py`).
    Skips the test with a reason where the environment cannot be made.
    """
    try:
        return _environment(name, tuple(requirements), python, tuple(sorted((files or {}).items())))
    except _NoEnvironmentError as error:
        unavailable(f"no environment for {name}: {error}")


def unavailable(reason: str) -> NoReturn:
    """Skip the test, or fail it where real tools are required."""
    if os.environ.get(_REQUIRE_VARIABLE):
        pytest.fail(f"{reason} ({_REQUIRE_VARIABLE} is set)", pytrace=False)
    pytest.skip(reason)


@contextmanager
def locked(name: str) -> Iterator[Path]:
    """Hold one entry of the cache against other workers, and yield its folder, which may not exist."""
    cache_folder().mkdir(parents=True, exist_ok=True)
    with open(cache_folder() / f"{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield cache_folder() / name


@cache
def interpreter(oldest: str | None) -> Interpreter | None:
    """Return an installed Python of at least this version: this one where it will do, else the oldest."""
    wanted = tuple(int(part) for part in oldest.split(".")[:2]) if oldest else (0, 0)
    own = _asked(sys.executable)
    if own is not None and own.version >= wanted:
        return own
    found = (_asked(candidate) for candidate in _candidates())
    suitable = [python for python in found if python is not None and python.version >= wanted]
    return min(suitable, key=lambda python: python.version, default=None)


# Failures are kept too: forty tests of one worker do not each wait for the network.
_FAILED: dict[tuple[object, ...], str] = {}


def _environment(
    name: str, requirements: tuple[str, ...], python: str | None, files: tuple[tuple[str, str], ...]
) -> Path:
    asked = (name, requirements, python, files)
    if asked in _FAILED:
        raise _NoEnvironmentError(_FAILED[asked])
    try:
        return _made(name, requirements, python, files)
    except (_NoEnvironmentError, OSError, subprocess.SubprocessError) as error:
        _FAILED[asked] = str(error)
        raise _NoEnvironmentError(str(error)) from None


def _made(
    name: str, requirements: tuple[str, ...], python: str | None, files: tuple[tuple[str, str], ...]
) -> Path:
    base = interpreter(python)
    if base is None:
        raise _NoEnvironmentError(f"no Python {python} or newer is on PATH or in pyenv; install one")
    contents = {"requirements": requirements, "python": base.build, "files": files}
    digest = hashlib.sha256(json.dumps(contents).encode()).hexdigest()
    with locked(f"{name}-{digest[:16]}") as folder:
        if not (folder / _MARKER).exists():
            shutil.rmtree(folder, ignore_errors=True)
            _make(folder, base, requirements, files)
            (folder / _MARKER).write_text(json.dumps(contents))
    return folder / "bin"


def _make(
    folder: Path, base: Interpreter, requirements: Sequence[str], files: Sequence[tuple[str, str]]
) -> None:
    _run([base.executable, "-m", "venv", str(folder)])
    python = str(folder / "bin" / "python")
    _run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *requirements])
    packages = _run([python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]).strip()
    for file, text in files:
        (Path(packages) / file).write_text(text)


def _run(argv: Sequence[str]) -> str:
    done = subprocess.run(argv, capture_output=True, text=True, timeout=_INSTALL_TIMEOUT, check=False)
    if done.returncode:
        raise _NoEnvironmentError(
            f"{Path(argv[0]).name} {' '.join(argv[1:4])} failed: {done.stderr.strip()[-_SHOWN_OUTPUT:]}"
        )
    return done.stdout


def _candidates() -> Iterator[str]:
    for minor in range(11, 30):
        if found := shutil.which(f"python3.{minor}"):
            yield found
    root = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    yield from (str(path) for path in sorted(root.glob("versions/3.*/bin/python")))


def _asked(executable: str) -> Interpreter | None:
    """Ask a Python what it is; None for whatever does not run, such as a shim without a version behind it."""
    question = "import json, sys; print(json.dumps([list(sys.version_info[:2]), sys.version]))"
    try:
        argv = [executable, "-c", question]
        done = subprocess.run(argv, capture_output=True, text=True, timeout=_ASK_TIMEOUT, check=True)
        version, build = json.loads(done.stdout)
    except (OSError, subprocess.SubprocessError, ValueError):
        return None
    return Interpreter(executable, (version[0], version[1]), build)
