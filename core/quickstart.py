"""The first ten minutes: from a repository to a campaign of three candidates that fits in a minute."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import NamedTuple

import tomlkit

from core.banks.case import INTENTS
from core.banks.derivation import Derivation
from core.banks.known_target import derive_all, write_bank
from core.banks.reading import decode_bank
from core.campaign.depth import DEEPEST, SECONDS_FOR_INDEXING, depth_for, estimated_units, fitted
from core.campaign.document import without_none
from core.campaign.folder import next_run
from core.campaign.jobs import create_retrievers, ready_controls
from core.campaign.manifest import read_models
from core.durable import write_durably
from core.errors import InputError
from core.git import top_level
from core.repositories import RepositoryEntry, pinned
from core.samples import CANDIDATES, GRADED, make_sample_repository
from core.text import printable

LARGEST_BANK = 60  # cases; six operations each, some ten seconds in all
FEWEST_PER_INTENT = 5
FEWEST_INTENTS = 3
DENSE_CANDIDATES = 2
_UNSAFE = re.compile(r"[^A-Za-z0-9_-]+")


class Choice(NamedTuple):
    """What a quickstart will measure, and in plain sentences why."""

    entry: RepositoryEntry
    derivation: Derivation
    intents: tuple[str, ...]
    per_intent: int
    max_tokens: int
    remarks: tuple[str, ...]


def demand_ready() -> None:
    """Raise ProblemsError, with what to install, where one of the candidates cannot run here."""
    candidates = read_models(CANDIDATES)
    ready_controls(candidates, create_retrievers(candidates))


def choose(folder: Path, inputs: Path, *, sample: bool = False) -> Choice:
    """Choose the folder's repository if it can supply a bank, else the sample, and how much fits a minute.

    The sample, where it is used, is made below `inputs`. Raises InputError.
    """
    remarks: list[str] = []
    if not sample:
        found = _own(folder, remarks)
        if found is not None:
            return _sized(*found, remarks)
        remarks.append("Using the bundled sample project instead.")
    path = inputs / "sample"
    make_sample_repository(path)
    entry = pinned(RepositoryEntry(label="sample", path=path))
    return _sized(entry, derive_all([entry])[0], remarks)


def write_inputs(choice: Choice, inputs: Path) -> Path:
    """Write the bank and the campaign file below `inputs`; return the campaign file's path."""
    cases = inputs / "cases.jsonl"
    write_bank([choice.entry], [choice.derivation], choice.per_intent, choice.intents, cases)
    return _write_campaign(choice.entry, cases, choice.max_tokens, f"quickstart-{choice.entry.label}")


class GradedInputs(NamedTuple):
    """What a graded quickstart will measure: the sample, its questions and the campaign file."""

    entry: RepositoryEntry
    bank: Path
    questions: int
    campaign: Path


def write_graded_inputs(inputs: Path) -> GradedInputs:
    """Make the sample, and write its graded bank, its manifest and the campaign file below `inputs`."""
    path = inputs / "sample"
    make_sample_repository(path)
    entry = pinned(RepositoryEntry(label="sample", path=path))
    bank = inputs / "queries.json"
    raw = GRADED.read_bytes()
    write_durably(bank, raw)
    place = {"label": entry.label, "path": path.name, "commit": entry.commit}
    manifest = {"schema_version": 1, "repositories": [place]}
    write_durably(inputs / "repositories.json", json.dumps(manifest, indent=1).encode() + b"\n")
    campaign = _write_campaign(entry, bank, DEEPEST, "quickstart-graded")
    return GradedInputs(entry, bank, len(decode_bank(raw, GRADED.name).cases), campaign)


def _write_campaign(entry: RepositoryEntry, bank: Path, max_tokens: int, name: str) -> Path:
    """Write the campaign file beside the bank; return its path."""
    document = tomlkit.document()
    document.add(tomlkit.comment("Written by `boresight quickstart`; run it again with `boresight run`."))
    candidates = [without_none(fitted(item.entry, max_tokens)) for item in read_models(CANDIDATES)]
    document.update(
        {
            "format": "boresight-campaign@1",
            "name": name,
            "cases": bank.name,
            "baseline": candidates[0]["id"],
            "cutoffs": [1, 5, 10],
            "repositories": [
                {"label": entry.label, "path": str(entry.path), "commit": str(entry.commit)},
            ],
            "candidates": candidates,
        }
    )
    path = bank.parent / "campaign.toml"
    write_durably(path, tomlkit.dumps(document).encode())
    return path


def next_folder(folder: Path) -> Path:
    """Make and return `runs/quickstart/NUMBER` with the next free number; raises InputError."""
    new = next_run(folder, "quickstart")
    try:
        new.mkdir(mode=0o700)
    except OSError as error:
        raise InputError(
            f"{printable(str(new))}: cannot be made: {error.strerror or error}; "
            "make room, or name another --output"
        ) from None
    return new


def _own(folder: Path, remarks: list[str]) -> tuple[RepositoryEntry, Derivation] | None:
    try:
        path = top_level(folder)
        label = _UNSAFE.sub("-", path.name).strip("-")[:64] or "repository"
        entry = pinned(RepositoryEntry(label=label, path=path))
    except InputError as error:
        remarks.append(str(error))
        return None
    derivation = derive_all([entry])[0]
    able = _able(derivation)
    if len(able) < FEWEST_INTENTS:
        had = ", ".join(f"{intent} {len(derivation.pool(intent))}" for intent in INTENTS)
        remarks.append(
            f"{entry.label} is too small: {FEWEST_INTENTS} intents need {FEWEST_PER_INTENT} cases each; "
            f"it has {had}."
        )
        return None
    return entry, derivation


def _sized(entry: RepositoryEntry, derivation: Derivation, remarks: list[str]) -> Choice:
    intents = _able(derivation)
    per_intent = min(LARGEST_BANK // len(intents), *(len(derivation.pool(intent)) for intent in intents))
    left_out = [intent for intent in INTENTS if intent not in intents]
    if left_out:
        remarks.append(
            f"Left out, with fewer than {FEWEST_PER_INTENT} cases in this repository: {', '.join(left_out)}."
        )
    depth = depth_for(estimated_units([entry]), DENSE_CANDIDATES)
    if depth.max_tokens < DEEPEST:
        remarks.append(
            f"About {depth.units:,} units to embed: to fit the time, the dense candidates read the first "
            f"{depth.max_tokens} tokens of each."
        )
    if depth.seconds > SECONDS_FOR_INDEXING:
        remarks.append(
            f"This repository is large: indexing will take about {depth.seconds / 60:.0f} min. "
            "Ctrl+C stops it; `boresight quickstart --sample` takes a minute at most."
        )
    return Choice(entry, derivation, intents, per_intent, depth.max_tokens, tuple(remarks))


def _able(derivation: Derivation) -> tuple[str, ...]:
    return tuple(intent for intent in INTENTS if len(derivation.pool(intent)) >= FEWEST_PER_INTENT)
