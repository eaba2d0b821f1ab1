"""The one reader of Git objects, as they are stored, whatever attributes, replace refs and grafts say."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, Self
from urllib.parse import urlsplit

from core.errors import InputError
from core.git_command import ObjectStream, one_line, run_git
from core.text import printable

_CHUNK = 1024 * 1024
_HEX40 = re.compile("[0-9a-f]{40}")
_HEADER = re.compile(rb"([0-9a-f]{40}) ([a-z]+) (\d+)\n")
_REMOTE_SCHEMES = ("https", "http", "ssh", "git")
_SCP_LIKE = re.compile(r"(?:[A-Za-z0-9._-]+@)?[A-Za-z0-9.-]{2,}:(?!:)[^\s:\\]+")


class TreeEntry(NamedTuple):
    """One path of a commit: bytes as Git stores them, the mode (such as 0o100644) and the object id."""

    path: bytes
    mode: int
    oid: str

    @property
    def is_file(self) -> bool:
        """Whether this is a regular file, executable or not."""
        return stat.S_IFMT(self.mode) == stat.S_IFREG

    @property
    def is_link(self) -> bool:
        """Whether this is a symbolic link, whose blob is the link's text."""
        return stat.S_IFMT(self.mode) == stat.S_IFLNK

    @property
    def is_submodule(self) -> bool:
        """Whether this is a commit of another repository, which has no blob here."""
        return stat.S_IFMT(self.mode) == 0o160000

    @property
    def is_executable(self) -> bool:
        """Whether this is a regular file with its executable bit set."""
        return self.is_file and bool(self.mode & stat.S_IXUSR)


