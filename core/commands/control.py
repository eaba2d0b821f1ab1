"""`boresight status`, `pause`, `continue`, `stop` and `follow`: a run that is hosted elsewhere."""

from __future__ import annotations

import argparse
import json
import sys
from datetime import UTC
from pathlib import Path
from typing import Any

from core import api
from core.commands.output import say
from core.errors import Exit
from core.progress import display_for
from core.reports.wording import failed_words
from core.run.control import STATUS, NobodyListensError, ask
from core.run.events import CampaignFinished, holder_text
from core.run.follow import follow_run
from core.run.record import read_run
from core.text import printable

_SAID = {
    "pause": "pausing after the operation under way; `boresight continue` goes on",
    "continue": "going on",
    "together": "running beside the other campaign; the operations of both are marked as disturbed",
    "stop": "stopping: the operation under way is ended and kept as stopped",
    "stop-now": "stopping at once",
}


def status(arguments: argparse.Namespace) -> int:
    """Tell what a run is doing; exit 1 where operations failed."""
    found = api.run_status(arguments.run)
    engine: dict[str, Any] | None = None
    nobody = ""
    try:
        engine = ask(read_run(arguments.run).layout.root, STATUS)
    except NobodyListensError as error:
        nobody = printable(str(error))
    if arguments.json:
        value = {
            **found._asdict(),
            "path": str(found.path),
            "updated_at": found.updated_at.isoformat() if found.updated_at else None,
            "engine": engine,
            "engine_problem": nobody or None,
        }
        say(json.dumps(value, indent=1))
    else:
        state = engine.get("state", found.state) if engine else found.state
        say(printable(f"{found.path}: {state}"))
        failed = failed_words(found.failed, found.unasked)
        say(f"{found.accepted} of {found.planned} operations accepted, {failed}")
        if engine:
            process, reused = engine.get("pid", "unknown"), engine.get("reused", "unknown")
            say(printable(f"hosted by process {process}, {reused} verified results reused"))
            if state == "waiting":
                say(f"it waits for {found.waits_for or holder_text(None)}")
        else:
            say(nobody)
        if found.updated_at:
            say(f"last event at {found.updated_at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC")
    return Exit.NEGATIVE if found.failed else Exit.DONE


def pause(arguments: argparse.Namespace) -> int:
    """Let a run wait after the operation under way."""
    return _say(arguments.run, "pause")


def go_on(arguments: argparse.Namespace) -> int:
    """Let a paused run go on, or one that waits run beside what it waits for."""
    return _say(arguments.run, "together" if arguments.together else "continue")


def stop(arguments: argparse.Namespace) -> int:
    """Stop a run cleanly, or at once."""
    return _say(arguments.run, "stop-now" if arguments.now else "stop")


def follow(arguments: argparse.Namespace) -> int:
    """Show a run's events until it ends; leaving does not stop it. Exit as the run does."""
    layout = read_run(arguments.run).layout
    display = display_for(sys.stderr, quiet=False)
    ended: CampaignFinished | None = None
    try:
        for event in follow_run(layout):
            display.show(event)
            ended = event if isinstance(event, CampaignFinished) else None
    finally:
        display.close()
    state = ended.state if ended else api.run_status(arguments.run).state
    say(f"{printable(str(arguments.run))}: {state}")
    if state == "complete":
        return Exit.DONE
    return Exit.STOPPED if state == "interrupted" else Exit.NEGATIVE


def _say(run: Path, word: str) -> int:
    root = read_run(run).layout.root
    ask(root, word)
    say(_SAID[word])
    return Exit.DONE
