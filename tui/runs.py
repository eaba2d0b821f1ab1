"""What the screens say of a run, and what they offer to do with it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from core import api
from core.errors import BoresightError
from core.run.layout import RunLayout
from tui.screens.dialogs import Choice

_UNFINISHED = {"interrupted", "failed"}
_LIVE = {"waiting", "running", "paused", "stopping", "stalled"}


class RunRow(NamedTuple):
    """A run as the home screen shows it."""

    status: api.RunStatus
    best: str  # the best candidate against the baseline, from the derived report
    sentence: str


def list_rows(folder: Path) -> Iterator[RunRow]:
    """Yield a row for each run of a folder; reads disk, so call it from a thread."""
    for status in api.list_runs(folder):
        yield RunRow(status, _best(status.path), _sentence(status))


def menu_of(status: api.RunStatus, refusal: str | None) -> Sequence[Choice]:
    """Return what can be done with a run in its state, the sensible thing first."""
    report = Choice("report", "Read the report")
    monitor = Choice("monitor", "Watch it" if status.state in _LIVE else "See how it ran")
    rescore = Choice("rescore", "Rescore: verify every digest, rebuild the reports")
    if status.state in _LIVE:
        return (monitor,)
    if status.state in _UNFINISHED:
        first_line = refusal.splitlines()[0] if refusal else None
        resume = Choice("resume", "Resume", first_line)
        return (monitor, report, rescore, resume) if refusal else (resume, monitor, report, rescore)
    if status.state == "complete":
        return (report, monitor, rescore)
    return ()


def resume_refusal(status: api.RunStatus) -> str | None:
    """Return why a resume would be refused, None where it would not be; reads disk."""
    if status.state not in _UNFINISHED:
        return None
    try:
        with api.reopen_run(status.path):
            return None
    except BoresightError as error:
        return str(error)


def _sentence(status: api.RunStatus) -> str:
    name = status.path.name
    if status.problem:
        return status.problem
    done = f"{status.accepted} of {status.planned}"
    words = {
        "interrupted": f"{name} was interrupted at {done}. Resume will reuse its verified results.",
        "failed": f"{name}: {status.failed} of {status.planned} operations failed. Resume tries them again.",
        "complete": f"{name}: all {status.planned} operations accepted.",
    }
    return words.get(str(status.state), f"{name}: {done} operations accepted, {status.failed} failed.")


def _best(path: Path) -> str:
    """Return the best candidate's difference from the derived summary, or nothing where there is none."""
    try:
        models = json.loads(RunLayout(path).summary.read_bytes())["models"]
        compared = [
            (item["comparison"]["recall_at_5"]["difference"], name, item)
            for name, item in models.items()
            if item.get("comparison")
        ]
        difference, name, item = max(compared, key=lambda found: found[0])
        interval = item["comparison"]["recall_at_5"]["interval"]
        half = f" ±{(interval['high'] - interval['low']) / 2:.2f}".replace("0.", ".") if interval else ""
        shown = f"{difference:+.2f}".replace("0.", ".")
        return f"{name} R@5 {shown}{half} {item['support']}"
    except (OSError, ValueError, KeyError, TypeError):
        return ""
