"""What a declared tool's answers depend on: executables, scripts and assets by digest, and its version."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from core.canonical import sha256_file, sha256_of
from core.errors import InputError, ProblemsError
from core.retrievers.asking import ask
from core.retrievers.declared.templates import MANIFEST, Template, Word
from core.retrievers.python_tool import (
    PythonTool,
    environment_fingerprint,
    find_executable,
    interpreter_fingerprint,
)
from core.text import printable

VERSION_TIMEOUT_S = 30.0
_PYTHON = re.compile(r"python[0-9.]*\Z")
# An absolute path, alone or as an option's value; several with colons between them are no file.
_NAMED = re.compile(r"(?P<option>(?:-[^=/]*=)?)(?P<path>/[^:\0]*)\Z")
_REMEDY = "install it, or name it as {manifest}/… beside the manifest, or by its absolute path"


def executables_fingerprint(templates: Mapping[str, Template], base: Path) -> dict[str, Any]:
    """Return, by name, what each command's executable is; no path on this machine is in it.

    `templates` are keyed by their field. Raises ProblemsError that names every executable that is missing.
    """
    found: dict[str, Any] = {}
    known: dict[Path, Any] = {}
    problems = []
    for field, template in templates.items():
        name = executable_word(template, base)
        try:
            path = find_executable(name, base, f"config.{field}[0]", _REMEDY)
            if path not in known:
                known[path] = _executable(path, f"config.{field}[0]")
            _keep(found, path.name, known[path])
        except InputError as error:
            problems.append(str(error))
    if problems:
        raise ProblemsError("Commands cannot be started:", list(dict.fromkeys(problems)))
    return found


def files_fingerprint(words: Iterable[Word], assets: Sequence[Word], base: Path) -> dict[str, str]:
    """Return the SHA-256 of each file that one of `words` names, and of each asset, by how they are shown.

    Raises InputError for an asset that cannot be read.
    """
    found: dict[str, str] = {}
    for word in words:
        path = _named_file(word, base)
        if path is not None and path.is_file():
            _keep(found, shown_word(word), _digest(path))
    for number, word in enumerate(assets):
        path = base / word.filled({MANIFEST: str(base)})
        if not path.exists():
            raise InputError(
                f"config.assets[{number}]: {printable(str(path))}: there is no such file or folder; "
                "check the path ({manifest} is the manifest's folder)"
            )
        _keep(found, shown_word(word), _tree_digest(path) if path.is_dir() else _digest(path))
    return found


def version_text(template: Template, environment: Mapping[str, str], base: Path) -> str:
    """Return what a version command prints; raises InputError where it fails."""
    argv = template.filled({MANIFEST: str(base)})
    with tempfile.TemporaryDirectory(prefix="boresight-") as home:
        told = ask(argv, environment, home=Path(home), cwd=Path(home), timeout_s=VERSION_TIMEOUT_S)
    text = (told.stdout if told.stdout.strip() else told.stderr).decode("utf-8", "replace").strip()
    if told.exit_code != 0 or not text:
        said = f"said: {told.complaint}" if text else "printed nothing"
        raise InputError(
            f"config.version: `{printable(' '.join(argv), 120)}` exited with status {told.exit_code} and "
            f"{said}; mend the command, or leave it out"
        )
    return text[:4000]


def executable_word(template: Template, base: Path) -> str:
    """Return a command's first word as the engine will start it."""
    return template.words[0].filled({MANIFEST: str(base)})


def shown_word(word: Word) -> str:
    """Return a word without what only this machine has: the folder of an absolute path."""
    text = "".join(f"{{{part}}}" if is_name else part for part, is_name in word.parts)
    found = _NAMED.match(text)
    return f"{found['option']}{{file}}/{os.path.basename(found['path'])}" if found else text  # noqa: PTH119


def _executable(path: Path, field: str) -> dict[str, Any]:
    try:
        found = dict(environment_fingerprint(path))
        if "python" not in found and _PYTHON.match(path.name):
            found |= interpreter_fingerprint(PythonTool(path, path))
    except InputError as error:
        raise InputError(f"{field}: {error}") from None
    return found


def _named_file(word: Word, base: Path) -> Path | None:
    """Return the path that a word is, where it holds no other placeholder than the manifest's folder."""
    if any(is_name and part != MANIFEST for part, is_name in word.parts):
        return None
    found = _NAMED.match(word.filled({MANIFEST: str(base)}))
    return Path(found["path"]) if found else None


def _keep(found: dict[str, Any], name: str, what: Any) -> None:
    """Keep what has a name; another thing of the same name gets a number, so that neither hides the other."""
    key, number = name, 1
    while found.get(key, what) != what:
        number += 1
        key = f"{name}#{number}"
    found[key] = what


def _digest(path: Path) -> str:
    try:
        return sha256_file(path)
    except OSError as error:
        raise InputError(
            f"{printable(str(path))}: cannot be read: {error.strerror or error}; check its rights"
        ) from None


def _tree_digest(folder: Path) -> str:
    return sha256_of({path.relative_to(folder).as_posix(): _digest(path) for path in _files(folder)})


def _files(folder: Path) -> Iterator[Path]:
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        yield from (path for name in sorted(names) if (path := Path(place, name)).is_file())
