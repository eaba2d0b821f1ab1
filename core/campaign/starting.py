"""A new campaign from a few choices: bank and commented file, in a folder that appears whole or not."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import tomlkit
from pydantic import TypeAdapter, ValidationError

from core.banks.case import Bank
from core.banks.known_target import write_bank
from core.campaign.depth import DEEPEST, Depth, dense_depth, depth_for, estimated_units, fitted
from core.campaign.document import without_none
from core.campaign.duplicate import WHERE
from core.campaign.manifest import read_models
from core.campaign.preview import duration
from core.campaign.toml_edits import render
from core.campaign.yields import Yields, label_for
from core.durable import sync_directory, write_durably
from core.errors import InputError
from core.git import GitRepository
from core.repositories import Label, RepositoryEntry
from core.retrievers.registry import create_retriever, diagnose, example_entry, retriever_names
from core.samples import CANDIDATES
from core.text import printable
from core.validation import complaints

CAMPAIGNS = "campaigns"
FILE = "campaign.toml"
BANK = "cases.jsonl"
_STAGING = ".creating"
_NAME: TypeAdapter[str] = TypeAdapter(Label)


class Preset(NamedTuple):
    """A candidate to begin with; `missing` says what of it is not installed, and how to mend that."""

    id: str
    entry: Mapping[str, Any]
    about: str
    missing: str | None = None


class NewCampaign(NamedTuple):
    """The choices of a new campaign: from a repository's yields, or about a bank that exists already."""

    name: str
    repositories: tuple[RepositoryEntry, ...]
    candidates: tuple[Mapping[str, Any], ...]
    baseline: str | None
    yields: Yields | None = None
    intents: tuple[str, ...] = ()
    per_intent: int = 0
    bank: Path | None = None


def presets() -> tuple[Preset, ...]:
    """Return candidates to choose from, those that could run here first; may start executables to ask."""
    found = []
    for candidate in read_models(CANDIDATES):
        entry = without_none({key: value for key, value in candidate.entry.items() if value != {}})
        engine = {"lexical": "words", "onnx": "vectors", "hybrid": "words and vectors"}
        about = f"built in: {engine.get(str(entry.get('engine')), 'text')}"
        found.append(Preset(candidate.id, entry, about, _missing(entry)))
    for name in retriever_names():
        if name != "embedded":
            found += _preset_of(name)
    return tuple(sorted(found, key=lambda preset: preset.missing is not None))


def free_name(folder: Path, wanted: str) -> str:
    """Return a campaign's name that no folder in `FOLDER/campaigns` has yet: the wanted one, or numbered."""
    name, number = wanted, 2
    while os.path.lexists(folder / CAMPAIGNS / name):
        name, number = f"{wanted[:58]}-{number}", number + 1
    return name


def demand_free(folder: Path, name: str) -> None:
    """Raise InputError where a campaign of this name exists, with a name that is free."""
    if os.path.lexists(folder / CAMPAIGNS / name):
        raise InputError(
            f"{printable(str(folder / CAMPAIGNS / name))} exists, and nothing is overwritten; "
            f"choose another name, such as {free_name(folder, name)}"
        )


def name_fault(folder: Path, name: str) -> str | None:
    """Return what is wrong with the name of a new campaign, and what to do; None where it can be taken."""
    try:
        _NAME.validate_python(name)
        demand_free(folder, name)
    except ValidationError as error:
        return complaints(error)[0][1]
    except InputError as error:
        return str(error)
    return None


def entries_for(bank: Bank, path: Path | None) -> tuple[RepositoryEntry, ...]:
    """Return the repositories that a bank asks about, with `path` for those whose commit is in it.

    The others get a path that is to be filled in. Raises InputError where the repository cannot be read.
    """
    entries = []
    commits = bank.commits
    if bank.graded is not None:  # which says no label
        commits = {"repository" if path is None else label_for(path): ""}
    for label, commit in commits.items():
        place = Path(WHERE, label)
        if path is not None:
            with GitRepository(path) as repository:
                place = path if not commit or repository.has_commit(commit) else place
        entries.append(RepositoryEntry(label=label, path=place, commit=commit or None))
    return tuple(entries)


def create_campaign(asked: NewCampaign, folder: Path) -> Path:
    """Write `FOLDER/campaigns/NAME` with a campaign file and, from yields, its bank; return the file's path.

    Raises InputError, and ShortageError where an intent has too few cases, leaving nothing behind.
    """
    demand_free(folder, asked.name)
    target = folder / CAMPAIGNS / asked.name
    stage = target.with_name(f".{asked.name}{_STAGING}")
    made = [parent for parent in (folder / CAMPAIGNS, folder) if not parent.exists()]
    try:
        shutil.rmtree(stage, ignore_errors=True)
        stage.mkdir(parents=True)
        if asked.yields is not None:
            yields = asked.yields
            entry = yields.entry.model_copy(update={"private": asked.repositories[0].private})
            write_bank([entry], [yields.derivation], asked.per_intent, asked.intents, stage / BANK)
        write_durably(stage / FILE, campaign_text(*_in_time(asked), target).encode())
        demand_free(folder, asked.name)
        stage.rename(target)
        sync_directory(target.parent)
    except BaseException as error:
        shutil.rmtree(stage, ignore_errors=True)
        for parent in made:
            if parent.is_dir() and not any(parent.iterdir()):
                parent.rmdir()
        if isinstance(error, OSError):
            raise InputError(
                f"{printable(str(target))}: cannot be written: {error.strerror or error}; nothing was left "
                "behind; make room, or see that this user may write there"
            ) from None
        raise
    return target / FILE


