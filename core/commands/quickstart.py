"""`boresight quickstart`: a bank, a campaign and a leaderboard from the current folder."""

from __future__ import annotations

import argparse
import shutil
import time
from pathlib import Path

from core import api
from core.commands import run as running
from core.commands.output import narrate, say
from core.commands.report import print_report
from core.commands.results import say_results
from core.errors import InputError
from core.quickstart import choose, demand_ready, next_folder, write_graded_inputs, write_inputs
from core.text import printable


def quickstart(arguments: argparse.Namespace) -> int:
    """Run the whole path once and say where everything lies."""
    began = time.monotonic()
    demand_ready()
    folder = Path.cwd()
    inputs = _inputs(arguments.output) if arguments.output is not None else next_folder(folder)
    try:
        bank, campaign_file = _graded(inputs) if arguments.graded else _derived(folder, inputs, arguments)
    except BaseException:
        shutil.rmtree(inputs, ignore_errors=True)  # made just now: the next try finds its place free
        raise
    opened = api.create_run(api.read_campaign(campaign_file), inputs / "run")
    ended = running.execute(opened, arguments)
    if ended.state == "interrupted":
        return running.finish(opened, ended)
    rescored = api.rescore(opened.layout.root)
    print_report(rescored, "text")
    say("")
    say(f"Took {time.monotonic() - began:.0f} s. Everything is kept:")
    for what, path in (
        ("bank", bank),
        ("campaign", campaign_file),
        ("report", opened.layout.summary_text),
        ("evidence", opened.layout.operations),
    ):
        say(f"  {what:<9} {printable(str(_near(path, folder)))}")
    say("Look closer in the app: boresight")
    say("Next: edit the campaign, then: boresight run CAMPAIGN --output NEW-DIRECTORY")
    say_results(opened.bank.format, _near(opened.layout.root, folder))
    return ended.exit_code


def _derived(folder: Path, inputs: Path, arguments: argparse.Namespace) -> tuple[Path, Path]:
    """Write a bank derived from the folder's repository, and its campaign; return both files."""
    choice = choose(folder, inputs, sample=arguments.sample)
    for remark in choice.remarks:
        narrate(remark)
    campaign_file = write_inputs(choice, inputs)
    cases = choice.per_intent * len(choice.intents)
    narrate(
        f"Repository {choice.entry.label} at {str(choice.entry.commit)[:12]}: {cases} questions with known "
        f"answers, {choice.per_intent} for each of {len(choice.intents)} intents."
    )
    return inputs / "cases.jsonl", campaign_file


def _graded(inputs: Path) -> tuple[Path, Path]:
    """Write the sample's graded bank and its campaign; return both files."""
    made = write_graded_inputs(inputs)
    narrate(
        f"The sample project at {str(made.entry.commit)[:12]}: {made.questions} graded questions, each with "
        "a grade for every module and the facts that an answer must hold."
    )
    return made.bank, made.campaign


def _inputs(output: Path) -> Path:
    try:
        output.mkdir(parents=True, mode=0o700)
    except FileExistsError:
        raise InputError(f"{output}: already exists; name a new directory") from None
    except OSError as error:
        raise InputError(f"{output}: cannot be made: {error.strerror or error}") from None
    return output.absolute()


def _near(path: Path, folder: Path) -> Path:
    return path.relative_to(folder) if path.is_relative_to(folder) else path
