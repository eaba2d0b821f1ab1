"""The campaign files of a folder, and where new runs and copies of them go."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from core.campaign.manifest import read_campaign
from core.errors import BoresightError, InputError
from core.run.layout import NEVER_HOLD_RUNS, SEARCH_DEPTH, STAGING_SUFFIX, is_run
from core.text import printable

RUNS = "runs"
_IGNORED = b"# Runs hold frozen sources and evidence; they are not meant for the repository.\n*\n"


class CampaignFound(NamedTuple):
    """A campaign file; `problem` says why it cannot be read, and then its name is that of the file."""

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
    try:
        modified = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    except (OSError, ValueError, OverflowError):
        modified = None
    try:
        campaign = read_campaign(path)
    except (BoresightError, OSError, ValueError) as error:
        return CampaignFound(path, path.stem, (), (), modified, str(error))
    return CampaignFound(
        path,
        campaign.name,
        tuple(candidate.id for candidate in campaign.candidates),
        tuple(entry.label for entry in campaign.repositories),
        modified,
    )


def next_run(folder: Path, campaign: str) -> Path:
    """Return `FOLDER/runs/CAMPAIGN/NUMBER` with the next free number; what shall hold it is made.

    Raises InputError where the folder cannot be written.
    """
    parent = folder / RUNS / campaign
    try:
        parent.mkdir(parents=True, exist_ok=True)
        taken = [int(child.name) for child in parent.iterdir() if child.name.isdecimal()]
        ignored = folder / RUNS / ".gitignore"
        if not os.path.lexists(ignored):
            ignored.write_bytes(_IGNORED)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(
            f"{printable(str(parent))}: new runs go here, but it cannot be written: {reason}; "
            "see that this user may write there"
        ) from None
    return parent / f"{max(taken, default=0) + 1:03d}"


def next_copy(path: Path) -> Path:
    """Return a free name beside a file, with the next number: `campaign-2.toml`."""
    stem, number = path.stem, 2
    head, _, tail = stem.rpartition("-")
    if head and tail.isdecimal() and len(tail) < 6:
        stem, number = head, int(tail) + 1
    while os.path.lexists(copy := path.with_name(f"{stem}-{number}{path.suffix}")):
        number += 1
    return copy
