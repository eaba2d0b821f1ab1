"""Whether a bank can be read, and whether a campaign file's repositories are those it asks about."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from core.banks.reading import read_bank
from core.errors import InputError
from core.text import printable

_DIGITS = 12
GRADED: Mapping[str, str] = {"": ""}
"""What stands for the commits of a graded bank, which says neither label nor commit."""


class Misfit(NamedTuple):
    """A place of the campaign file that does not fit the bank."""

    place: tuple[str | int, ...]
    message: str
    line: None = None
    severity: Literal["error", "warning"] = "error"


class Banks:
    """The commits of banks by path, read again where the file is another."""

    def __init__(self) -> None:
        self._known: dict[Path, tuple[object, Mapping[str, str] | str]] = {}

    def look(self, path: Path) -> Mapping[str, str] | str:
        """Return a bank's commits by label, or why it cannot be read."""
        try:
            found = path.stat()
            stamp: object = (found.st_mtime_ns, found.st_size, found.st_ino)
        except (OSError, ValueError):
            return (
                f"{printable(str(path))}: there is no such file; build a bank (`boresight bank build`), "
                "or correct the path"
            )
        known = self._known.get(path)
        if known is None or known[0] != stamp:
            known = (stamp, _read(path))
            self._known[path] = known
        return known[1]


def bank_problems(
    commits: Mapping[str, str], entries: Sequence[tuple[int, Mapping[str, Any] | None]]
) -> Iterator[Misfit]:
    """Yield how the numbered entries of `repositories` and a bank's commits do not fit each other."""
    if commits == GRADED:
        if len(entries) > 1:
            yield Misfit(
                ("repositories",),
                f"a graded bank asks about one repository, found {len(entries)}; leave the one that the "
                "questions are about",
            )
        return
    labels = {entry.get("label") for _, entry in entries if entry is not None}
    for label, commit in commits.items():
        if label not in labels:
            yield Misfit(
                ("repositories",),
                f"the bank asks about {printable(label, 64)}, which is not among them; add a repository with "
                f"this label{f' that holds the commit {commit[:_DIGITS]}' if commit else ''}",
            )
    for number, entry in entries:
        if entry is None or not isinstance(entry.get("label"), str):
            continue
        own, pinned = commits.get(entry["label"]), entry.get("commit")
        if own is None:
            yield Misfit(
                ("repositories", number, "label"),
                "no case of the bank asks about it, so it will be left out; a bank built of all these "
                "repositories (`boresight bank build`) asks about each",
                severity="warning",
            )
        elif own and isinstance(pinned, str) and pinned != own:
            yield Misfit(
                ("repositories", number, "commit"),
                f"the bank was derived at {own[:_DIGITS]}, this pins {printable(pinned[:_DIGITS])}; pin "
                "the bank's commit, or build a bank at this one",
            )


def _read(path: Path) -> Mapping[str, str] | str:
    try:
        bank = read_bank(path)
    except InputError as error:
        return str(error)
    return GRADED if bank.graded is not None else bank.commits
