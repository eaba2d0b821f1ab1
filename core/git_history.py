"""What a commit's history says: its ancestors, what each says of itself, and the paths that it changed.

Only plumbing that no configuration of the repository can make run or fetch anything: `git log` would start
the program that `log.showSignature` names, `rev-list` and `diff-tree` start none. The commit graph, which a
repository may have forged, is left aside, and what a commit says is read from its own object.
"""

from __future__ import annotations

import codecs
import hashlib
import stat
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from core.errors import InputError
from core.git import GitRepository
from core.git_command import run_git
from core.text import printable

KEPT_BYTES = 64 * 1024  # of a commit's object; what a longer one says is not read
_TOGETHER = 500  # commits whose changes are asked for at once, which bounds the memory
_NO_GRAPH = ("-c", "core.commitGraph=false")
_UTF_8 = "utf-8"
_ENCODINGS = frozenset(
    codecs.lookup(name).name
    for name in (
        "ascii", "utf-8", "latin-1", "iso8859-2", "iso8859-3", "iso8859-4", "iso8859-5", "iso8859-6",
        "iso8859-7", "iso8859-8", "iso8859-9", "iso8859-10", "iso8859-13", "iso8859-14", "iso8859-15",
        "iso8859-16", "cp1250", "cp1251", "cp1252", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257",
        "cp1258", "koi8-r", "koi8-u", "shift_jis", "cp932", "euc-jp", "iso2022-jp", "euc-kr", "cp949",
        "gb2312", "gbk", "gb18030", "big5",
    )
)  # fmt: skip


class Ancestor(NamedTuple):
    """A commit that is reachable, with the parents that are here."""

    oid: str
    parents: tuple[str, ...]


class CommitText(NamedTuple):
    """What a commit says: its own parents, people as `Name <email>`, the first paragraph on one line.

    `subject` is None where it is not in the encoding that the commit names, or is not within KEPT_BYTES.
    `sha256` is of the whole object.
    """

    parents: tuple[str, ...]
    people: tuple[str, ...]
    subject: str | None
    reverts: bool  # says so in the words that `git revert` writes
    sha256: str


class Change(NamedTuple):
    """A path that a commit changed; a rename is two of them. `mode` is 0 where it was deleted."""

    path: bytes
    mode: int

    @property
    def is_file(self) -> bool:
        """Whether a regular file stands there after the commit."""
        return stat.S_IFMT(self.mode) == stat.S_IFREG


def ancestors(repository: GitRepository, commit: str, limit: int) -> list[Ancestor]:
    """Return a commit and those that it is reachable from, the newest first, at most `limit`.

    Raises InputError where one of them is not here, as in a partial clone.
    """
    words = ("rev-list", f"--max-count={limit}", "--parents", commit, "--")
    output = _run(repository, words, f"the history of commit {commit}")
    found = (line.split() for line in output.decode("ascii").splitlines())
    return [Ancestor(oid, tuple(parents)) for oid, *parents in found]


def count_ancestors(repository: GitRepository, commit: str) -> int:
    """Return how many commits a commit is reachable from, itself among them; raises as `ancestors`."""
    return int(_run(repository, ("rev-list", "--count", commit, "--"), f"the history of commit {commit}"))


def commit_text(repository: GitRepository, oid: str) -> CommitText:
    """Read what a commit says; raises InputError where its object is not here."""
    digest = hashlib.sha256()
    start = b""
    for chunk in repository.commit_chunks(oid):
        digest.update(chunk)
        start += chunk[: KEPT_BYTES - len(start)]
    head, _, message = start.partition(b"\n\n")
    headers = _headers(head)
    encoding = next((value for key, value in headers if key == b"encoding"), b"")
    whole = b"\n\n" in start
    return CommitText(
        parents=tuple(value.decode("ascii", "replace") for key, value in headers if key == b"parent"),
        people=tuple(
            value.rpartition(b">")[0].decode("utf-8", "replace")
            for key, value in headers
            if key in (b"author", b"committer")
        ),
        subject=_decoded(_first_paragraph(message), encoding) if whole else None,
        reverts=b"This reverts commit " in message,
        sha256=digest.hexdigest(),
    )


def changes(repository: GitRepository, commits: Sequence[str]) -> Iterator[tuple[str, tuple[Change, ...]]]:
    """Yield each commit with the paths that it changed against its only parent, or added without one.

    Raises InputError where a tree is not here, as in a partial clone. A merge yields nothing.
    """
    for at in range(0, len(commits), _TOGETHER):
        asked = commits[at : at + _TOGETHER]
        words = (
            "diff-tree", "--stdin", "--root", "-r", "-z", "--raw", "--no-renames", "--no-abbrev",
            "--no-ext-diff", "--no-textconv", "--ignore-submodules=none", "--always",
        )  # fmt: skip
        stdin = "".join(f"{oid}\n" for oid in asked).encode("ascii")
        yield from _parsed(_run(repository, words, "what commits changed", stdin))


def _parsed(output: bytes) -> Iterator[tuple[str, tuple[Change, ...]]]:
    fields = iter(output.split(b"\0")[:-1])
    commit, found = "", list[Change]()
    for field in fields:
        if not field.startswith(b":"):
            if commit:
                yield commit, tuple(found)
            commit, found = field.strip().decode("ascii"), []
            continue
        _, mode, _, _, status = field.split(b" ")
        found.append(Change(next(fields), 0 if status.startswith(b"D") else int(mode, 8)))
    if commit:
        yield commit, tuple(found)


def _run(repository: GitRepository, words: Sequence[str], what: str, stdin: bytes | None = None) -> bytes:
    status, output, complaint = run_git(*_NO_GRAPH, *words, directory=repository.path, stdin=stdin)
    if status:
        raise InputError(
            f"{printable(str(repository.path))}: {what} cannot be read: {complaint}; if this is a partial "
            "clone, clone again without --filter, else run `git fsck`"
        )
    return output


def _headers(head: bytes) -> list[tuple[bytes, bytes]]:
    """Return a commit's headers; lines that go on with one, as signatures do, are left out."""
    lines = (line.partition(b" ") for line in head.split(b"\n") if line[:1] != b" ")
    return [(key, value) for key, _, value in lines]


def _first_paragraph(message: bytes) -> bytes:
    """Return what `git log --format=%s` shows: the first lines up to a blank one, joined by spaces."""
    lines: list[bytes] = []
    for line in message.split(b"\n"):
        stripped = line.rstrip(b" \t\r")
        if stripped:
            lines.append(stripped)
        elif lines:
            break
    return b" ".join(lines).strip()


def _decoded(text: bytes, encoding: bytes) -> str | None:
    try:
        name = codecs.lookup(encoding.decode("ascii")).name if encoding else _UTF_8
        return text.decode(name) if name in _ENCODINGS else None
    except (LookupError, ValueError):
        return None
