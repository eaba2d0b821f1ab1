"""Texts that a terminal, a markup parser or a layout could trip over, and a run that is full of them."""

from __future__ import annotations

import json
import shutil
from base64 import b64encode
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from core import api
from core.repositories import RepositoryEntry
from core.run.layout import INDEX, RunLayout
from tests.support.made_up import Asked, Narrator, Told, indexed, make_up
from tests.support.repositories import make_repository

MARKER = "PWN7e"
_LOAD = b64encode(MARKER.encode()).decode()
# Each is a sequence that nothing but this data would send to a terminal, in the bytes that it would send.
CONTROLS: dict[str, str] = {
    "a clipboard order (OSC 52)": f"\x1b]52;c;{_LOAD}\x07",
    "a title (OSC 0)": f"\x1b]0;{MARKER}\x07",
    "a link (OSC 8)": f"\x1b]8;;http://{MARKER}\x1b\\",
    "a colour (SGR)": "\x1b[31;77m",
    "a cursor movement": "\x1b[77;77H",
    "a device control string": f"\x1bP{MARKER}\x1b\\",
    "an 8-bit control (C1)": "\x9b31;77m",
    "a bidirectional override": "\u202e",
    "a bidirectional isolate": "\u2066",
    "NUL": "\0",
    "a bell": f"\x07{MARKER}",
}
MARKUP = "[/foo] bar [/] [X=http://a] [bold]not bold"
HOSTILE = f"{MARKUP} {MARKER} " + " ".join(CONTROLS.values())
VISIBLE = ("␛]52;c;", "␛]0;", "␛[31;77m", "\\x9b31;77m", "\\u202e", "␀")  # how they look once they are safe
LONG = "x" * 1_000_000
_PATH = HOSTILE.replace("\0", "").replace("/", "|")
_SAFE_NAME = MARKUP.replace("/", "").replace("[]", "[")
INTENTS = ("symbol_lookup", "architecture_lookup", "task_lookup", "docs_lookup", "error_or_trace_lookup")


def _literal(text: str) -> str:
    """Return text as a Python literal that holds every control as an escape, as source cannot hold NUL."""
    return json.dumps(text)


def _module(number: int, text: str) -> bytes:
    told = _literal(f"{text} number {number}")
    return (
        f"{told}\n\n\ndef finds_{number}(key):\n    {told}\n"
        f"    raise KeyError({_literal(f'{text} is missing from {number}')})\n"
    ).encode()


def _files() -> dict[str | bytes, bytes]:
    headings = [f"# {HOSTILE} {number}\n\nText {HOSTILE}\n\n" for number in range(4)]
    return {
        f"{_SAFE_NAME} \x1b]0;{MARKER}\x07.py": _module(0, HOSTILE),
        f"deep/\u202e\u2066 {MARKER}\x1b[31;77m.py": _module(1, HOSTILE),
        "plain.py": _module(2, f"{MARKUP} {LONG}"),
        "long.py": _module(3, MARKUP) + f"# {LONG}\n".encode(),
        f"\x9b31;77m\x07{MARKER}.md": "".join(headings).encode(),
    }


class HostileRun(NamedTuple):
    """A folder with a campaign file and a failed run, all of whose texts are hostile."""

    folder: Path
    run: Path


def hostile_run(parent: Path) -> HostileRun:
    """Make it in a folder whose own name is hostile."""
    folder = parent / f"[X=http:a] \x1b]0;{MARKER}\x07 \u202efolder"
    commit = make_repository(folder / "store", _files())
    entry = RepositoryEntry(label="store", path=folder / "store", commit=commit)
    api.build_bank([entry], 4, INTENTS, folder / "cases.jsonl")
    candidates = tuple(_candidate(name, limit) for name, limit in (("first", 4000), ("other", 500)))
    asked = api.Campaign(HOSTILE, folder / "cases.jsonl", (entry,), candidates, baseline="first")
    with api.create_run(asked, folder / "run") as run:
        numbers = {case.id: number for number, case in enumerate(run.bank.cases)}
        make_up(run, lambda asked: _told(asked, numbers))
        _narrate(run)
        _vandalise(run.layout)
    (folder / "campaign.toml").write_text(_campaign_file(commit), encoding="utf-8")
    (folder / "broken-campaign.toml").write_text(
        f"name = {_toml(HOSTILE)}\n\x1b[31;77m = 1\n", encoding="utf-8"
    )
    return HostileRun(folder, folder / "run")


