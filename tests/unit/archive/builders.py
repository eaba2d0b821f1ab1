"""Archives of all kinds, honest and hostile, from members given one by one."""

from __future__ import annotations

import hashlib
import io
import tarfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from core.archive.manifest import MANIFEST_NAME, ArchivedFile, Manifest


class Member(NamedTuple):
    """One member; `declared` is the size that its header claims."""

    name: str
    data: bytes = b""
    type: bytes = tarfile.REGTYPE
    declared: int | None = None
    link: str = ""


def declare(path: str, data: bytes) -> ArchivedFile:
    return ArchivedFile(path=path, size=len(data), sha256=hashlib.sha256(data).hexdigest())


def manifest_of(files: Sequence[ArchivedFile], folders: Sequence[str] = (), **fields: Any) -> Member:
    manifest = Manifest(run="run", identity="0" * 64, state=True, folders=list(folders), files=list(files))
    return Member(MANIFEST_NAME, manifest.model_copy(update=fields).encode())


def pack(path: Path, members: Sequence[Member], end: bytes = b"\0" * 1024) -> Path:
    """Write members as an uncompressed tar, whatever their headers claim."""
    raw = io.BytesIO()
    for member in members:
        header = tarfile.TarInfo(member.name)
        header.type, header.linkname = member.type, member.link
        header.size = len(member.data) if member.declared is None else member.declared
        raw.write(header.tobuf(tarfile.GNU_FORMAT))
        raw.write(member.data + b"\0" * (-len(member.data) % 512))
    path.write_bytes(raw.getvalue() + end)
    return path
