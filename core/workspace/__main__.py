"""The embedded retriever's process: `python -P -m core.workspace index|query|probe|session`."""

from __future__ import annotations

import argparse
import os
import signal
import sqlite3
import sys
from collections.abc import Sequence
from pathlib import Path

from core.ranking import CHANNELS
from core.workspace.errors import WorkspaceError
from core.workspace.pipeline import Request, build_index, open_pipeline
from core.workspace.session import MAX_LIMIT, serve
from core.workspace.settings import Assets, read_settings


def main(arguments: Sequence[str]) -> int:
    """Run one command; answers go to stdout, complaints to stderr. Returns 0, 1, or 2 for wrong usage."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    options, text = _options(arguments)
    try:
        _run(options, text)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        # Nobody listens any more; Python would complain about the same pipe when it exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (WorkspaceError, sqlite3.Error, OSError) as error:
        sys.stderr.write(f"core.workspace: {error}\n")
        return 1
    return 0


def _run(options: argparse.Namespace, text: str) -> None:
    settings = read_settings(options.configuration)
    assets = Assets(options.model, options.tokenizer) if options.model and options.tokenizer else None
    out = sys.stdout.buffer
    if options.command == "index":
        out.write(build_index(options.repository, options.state, settings, assets))
        return
    with open_pipeline(options.state, settings, assets) as pipeline:
        if options.command == "session":
            serve(pipeline, sys.stdin.buffer, out)
        elif options.command == "query":
            out.write(pipeline.answer(Request("query", options.channel, text, options.limit)))
        else:
            out.write(pipeline.answer(Request("probe", "emb", text, options.limit)))


def _options(arguments: Sequence[str]) -> tuple[argparse.Namespace, str]:
    """Return the options, and the query: the one word after `--`, whatever it looks like."""
    split = list(arguments).index("--") if "--" in arguments else len(arguments)
    parser = _parser()
    options = parser.parse_args(arguments[:split])
    words = arguments[split + 1 :]
    expected = 1 if options.command in ("query", "probe") else 0
    if len(words) != expected:
        parser.error(f"{options.command} takes {expected} words after --, found {len(words)}")
    return options, words[0] if words else ""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -P -m core.workspace",
        description="Index a tree's Python and Markdown, and rank its units for a query given after --.",
    )
    commands = parser.add_subparsers(dest="command", required=True)
    for name, summary in (
        ("index", "build the index of a tree in an empty state folder"),
        ("query", "print the ranking of one channel"),
        ("probe", "print the context from both channels"),
        ("session", "answer a JSON request a line from stdin"),
    ):
        command = commands.add_parser(name, help=summary, description=summary)
        command.add_argument("--state", type=Path, required=True, help="folder of the index")
        command.add_argument("--configuration", type=Path, required=True, help="rendered settings")
        command.add_argument("--model", type=Path, help="ONNX model of the dense channel")
        command.add_argument("--tokenizer", type=Path, help="tokenizer.json of the model")
        if name == "index":
            command.add_argument("--repository", type=Path, required=True, help="folder of the tree")
        if name == "query":
            command.add_argument("--channel", choices=CHANNELS, required=True)
        if name in ("query", "probe"):
            command.add_argument("--limit", type=_limit, required=True, help=f"results, 1 to {MAX_LIMIT}")
    return parser


def _limit(text: str) -> int:
    limit = int(text)
    if not 1 <= limit <= MAX_LIMIT:
        raise ValueError(text)
    return limit


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
