"""The command line: words into calls. Imports nothing heavy until a command is chosen."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NoReturn, TextIO

from core.commands.output import narrate, say
from core.errors import BoresightError, Exit, is_thread_refusal
from core.text import printable, printable_lines

_INTERNAL = 70  # EX_SOFTWARE: a defect of Boresight itself
_TRACEBACK = "BORESIGHT_TRACEBACK"


def main(words: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code (see `core.errors.Exit`).

    Raises SystemExit for `--help`, `--version` and words that cannot be understood, as argparse does.
    """
    _demand_streams()
    _show_anything(sys.stdout)
    with _stopped_politely():
        code = _run_command(words)
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader (`head`, a closed pager) has enough; Python must not complain again at exit.
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        narrate(f"boresight: writing the output: {error.strerror or error}")
        code = Exit.NEGATIVE
    return code


def _demand_streams() -> None:
    """Put an empty stream where the caller closed stdout or stderr, so that writing harms nothing."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 - for the process's life


@contextlib.contextmanager
def _stopped_politely() -> Iterator[None]:
    """Let SIGTERM and SIGHUP end the work as Ctrl+C does, cleaning up; what was ignored stays ignored."""
    taken = {}
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGTERM, signal.SIGHUP):
            before = signal.getsignal(number)
            if before == signal.SIG_DFL:
                taken[number] = signal.signal(number, signal.default_int_handler)
    try:
        yield
    finally:
        for number, before in taken.items():
            signal.signal(number, before)


def _run_command(words: Sequence[str] | None) -> int:
    parser = _parser()
    arguments = parser.parse_args(words)
    if arguments.command is None and not _has_terminal():
        parser.print_help()
        return Exit.DONE
    try:
        return int(_load(arguments.command or "app:home")(arguments))
    except BoresightError as error:
        narrate(f"boresight: {printable_lines(str(error))}")
        return error.exit_code
    except KeyboardInterrupt:
        narrate("boresight: stopped")
        return Exit.STOPPED
    except OSError as error:  # stdout on a full disk, a folder that vanished: the system's word says it best
        where = printable(str(error.filename)) if error.filename else "writing the output"
        narrate(f"boresight: {where}: {error.strerror or error}")
        return Exit.NEGATIVE
    except Exception as error:  # no traceback reaches a user unless asked for
        if isinstance(error, RuntimeError) and is_thread_refusal(error):
            narrate(
                "boresight: no process can be started: allow more processes (`ulimit -u`), then try again"
            )
            return Exit.NEGATIVE
        if os.environ.get(_TRACEBACK):
            import traceback

            traceback.print_exc()
        narrate(
            f"boresight: internal error: {type(error).__name__}: {printable_lines(str(error))}\n"
            f"This is a defect of Boresight. Set {_TRACEBACK}=1 to see where, and please report it."
        )
        return _INTERNAL


def _has_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


def _show_anything(stream: TextIO) -> None:
    """Let a stream escape what its encoding cannot hold, as stderr does, instead of failing."""
    if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
        stream.reconfigure(errors="backslashreplace")


def _load(command: str) -> Callable[[argparse.Namespace], int]:
    module, _, function = command.partition(":")
    return getattr(importlib.import_module(f"core.commands.{module}"), function)  # type: ignore[no-any-return]


class _Parser(argparse.ArgumentParser):
    """Refuses abbreviations, and says which command's help to read."""

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_abbrev=False, **options)

    def error(self, message: str) -> NoReturn:
        option, _, told = message.removeprefix("argument ").partition(": ")
        if told == "expected one argument" and option.startswith("--"):
            message += f" (a value that begins with - is written {option}=VALUE)"
        self.exit(Exit.BAD_INPUT, f"boresight: {message}\nSee `{self.prog} --help`.\n")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="boresight",
        description="Which retriever finds the right code in your repositories, how sure is that, and what "
        "does it cost?",
        epilog="Start with `boresight quickstart` in a Git repository; `boresight` alone opens the app. "
        "Exit codes: 0 done; 1 done, and the answer is no; 2 bad input, nothing written; 3 identity or "
        "evidence differs; 4 busy; 130 stopped.",
    )
    parser.add_argument("--version", action=_ShowVersion, nargs=0, help="show the version and exit")
    parser.add_argument(
        "--folder",
        type=Path,
        default=Path(),
        metavar="DIR",
        help="without a command: open the app on this folder",
    )
    parser.set_defaults(command=None)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", parser_class=_Parser)
    _quickstart(commands)
    _bank(commands)
    _run(commands)
    _resume(commands)
    _retry(commands)
    _control(commands)
    _rescore(commands)
    _report(commands)
    _gate(commands)
    _watch(commands)
    _runs(commands)
    _verify(commands)
    _export(commands)
    _import(commands)
    _clean(commands)
    _retriever(commands)
    _doctor(commands)
    _schema(commands)
    return parser


