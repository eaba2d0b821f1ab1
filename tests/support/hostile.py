"""One repository with as much in it as Git allows that a reader could trip over, and all its bait."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import NamedTuple

from tests.support.campaigns import README, SOURCE
from tests.support.repositories import bait, commit_tree, git, hash_blob, make_repository

LFS_POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"a" * 64 + b"\nsize 12345\n"
ATTRIBUTES = b"""\
* filter=bait diff=bait merge=bait ident text eol=crlf working-tree-encoding=UTF-16
secret.py export-ignore
stamped.py export-subst
*.bin filter=lfs diff=lfs merge=lfs -text
"""
SUBMODULE = b"0123456789abcdef0123456789abcdef01234567"
NESTED = b"def nested():\n    return " + b"(" * 500 + b"1" + b")" * 500 + b"\n"


def definition(name: str) -> bytes:
    """Return a module of one function with a summary of its own."""
    return f'def {name}():\n    """Return what only {name} returns."""\n'.encode()


FILES: dict[str | bytes, bytes] = {
    b"store/records.py": SOURCE,
    b"README.md": README,
    b"crlf.py": definition("ends_with_crlf").replace(b"\n", b"\r\n"),
    b"crlf.md": b"# Ends its lines with both\r\n\r\nText.\r\n",
    b"bom.py": b"\xef\xbb\xbf" + definition("begins_with_a_mark"),
    b"latin1.py": b"# -*- coding: latin-1 -*-\n# caf\xe9\n" + definition("has_a_coding_line"),
    b"no_coding.py": b'x = "caf\xe9"\n' + definition("has_no_coding_line"),
    b"form_feed.py": b"\f\n" + definition("follows_a_form_feed") + b"\f\n" + definition("follows_another"),
    b"broken.py": b"def broken(:\n",
    b"nul.py": b"x = 1\0\n" + definition("after_nul"),
    b"nested.py": NESTED,
    b"long.py": b"".join(b"x%d = %d\n" % (number, number) for number in range(20_000))
    + definition("after_20000_lines"),
    b"with space.py": definition("with_space"),
    b"new\nline.py": definition("with_newline"),
    b"tab\t'quote\".py": definition("with_tab_and_quotes"),
    b"[bracket]*?.py": definition("with_brackets"),
    b"-dash.py": definition("with_leading_dash"),
    b"--output=x.py": definition("with_leading_dashes"),
    "grün.py".encode(): definition("with_umlaut"),
    b"caf\xe9.py": definition("named_outside_utf8"),
    b"esc\x1b[31m.py": definition("with_escape"),
    b"link.py": b"/etc/passwd",
    b"up.md": b"../../../etc/passwd",
    b"sub": SUBMODULE,
    b"large.bin": LFS_POINTER,
    b"secret.py": definition("left_out_of_archives"),
    b"stamped.py": b"# $Format:%H$ $Id$\n" + definition("stamped_by_archives"),
    b".gitattributes": ATTRIBUTES,
    b".gitignore": b"*\n",
    b".gitmodules": b'[submodule "sub"]\n\tpath = sub\n\turl = file:///dev/null\n\tupdate = !touch pwned\n',
    b"run.sh": b"#!/bin/sh\n",
}
MODES: dict[str | bytes, int] = {
    b"link.py": 0o120000,
    b"up.md": 0o120000,
    b"sub": 0o160000,
    b"run.sh": 0o100755,
}


class Hostile(NamedTuple):
    """The repository, its commit, the marker that its bait would leave, and a home that holds bait too."""

    folder: Path
    commit: str
    marker: Path
    home: Path


def hostile_repository(folder: Path) -> Hostile:
    """Make it in `folder/hostile`; the configuration, hooks and home around it would leave the marker."""
    repository = folder / "hostile"
    commit = make_repository(repository, FILES, modes=MODES)
    _replace(repository, commit)
    marker = bait(folder, "script")
    script = folder / "script"
    hooks = folder / "hooks"
    hooks.mkdir()
    for name in ("post-checkout", "post-index-change", "pre-commit", "reference-transaction", "fsmonitor"):
        for each in (hooks, repository / ".git" / "hooks"):
            each.mkdir(exist_ok=True)
            shutil.copy(script, each / name)
    configuration = _configuration(script, hooks)
    with open(repository / ".git" / "config", "a") as stream:
        stream.write(configuration)
    home = folder / "home"
    home.mkdir()
    (home / ".gitconfig").write_text(configuration + "[core]\n\texcludesFile = ~/ignore\n")
    (home / "ignore").write_text("*\n")
    return Hostile(repository, commit, marker, home)


def _replace(repository: Path, commit: str) -> None:
    """Have replace refs and grafts tell another story than the commit."""
    blob = git(repository, "rev-parse", f"{commit}:store/records.py").decode().strip()
    git(repository, "replace", blob, hash_blob(repository, b"def replaced(): ...\n"))
    other = commit_tree(repository, git(repository, "write-tree").decode().strip())
    git(repository, "update-ref", "HEAD", commit)
    (repository / ".git" / "info").mkdir(exist_ok=True)
    (repository / ".git" / "info" / "grafts").write_text(f"{commit} {other}\n")


def _configuration(script: Path, hooks: Path) -> str:
    return f"""\
[core]
\tfsmonitor = {script}
\thooksPath = {hooks}
\tpager = {script}
\tsshCommand = {script}
\teditor = {script}
\talternateRefsCommand = {script}
[filter "bait"]
\tsmudge = {script}
\tclean = {script}
\tprocess = {script}
\trequired = true
[filter "lfs"]
\tprocess = {script}
\trequired = true
[diff "bait"]
\ttextconv = {script}
[alias]
\tcat-file = !{script}
\tls-tree = !{script}
[credential]
\thelper = !{script}
"""
