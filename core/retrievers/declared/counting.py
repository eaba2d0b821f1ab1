"""Whether a declared tool's index is complete: by its own verification, or by what it left on disk."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from core.canonical import load_json
from core.errors import InputError
from core.retrievers.asking import Told, ask
from core.retrievers.protocol import AnswerError, Completeness, Place
from core.text import printable

# What Boresight itself puts into a state folder; a tool's index is what else is there.
_OURS = frozenset({"home", "tmp", "repository", ".attempt"})


def tracked_files(place: Place) -> Completeness:
    """Count the files that a tool without an index searches."""
    count = sum(1 for _ in _files(place.repository, frozenset({".git"})))
    if count == 0:
        raise AnswerError("empty_index", "the repository holds no files to search")
    return Completeness(count, {"tracked_files": count})


def verified(
    argv: Sequence[str], environment: Mapping[str, str], secrets: Sequence[str], place: Place, cwd: Path
) -> Completeness:
    """Count an index by the tool's own verification command, which prints `{"units": N, …}`.

    Other whole numbers in the object are kept as details; one named `expected` must equal `units`.
    Raises AnswerError.
    """
    home = place.state / "home"
    try:
        told = ask(argv, environment, home=home if home.is_dir() else place.state, cwd=cwd, secrets=secrets)
    except InputError as error:
        raise AnswerError("unverifiable_index", str(error)) from None
    if told.exit_code != 0:
        raise AnswerError(
            "incomplete_index",
            f"the verification command exited with status {told.exit_code}: {told.complaint}",
        )
    return _counted(_document(told))


def left_behind(place: Place, paths: Sequence[Path]) -> Completeness:
    """Count the files that an index step left, in `paths` where they are named, else in the state folder.

    Raises AnswerError where one of the paths is missing or empty, or where nothing was left.
    """
    if not paths:
        found = list(_files(place.state, _OURS))
        if not found:
            raise AnswerError("empty_index", "the index step left no file in its state folder")
        return _sizes(found)
    everything = []
    for path in paths:
        inside = list(_files(path)) if path.is_dir() else [path] if path.is_file() else []
        if not any(file.stat().st_size for file in inside):
            raise AnswerError("empty_index", f"{printable(path.name, 80)}: is missing or empty")
        everything += inside
    return _sizes(everything)


def _sizes(files: Sequence[Path]) -> Completeness:
    return Completeness(
        len(files), {"index_files": len(files), "index_bytes": sum(file.lstat().st_size for file in files)}
    )


def _files(folder: Path, without: frozenset[str] = frozenset()) -> Iterator[Path]:
    """Yield the files of a folder, links among them; `without` are names at its top that are left out."""
    for place, folders, names in os.walk(folder):
        if Path(place) == folder:
            folders[:] = [name for name in folders if name not in without]
            names = [name for name in names if name not in without]
        yield from (Path(place, name) for name in names)


def _document(told: Told) -> Mapping[str, Any]:
    try:
        document = load_json(told.stdout)
    except ValueError as error:
        raise AnswerError(
            "unverifiable_index", f"the verification command printed no JSON: {printable(str(error), 200)}"
        ) from None
    if not isinstance(document, dict) or not _is_count(document.get("units")):
        raise AnswerError(
            "unverifiable_index", 'the verification command printed no object with a count in "units"'
        )
    return document


def _counted(document: Mapping[str, Any]) -> Completeness:
    counts = {printable(name, 60): value for name, value in document.items() if _is_count(value)}
    units = counts["units"]
    if units == 0:
        raise AnswerError("empty_index", "the index holds no units")
    expected = counts.get("expected", units)
    if expected != units:
        raise AnswerError("incomplete_index", f"found {units} units, expected {expected}")
    return Completeness(units, {name: value for name, value in counts.items() if name != "units"})


def _is_count(value: Any) -> bool:
    return type(value) is int and value >= 0
