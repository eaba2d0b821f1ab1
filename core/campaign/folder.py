"""The campaign files of a folder, and where new runs and copies of them go."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from core.campaign.manifest import read_campaign
from core.durable import write_durably
from core.errors import BoresightError, InputError
from core.run.layout import NEVER_HOLD_RUNS, SEARCH_DEPTH, STAGING_SUFFIX, is_run
from core.text import printable
from core.validation import read_text_file

RUNS = "runs"
_LONGEST_NAME = 100  # of a campaign whose file is not valid
_IGNORED = b"# Runs hold frozen sources and evidence; they are not meant for the repository.\n*\n"


class CampaignFound(NamedTuple):
    """A campaign file; `problem` says why it is not valid.

    Its name is then that of the file where it cannot be read from it.
    """

    path: Path
    name: str
    candidates: tuple[str, ...]
    repositories: tuple[str, ...]
    modified_at: datetime | None
    problem: str | None = None


def find_campaign_files(folder: Path, depth: int = SEARCH_DEPTH) -> Iterator[Path]:
    """Yield the files named `…campaign….toml` in a folder down to a depth, in name order, never in a run."""
    if is_run(folder):
        return
    try:
        with os.scandir(folder) as entries:
            found = sorted((entry for entry in entries if not entry.is_symlink()), key=lambda one: one.name)
            folders = [Path(entry.path) for entry in found if entry.is_dir(follow_symlinks=False)]
            files = [Path(entry.path) for entry in found if entry.is_file(follow_symlinks=False)]
    except OSError:
        return
    yield from (file for file in files if is_campaign_name(file.name))
    if depth == 0:
        return
    for child in folders:
        if child.name not in NEVER_HOLD_RUNS and not child.name.endswith(STAGING_SUFFIX):
            yield from find_campaign_files(child, depth - 1)


def is_campaign_name(name: str) -> bool:
    """Tell whether a file of this name is taken for a campaign."""
    return "campaign" in name.lower() and name.endswith(".toml") and not name.startswith(".")


def campaign_found(path: Path) -> CampaignFound:
    """Return what a campaign file says of itself; one that is not valid is told, never left out."""
    modified = None
    try:
        modified = datetime.fromtimestamp(path.stat().st_mtime, UTC)
        if not path.is_file():  # opening a pipe waits for its writer, forever
            return CampaignFound(path, path.stem, (), (), modified, "no regular file: put the campaign back")
    except (OSError, ValueError, OverflowError):
        modified = None
    try:
        campaign = read_campaign(path)
    except (BoresightError, OSError, ValueError) as error:
        return CampaignFound(path, _name_in(path) or path.stem, (), (), modified, str(error))
    return CampaignFound(
        path,
        campaign.name,
        tuple(candidate.id for candidate in campaign.candidates),
        tuple(entry.label for entry in campaign.repositories),
        modified,
    )


def _name_in(path: Path) -> str | None:
    """Return the name that a campaign file gives itself, None where it gives none or is no TOML."""
    try:
        name = tomllib.loads(read_text_file(path)).get("name")
    except (BoresightError, ValueError, RecursionError):
        return None
    return name if isinstance(name, str) and 0 < len(name) <= _LONGEST_NAME else None


def next_run(folder: Path, campaign: str) -> Path:
    """Return `FOLDER/runs/CAMPAIGN/NUMBER` with the next free number; what shall hold it is made.

    Raises InputError where the folder cannot be written.
    """
    parent = folder / RUNS / campaign
    try:
        parent.mkdir(parents=True, exist_ok=True)
        taken = [int(child.name) for child in parent.iterdir() if child.name.isdecimal()]
        keep_out_of_git(folder / RUNS)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(
            f"{printable(str(parent))}: new runs go here, but it cannot be written: {reason}; "
            "see that this user may write there and that the disk has room"
        ) from None
    return parent / f"{max(taken, default=0) + 1:03d}"


def keep_out_of_git(runs: Path) -> None:
    """Keep a folder of runs out of a repository; what a person wrote to that end stays. Raises OSError."""
    ignored = runs / ".gitignore"
    if not os.path.lexists(ignored) or (ignored.is_file() and ignored.stat().st_size == 0):
        write_durably(ignored, _IGNORED)


def next_copy(path: Path) -> Path:
    """Return a free name beside a file, with the next number: `campaign-2.toml`."""
    stem, number = path.stem, 2
    head, _, tail = stem.rpartition("-")
    if head and tail.isdecimal() and len(tail) < 6:
        stem, number = head, int(tail) + 1
    while os.path.lexists(copy := path.with_name(f"{stem}-{number}{path.suffix}")):
        number += 1
    return copy
