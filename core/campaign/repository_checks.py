"""Whether the repositories of a campaign file are there, with the commits that are meant."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NamedTuple

from core.errors import InputError
from core.git import GitRepository

_DIGITS = 12


class Finding(NamedTuple):
    """What is wrong with one key of a repository's entry."""

    key: str
    message: str
    severity: Literal["error", "warning"] = "error"


class Repositories:
    """Looks at repositories, at each of them once."""

    def __init__(self) -> None:
        self._known: dict[tuple[Path, str | None, str | None], tuple[Finding, ...]] = {}

    def look(self, path: Path, pinned: str | None, measured: str | None) -> tuple[Finding, ...]:
        """Return what is wrong with a repository.

        `pinned` is the commit that its entry names, `measured` the bank's; either may be None.
        """
        key = (path, pinned, measured)
        if key not in self._known:
            self._known[key] = tuple(_look(path, pinned, measured))
        return self._known[key]


def _look(path: Path, pinned: str | None, measured: str | None) -> Iterator[Finding]:
    try:
        with GitRepository(path) as repository:
            commit = measured or pinned
            if commit is not None and not repository.has_commit(commit):
                yield Finding(
                    "commit" if pinned is not None else "path",
                    f"no commit {commit[:_DIGITS]} in it; run `git fetch` there (in a shallow clone "
                    "`git fetch --unshallow`), or build a bank at a commit that is here",
                )
                return
            head = repository.head() if pinned is None else None
            if head is not None and measured is not None and head != measured:
                yield Finding(
                    "path",
                    f"the bank's commit {measured[:_DIGITS]} is measured; HEAD is {head[:_DIGITS]} now "
                    "(build a new bank to measure that)",
                    "warning",
                )
    except (InputError, OSError) as error:
        yield Finding("path", str(error))