class _ShowVersion(argparse.Action):
    """Looks the version up only when it is asked for, as that takes longer than all other words."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        say(f"boresight {_version()}")
        parser.exit()


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("boresight")
    except PackageNotFoundError:  # run from a source tree that is not installed
        return "(not installed)"


def _quickstart(commands: Any) -> None:
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
    command.add_argument("--quiet-progress", action="store_true", help="no progress on stderr")
    _together(command)
    command.set_defaults(command="quickstart:quickstart")


def _bank(commands: Any) -> None:
    bank = commands.add_parser("bank", help="derive, check, describe and grade banks of questions")
    bank.set_defaults(command=None)
    actions = bank.add_subparsers(title="actions", metavar="ACTION", parser_class=_Parser, required=True)

    build = actions.add_parser("build", help="derive a bank from repositories at pinned commits")
    build.add_argument("--repo-manifest", type=Path, required=True, metavar="M")
    build.add_argument(
        "--kind",
        choices=("known-target", "historical"),
        default="known-target",
        help="historical: commit subjects and the files that they changed, which are not gold",
    )
    build.add_argument("--per-intent", type=int, metavar="N", help="cases per repository and intent")
    build.add_argument(
        "--per-repository", type=int, metavar="N", help="with --kind historical; default all there are"
    )
    build.add_argument(
        "--output", type=Path, required=True, metavar="CASES", help="a new file; never overwritten"
    )
    build.add_argument(
        "--intents", nargs="+", metavar="INTENT", help="only these intents, where a repository lacks others"
    )
    build.set_defaults(command="bank:build")

    check = actions.add_parser(
        "check", help="derive every case again, or compare grades with modules, and name what is wrong"
    )
    check.add_argument("cases", type=Path, metavar="CASES")
    check.add_argument("--repo-manifest", type=Path, required=True, metavar="M")
    check.add_argument("--json", action="store_true", help="print findings as JSON")
    check.set_defaults(command="bank:check")

    stats = actions.add_parser(
        "stats", help="cases per cell, ambiguous queries, words shared with the target"
    )
    stats.add_argument("cases", type=Path, metavar="CASES")
    stats.add_argument("--repo-manifest", type=Path, metavar="M", help="also read the repositories")
    stats.add_argument("--json", action="store_true", help="print the figures as JSON")
    stats.set_defaults(command="bank:stats")

    template = actions.add_parser(
        "grade-template",
        help="a question with every module at grade 0, for a person to fill in",
        description="Writes a graded bank with one question for the one repository of the manifest. Raise "
        "the grades of the modules that answer it, add 2 to 4 gold facts, then `boresight bank check` it.",
    )
    template.add_argument("--repo-manifest", type=Path, required=True, metavar="M")
    template.add_argument(
        "--output", type=Path, required=True, metavar="FILE", help="a new file; never overwritten"
    )
    template.add_argument("--question", metavar="TEXT", help="left open where it is not given")
    template.add_argument("--id", metavar="ID", help="letters, digits, _ and - (default question-NUMBER)")
    template.add_argument("--shape", metavar="SHAPE", help="focused (default), cross-file or identity")
    template.add_argument("--add", action="store_true", help="add the question to FILE, which is there")
    template.set_defaults(command="bank:grade_template")


def _run(commands: Any) -> None:
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
    _hosting(run)
    run.set_defaults(command="run:run")


def _resume(commands: Any) -> None:
    resume = commands.add_parser("resume", help="go on with an interrupted or failed run as it was frozen")
    resume.add_argument("run", type=Path, metavar="RUN")
    _hosting(resume)
    resume.set_defaults(command="run:resume")


def _hosting(command: argparse.ArgumentParser) -> None:
    command.add_argument("--quiet-progress", action="store_true", help="no progress on stderr")
    command.add_argument(
        "--detach",
        action="store_true",
        help="host the run in a process of its own that outlives this terminal",
    )
    _together(command)


def _together(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--together",
        action="store_true",
        help="run beside another campaign on this machine instead of waiting; both are marked as disturbed",
    )


def _control(commands: Any) -> None:
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


def _watch(commands: Any) -> None:
    watch = commands.add_parser("watch", help="open the app on a run, whoever executes it")
    watch.add_argument("run", type=Path, metavar="RUN")
    watch.set_defaults(command="app:watch")


def _rescore(commands: Any) -> None:
    rescore = commands.add_parser("rescore", help="verify a run's evidence and rebuild its reports from it")
    rescore.add_argument("run", type=Path, metavar="RUN")
    _embed(rescore)
    rescore.set_defaults(command="report:rescore")


def _report(commands: Any) -> None:
    report = commands.add_parser("report", help="print a run's report, derived from its evidence")
    report.add_argument("run", type=Path, metavar="RUN")
    report.add_argument(
        "--format",
        choices=("text", "md", "json", "csv", "metrics", "trec"),
        default="text",
        help="text: leaderboard; csv: a row for each query; metrics: a row for each mean; "
        "trec: run and qrels files",
    )
    report.add_argument("--output", type=Path, metavar="DIR", help="for trec (default RUN/exports)")
    _embed(report)
    report.set_defaults(command="report:report")


def _embed(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--embed",
        action="store_true",
        help="graded banks: also compare contexts with questions and facts by the embedded model",
    )


def _gate(commands: Any) -> None:
    gate = commands.add_parser(
        "gate",
        help="hold a run to floors, for CI: exit 1 where one fell",
        description="Holds a run's metrics to the floors and ceilings of a file (docs/gates.md), or against "
        "an older run of the same bank. Runs of graded banks have default floors. Exit codes: 0 all hold; 1 "
        "something fell; 2 a bad file; 3 changed evidence.",
    )
    gate.add_argument("run", nargs="?", type=Path, metavar="RUN")
    gate.add_argument("--floors", type=Path, metavar="FLOORS.toml")
    gate.add_argument("--candidate", action="append", metavar="C", help="repeat to name several, or say all")
    gate.add_argument(
        "--against", type=Path, metavar="OLDER", help="fall where the same cases fell significantly"
    )
    gate.add_argument(
        "--allow-incomplete", action="store_true", help="failed or missing operations alone are no fall"
    )
    gate.add_argument("--embed", action="store_true", help="compute columns that need an embedding function")
    gate.add_argument("--junit", type=Path, metavar="FILE", help="also write a JUnit XML file")
    form = gate.add_mutually_exclusive_group()
    form.add_argument("--github", action="store_true", help="also print annotations for GitHub")
    form.add_argument("--json", action="store_true", help="print the outcome as JSON")
    gate.add_argument("--show-default", action="store_true", help="print the default floors and exit")
    gate.set_defaults(command="gate:gate")


def _runs(commands: Any) -> None:
    runs = commands.add_parser("runs", help="list runs and their state")
    runs.add_argument("folder", nargs="?", type=Path, default=Path(), metavar="DIR")
    runs.add_argument("--json", action="store_true", help="print them as JSON")
    runs.set_defaults(command="report:runs")


def _retry(commands: Any) -> None:
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
    retry.add_argument("--quiet-progress", action="store_true", help="no progress on stderr")
    _together(retry)
    retry.set_defaults(command="retry:retry")


def _verify(commands: Any) -> None:
    verify = commands.add_parser("verify", help="compare a run with every digest that it holds")
    verify.add_argument("run", type=Path, metavar="RUN")
    verify.add_argument("--json", action="store_true", help="print the outcome as JSON")
    verify.add_argument("--quiet-progress", action="store_true", help="no progress on stderr")
    verify.set_defaults(command="keep:verify")


def _export(commands: Any) -> None:
    export = commands.add_parser("export", help="write a run into one file, to be moved or kept")
    export.add_argument("run", type=Path, metavar="RUN")
    export.add_argument(
        "file",
        nargs="?",
        type=Path,
        metavar="FILE",
        help="ends with .tar.gz (default), .tar.xz, .tar.zst, .tar",
    )
    export.add_argument("--without-state", action="store_true", help="leave the retrievers' indexes out")
    export.add_argument(
        "--include-private",
        action="store_true",
        help="also carry sources and queries of private repositories",
    )
    export.add_argument("--quiet-progress", action="store_true", help="no progress on stderr")
    export.set_defaults(command="keep:export")


def _import(commands: Any) -> None:
    command = commands.add_parser("import", help="unpack an exported run and verify every digest")
    command.add_argument("file", type=Path, metavar="FILE")
    command.add_argument("target", type=Path, metavar="DIR", help="the new run directory")
    command.add_argument("--quiet-progress", action="store_true", help="no progress on stderr")
    command.set_defaults(command="keep:import_")


def _clean(commands: Any) -> None:
    clean = commands.add_parser("clean", help="show what a run's indexes take, and free them")
    clean.add_argument("run", type=Path, metavar="RUN")
    clean.add_argument("--state", action="store_true", help="the retrievers' indexes; evidence always stays")
    clean.add_argument("--yes", action="store_true", help="remove them instead of only showing them")
    clean.set_defaults(command="keep:clean")


def _retriever(commands: Any) -> None:
    retriever = commands.add_parser("retriever", help="try a candidate of a campaign out before measuring it")
    retriever.set_defaults(command=None)
    actions = retriever.add_subparsers(title="actions", metavar="ACTION", parser_class=_Parser, required=True)

    attempt = actions.add_parser(
        "try",
        help="ask one query, and show the command, its output and how that was read",
        description="Indexes one repository in a temporary folder, asks one query there, and keeps nothing.",
    )
    attempt.add_argument("--query", required=True, metavar="TEXT")
    attempt.add_argument("--channel", choices=("emb", "docs"), help="default: emb where it is answered")
    attempt.add_argument("--probe", action="store_true", help="ask for context instead of a ranking")
    attempt.add_argument(
        "--limit", type=_limit, default=10, metavar="N", help="how many results (default 10)"
    )
    attempt.set_defaults(command="retriever:try_")

    check = actions.add_parser(
        "check",
        help="ask what tools get wrong, and say what to mend",
        description="Indexes one repository in a temporary folder and asks some twenty queries there: the "
        "same twice, few and many results, nothing to be found, odd characters. Exit 1 where something is to "
        "be mended.",
    )
    check.add_argument("--query", metavar="TEXT", help="one that finds something (default: from the sources)")
    check.add_argument("--json", action="store_true", help="print the findings as JSON")
    check.set_defaults(command="retriever:check_")
    for action in (attempt, check):
        action.add_argument("campaign", type=Path, metavar="CAMPAIGN.toml")
        action.add_argument("candidate", metavar="CANDIDATE")
        action.add_argument("--repository", metavar="LABEL", help="default: the campaign's first")


def _limit(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text[:4]) <= 100:
        raise argparse.ArgumentTypeError(f"found {printable(text, 20)!r}, expected a number from 1 to 100")
    return int(text)


def _doctor(commands: Any) -> None:
    doctor = commands.add_parser(
        "doctor",
        help="tell what works on this machine, and what mends the rest",
        description="Tells of the system and of each retriever: installed or not, its version, what it can "
        "answer, what is missing and the command that mends it. Exit 1 where no campaign can run, or where a "
        "retriever that is named is not ready.",
    )
    doctor.add_argument("retrievers", nargs="*", metavar="RETRIEVER", help="only these; all must be ready")
    doctor.add_argument("--json", action="store_true", help="print it as JSON")
    doctor.set_defaults(command="doctor:doctor")


def _schema(commands: Any) -> None:
    schema = commands.add_parser("schema", help="print the JSON Schema of a file that people write")
    schema.add_argument("name", nargs="?", metavar="NAME", help="without it, the names are listed")
    schema.set_defaults(command="schema:schema")


if __name__ == "__main__":
    sys.exit(main())
