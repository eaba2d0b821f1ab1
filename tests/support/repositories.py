"""Git repositories for tests, made from a mapping of paths to bytes, with the same commit everywhere."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

Files = Mapping[str, bytes] | Mapping[bytes, bytes] | Mapping[str | bytes, bytes]

ENVIRONMENT = {
    "PATH": os.environ.get("PATH", os.defpath),
    "LC_ALL": "C",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_AUTHOR_NAME": "A. Author",
    "GIT_AUTHOR_EMAIL": "author@example.org",
    "GIT_AUTHOR_DATE": "2024-01-02T03:04:05Z",
    "GIT_COMMITTER_NAME": "A. Author",
    "GIT_COMMITTER_EMAIL": "author@example.org",
    "GIT_COMMITTER_DATE": "2024-01-02T03:04:05Z",
}


def git(folder: Path, *arguments: str | bytes, stdin: bytes | None = None) -> bytes:
    """Run Git in a folder with a fixed author, date and environment; return its stdout."""
    command = [b"git", b"-C", os.fsencode(folder), *(os.fsencode(argument) for argument in arguments)]
    done = subprocess.run(command, input=stdin, capture_output=True, env=ENVIRONMENT, check=False)
    if done.returncode:
        raise AssertionError(f"git {arguments!r} failed: {done.stderr.decode(errors='replace')}")
    return done.stdout


def make_repository(
    folder: Path,
    files: Files,
    *,
    modes: Mapping[str, int] | Mapping[bytes, int] | Mapping[str | bytes, int] | None = None,
    checkout: bool = True,
) -> str:
    """Make (or add a commit to) a Git repository at `folder` whose commit holds exactly `files`.

    Contents are stored byte for byte, whatever attributes say. `modes` gives other modes than 0o100644
    by path: 0o100755, 0o120000 (the content is the link's text) or 0o160000 (the content is the
    submodule's commit in hex). With `checkout` the files are also written to the work tree (links as
    links, submodules left out). Returns the commit.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / ".git").exists():
        git(folder, "init", "--quiet", "--initial-branch=main")
    modes = {_bytes(path): mode for path, mode in (modes or {}).items()}
    records = []
    for name, content in files.items():
        path = _bytes(name)
        mode = modes.get(path, 0o100644)
        oid = content.decode() if mode == 0o160000 else hash_blob(folder, content)
        records.append(f"{mode:06o} {oid}\t".encode() + path + b"\0")
        if checkout:
            _write(folder, path, content, mode)
    git(folder, "read-tree", "--empty")
    git(folder, "update-index", "-z", "--index-info", stdin=b"".join(records))
    return commit_tree(folder, git(folder, "write-tree").decode().strip())


def hash_blob(folder: Path, content: bytes) -> str:
    """Store a blob without any filter; return its object id."""
    return git(folder, "hash-object", "-w", "--no-filters", "--stdin", stdin=content).decode().strip()


def commit_tree(folder: Path, tree: str) -> str:
    """Commit a tree onto the current branch; return the commit."""
    commit = git(folder, "commit-tree", "-m", "A commit", tree).decode().strip()
    git(folder, "update-ref", "HEAD", commit)
    return commit


def raw_tree(folder: Path, entries: list[tuple[int, bytes, str]]) -> str:
    """Store a tree of (mode, name, object id) as given, however malformed; return its object id."""
    data = b"".join(f"{mode:o} ".encode() + name + b"\0" + bytes.fromhex(oid) for mode, name, oid in entries)
    command = ("hash-object", "-t", "tree", "-w", "--stdin", "--literally")
    return git(folder, *command, stdin=data).decode().strip()


def bait(folder: Path, name: str) -> Path:
    """Make a script that leaves a marker when it is run; return the marker."""
    marker = folder / f"{name}-was-run"
    script = folder / name
    script.write_text(f"#!/bin/sh\n: > '{marker}'\nexit 1\n")
    script.chmod(0o755)
    return marker


def commit_literally(folder: Path, tree: str) -> str:
    """Store a commit of a tree that Git itself would not commit; return its object id."""
    person = "A. Author <author@example.org> 1704164645 +0000"
    text = f"tree {tree}\nauthor {person}\ncommitter {person}\n\nA commit\n".encode()
    command = ("hash-object", "-t", "commit", "-w", "--stdin", "--literally")
    return git(folder, *command, stdin=text).decode().strip()


def _bytes(path: str | bytes) -> bytes:
    return path if isinstance(path, bytes) else path.encode()


def _write(folder: Path, path: bytes, content: bytes, mode: int) -> None:
    if mode == 0o160000:
        return
    place = folder / os.fsdecode(path)
    place.parent.mkdir(parents=True, exist_ok=True)
    if mode == 0o120000:
        place.symlink_to(os.fsdecode(content))
        return
    place.write_bytes(content)
    place.chmod(mode & 0o777)