def _candidate(name: str, limit: int) -> api.Candidate:
    entry = {
        "id": name,
        "retriever": "embedded",
        "engine": "lexical",
        "model": HOSTILE.replace("\0", ""),
        "version": MARKUP,
        "config": {"text_limit": limit},
    }
    return api.Candidate(name, entry, Path("/"), name)


def _told(asked: Asked, numbers: Mapping[str, int]) -> list[Told]:
    operation, case = asked.planned.operation, asked.case
    if operation.kind == INDEX:
        return [Told(indexed(7), stderr=f"{HOSTILE}\n{LONG}\n".encode())]
    assert case is not None
    target = case.targets[0]
    rows: list[dict[str, Any]] = [
        {"path": f"no/{_PATH}.py", "line": 3, "kind": "symbol", "score": 0.5},
        {"path": target.path, "line": target.line or None, "kind": target.kind},
        {"path": "plain.py", "line": 2},
        {"path": f"{MARKUP.replace('/', '')}.py"},
    ]
    if operation.kind == "ctx":
        rows = [{**row, "excerpt": f"{HOSTILE}\n{LONG}"} for row in rows]
    number = numbers[case.id] % 4
    if operation.candidate == "other" and number == 0:
        failed = Told(HOSTILE.encode(), HOSTILE.encode(), "failed", "nonzero_exit", HOSTILE, exit_code=3)
        raw = f"{HOSTILE} {LONG}\n".encode()
        return [failed, failed._replace(stdout=raw, error_class=MARKUP, message=f"{HOSTILE}\n{LONG}")]
    if operation.candidate == "other" and number == 1:
        raw = f"{HOSTILE} {LONG}\n".encode() + b"\xff\xfe\x80\n"
        return [Told(raw, raw, "failed", HOSTILE[:60], f"[/foo] {HOSTILE}", exit_code=1)]
    if operation.candidate == "other" and number == 2:
        return [Told(raw := HOSTILE.encode(), raw, "interrupted")]
    return [Told(asked.answer(rows), HOSTILE.encode())]


def _narrate(run: api.OpenRun) -> None:
    narrator = Narrator(run)
    narrator.begin()
    failed = Told(b"", status="failed", error_class=HOSTILE)
    for planned in run.plan[:4]:
        narrator.operation(planned, failed)
        operation = planned.operation._replace(candidate=HOSTILE, repository=MARKUP)
        narrator.operation(planned._replace(operation=operation, channel=HOSTILE, intent=MARKUP), failed)
    narrator.end()
    narrator.close()
    with open(run.layout.events, "ab") as stream:
        stream.write(HOSTILE.encode() + b"\n" + b'{"type": "' + HOSTILE.encode())


def _vandalise(layout: RunLayout) -> None:
    """Let single pieces of evidence be other than recorded, so that messages about them are shown too."""
    folders = sorted(layout.operations.glob("first/store/primary-*"))
    (folders[0] / "attempt-0001" / "stdout").write_bytes(HOSTILE.encode())
    (folders[1] / "result.json").write_bytes(HOSTILE.encode())
    (folders[2] / "attempt-0001" / "command.json").write_bytes(json.dumps({"format": HOSTILE}).encode())
    shutil.rmtree(folders[3] / "attempt-0001")
    layout.summary.write_bytes(HOSTILE.encode())
    layout.summary_text.write_text(HOSTILE, encoding="utf-8")


def _toml(text: str) -> str:
    return json.dumps(text).replace("\\u0000", "\\u2400").replace("\x7f", "\\u007f")


def _campaign_file(commit: str) -> str:
    told = _toml(HOSTILE)
    return (
        f"# {MARKUP}\n"
        f'name = {told}\ncases = "cases.jsonl"\nbaseline = "first"\n'
        f'[[repositories]]\nlabel = "store"\npath = "store"\ncommit = "{commit}"\n'
        f'[[candidates]]\nid = "first"\nretriever = "embedded"\nengine = "lexical"\nmodel = {told}\n'
        f"version = {told}\n[candidates.config]\ntext_limit = 4000\n"
        f"[[candidates]]\nid = {told}\nretriever = {told}\n"
    )
