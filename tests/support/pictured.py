"""A folder as people have it, with every figure made up: what snapshots and pictures of the screens show.

Nothing in it depends on the machine, the clock or a model: the repositories, the bank and each answer follow
from their names. Two repositories, three candidates, one of which fails now and then.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from core import api
from core.banks.case import Case
from core.campaign.plan import Planned
from core.repositories import RepositoryEntry
from core.run.layout import INDEX
from tests.support.made_up import Asked, Narrator, Told, indexed, make_up
from tests.support.repositories import make_repository

NOW = datetime(2024, 5, 6, 9, 30, tzinfo=UTC)  # what clocks of pictures show
INTENTS = ("symbol_lookup", "architecture_lookup", "task_lookup", "docs_lookup", "error_or_trace_lookup")
PER_INTENT = 4
CANDIDATES = ("whole-text", "first-lines", "names-only")
BEGAN_BUT_NEVER_ENDED = 61  # operations that the interrupted run got through

_WORDS: Mapping[str, Sequence[str]] = {
    "parcel": ("address", "carrier", "customs", "label", "pickup", "rate", "return", "route"),
    "ledger": ("account", "balance", "currency", "entry", "invoice", "period", "receipt", "tax"),
}
_DEPTHS: Mapping[str, tuple[int, ...]] = {  # a target stands at one of these ranks, 0 for not at all
    "whole-text": (1, 1, 1, 2, 1, 3, 1, 5, 0, 1),
    "first-lines": (1, 2, 1, 4, 0, 1, 7, 1, 0, 2),
    "names-only": (1, 0, 3, 0, 9, 1, 0, 12, 0, 2),
}
_SECONDS: Mapping[str, float] = {"whole-text": 0.041, "first-lines": 0.027, "names-only": 0.009}
_MEMORY: Mapping[str, int] = {"whole-text": 212, "first-lines": 148, "names-only": 61}  # MiB


class Pictured(NamedTuple):
    """The folder, its complete run (with failures), one that was interrupted, and the campaign file."""

    folder: Path
    failed: Path
    interrupted: Path
    campaign: Path


def pictured(folder: Path) -> Pictured:
    """Make it in a folder, which is better named as people name theirs, since screens show it."""
    entries = [_repository(folder, label) for label in _WORDS]
    campaigns = folder / "campaigns" / "search-2024"
    campaigns.mkdir(parents=True)
    api.build_bank(entries, PER_INTENT, INTENTS, campaigns / "cases.jsonl")
    file = campaigns / "campaign.toml"
    file.write_text(_campaign_file(entries), encoding="utf-8")
    runs = folder / "runs" / "search-2024"
    failed = _run(file, runs / "001", _answers, len)
    api.rescore_run(failed)
    interrupted = _run(file, runs / "002", _answers, lambda _: BEGAN_BUT_NEVER_ENDED)
    for path in (file, campaigns / "cases.jsonl"):
        os.utime(path, (NOW.timestamp() - 3 * 86_400,) * 2)
    return Pictured(folder, failed, interrupted, file)


def parcel_repository(folder: Path) -> RepositoryEntry:
    """Make the first repository, `parcel`: eight modules and a README."""
    return _repository(folder, "parcel")


def _repository(folder: Path, label: str) -> RepositoryEntry:
    files: dict[str | bytes, bytes] = {
        f"{label}/{word}.py": _module(label, word).encode() for word in _WORDS[label]
    }
    files["README.md"] = "".join(
        f"## How each {word} is kept\n\nSee `{label}/{word}.py`.\n\n" for word in _WORDS[label]
    ).encode()
    commit = make_repository(folder / label, files)
    return RepositoryEntry(label=label, path=folder / label, commit=commit)


def _module(label: str, word: str) -> str:
    return f'''"""Keeps what {label} knows of a {word}, and finds it again."""


def find_{word}(store, key):
    """Return the {word} that is kept under a key."""
    if key not in store:
        raise KeyError("no {word} is kept under this key")
    return store[key]


class {word.title()}Store:
    """Holds every {word} of one {label} until it is closed."""

    def add_{word}(self, key, value):
        """Keep one more {word} under a new key."""
        if key in self.kept:
            raise ValueError("this {word} is kept already")
        self.kept[key] = value
'''


def _campaign_file(entries: Sequence[RepositoryEntry]) -> str:
    head = (
        "# Which part of a file is worth searching?\n"
        'name = "search-2024"\ncases = "cases.jsonl"\nbaseline = "names-only"\n'
    )
    tables = [
        f'\n[[repositories]]\nlabel = "{entry.label}"\npath = "../../{entry.label}"\n'
        f'commit = "{entry.commit}"\n'
        for entry in entries
    ]
    for name, limit in zip(CANDIDATES, (4000, 800, 100), strict=True):
        tables.append(
            f'\n[[candidates]]\nid = "{name}"\nretriever = "embedded"\nengine = "lexical"\n'
            f'model = "bm25"\nversion = "1"\nconfig = {{text_limit = {limit}}}\n'
        )
    return head + "".join(tables)


def _run(file: Path, output: Path, teller: Any, planned: Any) -> Path:
    with api.create_run(api.read_campaign(file), output) as run:
        wanted = frozenset(run.plan[: planned(run.plan)])
        numbers = {case.id: number for number, case in enumerate(run.bank.cases)}

        def told(asked: Asked) -> Sequence[Told]:
            return list(teller(asked, numbers)) if asked.planned in wanted else []

        make_up(run, told)
        narrate(run, wanted, numbers)
        return run.layout.root


def narrate(run: api.OpenRun, wanted: frozenset[Planned], numbers: Mapping[str, int]) -> None:
    """Tell what the run's operations did, as its engine would have."""
    narrator = Narrator(run)
    narrator.begin()
    cases = {case.id: case for case in run.bank.cases}
    for planned in run.plan:
        if planned in wanted:
            operation = planned.operation
            case = cases[operation.case] if operation.case is not None else None
            asked = Asked(planned, case, b'{"id": ""}' if case is not None else None)
            *_, last = _answers(asked, numbers)
            narrator.operation(planned, last)
    if len(wanted) == len(run.plan):
        narrator.end()
    narrator.close()


