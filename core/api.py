"""The public face of Boresight: what the command line, the app and a notebook call.

from core import api
run = api.create_run(api.read_campaign(Path("campaign.toml")), Path("runs/first"))
ended = await api.execute(run)          # in a script: asyncio.run(api.execute(run))
board = api.rescore(Path("runs/first")).board
board.candidates["hybrid"].macro[5].recall
"""

from __future__ import annotations

from core.archive.packing import Exported, export_run
from core.archive.unpacking import import_run
from core.banks.case import INTENTS, Bank, Case
from core.banks.check import CheckResult, check_bank
from core.banks.historical import HistoryBuilt, build_history_bank
from core.banks.known_target import BuildResult, build_bank
from core.banks.reading import decode_bank, read_bank
from core.banks.stats import BankStats, bank_stats
from core.campaign.jobs import OpenRun, create_run, reopen_run
from core.campaign.manifest import (
    Budgets,
    Campaign,
    Candidate,
    Limits,
    campaign_from_flags,
    read_campaign,
    read_models,
)
from core.campaign.reuse import TakenCell, TakenOver
from core.engine.detached import detach
from core.engine.host import Ended, execute
from core.engine.machine import measuring
from core.failures import Failure, Filters, choose, failures
from core.outcomes import Outcomes, read_outcomes
from core.rankings import Observation, RunReader
from core.repositories import RepositoryEntry, pinned, read_repository_manifest
from core.rescoring import Rescored, markdown_report, rescore, rescore_run, run_facts, score_outcomes
from core.run.control import ask
from core.run.disk import DiskUse, disk_use
from core.run.events import Event, read_events
from core.scoring.records import Scoreboard
from core.status import RunStatus, list_runs, run_status
from core.verification import Verification, verify_run

__all__ = [
    "INTENTS",
    "Bank",
    "BankStats",
    "Budgets",
    "BuildResult",
    "Campaign",
    "Candidate",
    "Case",
    "CheckResult",
    "DiskUse",
    "Ended",
    "Event",
    "Exported",
    "Failure",
    "Filters",
    "HistoryBuilt",
    "Limits",
    "Observation",
    "OpenRun",
    "Outcomes",
    "RepositoryEntry",
    "Rescored",
    "RunReader",
    "RunStatus",
    "Scoreboard",
    "TakenCell",
    "TakenOver",
    "Verification",
    "ask",
    "bank_stats",
    "build_bank",
    "build_history_bank",
    "campaign_from_flags",
    "check_bank",
    "choose",
    "create_run",
    "decode_bank",
    "detach",
    "disk_use",
    "execute",
    "export_run",
    "failures",
    "import_run",
    "list_runs",
    "markdown_report",
    "measuring",
    "pinned",
    "read_bank",
    "read_campaign",
    "read_events",
    "read_models",
    "read_outcomes",
    "read_repository_manifest",
    "reopen_run",
    "rescore",
    "rescore_run",
    "run_facts",
    "run_status",
    "score_outcomes",
    "verify_run",
]
