"""Adding, copying and changing entries of a campaign that is being edited; each returns the place it made."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from core.campaign.document import CampaignDocument
from core.campaign.toml_map import Place
from core.campaign.yields import label_for, read_head
from core.errors import InputError
from core.git import top_level
from core.retrievers.registry import example_entry, retriever_names

_FAR = 3  # steps up from which a whole path is easier to read
_LONGEST = 64


def add_repository(document: CampaignDocument, path: Path, base: Path) -> Place:
    """Add the repository around a folder at its HEAD; raises InputError where there is none.

    Where the campaign's bank asks about the commit of another label, that is for the checks to tell.
    """
    root = top_level(path)
    head = read_head(root)
    label = _unused(label_for(root), document, "repositories", "label")
    entry = {"label": label, "path": as_written(root, base), "commit": head.commit}
    return ("repositories", document.add("repositories", entry))


def add_candidate(document: CampaignDocument, entry: Mapping[str, Any]) -> Place:
    """Add a candidate under an id that none has yet; raises InputError."""
    name = _unused(str(entry["id"]), document, "candidates", "id")
    return ("candidates", document.add("candidates", {**entry, "id": name}))


def duplicate(document: CampaignDocument, place: Place) -> Place:
    """Copy an entry under a name that none has yet; raises InputError."""
    table, number = str(place[0]), int(place[1])
    key = "label" if table == "repositories" else "id"
    name = document.get((*place, key))
    new = _unused(name if isinstance(name, str) and name else "copy", document, table, key)
    return (table, document.duplicate(table, number, {key: new}))


def remove(document: CampaignDocument, place: Place) -> Place:
    """Remove an entry, and the baseline that it was; raises InputError."""
    table, number = str(place[0]), int(place[1])
    if table == "candidates" and document.get((*place, "id")) == document.get(("baseline",)):
        document.unset(("baseline",))
    document.remove(table, number)
    left = document.get((table,), [])
    return (table, min(number, len(left) - 1)) if left else (table,)


def make_baseline(document: CampaignDocument, place: Place) -> Place:
    """Make a candidate the one that others are compared with; raises InputError."""
    name = document.get((*place, "id"))
    if place[0] != "candidates" or not isinstance(name, str):
        raise InputError("only a candidate with an id can be the baseline; put the cursor on one")
    document.set(("baseline",), name)
    return place


def change_retriever(document: CampaignDocument, place: Place, retriever: Any) -> Place:
    """Give a candidate another retriever, with the options that its example has; raises InputError."""
    if retriever not in retriever_names():
        document.set((*place, "retriever"), retriever)
        return place
    try:
        example = example_entry(str(retriever))
    except AttributeError:
        example = {}
    wanted = {**example, "retriever": retriever, "id": document.get((*place, "id")) or example.get("id")}
    for key in list(document.get(place, {})):
        if key not in wanted:
            document.unset((*place, key))
    for key, value in wanted.items():
        document.set((*place, key), value)
    return place


def as_written(path: Path, base: Path) -> str:
    """Return a path as a campaign file in `base` says it: from there, where that is no long way round."""
    near = Path(os.path.relpath(path, base))
    return str(near if near.parts.count("..") <= _FAR else path)


def _unused(name: str, document: CampaignDocument, table: str, key: str) -> str:
    entries = document.get((table,), [])
    taken = (
        {entry.get(key) for entry in entries if isinstance(entry, dict)}
        if isinstance(entries, list)
        else set()
    )
    new, number = name, 2
    while new in taken:
        suffix = f"-{number}"
        new, number = name[: _LONGEST - len(suffix)] + suffix, number + 1
    return new
