"""A run as it was frozen: reads `campaign.json` back and refuses what was edited or is newer."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.banks.case import Bank
from core.banks.graded import bound
from core.banks.reading import decode_bank
from core.canonical import canonical_json, sha256, sha256_of
from core.errors import IdentityError, InputError
from core.run.layout import RUN_FORMAT, RunLayout, is_run, links_in
from core.text import printable

_FORMAT = re.compile(r"boresight-run@(\d{1,9})\Z")
_NAME = re.compile(r"[A-Za-z0-9_-]+\Z")  # of candidates and repositories, which name folders


@dataclass(frozen=True)
class RunRecord:
    """What a run was frozen with: its controls, each cell's identity, and facts that bind nothing."""

    layout: RunLayout
    identity: str
    controls: Mapping[str, Any]
    cells: Mapping[str, str]  # by `candidate/repository`
    about: Mapping[str, Any]  # name, creation time, entries as written, private labels

    @property
    def candidates(self) -> tuple[str, ...]:
        """The candidates' ids in the manifest's order."""
        return tuple(self.about["order"]["candidates"])

    @property
    def repositories(self) -> tuple[str, ...]:
        """The repositories' labels in the manifest's order."""
        return tuple(self.about["order"]["repositories"])

    @property
    def private(self) -> frozenset[str]:
        """The labels of private repositories."""
        return frozenset(self.about["private"])

    @property
    def probe_depth(self) -> int:
        """How many results a ctx probe asks for; runs of the first versions asked for as many as a query."""
        return int(self.controls.get("probe_depth", self.controls["depth"]))

    def cell(self, candidate: str, repository: str) -> str:
        """Return the identity of a cell."""
        return self.cells[f"{candidate}/{repository}"]

    @property
    def digest(self) -> str:
        """The SHA-256 that binds everything here, the facts that are no part of the identity included."""
        return sha256_of({"identity": self.identity, "about": self.about})

    def encode(self) -> bytes:
        """Return the bytes of `campaign.json`."""
        record = {
            "format": RUN_FORMAT,
            "identity": self.identity,
            "controls": self.controls,
            "cells": self.cells,
            "about": self.about,
            "digest": self.digest,
        }
        return json.dumps(record, indent=1, sort_keys=True, ensure_ascii=False).encode() + b"\n"


def read_run(path: Path) -> RunRecord:
    """Read a run's frozen identity.

    Raises InputError where the folder is no run or was made by a newer version, IdentityError where its
    identity does not hold what it names or one of its main files is none.
    """
    root = path.absolute()
    layout = RunLayout(root)
    if not is_run(root):
        hint = "run `boresight runs` to list those that are here"
        raise InputError(f"{path}: no run directory (it has no campaign.json); {hint}")
    for file in (layout.plan, layout.events, layout.cases):
        if file.exists() and not file.is_file():  # opening a pipe waits for its writer, forever
            raise IdentityError(f"{printable(str(file))}: not a regular file; {_RESTORE}")
    try:
        raw = layout.campaign.read_bytes()
        record = json.loads(raw)
        found = _FORMAT.match(record["format"])
    except OSError as error:
        raise InputError(f"{layout.campaign}: cannot be read: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, RecursionError):
        raise IdentityError(f"{layout.campaign}: not readable as a run's identity; {_RESTORE}") from None
    if found is None:
        raise IdentityError(f"{layout.campaign}: format {record['format']!r} is that of no run; {_RESTORE}")
    if int(found[1]) > 1:
        raise InputError(
            f"{path}: made in format {record['format']!r}, this Boresight reads up to {RUN_FORMAT!r}; "
            "use the newer version that made it"
        )
    try:
        run = RunRecord(layout, record["identity"], record["controls"], record["cells"], record["about"])
        whole = run.identity == campaign_identity(run.controls, run.cells) and run.digest == record["digest"]
        sound = _is_sound(run)
    except (KeyError, TypeError, ValueError):
        raise IdentityError(f"{layout.campaign}: fields are missing or wrong; {_RESTORE}") from None
    if not (whole and sound):
        raise IdentityError(f"{layout.campaign}: edited since the run was frozen; {_RESTORE}")
    return run


def _is_sound(run: RunRecord) -> bool:
    """Tell whether the facts beside the identity fit it."""
    about, controls = run.about, run.controls
    entries = about["candidates"]
    cells = {f"{candidate}/{label}" for candidate in run.candidates for label in run.repositories}
    return (
        all(_NAME.match(name) for name in (*run.candidates, *run.repositories))
        and sorted(run.candidates) == sorted(controls["candidates"])
        and sorted(run.repositories) == sorted(controls["repositories"])
        and {*run.cells} == cells
        and run.private <= {*run.repositories}
        and [item["id"] for item in entries] == [*run.candidates]
        and all(isinstance(item["entry"], dict) and isinstance(item["base"], str) for item in entries)
        and all(isinstance(about[field], str) for field in ("name", "created_at"))
    )


def refuse_links(layout: RunLayout) -> None:
    """Raise IdentityError where a link in a run would lead a writer out of it."""
    links = links_in(layout)
    if links:
        shown = ", ".join(printable(str(link)) for link in links[:5])
        raise IdentityError(
            f"{layout.root}: links stand in the run ({shown}), and writing would follow them; {_RESTORE}"
        )


def campaign_identity(controls: Mapping[str, Any], cells: Mapping[str, str]) -> str:
    """Return the SHA-256 that names a campaign."""
    return sha256_of({"controls": controls, "cells": cells})


def read_cases(run: RunRecord) -> Bank:
    """Read a run's retained bank; raises IdentityError where its bytes are not those frozen."""
    try:
        raw = run.layout.cases.read_bytes()
    except OSError as error:
        raise IdentityError(f"{run.layout.cases}: {error.strerror}; {_RESTORE}") from None
    if sha256(raw) != run.controls["bank"]["sha256"]:
        raise IdentityError(f"{run.layout.cases}: changed since the run was frozen; {_RESTORE}")
    bank = decode_bank(raw, str(run.layout.cases))
    if bank.graded is None:
        return bank
    label = run.repositories[0]
    return bound(bank, label, run.controls["repositories"][label]["commit"])


def stored(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return a value as it will be read back from JSON, so that both compare equal."""
    return dict(json.loads(canonical_json(value)))


_RESTORE = "restore it from a copy, or begin a new run"
