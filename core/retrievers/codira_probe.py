"""Asks an installed Codira what it is: settings, options and plugins differ from one version to the next.

Nothing is assumed that can be asked. Each question is a short process with a home of its own, so that
neither a user's nor a system's Codira settings are part of what is measured.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from core.canonical import load_json, sha256
from core.errors import InputError
from core.retrievers import asking
from core.retrievers.codira_config import Engine
from core.retrievers.protocol import Missing
from core.retrievers.python_tool import python_tool
from core.text import printable

OLDEST = (1, 55)
ANALYZERS = ("python", "markdown")

_ASK_SECONDS = 60.0
_SHOWN = 300  # characters
_VERSION = re.compile(r"codira (\d+)\.(\d+)\S*")
# How many rows to return, by the names that versions give the option.
_LIMITS = ("--limit", "--max-results")
_LOADS_EXTENSIONS = "import sqlite3, sys; sys.exit(not hasattr(sqlite3.Connection, 'enable_load_extension'))"


class Codira(NamedTuple):
    """An installed Codira, as it tells of itself."""

    version: str
    capabilities_sha256: str  # of what `caps --json` prints
    settings: frozenset[str]  # dotted names of its configuration
    limits: Mapping[str, str | None]  # of emb, docs and ctx: the option that limits rows, where there is one
    plugins: frozenset[tuple[str, str]]  # family and name of those that it could load
    loads_extensions: bool  # whether its Python's SQLite can: its vector store needs that


def isolation(state: Path) -> dict[str, str]:
    """Return the variables that keep a machine's own Codira settings and sockets away from a cell."""
    return {"XDG_CONFIG_DIRS": str(state / "home"), "XDG_RUNTIME_DIR": str(state / "tmp")}


def ask(executable: Path) -> Codira:
    """Return what an executable tells of itself; asked once for as long as its file is the same.

    Raises InputError where it does not answer, or is older than what this retriever was made for.
    """
    try:
        found = executable.stat()
    except OSError as error:
        raise InputError(f"{printable(str(executable))}: {error.strerror}; install Codira anew") from None
    return _ask(executable, found.st_mtime_ns, found.st_size)


def require_valid(executable: Path, configuration: bytes) -> None:
    """Have an executable check a configuration; raises InputError with its complaint."""
    with tempfile.TemporaryDirectory(prefix="boresight-codira-") as folder:
        file = Path(folder, "candidate.toml")
        file.write_bytes(configuration)
        _answer(executable, "config", "validate", "--json", "--config-file", str(file))


def missing_parts(found: Codira, engine: Engine, analyzers: Collection[str] = ()) -> Iterator[Missing]:
    """Yield what an installed Codira lacks to run with this engine and these analyzers."""
    wanted = [("backend", "sqlite"), ("vector-store", "sqlite"), ("embedding", engine)]
    wanted += [("analyzer", name) for name in analyzers]
    for family, name in wanted:
        if (family, name) not in found.plugins:
            package = f"codira-{family}-{name}"
            yield Missing(
                f"the plugin {family} {name}", f"in Codira's environment, run: pip install {package}"
            )
    if not analyzers and not any(family == "analyzer" for family, _ in found.plugins):
        yield Missing(
            "an analyzer", "in Codira's environment, run: pip install codira-analyzer-python, or another"
        )
    if not found.loads_extensions:
        yield Missing(
            "a Python whose SQLite loads extensions",
            "make Codira's environment with another Python, or run `pip install pysqlite3-binary` in it and"
            " add a sitecustomize.py that puts pysqlite3 in place of sqlite3",
        )


@lru_cache(maxsize=16)
def _ask(executable: Path, modified_ns: int, size: int) -> Codira:
    del modified_ns, size  # parts of the key: another file is asked anew
    version = _version(executable)
    plugins = _json(executable, "plugins", "--json").get("results")
    return Codira(
        version=version,
        capabilities_sha256=sha256(_answer(executable, "caps", "--json")),
        settings=frozenset(_dotted(_json(executable, "config", "dump", "--json").get("results"))),
        limits={command: _limit_option(executable, command) for command in ("emb", "docs", "ctx")},
        plugins=frozenset(_loaded(plugins)),
        loads_extensions=_loads_extensions(executable),
    )


def _version(executable: Path) -> str:
    told = _answer(executable, "--version").decode("utf-8", "replace")
    found = _VERSION.match(told)
    if found is None:
        raise InputError(
            f"{printable(str(executable))} --version: found {printable(told, 80)!r}, expected 'codira' and a"
            " version; check that this is Codira"
        )
    if (int(found[1]), int(found[2])) < OLDEST:
        oldest = ".".join(map(str, OLDEST))
        raise InputError(
            f"{printable(str(executable))} is {found[0]}, expected {oldest} or newer; in its environment,"
            " run: pip install --upgrade codira"
        )
    return found[0].removeprefix("codira ")


def _limit_option(executable: Path, command: str) -> str | None:
    """Return a command's option that limits its rows; its help lists options at the beginnings of lines."""
    usage = _answer(executable, command, "--help").decode("utf-8", "replace")
    listed = set(re.findall(r"^\s+(?:-\w(?: \S+)?, )?(--[a-z][a-z-]*)", usage, re.MULTILINE))
    return next((option for option in _LIMITS if option in listed), None)


def _loaded(plugins: Any) -> Iterator[tuple[str, str]]:
    for plugin in plugins if isinstance(plugins, list) else ():
        if isinstance(plugin, dict) and plugin.get("status") == "loaded":
            yield str(plugin.get("family")), str(plugin.get("name"))


def _dotted(tree: Any, prefix: str = "") -> Iterator[str]:
    if not isinstance(tree, dict):
        yield prefix
        return
    for key, inner in tree.items():
        yield from _dotted(inner, f"{prefix}.{key}" if prefix else str(key))


def _loads_extensions(executable: Path) -> bool:
    tool = python_tool(executable)
    if tool is None:  # a launcher that is no script: its index step will tell
        return True
    return _run([str(tool.interpreter), "-I", "-c", _LOADS_EXTENSIONS]).exit_code == 0


def _json(executable: Path, *arguments: str) -> Mapping[str, Any]:
    answer = _answer(executable, *arguments)
    try:
        found = load_json(answer)
        if isinstance(found, dict):
            return found
        problem = "not an object"
    except ValueError as error:
        problem = str(error)
    raise InputError(
        f"{printable(str(executable))} {' '.join(arguments)}: its answer is no JSON object"
        f" ({printable(problem, 100)}); check that this is Codira"
    )


def _answer(executable: Path, *arguments: str) -> bytes:
    """Return what a command printed; raises InputError with the end of its complaint."""
    told = _run([str(executable), *arguments])
    if told.exit_code:
        said = (told.stderr or told.stdout).decode("utf-8", "replace").strip()
        raise InputError(
            f"{printable(str(executable))} {arguments[0]} failed with status {told.exit_code}:"
            f" {printable(said[-_SHOWN:])}"
        )
    return told.stdout


def _run(argv: Sequence[str]) -> asking.Told:
    with tempfile.TemporaryDirectory(prefix="boresight-codira-") as folder:
        state = Path(folder)
        for name in ("home", "tmp"):
            (state / name).mkdir(mode=0o700)
        return asking.ask(argv, isolation(state), home=state / "home", cwd=state, timeout_s=_ASK_SECONDS)
