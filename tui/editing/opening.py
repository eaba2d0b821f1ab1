"""The documents that the manifest screen opens: new ones, and what runs were frozen with."""

from __future__ import annotations

from pathlib import Path

from core.campaign.document import CampaignDocument
from core.campaign.duplicate import frozen_text
from core.campaign.folder import find_campaign_files, next_copy

FILE = "campaign.toml"
_BLANK = """\
# Which retriever finds the right code? The campaign that answers it, for `boresight run`.
format = "boresight-campaign@1"
name = "campaign"
# Queries with known answers: a file made by `boresight bank build`, or by a new campaign in the app.
cases = "cases.jsonl"
# Metrics are told at these ranks.
cutoffs = [1, 5, 10]
"""


def blank_document(folder: Path) -> CampaignDocument:
    """Return a campaign to be filled in by hand; nothing is written before it is saved."""
    path = folder / FILE
    return CampaignDocument(_BLANK, next_copy(path) if path.exists() else path)


def frozen_document(run: Path, folder: Path) -> CampaignDocument:
    """Return what a run was frozen with, as the campaign file that says it; raises BoresightError."""
    text = frozen_text(run, folder, find_campaign_files(folder))
    return CampaignDocument(text)


def other_path(path: Path | None, folder: Path) -> Path:
    """Return a free name for a copy beside a file, or in the folder where that cannot be written."""
    copy = next_copy(path if path is not None else folder / FILE)
    return copy if copy.parent.is_dir() and path is not None else next_copy(folder / FILE)
