"""What the answers of a tool written in Python depend on: its script, its interpreter, and all beside it.

A tool lives in an environment of its own, so nothing of it is imported here: its interpreter is asked once
where it looks for packages, and their metadata is read from there.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import site
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

from core.canonical import load_json, sha256, sha256_file, sha256_of
from core.errors import InputError
from core.retrievers.asking import ask
from core.text import printable
from core.workspace.installed import record_digest

_ASK_SECONDS = 60.0
_SHEBANG_BYTES = 4096
_SHEBANG = re.compile(
    rb"#![ \t]*(?P<quote>\")?(?P<python>/(?(quote)[^\"\n]|[^\"\s])*?python[0-9.]*)(?(quote)\")"
    rb"(?:[ \t][^\n]*)?\n"
)
_THROUGH_ENV = re.compile(
    rb"#![ \t]*/(?:usr/)?bin/env[ \t]+(?:-S[ \t]+)?(?P<python>python[0-9.]*)(?:[ \t][^\n]*)?\n"
)
# What installers write where the interpreter's path is too long, or has a space in it, for a first line.
_TRAMPOLINE = re.compile(
    rb"#!/bin/sh\n'''exec' (?P<quote>\"?)(?P<python>/[^\"\n]*?python[0-9.]*)(?P=quote)"
    rb" \"\$0\" \"\$@\"\n' '''\n"
)
_QUESTION = """\
import json, platform, sys, sysconfig
print(json.dumps({
    "python": platform.python_implementation() + " " + platform.python_version(),
    "path": [entry for entry in sys.path if entry],
    "packages": [sysconfig.get_path("purelib"), sysconfig.get_path("platlib")],
}))
"""
_LOOSE = ("sitecustomize.py", "usercustomize.py")  # run at every start, and belong to no distribution


class PythonTool(NamedTuple):
    """A tool's script and the interpreter that its first line names (`env python3`: the one in PATH)."""

    script: Path
    interpreter: Path


def find_executable(name: str, base: Path, field: str, remedy: str) -> Path:
    """Return an executable's absolute path: a bare name is searched in PATH, a path starts at `base`.

    Raises InputError that names `field` and ends with `remedy`.
    """
    if "/" not in name:
        found = shutil.which(name)
        if found is None:
            raise InputError(f"{field}: no executable {printable(name)!r} is in PATH; {remedy}")
        return Path(found).absolute()
    path = base / name
    shown = printable(str(path))
    if not path.is_file():
        found = "is a folder, expected a program" if path.is_dir() else "there is no such file"
        raise InputError(f"{field}: {shown}: {found}; {remedy}")
    if not os.access(path, os.X_OK):
        raise InputError(f"{field}: {shown}: not executable by this user; run `chmod u+x` on it")
    return path.absolute()


def tool_output(executable: Path, *arguments: str) -> str:
    """Return what an executable prints on stdout when it is asked about itself (`--version`, `--help`).

    It is given an empty HOME of its own, as in a run. Raises InputError where it does not answer.
    """
    argv = (str(executable), *arguments)
    with tempfile.TemporaryDirectory(prefix="boresight-") as home:
        told = ask(argv, {}, home=Path(home), cwd=Path(home), timeout_s=_ASK_SECONDS)
    if told.exit_code:
        raise InputError(f"{printable(' '.join(argv))}: ended with status {told.exit_code}: {told.complaint}")
    return told.stdout.decode("utf-8", "replace")


def user_site_environment(module_file: str) -> dict[str, str]:
    """Return what lets a child find packages installed with `--user`, which its own HOME hides from it.

    `module_file` is one of a package that the child needs; nothing is returned where it lies elsewhere.
    """
    if site.ENABLE_USER_SITE and Path(module_file).is_relative_to(site.getusersitepackages()):
        return {"PYTHONUSERBASE": site.getuserbase()}
    return {}


def environment_fingerprint(executable: Path) -> Mapping[str, Any]:
    """Return what a Python tool's behaviour depends on; no path on this machine is in it.

        script_sha256   of the script with its interpreter's path taken out
        python          such as "CPython 3.13.2"
        python_sha256   of the interpreter's own file
        distributions   {name: {version, record_sha256}}, of an editable one also editable_sha256
        loose           {sitecustomize.py: SHA-256}, of what runs at each start without being a distribution

    An executable that is no Python script (a launcher, a native program) yields `script_sha256` alone.
    Raises InputError where it cannot be read or its interpreter does not answer.
    """
    script_sha256 = script_digest(executable)
    tool = python_tool(executable)
    if tool is None:
        return {"script_sha256": script_sha256}
    return {"script_sha256": script_sha256, **interpreter_fingerprint(tool)}


