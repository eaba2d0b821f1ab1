"""The listing of a tree on disk: one record a file, whose SHA-256 is the tree's digest."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from core.campaign.tree_names import shown_path


class FileRecord(NamedTuple):
    """One file as listed: Git's mode as digits, and the SHA-256 of the content in hex."""

    mode: bytes
    digest: bytes


Listing = dict[bytes, FileRecord]


def file_record(executable: bool, digest: str) -> FileRecord:
    """Return the record of a plain file whose content has the SHA-256 `digest`."""
    return FileRecord(b"100755" if executable else b"100644", digest.encode())


def listing_bytes(listing: Listing) -> bytes:
    """Return a listing as bytes, one record a file in bytewise order of path.

    A record is the path, a NUL, the mode, a NUL, the digest in hex and a newline.
    """
    return b"".join(
        b"%b\0%b\0%b\n" % (path, record.mode, record.digest) for path, record in sorted(listing.items())
    )


def parse_listing(data: bytes) -> Listing:
    """Return the listing whose bytes these are; raises ValueError where they are none."""
    listing: Listing = {}
    start = 0
    while start < len(data):
        path_end = data.index(b"\0", start)
        mode_end = data.index(b"\0", path_end + 1)
        end = data.index(b"\n", mode_end + 1)
        record = FileRecord(data[path_end + 1 : mode_end], data[mode_end + 1 : end])
        listing[data[start:path_end]] = record
        start = end + 1
    return listing


def read_tree(root: Path) -> Listing:
    """Return the listing of a folder without the `.git` at its top; follows no link; raises OSError."""
    base = os.fsencode(root)
    return {path: read_record(base + b"/" + path) for path in tree_paths(root)}


def tree_paths(root: Path) -> Iterator[bytes]:
    """Yield the path of everything but folders in a folder, without the `.git` at its top; raises OSError."""
    base = os.fsencode(root)
    folders = [b""]
    while folders:
        folder = folders.pop()
        with os.scandir(base + b"/" + folder) as found:
            for item in found:
                path = folder + item.name
                if path == b".git":
                    continue
                if item.is_dir(follow_symlinks=False):
                    folders.append(path + b"/")
                else:
                    yield path


def read_record(place: bytes) -> FileRecord:
    """Return a file's record; one that nothing is frozen with for all but a readable plain file.

    Raises OSError where there is nothing.
    """
    status = os.lstat(place)
    if not stat.S_ISREG(status.st_mode):
        return FileRecord(b"%06o" % stat.S_IFMT(status.st_mode), b"")
    try:
        descriptor = os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(descriptor, "rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError:
        return FileRecord(b"unreadable", b"")
    return file_record(bool(status.st_mode & stat.S_IXUSR), digest)


def differences(expected: Listing, present: Listing) -> list[str]:
    """Return one line, safe to show, for each path that was missing, added or changed."""
    lines = []
    for path in sorted(expected.keys() | present.keys()):
        shown = shown_path(path)
        if path not in present:
            lines.append(f"missing: {shown}")
        elif path not in expected:
            lines.append(f"added: {shown}")
        elif expected[path] != present[path]:
            lines.append(f"changed: {shown}")
    return lines
