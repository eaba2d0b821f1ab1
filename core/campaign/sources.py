"""Freezing: a commit's tracked files as plain files of a run, with their exact bytes, and checking them."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import Field

from core.campaign.tree_listing import (
    FileRecord,
    Listing,
    differences,
    file_record,
    listing_bytes,
    parse_listing,
    read_tree,
    tree_paths,
)
from core.campaign.tree_names import refuse_hostile_tree
from core.canonical import sha256
from core.durable import sync_directory, write_durably
from core.errors import InputError
from core.git import GitRepository, TreeEntry
from core.git_command import run_git
from core.repositories import RepositoryEntry
from core.text import printable
from core.validation import InputModel, read_json_file, validated

_LFS_POINTER = b"version https://git-lfs.github.com/spec/v1\n"
_LFS_POINTER_LIMIT = 1024  # bytes, of the Git LFS specification
_CONFIGURATION = b"""\
[core]
\trepositoryformatversion = 0
\tbare = false
\tfilemode = true
\tsymlinks = false
\tautocrlf = false
\tfsmonitor = false
\thooksPath = /dev/null
\texcludesFile = /dev/null
\tattributesFile = /dev/null
\tprotectHFS = false
\tprotectNTFS = false
"""


class FrozenSource(InputModel):
    """What was frozen: kept as `<label>.json` beside the tree.

    `files` counts the plain files written, links among them; `bytes` is their total size; submodules
    are left out. `tree_digest` is the SHA-256 of the tree's listing, kept as `<label>.files`: for each
    file, in bytewise order of path, its path, a NUL, `100755` where it is executable by its owner or
    else `100644`, a NUL, the SHA-256 of its content in hex, and a newline. `.git` at the top is no
    part of it.
    """

    format: Literal["boresight-source@1"] = "boresight-source@1"
    label: str
    commit: str
    tree_digest: str
    files: int = Field(ge=0)
    bytes: int = Field(ge=0)
    links: int = Field(ge=0)
    submodules: int = Field(ge=0)
    lfs_pointers: int = Field(ge=0)


class _Written(NamedTuple):
    record: FileRecord
    size: int
    lfs_pointer: bool


def freeze(repository: GitRepository, entry: RepositoryEntry, destination: Path) -> FrozenSource:
    """Write a commit's tracked files to `destination/<label>`, with a Git index of their own.

    Every file has its blob's exact bytes: no filter, line-end conversion, keyword or export rule is
    applied. A link becomes a plain file that holds the link's text, as with `core.symlinks=false`, so
    nothing in the tree can lead out of it. Submodules are left out and LFS pointers stay pointers.
    `git ls-files` in the tree lists exactly its files.

    The tree appears under its name last, and only when it is whole; what a killed freeze left behind is
    replaced. Raises InputError where the name is taken, an object is missing or the disk refuses, and
    ProblemsError for a hostile tree.
    """
    commit = repository.resolve(entry.commit or "HEAD")
    tree = destination / entry.label
    _demand_new(tree)
    entries = tuple(repository.entries(commit))
    refuse_hostile_tree(entries, f"repository {entry.label} at commit {commit}")

    partial = _beside(destination, f".{entry.label}", ".partial")
    beside = (_beside(destination, entry.label, ".files"), _beside(destination, entry.label, ".json"))
    with _disk_errors(destination):
        try:
            destination.mkdir(parents=True, exist_ok=True)
            _remove(partial)
            partial.mkdir()
            source, listing = _write_tree(repository, entries, partial, entry.label, commit)
            _write_index(entries, partial)
            text = json.dumps(source.model_dump(), indent=2, sort_keys=True) + "\n"
            os.sync()  # once for all files, where an fsync each would take longer than writing them
            write_durably(beside[0], listing)
            write_durably(beside[1], text.encode())
            partial.rename(tree)
        except BaseException:
            leftover = (partial,) if os.path.lexists(tree) else (partial, *beside)
            for path in leftover:
                _remove(path)
            raise
        sync_directory(destination)
    return source


def read_frozen(destination: Path, label: str) -> FrozenSource | None:
    """Return what was frozen under a label, or None where no tree is; raises InputError."""
    if not os.path.lexists(destination / label):
        return None
    record = _beside(destination, label, ".json")
    return validated(FrozenSource, read_json_file(record), str(record))


def verify_frozen(destination: Path, source: FrozenSource) -> list[str]:
    """Compare a frozen tree with what was frozen; return one line for each difference, safe to show.

    Content, executable bit and kind of every file count; `.git` at the top does not.
    """
    tree = destination / source.label
    if tree.is_symlink() or not tree.is_dir():
        return [f"missing: the whole tree {printable(source.label)}"]
    with _disk_errors(destination, "read"):
        present = read_tree(tree)
    if sha256(listing_bytes(present)) == source.tree_digest:
        return []
    listing = _beside(destination, source.label, ".files")
    try:
        recorded = listing.read_bytes()
    except OSError:
        recorded = b""
    if sha256(recorded) != source.tree_digest:
        return [f"changed: the tree {source.label}, and also its listing {source.label}.files"]
    return differences(parse_listing(recorded), present)


def restore_frozen(destination: Path, source: FrozenSource) -> tuple[list[str], list[str]]:
    """Take away what was added to a frozen tree; return all differences found, and those that remain.

    What was changed or is missing cannot be brought back from here. Raises InputError.
    """
    found = verify_frozen(destination, source)
    if not found:
        return [], []
    tree = destination / source.label
    listing = _beside(destination, source.label, ".files")
    with _disk_errors(destination):
        expected = parse_listing(listing.read_bytes())
        base = os.fsencode(tree)
        for path in list(tree_paths(tree)):
            if path not in expected:
                Path(os.fsdecode(base + b"/" + path)).unlink()
        for folder, _, _ in os.walk(base, topdown=False):
            with contextlib.suppress(OSError):  # what is tracked is not empty
                Path(os.fsdecode(folder)).rmdir()
    return found, verify_frozen(destination, source)


def copy_frozen(destination: Path, label: str, target: Path) -> None:
    """Copy a frozen tree with its `.git` to `target`, for a retriever that writes into its repository.

    Raises InputError where `target` exists or the disk refuses; `target` appears only when whole.
    """
    _demand_new(target)
    partial = _beside(target.parent, f".{target.name}", ".partial")
    with _disk_errors(target):
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            _remove(partial)
            shutil.copytree(destination / label, partial, symlinks=True)
            for folder, _, names in os.walk(partial):
                for name in names:
                    place = Path(folder, name)
                    place.chmod(place.stat().st_mode | 0o200)
            partial.rename(target)
        except BaseException:
            _remove(partial)
            raise


def _write_tree(
    repository: GitRepository, entries: tuple[TreeEntry, ...], root: Path, label: str, commit: str
) -> tuple[FrozenSource, bytes]:
    base = os.fsencode(root)
    listing: Listing = {}
    size = lfs_pointers = 0
    folders = {b""}
    for entry in entries:
        if entry.is_submodule:
            continue
        folder = entry.path.rpartition(b"/")[0]
        if folder not in folders:
            Path(os.fsdecode(base + b"/" + folder)).mkdir(parents=True, exist_ok=True)
            folders.add(folder)
        written = _write_file(repository, entry, base + b"/" + entry.path)
        listing[entry.path] = written.record
        size += written.size
        lfs_pointers += written.lfs_pointer
    encoded = listing_bytes(listing)
    source = FrozenSource(
        label=label,
        commit=commit,
        tree_digest=sha256(encoded),
        files=len(listing),
        bytes=size,
        links=sum(entry.is_link for entry in entries),
        submodules=sum(entry.is_submodule for entry in entries),
        lfs_pointers=lfs_pointers,
    )
    return source, encoded


def _write_file(repository: GitRepository, entry: TreeEntry, place: bytes) -> _Written:
    content = hashlib.sha256()
    size = 0
    start = b""
    # Exclusive creation catches two names that one file system takes for the same.
    descriptor = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with open(descriptor, "wb", buffering=0) as stream:
        for chunk in repository.blob_chunks(entry.oid):
            start = start or chunk
            content.update(chunk)
            size += len(chunk)
            left = memoryview(chunk)
            while left:
                left = left[stream.write(left) :]
        # Read-only, so that a retriever that writes into the shared tree by mistake is told so at once.
        os.fchmod(descriptor, 0o555 if entry.is_executable else 0o444)
    pointer = entry.is_file and size < _LFS_POINTER_LIMIT and start.startswith(_LFS_POINTER)
    return _Written(file_record(entry.is_executable, content.hexdigest()), size, pointer)


def _write_index(entries: tuple[TreeEntry, ...], root: Path) -> None:
    _git_in(root, "init", "--quiet", "--template=", "--object-format=sha1", "--initial-branch=frozen")
    (root / ".git" / "config").write_bytes(_CONFIGURATION)
    records = (
        f"{_index_mode(entry)} {entry.oid}\t".encode() + entry.path + b"\0"
        for entry in entries
        if not entry.is_submodule
    )
    _git_in(root, "update-index", "-z", "--index-info", stdin=b"".join(records))


def _index_mode(entry: TreeEntry) -> str:
    if entry.is_link:
        return "120000"
    return "100755" if entry.is_executable else "100644"


def _git_in(root: Path, *arguments: str, stdin: bytes | None = None) -> None:
    outcome = run_git(*arguments, directory=root, stdin=stdin)
    if outcome.status:
        raise InputError(
            f"{printable(str(root.parent))}: Git could not make the frozen tree's index: "
            f"{outcome.complaint}; check that the disk has room and Git is whole"
        )


def _demand_new(path: Path) -> None:
    if os.path.lexists(path):
        raise InputError(
            f"{printable(str(path))}: is there already, expected a new folder; remove it, or choose "
            "another place"
        )


def _beside(folder: Path, name: str, suffix: str) -> Path:
    return folder / f"{name}{suffix}"


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


@contextlib.contextmanager
def _disk_errors(place: Path, act: str = "write") -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InputError(f"{printable(str(place))}: {_disk_problem(error, act)}") from error


def _disk_problem(error: OSError, act: str) -> str:
    if isinstance(error, shutil.Error):
        source, _, reason = error.args[0][0]
        return f"could not {act} the copy of {printable(str(source), 200)}: {printable(str(reason), 200)}"
    at = f" ({printable(os.fsdecode(error.filename), 200)})" if error.filename else ""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"the disk is full; free some space and try again{at}"
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return f"this user may not {act} here; change its permissions or choose another folder{at}"
    if error.errno == errno.ENAMETOOLONG:
        return f"a name is longer than this file system allows; choose another disk or a shorter folder{at}"
    if error.errno == errno.EEXIST:
        return f"two paths are the same to this file system; choose a case-sensitive disk{at}"
    return f"could not {act}: {error.strerror or error}{at}"
