"""Files of a frozen tree: never outside it, never through a link, never without bound."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from core.detail import source_tree
from core.detail.source_tree import SourceError, SourceFile, SourceTree, read_source, source_path


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    (root / "pkg").mkdir(parents=True)
    (root / "pkg" / "mod.py").write_bytes(b"one\ntwo\n")
    (root / ".git").mkdir()
    (root / ".git" / "config").write_text("[core]")
    (tmp_path / "secret").write_text("secret")
    return root


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/etc/passwd",
        "../secret",
        "pkg/../../secret",
        "pkg//mod.py",
        "./pkg/mod.py",
        "a\0b",
        ".git/config",
    ],
)
def test_a_path_that_leads_out_of_the_tree_is_refused(tree: Path, path: str) -> None:
    with pytest.raises(SourceError, match="no path of the frozen tree"):
        read_source(tree, path)
    with pytest.raises(SourceError, match="no path of the frozen tree"):
        source_path(tree, path)


@pytest.mark.parametrize("path", ["absent.py", "pkg/mod.py/deeper", "half\ud800.py", "x" * 300])
def test_a_file_that_is_not_there_is_told(tree: Path, path: str) -> None:
    with pytest.raises(SourceError, match="not in the frozen tree"):
        read_source(tree, path)


def test_links_are_not_followed_neither_as_files_nor_as_folders(tree: Path) -> None:
    (tree / "file.py").symlink_to("../secret")
    (tree / "folder").symlink_to("..")
    with pytest.raises(SourceError, match="a link"):
        read_source(tree, "file.py")
    with pytest.raises(SourceError):
        read_source(tree, "folder/secret")


def test_what_is_no_file_is_refused_without_waiting(tree: Path) -> None:
    os.mkfifo(tree / "pipe.py")
    with pytest.raises(SourceError, match="no file"):
        read_source(tree, "pipe.py")
    with pytest.raises(SourceError, match="no file"):
        read_source(tree, "pkg")


def test_a_huge_file_is_not_read(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_tree, "LARGEST_SOURCE", 1024 * 1024)
    with open(tree / "huge.py", "wb") as stream:
        stream.truncate(1024 * 1024 + 1)
    with pytest.raises(SourceError, match="larger than 1 MiB"):
        read_source(tree, "huge.py")


def test_a_file_that_is_there_is_read_and_found(tree: Path) -> None:
    assert read_source(tree, "pkg/mod.py") == b"one\ntwo\n"
    assert source_path(tree, "pkg/mod.py") == tree / "pkg" / "mod.py"


def test_lines_are_counted_as_the_rules_of_banks_count_them() -> None:
    source = b"one\x0cstill one\ntwo\n"
    assert SourceFile("a.py", source).lines(1, 5, 100) == ("one\x0cstill one", "two")
    assert SourceFile("a.md", source).lines(1, 5, 100) == ("one", "still one", "two")


def test_lines_are_cut_decoded_by_their_coding_line_and_never_fail() -> None:
    latin = SourceFile("a.py", b"# -*- coding: latin-1 -*-\n# caf\xe9\n")
    assert latin.lines(2, 1, 100) == ("# café",)
    assert SourceFile("a.py", b"# caf\xe9\n").lines(1, 1, 100) == ("# caf\ufffd",)
    assert SourceFile("a.py", b"x" * 1_000_000).lines(1, 1, 10) == ("x" * 10,)
    assert SourceFile("a.py", b"# coding: hex\nx\n").lines(2, 1, 10) == ("x",)
    assert SourceFile("a.py", b"one\n").lines(9, 3, 10) == ()


def test_a_tree_keeps_only_the_files_that_it_read_last(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_tree, "_KEPT_FILES", 2)
    for name in "abc":
        (tree / f"{name}.py").write_text(name)
    held = SourceTree(tree)
    first = held.file("a.py")
    assert held.file("a.py") is first
    held.file("b.py")
    held.file("c.py")
    assert held.file("a.py") is not first
