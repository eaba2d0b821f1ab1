"""Import: an archive from anywhere becomes a run under a new name, whole and verified, or nothing at all."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import lzma
import os
import shutil
import tarfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, NamedTuple, NoReturn, cast

from core.archive.manifest import (
    MANIFEST_NAME,
    MAX_MANIFEST_BYTES,
    ArchivedFile,
    Manifest,
    decoded,
    parse_manifest,
)
from core.archive.packing import OnBytes, zstd_module
from core.campaign.staging import demand_possible, discard_stage, open_stage, publish_stage
from core.errors import IdentityError, InputError
from core.run.record import read_run
from core.text import printable
from core.verification import Verification, verify_run

_BLOCK = tarfile.BLOCKSIZE
_READ_BYTES = 1 << 20
_MAX_NAME_BYTES = 8192
_SHOWN_PROBLEMS = 20
_MAX_PADDING = 1 << 20  # zeros after the last member, as tar writes them
_MAGIC = {b"\x1f\x8b": "gz", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zst"}

_PLAIN = (tarfile.REGTYPE, tarfile.AREGTYPE)


class _Member(NamedTuple):
    name: str
    size: int
    is_folder: bool


def import_run(
    file: Path,
    target: Path,
    *,
    on_bytes: OnBytes = lambda done, total: None,
) -> Verification:
    """Unpack an archive beside `target`, compare every digest, and give the run its name last.

    The archive is trusted in nothing: it must hold exactly what its manifest, the first member, declares, as
    plain files and folders inside the run, with the declared sizes, and not a byte more. Then the run's own
    digests are compared. Raises InputError for a file that is no such archive and for an existing target,
    IdentityError where a digest differs.
    """
    target = target.absolute()
    demand_possible(target)
    if os.path.lexists(target):
        raise InputError(f"{target}: already exists and is never overwritten; name a new directory")
    with _opened(file) as stream:
        members = _Members(stream, printable(str(file)))
        manifest = members.manifest()
        stage = open_stage(target)
        try:
            _demand_room(stage.folder, manifest, members.name)
            _unpack(members, manifest, stage.folder, on_bytes)
            if read_run(stage.folder).identity != manifest.identity:
                raise IdentityError(f"{members.name}: holds another run than its manifest names")
            found = verify_run(stage.folder)
            if found.problems:
                raise _unsound(members.name, found.problems)
            os.sync()  # once for tens of thousands of small files
            publish_stage(stage)
        except BaseException as error:
            discard_stage(stage)
            if isinstance(error, OSError):
                raise InputError(
                    f"{printable(str(target))}: cannot be written: {error.strerror or error}; "
                    "nothing was left behind: make room, or name another directory"
                ) from None
            raise
        stage.lock.release()
    return found


def _unsound(name: str, problems: Sequence[str]) -> IdentityError:
    lines = [f"  - {problem}" for problem in problems[:_SHOWN_PROBLEMS]]
    if len(problems) > _SHOWN_PROBLEMS:
        lines.append(f"  … and {len(problems) - _SHOWN_PROBLEMS} more")
    heading = f"{name}: the run inside is not what its digests say; restore it where it was exported from:"
    return IdentityError("\n".join([heading, *lines]))


def _demand_room(folder: Path, manifest: Manifest, name: str) -> None:
    free = shutil.disk_usage(folder).free
    if manifest.size > free:
        raise InputError(
            f"{name}: unpacks to {manifest.size} bytes, and {free} are free here; make room, or name a "
            "directory on another disk"
        )


def _unpack(members: _Members, manifest: Manifest, root: Path, on_bytes: OnBytes) -> None:
    folders = {decoded(folder) for folder in manifest.folders}
    files = {file.name: file for file in manifest.files}
    total, done = manifest.size, 0
    for folder in sorted(folders, key=os.fsencode):
        (root / folder).mkdir(mode=0o700)
    while (member := members.next()) is not None:
        if member.is_folder:
            if member.name not in folders:
                members.refuse(f"holds the folder {printable(member.name, 200)} undeclared or twice")
            folders.remove(member.name)
            continue
        declared = files.pop(member.name, None)
        if declared is None:
            members.refuse(f"holds the file {printable(member.name, 200)} undeclared or twice")
        if member.size != declared.size:
            members.refuse(
                f"holds {printable(member.name, 200)} with {member.size} bytes, its manifest declares "
                f"{declared.size}"
            )
        _write(members, declared, root / declared.name)
        done += declared.size
        on_bytes(done, total)
    missing = [*files, *folders]
    if missing:
        members.refuse(f"lacks {printable(min(missing), 200)}, which its manifest declares")


def _write(members: _Members, declared: ArchivedFile, path: Path) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(path, flags, 0o700 if declared.executable else 0o600)
    digest = hashlib.sha256()
    with open(descriptor, "wb") as stream:
        for data in members.content(declared.size):
            digest.update(data)
            stream.write(data)
    if digest.hexdigest() != declared.sha256:
        raise IdentityError(
            f"{members.name}: {printable(declared.path, 200)} differs from its digest; "
            "copy the archive again, or export the run again"
        )


class _Members:
    """The members of a tar stream, read forwards once, with no more in memory than was asked for.

    Only the headers' fields are left to `tarfile`: its own reader follows links, extensions and sizes that
    an archive from outside may claim.
    """

    def __init__(self, stream: IO[bytes], name: str) -> None:
        self.name = name
        self._stream = stream

    def refuse(self, what: str) -> NoReturn:
        """Raise InputError."""
        raise InputError(f"{self.name}: {what}; it was not made by `boresight export`, or was changed since")

    def manifest(self) -> Manifest:
        """Read the first member."""
        member = self.next()
        if member is None or member.is_folder or member.name != MANIFEST_NAME:
            self.refuse(f"does not begin with {MANIFEST_NAME}")
        if member.size > MAX_MANIFEST_BYTES:
            self.refuse(f"its {MANIFEST_NAME} is larger than {MAX_MANIFEST_BYTES // 2**20} MiB")
        return parse_manifest(b"".join(self.content(member.size)), self.name)

    def next(self) -> _Member | None:
        """Return the next member, or None at the end, after which only zeros may follow."""
        header = self._header()
        name = None
        if header is not None and header.type == tarfile.GNUTYPE_LONGNAME:
            if not 0 < header.size <= _MAX_NAME_BYTES:
                self.refuse("holds a name longer than any file system allows")
            name = os.fsdecode(b"".join(self.content(header.size)).rstrip(b"\0"))
            header = self._header()
            if header is None:
                self.refuse("ends after a long name")
        if header is None:
            self._demand_end()
            return None
        name = header.name if name is None else name
        if header.type not in (*_PLAIN, tarfile.DIRTYPE):
            self.refuse(f"holds {printable(name, 200)}, which is neither a plain file nor a folder")
        is_folder = header.type == tarfile.DIRTYPE
        if header.size < 0 or (is_folder and header.size):
            self.refuse(f"holds {printable(name, 200)} with an impossible size")
        return _Member(name.removesuffix("/") if is_folder else name, header.size, is_folder)

    def content(self, size: int) -> Iterator[bytes]:
        """Yield the bytes of the member whose header was read last."""
        left = size
        while left:
            data = self._read(min(left, _READ_BYTES))
            left -= len(data)
            yield data
        self._exactly(-size % _BLOCK)

    def _header(self) -> tarfile.TarInfo | None:
        block = self._exactly(_BLOCK)
        if not block.strip(b"\0"):
            return None
        try:
            return tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
        except tarfile.HeaderError as error:
            self.refuse(f"is no tar archive here ({error})")

    def _demand_end(self) -> None:
        passed = 0
        while data := self._some(_READ_BYTES):
            passed += len(data)
            if data.strip(b"\0") or passed > _MAX_PADDING:
                self.refuse("goes on after its end")

    def _exactly(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            data += self._read(size - len(data))
        return data

    def _read(self, size: int) -> bytes:
        data = self._some(size)
        if not data:
            self.refuse("ends in the middle")
        return data

    def _some(self, size: int) -> bytes:
        try:
            return self._stream.read(size)
        except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
            self.refuse(f"cannot be read: {printable(str(error), 200)}")


@contextlib.contextmanager
def _opened(file: Path) -> Iterator[IO[bytes]]:
    """Open an archive by what it begins with, whatever its name is."""
    with contextlib.ExitStack() as stack:
        try:
            raw = stack.enter_context(open(file, "rb"))
            start = raw.read(6)
            raw.seek(0)
        except OSError as error:
            raise InputError(
                f"{printable(str(file))}: cannot be read: {error.strerror or error}; name an archive that "
                "`boresight export` wrote"
            ) from None
        kind = next((name for magic, name in _MAGIC.items() if start.startswith(magic)), None)
        if kind == "gz":
            yield cast(IO[bytes], stack.enter_context(gzip.GzipFile(fileobj=raw, mode="rb")))
        elif kind == "xz":
            yield stack.enter_context(lzma.LZMAFile(raw, "rb"))
        elif kind == "zst":
            yield stack.enter_context(zstd_module().ZstdFile(raw, "rb"))
        else:
            yield raw
