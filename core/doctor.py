"""What of Boresight works on this machine: the system, and each retriever, with what mends the rest."""

from __future__ import annotations

import os
import platform
import shutil
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from core.engine.system import refuse_unfit_system
from core.errors import BoresightError, InputError
from core.git_command import run_git
from core.retrievers.protocol import Diagnosis, Missing
from core.retrievers.registry import diagnose, retriever_names
from core.text import printable
from core.workspace.installed import has_full_text_search

LITTLE_DISK_BYTES = 2**30
_DUMB = frozenset({"", "dumb", "unknown"})


class Fact(NamedTuple):
    """One thing about this system; `remedy` is there where it is not as it should be.

    `needed` tells whether campaigns cannot run without it.
    """

    name: str
    found: str
    remedy: str | None = None
    needed: bool = True

    @property
    def is_fit(self) -> bool:
        """Whether it is as it should be."""
        return self.remedy is None


class Examination(NamedTuple):
    """What was found here."""

    facts: tuple[Fact, ...]
    diagnoses: tuple[Diagnosis, ...]

    @property
    def is_well(self) -> bool:
        """Whether campaigns can run here, with one retriever at least."""
        needed = all(fact.is_fit for fact in self.facts if fact.needed)
        return needed and any(diagnosis.is_ready for diagnosis in self.diagnoses)


def examine(names: tuple[str, ...] = (), folder: Path | None = None) -> Examination:
    """Look at this system and at each retriever, or at those named; starts executables to ask what they are.

    Raises InputError for a name that is no retriever's.
    """
    known = retriever_names()
    unknown = [name for name in names if name not in known]
    if unknown:
        raise InputError(
            f"found {printable(unknown[0], 60)!r}, expected a retriever: choose from {', '.join(known)}"
        )
    return Examination(
        tuple(_facts(folder or Path.cwd())), tuple(_diagnosed(name) for name in names or known)
    )


def _diagnosed(name: str) -> Diagnosis:
    """Diagnose a retriever; a defect of one does not hide what is known of the others."""
    try:
        return diagnose(name)
    except BoresightError as error:
        return Diagnosis(name, None, "unknown", (Missing("an answer to what is installed", str(error)),))
    except Exception as error:
        told = f"{type(error).__name__}: {error}"
        return Diagnosis(name, None, "unknown", (Missing("a diagnosis of its own", f"report this: {told}"),))


def _facts(folder: Path) -> Iterator[Fact]:
    yield _python()
    yield _system()
    yield _git()
    yield _full_text_search()
    yield _disk(folder)
    yield _terminal()


def _python() -> Fact:
    found = f"{platform.python_implementation()} {platform.python_version()}"
    fit = sys.version_info >= (3, 11)
    return Fact("Python", found, None if fit else "use Python 3.11 or newer")


def _system() -> Fact:
    found = f"{platform.system()} {platform.release()}, {os.cpu_count()} processors"
    try:
        refuse_unfit_system()
    except InputError as error:
        return Fact("Linux and /proc", found, str(error))
    return Fact("Linux and /proc", found)


def _git() -> Fact:
    try:
        outcome = run_git("version", directory=Path("/"))
    except InputError as error:
        return Fact("Git", "not usable", str(error))
    return Fact(
        "Git", printable(outcome.stdout.decode("utf-8", "replace").removeprefix("git version ").strip())
    )


def _full_text_search() -> Fact:
    if has_full_text_search():
        return Fact("SQLite with FTS5", f"SQLite {sqlite3.sqlite_version}")
    return Fact(
        "SQLite with FTS5",
        f"SQLite {sqlite3.sqlite_version} without FTS5",
        "use a Python whose SQLite has FTS5, such as python.org's or your distribution's",
        needed=False,
    )


def _disk(folder: Path) -> Fact:
    try:
        free = shutil.disk_usage(folder).free
    except OSError as error:
        return Fact("Disk", f"{printable(str(folder))}: {error.strerror}", "go to a folder that exists")
    found = f"{free / 2**30:.1f} GiB free in {printable(str(folder))}"
    if free < LITTLE_DISK_BYTES:
        return Fact("Disk", found, "make room: a run keeps sources, indexes and all output", needed=False)
    return Fact("Disk", found)


def _terminal() -> Fact:
    """Tell of the terminal; the app alone needs one."""
    term = os.environ.get("TERM", "")
    size = shutil.get_terminal_size()
    encoding = sys.stdout.encoding or "unknown"
    if not sys.stdout.isatty():
        return Fact("Terminal", f"none: stdout is no terminal ({encoding})")
    found = f"{term or 'unknown'}, {size.columns}×{size.lines}, {encoding}"
    if term in _DUMB:
        return Fact(
            "Terminal", found, "the app needs a terminal: set TERM, such as xterm-256color", needed=False
        )
    if "utf" not in encoding.lower():
        return Fact("Terminal", found, "set a UTF-8 locale, such as LANG=C.UTF-8", needed=False)
    if size.columns < 80 or size.lines < 24:
        return Fact("Terminal", found, "the app wants 80×24 or more", needed=False)
    return Fact("Terminal", found)