class GitRepository:
    """A repository on disk, open for reading: a work tree's top level, a bare repository or a `.git`.

    Reads come from one `git cat-file --batch` process, started when first needed and ended by `close`,
    so use it as a context manager, and from one thread at a time.

    Raises InputError where the path is missing, not a repository, below a repository's top level, of
    the SHA-256 object format, or where Git is missing or older than 2.31.
    """

    def __init__(self, path: Path) -> None:
        self.path = top_level(path)
        if self.path != path.absolute():
            raise InputError(
                f"{_shown(path)}: lies inside the repository {_shown(self.path)}, and only whole "
                f"repositories are read; give {_shown(self.path)}"
            )
        self._name = _shown(path)
        self._stream: ObjectStream | None = None
        self._unread = False  # whether the last object's bytes are still in the stream
        self._closed = False
        if (found := self._run("rev-parse", "--show-object-format").strip()) != b"sha1":
            raise InputError(
                f"{self._name}: uses the {one_line(found)} object format, and commits here have the 40 "
                "hexadecimal digits of SHA-1; use a SHA-1 clone of it"
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the reading process; harmless when repeated."""
        self._closed = True
        self._end_stream()

    def head(self) -> str:
        """Return the commit at HEAD; raises InputError where there is none yet."""
        commit = self._commit("HEAD")
        if commit is None:
            raise InputError(
                f"{self._name}: HEAD names no commit, as in an empty repository; commit something, or check "
                "out a branch that has commits"
            )
        return commit

    def resolve(self, revision: str) -> str:
        """Return the full 40-digit commit that a revision names; raises InputError where none is here."""
        commit = self._commit(revision)
        if commit is None:
            shown = printable(revision, 80)
            raise InputError(
                f"{self._name}: no commit {shown} here; check the name, or fetch it with "
                f"`git fetch origin {shown}` (in a shallow clone `git fetch --unshallow`)"
            )
        return commit

    def has_commit(self, commit: str) -> bool:
        """Return whether a commit, given by its 40 digits, is here; nothing is fetched."""
        return bool(_HEX40.fullmatch(commit)) and self._commit(commit) == commit

    def entries(self, commit: str) -> Iterator[TreeEntry]:
        """Yield every path of a commit, in Git's order, submodules included and folders left out.

        Raises InputError where the commit or one of its trees is not here or is malformed.
        """
        commit = self.resolve(commit)
        status, listing, complaint = run_git(
            "ls-tree", "-r", "-z", "--full-tree", commit, directory=self.path
        )
        if status:
            raise InputError(
                f"{self._name}: the tree of commit {commit} cannot be read: {complaint}; if this is a "
                "partial clone, clone again without --filter, else run `git fsck`"
            )
        for record in listing.split(b"\0")[:-1]:
            head, _, path = record.partition(b"\t")
            mode, _, oid = head.split(b" ")
            yield TreeEntry(path, int(mode, 8), oid.decode("ascii"))

    def blob(self, oid: str) -> bytes:
        """Return a blob's bytes, exactly as stored; raises InputError where it is not here."""
        return b"".join(self.blob_chunks(oid))

    def blob_chunks(self, oid: str) -> Iterator[bytes]:
        """Yield a blob's bytes in pieces of at most 1 MiB; raises InputError as `blob` does.

        Reading anything else from the repository ends it: going on raises ValueError.
        """
        yield from self._chunks(oid, "blob")

    def commit_chunks(self, oid: str) -> Iterator[bytes]:
        """Yield the bytes of a commit's own object in pieces; raises InputError as `blob` does."""
        yield from self._chunks(oid, "commit")

    def url(self) -> str | None:
        """Return the address of the remote `origin`, without user and password.

        None where there is none, or where it is a place on this machine.
        """
        status, found, _ = run_git(
            "config", "--local", "--no-includes", "--get", "remote.origin.url", directory=self.path
        )
        return None if status else public_url(os.fsdecode(found.removesuffix(b"\n")))

    def _chunks(self, oid: str, kind: str) -> Iterator[bytes]:
        found = self._request(oid)
        if found.kind != kind:
            self._end_stream()
            raise InputError(
                f"{self._name}: object {oid} is a {found.kind}, expected a {kind}; run `git fsck`"
            )
        yield from self._contents(found)

    def _commit(self, revision: str) -> str | None:
        if not revision or any(character in revision for character in "\n\0"):
            return None
        try:
            found = self._request(f"{revision}^{{commit}}")
        except _MissingError:
            return None
        for _ in self._contents(found):
            pass
        return found.oid

    def _request(self, name: str) -> _Object:
        """Ask for an object; its contents must be read next."""
        if self._closed:
            raise ValueError("the repository is closed")
        if self._unread:
            self._end_stream()
        if self._stream is None:
            self._stream = ObjectStream(self.path)
        header = self._stream.ask(name)
        if match := _HEADER.fullmatch(header):
            self._unread = True
            return _Object(self._stream, match[1].decode("ascii"), match[2].decode("ascii"), int(match[3]))
        # A new process next time: complaints that nobody reads would fill the pipe in the end.
        complaint = self._end_stream()
        if header.endswith(b" ambiguous\n"):
            raise InputError(f"{self._name}: {printable(name, 80)} is ambiguous; give more of its digits")
        if header.endswith(b" missing\n") or "promisor" in complaint:
            raise _MissingError(
                f"{self._name}: object {printable(name, 80)} is not here; in a partial clone, clone again "
                "without --filter; in a shallow one, run `git fetch --unshallow`; else run `git fsck`"
            )
        raise InputError(
            f"{self._name}: Git could not read {printable(name, 80)}: {complaint or 'it ended'}; "
            "run `git fsck`"
        )

    def _contents(self, found: _Object) -> Iterator[bytes]:
        left = found.size
        while left and (chunk := found.stream.read(min(left, _CHUNK))):
            left -= len(chunk)
            yield chunk
        if left or found.stream.read(1) != b"\n":
            complaint = self._end_stream()
            raise InputError(
                f"{self._name}: object {found.oid} is damaged: {complaint or 'it ends early'}; run `git fsck`"
            )
        self._unread = False

    def _end_stream(self) -> str:
        stream, self._stream = self._stream, None
        self._unread = False
        return stream.close() if stream is not None else ""

    def _run(self, *arguments: str) -> bytes:
        status, output, complaint = run_git(*arguments, directory=self.path)
        if status:
            raise InputError(f"{self._name}: Git could not read it: {complaint}; run `git fsck` there")
        return output


class _Object(NamedTuple):
    """An object whose `size` bytes, and a newline, are next in the stream."""

    stream: ObjectStream
    oid: str
    kind: str
    size: int


class _MissingError(InputError):
    """An object is not in the repository."""


def top_level(path: Path) -> Path:
    """Return the absolute top level of the work tree around a path, or the path itself in a bare one.

    Raises InputError where the path is missing or in no repository, or Git is missing or too old.
    """
    shown = _shown(path)
    if not os.path.isdir(path):  # noqa: PTH112 - unlike Path.is_dir it raises nothing
        what = "not a folder" if os.path.lexists(path) else "there is no such folder"
        raise InputError(f"{shown}: {what} that this user can open; check the path")
    path = path.absolute()
    status, prefix, complaint = run_git("rev-parse", "--show-prefix", directory=path)
    if status and "not a git repository" in complaint:
        raise InputError(f"{shown}: not a Git repository; check the path, or run `git init` and commit there")
    if status and ("dubious ownership" in complaint or "unsafe repository" in complaint):
        raise InputError(
            f"{shown}: belongs to another user, and this Git insists on that; use Git 2.38 or newer, or "
            f"run `chown -R` on it ({complaint})"
        )
    if status:
        raise InputError(f"{shown}: Git cannot open it: {complaint}")
    if not prefix.removesuffix(b"\n"):
        return path
    status, found, complaint = run_git("rev-parse", "--show-toplevel", directory=path)
    if status:
        raise InputError(f"{shown}: Git cannot tell its top level: {complaint}")
    return Path(os.fsdecode(found.removesuffix(b"\n")))


def public_url(address: str) -> str | None:
    """Return a remote's address without user, password, query and fragment.

    An ssh address keeps its user name, which is part of where it leads. None for a place on this
    machine and for anything that is not plainly an https, http, ssh or git address.
    """
    if printable(address) != address or any(character.isspace() for character in address):
        return None
    if "://" not in address:
        return address if _SCP_LIKE.fullmatch(address) else None
    try:
        parts = urlsplit(address)
        host, port, user = parts.hostname, parts.port, parts.username
    except ValueError:
        return None
    if parts.scheme not in _REMOTE_SCHEMES or not host:
        return None
    place = f"[{host}]" if ":" in host else host
    if port is not None:
        place += f":{port}"
    if user and parts.scheme == "ssh":
        place = f"{user}@{place}"
    return f"{parts.scheme}://{place}{parts.path}"


def _shown(path: Path) -> str:
    return printable(str(path))
