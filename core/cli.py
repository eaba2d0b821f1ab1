"""The command line: words into calls. Imports nothing heavy until a command is chosen.

`core.arguments` says which words there are; the functions that they call stand in `core.commands`.
"""

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
from typing import TextIO

from core.arguments import banks, campaigns, keeping, results, tools
from core.arguments.parser import Parser
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
    """Put an empty stream where the caller closed one, so that reading and writing harm nothing."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 - for the process's life


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


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
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
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", parser_class=Parser)
    campaigns.quickstart(commands)
    banks.bank(commands)
    campaigns.run(commands)
    campaigns.resume(commands)
    campaigns.retry(commands)
    campaigns.control(commands)
    results.rescore(commands)
    results.report(commands)
    results.gate(commands)
    campaigns.watch(commands)
    results.runs(commands)
    keeping.verify(commands)
    keeping.export(commands)
    keeping.import_(commands)
    keeping.clean(commands)
    tools.retriever(commands)
    tools.doctor(commands)
    tools.schema(commands)
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


if __name__ == "__main__":
    sys.exit(main())