def _in_time(asked: NewCampaign) -> tuple[NewCampaign, Depth | None]:
    """Lower the depth of dense candidates to what a first run has time for; None where that is not known."""
    dense = sum(dense_depth(entry) == DEEPEST for entry in asked.candidates)
    try:
        depth = depth_for(estimated_units(asked.repositories), dense) if dense else None
    except (InputError, OSError):  # a repository whose place is still to be filled in
        depth = None
    if depth is None or depth.max_tokens == DEEPEST:
        return asked, None
    return asked._replace(candidates=tuple(fitted(e, depth.max_tokens) for e in asked.candidates)), depth


def campaign_text(asked: NewCampaign, depth: Depth | None, target: Path) -> str:
    """Return the text of a campaign file in the folder `target`, with comments that explain it.

    `depth` is there where dense candidates read less of each unit than they could.
    """
    bank = Path(BANK) if asked.bank is None else _from(asked.bank, target)
    blocks = [
        "# Which retriever finds the right code? The campaign that answers it, for `boresight run`.\n"
        "# Edit it here or in the app; comments are kept.\n"
        f"format = {render('boresight-campaign@1')}\n"
        f"name = {render(asked.name)}\n"
        "# Queries with known answers. A bank is never edited: build another one instead.\n"
        f"cases = {render(str(bank))}\n"
        + (
            f"# The others are compared with this candidate.\nbaseline = {render(asked.baseline)}\n"
            if asked.baseline is not None
            else ""
        )
        + "# Metrics are told at these ranks.\ncutoffs = [1, 5, 10]\n",
        "# An operation that takes more seconds than this is ended, and counts as failed.\n"
        "[limits]\nindex_timeout = 3600.0\nquery_timeout = 900.0\n",
    ]
    for number, entry in enumerate(asked.repositories):
        comment = (
            "# What is searched: a repository at one commit. `private = true` keeps it out of reports.\n"
        )
        blocks.append((comment if number == 0 else "") + _table("repositories", _repository(entry, target)))
    for number, candidate in enumerate(asked.candidates):
        comment = "# What is compared. Copy one to try it with other options.\n"
        comment = comment if number == 0 else ""
        if depth is not None and dense_depth(candidate) is not None:
            comment, depth = comment + _depth_comment(depth), None
        blocks.append(comment + _table("candidates", candidate))
    return "\n".join(blocks)


def _depth_comment(depth: Depth) -> str:
    return (
        f"# With max_tokens = {depth.max_tokens} the dense candidates read that much of each of about "
        f"{depth.units:,} units,\n"
        f"# and index them in about {duration(depth.seconds)} on two idle cores. With {DEEPEST} they read "
        f"more of long units,\n"
        f"# and take about {duration(depth.deepest_seconds)}.\n"
    )


def _preset_of(name: str) -> list[Preset]:
    try:
        entry = without_none(example_entry(name))
        found = diagnose(name)
    except AttributeError:  # a retriever that offers nothing to begin with
        return []
    missing = "; ".join(f"{part}: {remedy}" for part, remedy in found.missing) or None
    version = f" {found.version}" if found.version else ""
    return [Preset(str(entry["id"]), entry, f"{name}{version}: {found.answers}", missing or _missing(entry))]


def _missing(entry: Mapping[str, Any]) -> str | None:
    try:
        retriever = create_retriever(entry, Path.cwd(), str(entry["id"]))
        retriever.configuration()
        retriever.fingerprint()
    except (InputError, OSError) as error:
        return str(error)
    return None


def _table(name: str, entry: Mapping[str, Any]) -> str:
    ordered = dict(sorted(entry.items(), key=lambda item: isinstance(item[1], Mapping)))
    return str(tomlkit.dumps({name: [ordered]}))


def _repository(entry: RepositoryEntry, target: Path) -> dict[str, Any]:
    found = {
        "label": entry.label,
        "path": str(_from(entry.path, target)),
        "commit": entry.commit,
        "url": entry.url,
        "private": entry.private or None,
    }
    return {key: value for key, value in found.items() if value is not None}


def _from(path: Path, target: Path) -> Path:
    """Return a path from the campaign's folder where that is no long way round, else as it is."""
    if not path.is_absolute():
        return path
    near = Path(os.path.relpath(path, target))
    return near if near.parts.count("..") <= 3 else path


def choose_baseline(candidates: Sequence[Mapping[str, Any]]) -> str | None:
    """Return the candidate to compare with: the first, where there is something to compare."""
    return str(candidates[0]["id"]) if len(candidates) > 1 else None
