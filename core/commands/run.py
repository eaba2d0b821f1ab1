"""`boresight run` and `resume`."""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path

from core import api
from core.campaign.sources import FrozenSource
from core.commands import report
from core.commands.output import narrate, say
from core.errors import Exit, InputError, StoppedError
from core.progress import display_for
from core.run.events import State
from core.run.layout import RunLayout
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
        return _resumed(api.reopen_run(output, campaign), quiet=arguments.quiet_progress)
    if not _is_spelled(arguments):
        raise InputError(
            "nothing to run: name a campaign file, or give --dataset, --repo-manifest and --model-manifest"
        )
    return execute_new(_campaign(arguments), output, quiet=arguments.quiet_progress)


def resume(arguments: argparse.Namespace) -> int:
    """Go on with a run by its own frozen campaign."""
    return _resumed(api.reopen_run(arguments.run), quiet=arguments.quiet_progress)


def execute_new(campaign: api.Campaign, output: Path, *, quiet: bool) -> int:
    """Freeze a campaign into a new run directory and execute it."""
    frozen: list[FrozenSource] = []
    if not quiet:
        narrate("checking the bank against its sources and freezing them")
    opened = api.create_run(campaign, output, frozen.append)
    return finish(opened, execute(opened, frozen=frozen, quiet=quiet))


def execute(
    opened: api.OpenRun, *, resumed: bool = False, frozen: list[FrozenSource] | None = None, quiet: bool
) -> State:
    """Execute an open run in the foreground, showing its progress on stderr."""
    display = display_for(sys.stderr, quiet)
    try:
        return asyncio.run(api.execute(opened, display.show, resumed=resumed, frozen=frozen or ()))
    except asyncio.CancelledError:
        raise StoppedError(
            f"{opened.layout.root}: stopped by force; `boresight resume` goes on with it"
        ) from None
    finally:
        display.close()


def finish(opened: api.OpenRun, state: State) -> int:
    """Score what the run holds, and print where everything lies."""
    root = opened.layout.root
    if state == "interrupted":
        raise StoppedError(f"{root}: stopped; go on with: boresight resume {root}")
    rescored = api.rescore(root)
    if state == "failed" and not rescored.unaccepted:
        narrate(
            "An index could not be built again; all its earlier answers are kept and count. "
            f"`boresight resume {root}` tries again."
        )
    if rescored.unaccepted:
        narrate(
            f"{rescored.unaccepted} of {len(opened.plan)} operations were not accepted; their evidence is in "
            f"{opened.layout.operations}. `boresight resume {root}` tries them again."
        )
    say(f"Known-target results: {printable(str(root))}")
    return Exit.NEGATIVE if rescored.unaccepted or state == "failed" else Exit.DONE


def _resumed(opened: api.OpenRun, *, quiet: bool) -> int:
    try:
        done = not api.rescore(opened.layout.root, write=False).unaccepted
    except BaseException:
        opened.lock.release()
        raise
    if done:
        opened.lock.release()
        return _already_complete(opened.layout)
    return finish(opened, execute(opened, resumed=True, quiet=quiet))


def _already_complete(layout: RunLayout) -> int:
    """Leave a run alone that has all it planned; reports that a stopped run never wrote are written."""
    narrate("every planned operation has a verified result already: nothing to run")
    if not (layout.summary.exists() and layout.summary_text.exists()):
        api.rescore(layout.root)
    say(f"Known-target results: {printable(str(layout.root))}")
    return Exit.DONE


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
    missing = [flag for flag in _FLAGS[:3] if flag not in given]
    if missing:
        raise InputError("also needed: " + ", ".join(f"--{flag.replace('_', '-')}" for flag in missing))
    limits = ("index_timeout", "query_timeout", "max_output_bytes")
    budgets = ("memory_budget_mib", "max_index_seconds")
    return api.campaign_from_flags(
        name=arguments.output.absolute().name,
        dataset=arguments.dataset,
        repo_manifest=arguments.repo_manifest,
        model_manifest=arguments.model_manifest,
        model_ids=arguments.model_id or (),
        baseline=arguments.baseline,
        cutoffs=arguments.k or (1, 5, 10),
        limits=_values(arguments, limits, api.Limits),
        budgets=_values(arguments, budgets, api.Budgets),
    )


def _values(arguments: argparse.Namespace, names: tuple[str, ...], model: type[Model]) -> Model:
    given = {name: value for name in names if (value := getattr(arguments, name)) is not None}
    return validated(model, given, "the command line")
