"""Commands that run campaigns and steer them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from core.arguments.parser import hosting, quiet_progress, together


def quickstart(commands: Any) -> None:
    """Add `quickstart`."""
    command = commands.add_parser(
        "quickstart",
        help="bank, campaign and leaderboard from the current repository, in about a minute",
        description="Derives a bank from the Git repository of the current folder (or the bundled sample), "
        "runs three embedded candidates on it and prints who finds more. With --graded it takes the sample "
        "project with its graded questions instead.",
    )
    command.add_argument("--sample", action="store_true", help="use the bundled sample project")
    command.add_argument(
        "--graded", action="store_true", help="ask the sample project's graded questions, with facts"
    )
    command.add_argument(
        "--output", type=Path, metavar="DIR", help="where to write (default runs/quickstart/NUMBER)"
    )
    quiet_progress(command)
    together(command)
    command.set_defaults(command="quickstart:quickstart")


def run(commands: Any) -> None:
    """Add `run`."""
    run = commands.add_parser(
        "run",
        help="run a campaign into a new run directory, or go on with one",
        description="Runs a campaign file, or the same campaign spelled with flags.",
    )
    run.add_argument("campaign", nargs="?", type=Path, metavar="CAMPAIGN.toml")
    run.add_argument("--output", type=Path, required=True, metavar="RUN", help="the run directory")
    flags = run.add_argument_group("instead of a campaign file")
    flags.add_argument("--dataset", type=Path, metavar="CASES")
    flags.add_argument("--repo-manifest", type=Path, metavar="M")
    flags.add_argument(
        "--model-manifest",
        type=Path,
        metavar="C",
        help="default: the three candidates that ship with Boresight",
    )
    flags.add_argument(
        "--model-id", action="append", metavar="ID", help="repeat to choose several; default all"
    )
    flags.add_argument("--baseline", metavar="ID")
    flags.add_argument(
        "--k", type=int, nargs="+", metavar="K", help="cutoffs up to 100; 1, 5 and 10 always count"
    )
    flags.add_argument("--index-timeout", type=float, metavar="S", help="seconds per index (default 3600)")
    flags.add_argument("--query-timeout", type=float, metavar="S", help="seconds per query (default 900)")
    flags.add_argument("--max-output-bytes", type=int, metavar="N", help="per attempt (default 64 MiB)")
    flags.add_argument("--memory-budget-mib", type=float, metavar="X", help="reported, never enforced")
    flags.add_argument("--max-index-seconds", type=float, metavar="S", help="reported, never enforced")
    act = run.add_mutually_exclusive_group()
    act.add_argument("--resume", action="store_true", help="go on with RUN; verified successes are reused")
    act.add_argument("--rescore", action="store_true", help="only rebuild RUN's reports from its evidence")
    act.add_argument(
        "--reuse", type=Path, metavar="OLD", help="take over verified successes of equal cells of the run OLD"
    )
    hosting(run)
    run.set_defaults(command="run:run")


def resume(commands: Any) -> None:
    """Add `resume`."""
    resume = commands.add_parser("resume", help="go on with an interrupted or failed run as it was frozen")
    resume.add_argument("run", type=Path, metavar="RUN")
    hosting(resume)
    resume.set_defaults(command="run:resume")


def retry(commands: Any) -> None:
    """Add `retry`."""
    retry = commands.add_parser(
        "retry",
        help="give chosen failures of a run new attempts",
        description="Gives failed operations new attempts under the run's identity and leaves the rest as it "
        "is. Without a filter all failures are tried again; with several, those that match every one.",
    )
    retry.add_argument("run", type=Path, metavar="RUN")
    retry.add_argument("--candidate", action="append", metavar="C", help="repeat to choose several")
    retry.add_argument("--repository", action="append", metavar="R")
    retry.add_argument(
        "--operation", action="append", metavar="NAME", help="index, primary, ctx, or an operation's folder"
    )
    retry.add_argument("--error", action="append", metavar="CLASS", help="such as timeout or nonzero_exit")
    quiet_progress(retry)
    together(retry)
    retry.set_defaults(command="retry:retry")


def control(commands: Any) -> None:
    """Add the commands that steer a run in its process."""
    status = commands.add_parser("status", help="tell what a run is doing")
    status.add_argument("--json", action="store_true", help="print it as JSON")
    status.set_defaults(command="control:status")
    pause = commands.add_parser("pause", help="let a running run wait after the operation under way")
    pause.set_defaults(command="control:pause")
    go_on = commands.add_parser("continue", help="let a paused or waiting run go on")
    go_on.add_argument(
        "--together",
        action="store_true",
        help="let a run that waits run beside the campaign that it waits for; both are marked as disturbed",
    )
    go_on.set_defaults(command="control:go_on")
    stop = commands.add_parser("stop", help="stop a running run cleanly; `resume` goes on with it")
    stop.add_argument("--now", action="store_true", help="at once, without waiting for sessions to end")
    stop.set_defaults(command="control:stop")
    follow = commands.add_parser("follow", help="show a run's events until it ends; leaving does not stop it")
    follow.set_defaults(command="control:follow")
    for command in (status, pause, go_on, stop, follow):
        command.add_argument("run", type=Path, metavar="RUN")


def watch(commands: Any) -> None:
    """Add `watch`."""
    watch = commands.add_parser("watch", help="open the app on a run, whoever executes it")
    watch.add_argument("run", type=Path, metavar="RUN")
    watch.set_defaults(command="app:watch")
