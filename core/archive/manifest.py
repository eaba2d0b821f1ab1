"""What an archive says of itself first: every folder and file of the run, with sizes and digests."""

from __future__ import annotations

import json
import os
from typing import Annotated, Any, Literal
from urllib.parse import quote_from_bytes, unquote_to_bytes

from pydantic import Field, ValidationError, model_validator

from core.errors import InputError
from core.text import printable
from core.validation import InputModel, explain

ARCHIVE_FORMAT = "boresight-archive@1"
MANIFEST_NAME = "boresight-archive.json"
MAX_MANIFEST_BYTES = 256 * 1024 * 1024
RESERVED = frozenset({".lock", ".control", ".supervisor", MANIFEST_NAME})  # of a live run, or of the archive
_MAX_PATH_BYTES = 4096

Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class ArchivedFile(InputModel):
    """One file by its path in the run, percent-encoded as in a URL, since a name can hold any bytes."""

    path: str
    size: int = Field(ge=0)
    sha256: Digest
    executable: bool = False

    @property
    def name(self) -> str:
        """The path as this system spells it."""
        return decoded(self.path)


class Manifest(InputModel):
    """The first member of an archive."""

    format: Literal["boresight-archive@1"] = "boresight-archive@1"
    run: str  # the run directory's name, percent-encoded too
    identity: Digest
    state: bool  # whether indexes are inside
    folders: list[str]
    files: list[ArchivedFile]

    @model_validator(mode="after")
    def _names_a_tree(self) -> Manifest:
        folders = set(self.folders)
        if len(folders) != len(self.folders):
            raise ValueError("a folder is listed twice")
        seen = set(folders)
        for path in (*self.folders, *(file.path for file in self.files)):
            _demand_safe(path)
            parent = path.rpartition("/")[0]
            if parent and parent not in folders:
                raise ValueError(f"{printable(path, 200)}: its folder is not listed")
        for file in self.files:
            if file.path in seen:
                raise ValueError(f"{printable(file.path, 200)}: is listed twice")
            seen.add(file.path)
        return self

    @property
    def size(self) -> int:
        """The bytes of all files together."""
        return sum(file.size for file in self.files)

    def encode(self) -> bytes:
        """Return the member's bytes."""
        return json.dumps(self.model_dump(), sort_keys=True, separators=(",", ":")).encode("ascii") + b"\n"


def parse_manifest(raw: bytes, name: str) -> Manifest:
    """Read a manifest from outside; raises InputError that names the archive and what is wrong."""
    try:
        value: Any = json.loads(raw.decode("ascii"))
        return Manifest.model_validate(value)
    except ValidationError as error:
        raise explain(error, f"{name}, {MANIFEST_NAME}", Manifest) from None
    except (ValueError, RecursionError):
        raise InputError(
            f"{printable(name)}: its {MANIFEST_NAME} cannot be read; export the run again"
        ) from None


def encoded(path: str) -> str:
    """Return a path as the manifest spells it."""
    return quote_from_bytes(os.fsencode(path), safe="/")


def decoded(path: str) -> str:
    """Return a manifest's path as this system spells it."""
    return os.fsdecode(unquote_to_bytes(path))


def _demand_safe(path: str) -> None:
    name = decoded(path)
    parts = name.split("/")
    if any(part in {"", ".", ".."} for part in parts) or "\0" in name or parts[0] in RESERVED:
        raise ValueError(f"{printable(path, 200)}: is no path inside a run")
    if encoded(name) != path:
        raise ValueError(f"{printable(path, 200)}: could be spelled in another way")
    if len(os.fsencode(name)) > _MAX_PATH_BYTES:
        raise ValueError(f"{printable(path, 80)}: is longer than any file system allows")
