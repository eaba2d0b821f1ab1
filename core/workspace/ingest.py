"""Walks a tree and turns its Python and Markdown files into units."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from core.workspace.errors import WorkspaceError
from core.workspace.markdown_units import markdown_units
from core.workspace.python_units import python_units
from core.workspace.units import Unit

MAX_FILE_BYTES = 2_000_000


class Collection(NamedTuple):
    """A tree's units, code before documentation, each by path and line; files left out, by reason.

    `unparsable` files are not left out: they yield their module, but no definitions.
    """

    code: list[Unit]
    documentation: list[Unit]
    skipped: Mapping[str, int]

    @property
    def units(self) -> list[Unit]:
        """All units, in the order that numbers them."""
        return self.code + self.documentation


def collect(repository: Path, text_limit: int) -> Collection:
    """Return the units of every `.py` and `.md` file below a folder; `.git` and links are not entered.

    Raises WorkspaceError where the folder cannot be read.
    """
    code: list[Unit] = []
    documentation: list[Unit] = []
    skipped: Counter[str] = Counter()
    for path in sorted(_files(repository, skipped)):
        data = _read(repository / path, skipped)
        if data is None:
            continue
        if path.endswith(".md"):
            documentation += markdown_units(path, data, text_limit)
        else:
            file = python_units(path, data, text_limit)
            code += file.units
            skipped["unparsable"] += not file.parsed
    return Collection(
        code, documentation, {reason: count for reason, count in sorted(skipped.items()) if count}
    )


def _files(repository: Path, skipped: Counter[str]) -> Iterator[str]:
    """Yield the paths of regular files that may hold units, relative to the repository."""
    waiting = [""]
    while waiting:
        folder = waiting.pop()
        try:
            entries = list(os.scandir(repository / folder))
        except OSError as error:
            if not folder:
                raise WorkspaceError(f"the repository cannot be read: {error}") from None
            skipped["unreadable"] += 1
            continue
        for entry in entries:
            path = folder + entry.name
            if entry.is_dir(follow_symlinks=False):
                if entry.name != ".git":
                    waiting.append(f"{path}/")
            elif path.endswith((".py", ".md")):
                reason = _unfit(path, entry)
                if reason is None:
                    yield path
                else:
                    skipped[reason] += 1


def _unfit(path: str, entry: os.DirEntry[str]) -> str | None:
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        return "not_utf8_path"
    if entry.is_symlink():
        return "links"
    return None if entry.is_file(follow_symlinks=False) else "not_a_file"


def _read(path: Path, skipped: Counter[str]) -> bytes | None:
    try:
        with open(path, "rb") as stream:
            data = stream.read(MAX_FILE_BYTES + 1)
    except OSError:
        skipped["unreadable"] += 1
        return None
    if len(data) > MAX_FILE_BYTES:
        skipped["too_large"] += 1
        return None
    if not data.strip():
        skipped["empty"] += 1
        return None
    return data
