"""Which paths of a Git tree are safe to write to disk: a tree from outside can hold any bytes."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from core.errors import ProblemsError
from core.git import TreeEntry
from core.text import printable

_SHOWN = 20
# What NTFS takes for `.git`: any case, its short name, trailing dots and spaces, a stream's name.
_NTFS_GIT = re.compile(rb"(?:\.git|git~1)[. ]*(?::.*)?", re.IGNORECASE | re.DOTALL)
# Code points that HFS+ leaves out of a comparison.
_HFS_IGNORED = re.compile("[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]")


def refuse_hostile_tree(entries: Iterable[TreeEntry], name: str) -> None:
    """Raise ProblemsError, under `name`, where an entry could be written outside, over `.git` or twice."""
    entries = tuple(entries)
    problems = [f"{shown_path(entry.path)}: {why}" for entry in entries if (why := _danger(entry))]
    problems += _collisions(entries)
    if not problems:
        return
    shown = problems[:_SHOWN]
    if len(problems) > _SHOWN:
        shown.append(f"and {len(problems) - _SHOWN} more")
    raise ProblemsError(
        f"{name}: its tree holds paths that no checkout may have, so nothing was written; leave the "
        "repository out, or choose a commit without them:",
        shown,
    )


def shown_path(path: bytes) -> str:
    """Return a path as a message shows it."""
    return printable(os.fsdecode(path), 200)


def _danger(entry: TreeEntry) -> str | None:
    if entry.path.startswith(b"/"):
        return "is absolute"
    for part in entry.path.split(b"/"):
        if not part:
            return "has an empty part"
        if part in (b".", b".."):
            return f"has the part {part.decode()}"
        if _stands_for_git(part):
            return "has a part that stands for .git on some file system"
        if entry.is_link and part.lower() == b".gitmodules":
            return "is a link in place of .gitmodules"
    return None


def _stands_for_git(part: bytes) -> bool:
    if any(_NTFS_GIT.fullmatch(piece) for piece in part.split(b"\\")):
        return True
    try:
        text = part.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return _HFS_IGNORED.sub("", text).lower() == ".git"


def _collisions(entries: tuple[TreeEntry, ...]) -> list[str]:
    problems = []
    seen: set[bytes] = set()
    for entry in entries:
        if entry.path in seen:
            problems.append(f"{shown_path(entry.path)}: is there twice")
        seen.add(entry.path)
    folders: set[bytes] = set()
    for entry in entries:
        folder = entry.path.rpartition(b"/")[0]
        while folder and folder not in folders:
            folders.add(folder)
            folder = folder.rpartition(b"/")[0]
    problems += [f"{shown_path(path)}: is both a file and a folder" for path in sorted(seen & folders)]
    return problems
