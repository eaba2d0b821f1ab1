"""All that is said before a campaign is run; reads disk, for threads."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from core import api
from core.campaign.checking import Checker, FieldProblem
from core.campaign.document import CampaignDocument, Snapshot
from core.campaign.manifest import read_campaign
from core.campaign.past_runs import earlier_runs
from core.campaign.preview import preview
from core.errors import BoresightError
from core.run.layout import RunLayout
from core.run.lock import is_executed


class Ahead(NamedTuple):
    """A campaign before it runs: its cost in sentences, its problems, and a run to take over from."""

    name: str
    lines: tuple[str, ...]
    problems: tuple[FieldProblem, ...]
    refusal: str | None  # why nothing could be told
    earlier: Path | None
    measuring: str | None = None  # the campaign that this one would wait for


def look_ahead(path: Path, snapshot: Snapshot, checker: Checker, folder: Path) -> Ahead:
    """Return what is to be known before a saved campaign is run."""
    problems = checker.thorough(snapshot)
    try:
        campaign = read_campaign(path)
        lines = preview(campaign, folder).lines
        earlier = next(
            (run for run in earlier_runs(folder, campaign.name) if not is_executed(RunLayout(run).lock)), None
        )
    except (BoresightError, OSError) as error:
        told = any(problem.severity == "error" for problem in problems)
        return Ahead(path.name, (), problems, None if told else str(error), None)
    return Ahead(campaign.name, lines, problems, None, earlier, api.measuring())


def look_ahead_of(path: Path, folder: Path) -> Ahead:
    """Return what is to be known before a campaign file that nobody edits is run."""
    try:
        snapshot = CampaignDocument.read(path).snapshot
    except BoresightError as error:
        return Ahead(path.name, (), (), str(error), None)
    return look_ahead(path, snapshot, Checker(path.absolute().parent), folder)
