"""Export: a run that nobody writes to becomes one file, the same bytes for the same run."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import importlib
import io
import lzma
import os
import stat
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

from core.archive.manifest import MANIFEST_NAME, RESERVED, ArchivedFile, Manifest, decoded, encoded
from core.canonical import sha256_file
from core.durable import sync_directory
from core.errors import BusyError, IdentityError, InputError
from core.run.layout import RunLayout
from core.run.lock import is_held
from core.run.record import RunRecord, read_run
from core.text import printable

SUFFIXES = (".tar.gz", ".tar.xz", ".tar.zst", ".tar")
_PRIVATE_FILE, _PRIVATE_FOLDER = 0o600, 0o700
_DERIVED = ("index.sqlite",)  # a cache that any reader makes anew

OnBytes = Callable[[int, int], None]  # bytes done, bytes in all


class Exported(NamedTuple):
    """What an export wrote; `left_out` names links, sockets and pipes of indexes, which no archive holds."""

    file: Path
    files: int
    bytes: int
    left_out: tuple[str, ...]


class _Found(NamedTuple):
    folders: list[str]
    files: list[str]
    left_out: list[str]


def export_run(
    run: Path,
    file: Path,
    *,
    with_state: bool = True,
    include_private: bool = False,
    on_bytes: OnBytes = lambda done, total: None,
) -> Exported:
    """Write a run into one new file, whose ending chooses the compression.

    Its first member is the manifest with the SHA-256 of every file; members follow in the order of their
    paths, without times and owners. `with_state=False` leaves indexes out. Raises InputError for an existing
    or unwritable file, and for private repositories without `include_private`; BusyError while a process
    writes to the run; IdentityError where a file changed meanwhile or a link stands in place of evidence.
    """
    record = read_run(run)
    _demand_free(record.layout, run)
    _demand_new(file)
    if record.private and not include_private:
        raise InputError(
            f"{run}: holds the sources and queries of private repositories "
            f"({', '.join(sorted(record.private))}), which the archive would carry; "
            "add --include-private where it goes to people who may read them"
        )
    try:
        found = _find(record.layout, with_state=with_state)
        manifest = _manifest(record, found, with_state=with_state, on_bytes=on_bytes)
    except OSError as error:
        raise IdentityError(
            f"{printable(str(error.filename or run))}: cannot be read: {error.strerror or error}; "
            "give this user the right to read the run, or export it once nothing writes to it"
        ) from None
    temporary = file.with_name(f".{file.name}.partial-{os.getpid()}")
    try:
        with _compressed(temporary, file.name) as stream:
            _pack(record.layout, manifest, stream, on_bytes)
        _demand_free(record.layout, run)
        _demand_new(file)
        temporary.rename(file)
        sync_directory(file.absolute().parent)
    except OSError as error:
        raise InputError(
            f"{printable(str(file))}: cannot be written: {error.strerror or error}; "
            "make room, or name another place; nothing was left behind"
        ) from None
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()
    return Exported(file, len(manifest.files), manifest.size, tuple(found.left_out))


def _demand_free(layout: RunLayout, run: Path) -> None:
    if is_held(layout.lock):
        raise BusyError(
            f"{run}: a process writes to this run, so an archive would hold half of something; "
            f"wait until it ends, or stop it: boresight stop {run}"
        )


def _demand_new(file: Path) -> None:
    shown = printable(str(file))
    if not file.name.endswith(SUFFIXES):
        raise InputError(f"{shown}: found no known ending, expected {', '.join(SUFFIXES)}; add one")
    if os.path.lexists(file):
        raise InputError(f"{shown}: already exists and is never overwritten; name a new file")
    if not file.absolute().parent.is_dir():
        raise InputError(f"{shown}: its folder does not exist; make it, or name another")


def _find(layout: RunLayout, *, with_state: bool) -> _Found:
    found = _Found([], [], [])
    pending = [""]
    while pending:
        folder = pending.pop()
        with os.scandir(layout.root / folder) as entries:
            for entry in entries:
                path = f"{folder}/{entry.name}" if folder else entry.name
                mode = entry.stat(follow_symlinks=False).st_mode
                if _is_passing(path) or (path == "state" and not with_state):
                    continue
                if stat.S_ISDIR(mode):
                    found.folders.append(path)
                    pending.append(path)
                elif stat.S_ISREG(mode):
                    found.files.append(path)
                elif path.startswith("state/"):
                    found.left_out.append(printable(path))
                else:
                    raise IdentityError(
                        f"{printable(str(layout.root / path))}: found a link or special file where a run "
                        "holds plain files; restore it from a copy"
                    )
    return found


def _is_passing(path: str) -> bool:
    """Tell whether a path of a run is of the moment only: its lock, its socket, a file half written."""
    name = path.rpartition("/")[2]
    if path in RESERVED or path.startswith(_DERIVED):
        return True
    return name.startswith(".") and ".partial-" in name and not path.startswith(("repositories/", "state/"))


def _manifest(record: RunRecord, found: _Found, *, with_state: bool, on_bytes: OnBytes) -> Manifest:
    root = record.layout.root
    statuses = {path: (root / path).stat() for path in sorted(found.files, key=os.fsencode)}
    # Twice: once to hash for the manifest, which comes first, and once to pack.
    total = 2 * sum(status.st_size for status in statuses.values())
    files, done = [], 0
    for path, status in statuses.items():
        files.append(
            ArchivedFile(
                path=encoded(path),
                size=status.st_size,
                sha256=sha256_file(root / path),
                executable=bool(status.st_mode & stat.S_IXUSR),
            )
        )
        done += status.st_size
        on_bytes(done, total)
    return Manifest(
        run=encoded(root.name),
        identity=record.identity,
        state=with_state,
        folders=[encoded(folder) for folder in sorted(found.folders, key=os.fsencode)],
        files=files,
    )


def _pack(layout: RunLayout, manifest: Manifest, stream: IO[bytes], on_bytes: OnBytes) -> None:
    total = manifest.size
    done = 0
    first = manifest.encode()
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.GNU_FORMAT, encoding="utf-8") as tar:
        tar.addfile(_member(MANIFEST_NAME, len(first)), io.BytesIO(first))
        for folder in manifest.folders:
            member = _member(decoded(folder), 0, _PRIVATE_FOLDER)
            member.type = tarfile.DIRTYPE
            tar.addfile(member)
        for file in manifest.files:
            mode = _PRIVATE_FOLDER if file.executable else _PRIVATE_FILE
            with open(layout.root / file.name, "rb") as source:
                hashing = _HashingReader(source)
                tar.addfile(_member(file.name, file.size, mode), cast(IO[bytes], hashing))
            if hashing.hexdigest() != file.sha256:
                raise IdentityError(
                    f"{printable(str(layout.root / file.name))}: changed while it was exported; "
                    "export again once nothing writes to the run"
                )
            done += file.size
            on_bytes(total + done, 2 * total)


def _member(name: str, size: int, mode: int = _PRIVATE_FILE) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.size, member.mode = size, mode
    return member


class _HashingReader:
    """Hashes what is read through it."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._digest = hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        data = self._stream.read(size)
        self._digest.update(data)
        return data

    def hexdigest(self) -> str:
        return self._digest.hexdigest()


@contextlib.contextmanager
def _compressed(path: Path, name: str) -> Iterator[IO[bytes]]:
    """Open a new file to write through the compression that `name` ends with; durable once closed."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _PRIVATE_FILE)
    with open(descriptor, "wb") as raw:
        if name.endswith(".gz"):
            # No name and no time in the header, so that the same run gives the same bytes.
            with gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0, compresslevel=6) as stream:
                yield cast(IO[bytes], stream)
        elif name.endswith(".xz"):
            with lzma.LZMAFile(raw, "wb") as packed:
                yield packed
        elif name.endswith(".zst"):
            with zstd_module().ZstdFile(raw, "wb") as zipped:
                yield zipped
        else:
            yield raw
        raw.flush()
        os.fsync(raw.fileno())


def zstd_module() -> Any:
    """Return Python's own Zstandard module; raises InputError where this Python has none."""
    try:
        return importlib.import_module("compression.zstd")
    except ImportError:
        raise InputError(
            "this Python cannot read or write Zstandard (3.14 and newer can); use .tar.gz or .tar.xz"
        ) from None