def interpreter_fingerprint(tool: PythonTool) -> Mapping[str, Any]:
    """Return what `environment_fingerprint` tells beside the script; raises InputError as it does."""
    told = _ask(tool)
    packages = list(_distinct_distributions(told["path"]))
    return {
        "python": str(told["python"]),
        "python_sha256": _digest(tool.interpreter.resolve()),
        "distributions": {
            _normal(package.name): _described(package)
            for package in sorted(packages, key=lambda package: _normal(package.name))
        },
        "loose": {
            name: _digest(Path(folder, name))
            for folder in dict.fromkeys(told["packages"])
            for name in _LOOSE
            if Path(folder, name).is_file()
        },
    }


def python_tool(executable: Path) -> PythonTool | None:
    """Return a script with its interpreter, None where an executable names no Python; raises InputError."""
    script = executable.resolve()
    found = _interpreter_line(_head(script))
    if found is None:
        return None
    named = os.fsdecode(found["python"])
    interpreter = shutil.which(named)
    if interpreter is None:
        where = "gone; make its environment anew" if "/" in named else "not in PATH; install it"
        raise InputError(f"{printable(str(executable))}: its interpreter {printable(named)} is {where}")
    return PythonTool(script, Path(interpreter).absolute())


def script_digest(executable: Path) -> str:
    """Return the SHA-256 of an executable, of a Python script without its interpreter's path.

    Raises InputError where it cannot be read.
    """
    found = _interpreter_line(_head(executable))
    if found is None:
        return _digest(executable)
    content = _read(executable)
    return sha256(b"#!{python}\n" + content[found.end() :])


def _interpreter_line(head: bytes) -> re.Match[bytes] | None:
    return _TRAMPOLINE.match(head) or _THROUGH_ENV.match(head) or _SHEBANG.match(head)


def _head(path: Path) -> bytes:
    try:
        with path.open("rb") as stream:
            return stream.read(_SHEBANG_BYTES)
    except OSError as error:
        raise _unreadable(path, error) from None


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise _unreadable(path, error) from None


def _digest(path: Path) -> str:
    try:
        return sha256_file(path)
    except OSError as error:
        raise _unreadable(path, error) from None


def _unreadable(path: Path, error: OSError) -> InputError:
    return InputError(f"{printable(str(path))}: cannot be read: {error.strerror or error}; check its rights")


def _ask(tool: PythonTool) -> Mapping[str, Any]:
    # -I as the tool's own HOME and environment are not those of this process either.
    command = [str(tool.interpreter), "-I", "-c", _QUESTION]
    try:
        answer = subprocess.run(
            command, capture_output=True, timeout=_ASK_SECONDS, check=True, stdin=subprocess.DEVNULL
        )
        found = load_json(answer.stdout)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        raise InputError(
            f"{printable(str(tool.interpreter))}, the interpreter of {printable(tool.script.name)}, does not"
            f" answer: {printable(str(error), 200)}; make its environment anew"
        ) from None
    return dict(found)


def _distinct_distributions(path: list[str]) -> Iterator[Distribution]:
    """Yield each distribution once: the first of a name on the path is the one that is imported."""
    seen = {"boresight"}  # may lie beside the tool, and says elsewhere what of it matters
    for package in distributions(path=path):
        name = package.metadata["Name"]
        if name is not None and _normal(name) not in seen:  # leftovers of broken installs have no name
            seen.add(_normal(name))
            yield package


def _described(package: Distribution) -> dict[str, str]:
    described = {"version": package.version, "record_sha256": record_digest(package)}
    source = _editable_source(package)
    if source is not None:
        described["editable_sha256"] = _sources_digest(source)
    return described


def _editable_source(package: Distribution) -> Path | None:
    """Return the folder that an editable distribution is imported from, whose RECORD tells nothing of it."""
    text = package.read_text("direct_url.json")
    try:
        origin = json.loads(text) if text else {}
        if not origin.get("dir_info", {}).get("editable"):
            return None
        return Path(unquote(urlsplit(str(origin["url"])).path))
    except (ValueError, KeyError, AttributeError):
        return None


def _sources_digest(folder: Path) -> str:
    digests = {}
    for place, folders, names in os.walk(folder):
        folders[:] = [
            name for name in folders if not name.startswith(".") and not _is_environment(place, name)
        ]
        for name in names:
            path = Path(place, name)
            if path.suffix == ".py" and path.is_file():
                digests[path.relative_to(folder).as_posix()] = _digest(path)
    return sha256_of(digests)


def _is_environment(place: str, name: str) -> bool:
    return name in ("node_modules", "__pycache__") or Path(place, name, "pyvenv.cfg").is_file()


def _normal(name: str) -> str:
    """Return a distribution's name in its one spelling (packaging specification: name normalization)."""
    return re.sub(r"[-_.]+", "-", name).lower()
