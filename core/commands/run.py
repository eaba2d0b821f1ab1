"""`boresight run` and `resume`."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import sys
from pathlib import Path

from core import api
from core.banks.pinning import moved_heads
from core.commands import report
from core.commands.output import narrate, say
from core.commands.results import say_results
from core.commands.taken import tell_taken_over
from core.engine.detached import detach
from core.errors import Exit, InputError, StoppedError
from core.progress import display_for
from core.reports.verdict import headline_text
from core.samples import CANDIDATES
from core.text import printable
from core.validation import Model, validated

_FLAGS = (
    "dataset",
    "repo_manifest",
    "model_manifest",
    "model_id",
    "baseline",
    "k",
    "index_timeout",
    "query_timeout",
    "max_output_bytes",
    "memory_budget_mib",
    "max_index_seconds",
)


def run(arguments: argparse.Namespace) -> int:
    """Run a campaign into a new directory, go on with one, or only rescore it."""
    output: Path = arguments.output
    if arguments.rescore:
        arguments.run = output
        return report.rescore(arguments)
    if arguments.resume:
        campaign = _campaign(arguments) if _is_spelled(arguments) else None
        return _resumed(api.reopen_run(output, campaign), arguments)
    if not _is_spelled(arguments):
        raise InputError("nothing to run: name a campaign file, or give --dataset and --repo-manifest")
    return _new(_campaign(arguments), arguments)


def resume(arguments: argparse.Namespace) -> int:
    """Go on with a run by its own frozen campaign."""
    return _resumed(api.reopen_run(arguments.run), arguments)


def _new(campaign: api.Campaign, arguments: argparse.Namespace) -> int:
    _tell_moved_heads(campaign)
    if not arguments.quiet_progress:
        narrate("checking the bank against its sources and freezing them")
    opened = api.create_run(campaign, arguments.output, reuse=arguments.reuse)
    if opened.taken_over is not None:
        tell_taken_over(opened.taken_over)
    if arguments.detach:
        return _detached(opened, arguments)
    return finish(opened, execute(opened, arguments))


def _tell_moved_heads(campaign: api.Campaign) -> None:
    """Say which repositories will not be measured at HEAD, though nobody pinned another commit."""
    if any(entry.commit is None for entry in campaign.repositories):
        for sentence in moved_heads(api.read_bank(campaign.cases), campaign.repositories):
            narrate(sentence)


def execute(opened: api.OpenRun, arguments: argparse.Namespace) -> api.Ended:
    """Execute an open run in the foreground, showing its progress on stderr."""
    display = display_for(sys.stderr, arguments.quiet_progress)
    hosting = api.execute(opened, display.show, together=arguments.together, signals=True)
    try:
        return asyncio.run(hosting)
    except asyncio.CancelledError:
        raise StoppedError(
            f"{opened.layout.root}: stopped by force; `boresight resume` goes on with it"
        ) from None
    finally:
        with contextlib.suppress(OSError):
            display.close()


def finish(opened: api.OpenRun, ended: api.Ended) -> int:
    """Say how a run ended, and where everything lies."""
    root = opened.layout.root
    if ended.state == "interrupted":
        raise StoppedError(f"{root}: stopped; go on with: boresight resume {root}")
    if ended.state == "failed" and not ended.unaccepted:
        narrate(
            "An index could not be built again; all its earlier answers are kept and count. "
            f"`boresight resume {root}` tries again."
        )
    if ended.unaccepted:
        narrate(
            f"{ended.unaccepted} of {len(opened.plan)} operations were not accepted; their evidence is in "
            f"{opened.layout.operations}. `boresight resume {root}` tries them again."
        )
    say(ended.headline)
    say_results(opened.bank.format, root)
    return ended.exit_code


def _detached(opened: api.OpenRun, arguments: argparse.Namespace) -> int:
    root = printable(str(opened.layout.root))
    pid = detach(opened, together=arguments.together)
    narrate(
        f"Process {pid} hosts the run and outlives this terminal. `boresight follow {root}` shows it, "
        f"`boresight status`, `pause`, `continue` and `stop` steer it."
    )
    say_results(opened.bank.format, opened.layout.root)
    return Exit.DONE


def _resumed(opened: api.OpenRun, arguments: argparse.Namespace) -> int:
    status = api.run_status(opened.layout.root)
    if status.accepted == status.planned:
        with opened:
            rescored = api.rescore(opened.layout.root, write=True)
        narrate("every planned operation has a verified result already: nothing to run")
        say(headline_text(rescored.board))
        say_results(opened.bank.format, opened.layout.root)
        return Exit.DONE
    if arguments.detach:
        return _detached(opened, arguments)
    return finish(opened, execute(opened, arguments))


def _is_spelled(arguments: argparse.Namespace) -> bool:
    return arguments.campaign is not None or any(getattr(arguments, flag) is not None for flag in _FLAGS)


def _campaign(arguments: argparse.Namespace) -> api.Campaign:
    given = [flag for flag in _FLAGS if getattr(arguments, flag) is not None]
    if arguments.campaign is not None:
        if given:
            raise InputError(
                f"--{given[0].replace('_', '-')} cannot be combined with a campaign file; "
                f"write it into {arguments.campaign}, or spell the whole campaign with flags"
            )
        return api.read_campaign(arguments.campaign)
    missing = [flag for flag in _FLAGS[:2] if flag not in given]
    if missing:
        raise InputError("also needed: " + ", ".join(f"--{flag.replace('_', '-')}" for flag in missing))
    limits = ("index_timeout", "query_timeout", "max_output_bytes")
    budgets = ("memory_budget_mib", "max_index_seconds")
    return api.campaign_from_flags(
        name=arguments.output.absolute().name,
        dataset=arguments.dataset,
        repo_manifest=arguments.repo_manifest,
        model_manifest=arguments.model_manifest or CANDIDATES,
        model_ids=arguments.model_id or (),
        baseline=arguments.baseline,
        cutoffs=arguments.k or (1, 5, 10),
        limits=_values(arguments, limits, api.Limits),
        budgets=_values(arguments, budgets, api.Budgets),
    )


def _values(arguments: argparse.Namespace, names: tuple[str, ...], model: type[Model]) -> Model:
    given = {name: value for name in names if (value := getattr(arguments, name)) is not None}
    return validated(model, given, "the command line")