def _answers(asked: Asked, numbers: Mapping[str, int]) -> Iterator[Told]:
    """Yield one attempt, or two where the first one failed."""
    operation, case = asked.planned.operation, asked.case
    name = operation.candidate
    memory = _MEMORY[name] * 2**20
    if operation.kind == INDEX or case is None:
        yield Told(indexed(96), elapsed_s=40 * _SECONDS[name], rss=memory, exit_code=0)
        return
    draw = _draw(f"{name} {operation.kind} {case.id}")
    seconds = round(_SECONDS[name] * (0.8 + draw % 100 / 250), 6)
    number = numbers[case.id]
    if name == "names-only" and number % 9 == 4:
        message = "was still running after 900.0 s, its limit"
        yield Told(b"", b"waiting for the index lock ...\n", "failed", "timeout", message, 900.0, memory)
        if operation.kind == "primary":
            return
    if name == "first-lines" and number == 17 and operation.kind == "primary":
        words = b"fatal: the index is of format 3, this program reads format 2\n"
        message = f"exited with status 4; stderr ends: {words.decode().strip()}"
        yield Told(b"", words, "failed", "nonzero_exit", message, seconds, memory, exit_code=4)
        return
    yield Told(asked.answer(_rows(asked, case, draw)), elapsed_s=seconds, rss=memory)


def _rows(asked: Asked, case: Case, draw: int) -> list[dict[str, Any]]:
    label, words = case.repo, _WORDS[case.repo]
    rows: list[dict[str, Any]] = [
        {
            "path": f"{label}/{words[(draw + at) % len(words)]}.py",
            "line": (4, 11, 14)[at % 3],
            "kind": "symbol",
        }
        for at in range(12)
    ]
    depths = _DEPTHS[asked.planned.operation.candidate]
    rank = depths[draw // 7 % len(depths)]
    target = case.targets[0]
    rows = [row for row in rows if (row["path"], row["line"]) != (target.path, target.line)]
    if rank:
        rows.insert(rank - 1, {"path": target.path, "line": target.line or None, "kind": target.kind})
    if asked.planned.operation.kind == "ctx":
        return [
            {**row, "excerpt": f"def find_{words[at % 8]}(store, key):"} for at, row in enumerate(rows[:5])
        ]
    return [{**row, "score": round(9.5 / (at + 1), 3)} for at, row in enumerate(rows[:10])]


def _draw(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")
