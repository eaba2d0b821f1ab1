"""Copies of campaigns to go on from: of a campaign file, or of what a run was frozen with."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError

from core.banks.reading import read_bank
from core.campaign.folder import next_copy
from core.campaign.manifest import read_campaign, read_models
from core.durable import write_durably
from core.errors import BoresightError, InputError
from core.run.record import RunRecord, read_run
from core.samples import CANDIDATES
from core.text import printable
from core.validation import read_text_file

WHERE = "WHERE-IS"  # stands for the folder of a repository that nothing tells of
_LONGEST_NAME = 64
_GRADED_LABEL = "repository"  # of a graded bank, which says none
_UNSAFE = re.compile(r"[^A-Za-z0-9_-]+")


def duplicate_campaign(path: Path) -> Path:
    """Copy a campaign file beside itself under the next free name; comments stay, its own name changes.

    The copy is a campaign of its own, so its `name` gets the file's number. A file that is no TOML is
    copied as it is. Raises InputError.
    """
    text = read_text_file(path)
    copy = next_copy(path)
    try:
        document = tomlkit.parse(text)
        if isinstance(document.get("name"), str):
            document["name"] = _numbered(str(document["name"]), copy)
            text = tomlkit.dumps(document)
    except (TOMLKitError, ValueError, RecursionError):
        pass  # to be mended in the copy as it would have been in the file
    _write(copy, text)
    return copy


def duplicate_frozen(run: Path, folder: Path, campaigns: Iterable[Path] = ()) -> Path:
    """Write a campaign file of what a run was frozen with into a folder; return its path.

    A run does not keep where its repositories lay: that is looked up in other campaign files, and left to
    be filled in where none tells. The bank is the run's own copy. Raises InputError, IdentityError.
    """
    target = _free(folder)
    _write(target, frozen_text(run, folder, campaigns))
    return target


def frozen_text(run: Path, folder: Path, campaigns: Iterable[Path] = ()) -> str:
    """Return what a run was frozen with, as the text of a campaign file that would lie in a folder.

    Raises InputError, IdentityError.
    """
    return tomlkit.dumps(_document(read_run(run), folder, _places(campaigns)))


def draft_for_bank(cases: Path, folder: Path, campaigns: Iterable[Path] = ()) -> Path:
    """Write a campaign file on a bank into a folder, with the candidates that ship; return its path.

    Where a repository lies is looked up in other campaign files, and left to be filled in where none tells.
    Raises InputError where the bank is none, or the file cannot be written.
    """
    bank = read_bank(cases)
    target = _free(folder)
    places = _places(campaigns)
    document = tomlkit.document()
    document["format"] = "boresight-campaign@1"
    document["name"] = _UNSAFE.sub("-", cases.stem).strip("-")[:_LONGEST_NAME] or "campaign"
    document["cases"] = _near(cases.absolute(), folder)
    candidates = [dict(candidate.entry) for candidate in read_models(CANDIDATES)]
    document["baseline"] = candidates[0]["id"]
    commits = bank.commits if bank.graded is None else {_GRADED_LABEL: ""}
    document["repositories"] = _tables(
        {"label": label, "path": str(places.get(label, Path(WHERE, label))), "commit": commit or None}
        for label, commit in commits.items()
    )
    document["candidates"] = _tables(candidates)
    _write(target, tomlkit.dumps(document))
    return target


def _free(folder: Path) -> Path:
    target = folder / "campaign.toml"
    return next_copy(target) if os.path.lexists(target) else target


def _document(record: RunRecord, folder: Path, places: Mapping[str, Path]) -> tomlkit.TOMLDocument:
    controls, about = record.controls, record.about
    document = tomlkit.document()
    document.add(tomlkit.comment(f"Made from the run {printable(record.layout.root.name, 100)}."))
    document["format"] = "boresight-campaign@1"
    document["name"] = about["name"]
    document["cases"] = _near(record.layout.cases, folder)
    if controls["baseline"] is not None:
        document["baseline"] = controls["baseline"]
    document["cutoffs"] = list(controls["cutoffs"])
    document["seed"] = controls["seed"]
    limits = {**controls["limits"], **controls["budgets"]}
    document["limits"] = {key: value for key, value in limits.items() if value is not None}
    document["repositories"] = _tables(_repository(record, label, places) for label in record.repositories)
    document["candidates"] = _tables(dict(item["entry"]) for item in about["candidates"])
    return document


def _repository(record: RunRecord, label: str, places: Mapping[str, Path]) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "label": label,
        "path": str(places.get(label, Path(WHERE, label))),
        "commit": record.controls["repositories"][label]["commit"],
    }
    url = record.about.get("urls", {}).get(label)
    if url:
        entry["url"] = url
    if label in record.private:
        entry["private"] = True
    return entry


def _tables(entries: Iterable[Mapping[str, Any]]) -> Any:
    tables = tomlkit.aot()
    for entry in entries:
        tables.append(tomlkit.item(_without_none(entry)))
    return tables


def _without_none(value: Any) -> Any:
    """Return a value as TOML can hold it: what is None is left out, as it is in a file."""
    if isinstance(value, Mapping):
        return {key: _without_none(inner) for key, inner in value.items() if inner is not None}
    if isinstance(value, list):
        return [_without_none(inner) for inner in value if inner is not None]
    return value


def _places(campaigns: Iterable[Path]) -> dict[str, Path]:
    """Return where repositories lie, by label, as the campaign files tell; the first that tells counts."""
    places: dict[str, Path] = {}
    for path in campaigns:
        try:
            for entry in read_campaign(path).repositories:
                places.setdefault(entry.label, entry.path)
        except (BoresightError, OSError, ValueError):
            continue
    return places


def _near(path: Path, folder: Path) -> str:
    return str(path.relative_to(folder) if path.is_relative_to(folder) else path)


def _numbered(name: str, copy: Path) -> str:
    number = copy.stem.rpartition("-")[2]
    head, _, tail = name.rpartition("-")
    base = head if head and tail.isdecimal() else name
    return f"{base[: _LONGEST_NAME - len(number) - 1]}-{number}"


def _write(path: Path, text: str) -> None:
    try:
        write_durably(path, text.encode())
    except OSError as error:
        raise InputError(
            f"{printable(str(path))}: cannot be written: {error.strerror or error}; "
            "make room, or see that this user may write there"
        ) from None
    except UnicodeEncodeError:
        raise InputError(f"{printable(str(path))}: its text cannot be kept as UTF-8; mend it first") from None
