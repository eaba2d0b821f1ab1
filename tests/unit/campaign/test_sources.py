import errno
import hashlib
import json
import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

from core.campaign import sources
from core.campaign.sources import FrozenSource, copy_frozen, freeze, read_frozen, verify_frozen
from core.errors import InputError, ProblemsError
from core.git import GitRepository
from core.repositories import RepositoryEntry
from tests.support.repositories import (
    bait,
    commit_literally,
    git,
    hash_blob,
    make_repository,
    raw_tree,
)

Files = dict[str | bytes, bytes]

OTHER_COMMIT = "0123456789abcdef0123456789abcdef01234567"
LFS_POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:%b\nsize 12345\n" % (b"a" * 64)
NASTY: Files = {
    b"crlf.py": b"a\r\nb\r\n",
    b"mixed.txt": b"a\r\nb\n\rc",
    b"bom.py": b"\xef\xbb\xbfx = 1\n",
    b"caf\xe9.py": b"# caf\xe9\n",
    b"new\nline.py": b"1\n",
    b"tab\t\"quote'.py": b"2\n",
    b"-dash.py": b"3\n",
    b"--output=x": b"4\n",
    b"[bracket]*?.py": b"5\n",
    b"back\\slash.py": b"6\n",
    b" space ": b"7\n",
    b"esc\x1b[31m.py": b"8\n",
    b"...": b"9\n",
    b".gitignore": b"*\n",
    b"deep/er/empty.py": b"",
    b"git/.github/x.yml": b"10\n",
}


def frozen(repository: Path, destination: Path, label: str = "r", commit: str | None = None) -> FrozenSource:
    entry = RepositoryEntry(label=label, path=repository, commit=commit)
    with GitRepository(repository) as opened:
        return freeze(opened, entry, destination)


def on_disk(tree: Path) -> Files:
    found: Files = {}
    for path in tree.rglob("*"):
        relative = path.relative_to(tree)
        if relative.parts[0] == ".git" or stat.S_ISDIR(path.lstat().st_mode):
            continue
        assert stat.S_ISREG(path.lstat().st_mode)
        found[os.fsencode(relative)] = path.read_bytes()
    return found


def tracked(tree: Path) -> set[bytes]:
    return set(git(tree, "ls-files", "-z").split(b"\0")[:-1])


def everything(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*")}


@pytest.fixture
def destination(tmp_path: Path) -> Path:
    return tmp_path / "run" / "repositories"


@pytest.fixture
def origin(tmp_path: Path) -> Path:
    return tmp_path / "origin"


def test_every_tracked_file_is_written_with_its_exact_bytes(origin: Path, destination: Path) -> None:
    commit = make_repository(origin, NASTY)
    source = frozen(origin, destination)
    assert on_disk(destination / "r") == NASTY
    assert tracked(destination / "r") == set(NASTY)
    assert (source.label, source.commit, source.files) == ("r", commit, len(NASTY))
    assert source.bytes == sum(map(len, NASTY.values()))
    assert (source.links, source.submodules, source.lfs_pointers) == (0, 0, 0)
    assert verify_frozen(destination, source) == []


def test_the_commit_is_frozen_and_not_the_checkout(origin: Path, destination: Path) -> None:
    first = make_repository(origin, {"a.py": b"first\n"})
    make_repository(origin, {"a.py": b"second\n", "b.py": b"2\n"})
    (origin / "a.py").write_bytes(b"edited\n")
    (origin / "untracked.py").write_bytes(b"x\n")
    frozen(origin, destination, "old", first)
    frozen(origin, destination, "new")
    assert on_disk(destination / "old") == {b"a.py": b"first\n"}
    assert on_disk(destination / "new") == {b"a.py": b"second\n", b"b.py": b"2\n"}


def test_what_was_frozen_is_kept_beside_the_tree(origin: Path, destination: Path) -> None:
    commit = make_repository(origin, {"a.py": b"1\n"})
    assert read_frozen(destination, "r") is None
    source = frozen(origin, destination)
    assert read_frozen(destination, "r") == source
    assert json.loads((destination / "r.json").read_bytes()) == {
        "format": "boresight-source@1",
        "label": "r",
        "commit": commit,
        "tree_digest": source.tree_digest,
        "files": 1,
        "bytes": 2,
        "links": 0,
        "submodules": 0,
        "lfs_pointers": 0,
    }


def test_a_record_of_a_newer_format_is_refused(origin: Path, destination: Path) -> None:
    make_repository(origin, {"a.py": b"1\n"})
    frozen(origin, destination)
    record = destination / "r.json"
    record.write_bytes(record.read_bytes().replace(b"source@1", b"source@2"))
    with pytest.raises(InputError, match='format: found "boresight-source@2"'):
        read_frozen(destination, "r")


def test_the_tree_digest_is_what_its_definition_says(origin: Path, destination: Path) -> None:
    files: Files = {"b.py": b"1\n", "a/x": b"2\n", "a.py": b"3\n", "a-b": b"../x"}
    make_repository(origin, files, modes={"b.py": 0o100755, "a-b": 0o120000})
    listing = b"".join(
        path + b"\0" + mode + b"\0" + hashlib.sha256(content).hexdigest().encode() + b"\n"
        for path, mode, content in [
            (b"a-b", b"100644", b"../x"),
            (b"a.py", b"100644", b"3\n"),
            (b"a/x", b"100644", b"2\n"),
            (b"b.py", b"100755", b"1\n"),
        ]
    )
    assert frozen(origin, destination).tree_digest == hashlib.sha256(listing).hexdigest()
    assert (destination / "r.files").read_bytes() == listing


def test_equal_trees_have_equal_digests_wherever_they_lie(origin: Path, tmp_path: Path) -> None:
    make_repository(origin, NASTY)
    git(tmp_path, "clone", "--quiet", "--bare", "origin", "bare.git")
    first = frozen(origin, tmp_path / "one", "a")
    second = frozen(tmp_path / "bare.git", tmp_path / "two", "b")
    assert first.tree_digest == second.tree_digest
    index = ".git/index"
    assert (tmp_path / "one/a" / index).read_bytes() == (tmp_path / "two/b" / index).read_bytes()


def test_links_become_plain_files_that_lead_nowhere(origin: Path, destination: Path) -> None:
    links: Files = {"passwd": b"/etc/passwd", "up": b"../../../..", "in": b"a.py", "odd": b"\xff\n x"}
    make_repository(origin, {"a.py": b"1\n", **links}, modes=dict.fromkeys(links, 0o120000), checkout=False)
    source = frozen(origin, destination)
    assert on_disk(destination / "r") == {os.fsencode(p): c for p, c in {"a.py": b"1\n", **links}.items()}
    assert source.links == 4
    assert source.files == 5
    assert tracked(destination / "r") == {b"a.py", b"passwd", b"up", b"in", b"odd"}
    assert git(destination / "r", "ls-files", "-s", "passwd").startswith(b"120000 ")


def test_a_link_is_no_way_out_for_the_files_after_it(origin: Path, destination: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    make_repository(origin, {"a.py": b"1\n"})
    blob = hash_blob(origin, b"evil\n")
    inner = raw_tree(origin, [(0o100644, b"x", blob)])
    link = hash_blob(origin, os.fsencode(outside))
    tree = raw_tree(origin, [(0o120000, b"way", link), (0o40000, b"way", inner)])
    commit = commit_literally(origin, tree)
    with pytest.raises(ProblemsError, match="way: is both a file and a folder"):
        frozen(origin, destination, commit=commit)
    assert not list(outside.iterdir())
    assert not destination.exists()


def test_submodules_are_left_out_and_counted(origin: Path, destination: Path) -> None:
    files: Files = {"a.py": b"1\n", "sub/module": OTHER_COMMIT.encode(), ".gitmodules": b"[submodule]\n"}
    make_repository(origin, files, modes={"sub/module": 0o160000})
    source = frozen(origin, destination)
    assert source.submodules == 1
    assert tracked(destination / "r") == {b"a.py", b".gitmodules"} == set(on_disk(destination / "r"))


def test_lfs_pointers_stay_pointers_and_are_counted(origin: Path, destination: Path) -> None:
    files: Files = {
        "model.bin": LFS_POINTER,
        ".gitattributes": b"*.bin filter=lfs diff=lfs merge=lfs -text\n",
        "about.md": b"# " + LFS_POINTER,
        "long.txt": LFS_POINTER + b"x" * 1024,
    }
    make_repository(origin, files)
    source = frozen(origin, destination)
    assert (destination / "r" / "model.bin").read_bytes() == LFS_POINTER
    assert source.lfs_pointers == 1


def test_the_executable_bit_is_kept_whatever_the_umask(origin: Path, destination: Path) -> None:
    make_repository(origin, {"run": b"1\n", "read": b"2\n"}, modes={"run": 0o100755})
    before = os.umask(0o077)
    try:
        source = frozen(origin, destination)
    finally:
        os.umask(before)
    modes = {name: stat.S_IMODE((destination / "r" / name).stat().st_mode) for name in ("run", "read")}
    assert modes == {"run": 0o555, "read": 0o444}
    (destination / "r" / "run").chmod(0o644)
    assert verify_frozen(destination, source) == ["changed: run"]


def test_attributes_change_nothing(origin: Path, destination: Path) -> None:
    files: Files = {
        ".gitattributes": (
            b"*.txt text eol=crlf\n*.sh text eol=lf\nsecret.py export-ignore\n"
            b"version.py export-subst ident\nwide.txt working-tree-encoding=UTF-16\n"
        ),
        "a.txt": b"1\n2\n",
        "b.sh": b"1\r\n2\r\n",
        "secret.py": b"1\n",
        "version.py": b"# $Format:%H$ $Id$\n",
        "wide.txt": b"plain\n",
    }
    make_repository(origin, files)
    frozen(origin, destination)
    assert on_disk(destination / "r") == {os.fsencode(path): content for path, content in files.items()}


def test_nothing_that_anybody_configured_is_run(
    origin: Path, destination: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_repository(origin, {"a.py": b"1\n", ".gitattributes": b"* filter=bait diff=bait\n"})
    marker = bait(tmp_path, "script")
    script = str(tmp_path / "script")
    hooks = tmp_path / "hooks"
    template = tmp_path / "template" / "hooks"
    template.mkdir(parents=True)
    hooks.mkdir()
    for name in ("post-checkout", "post-index-change", "pre-commit", "reference-transaction"):
        for folder in (hooks, template, origin / ".git" / "hooks"):
            folder.mkdir(exist_ok=True)
            shutil.copy(script, folder / name)
    configuration = (
        f'[core]\n fsmonitor = {script}\n hooksPath = {hooks}\n[filter "bait"]\n smudge = {script}\n'
        f" clean = {script}\n process = {script}\n required = true\n"
        f'[diff "bait"]\n textconv = {script}\n[init]\n templateDir = {template.parent}\n'
    )
    with open(origin / ".git" / "config", "a") as stream:
        stream.write(configuration)
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text(configuration + "[core]\n excludesFile = ~/ignore\n")
    (home / "ignore").write_text("*\n")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GIT_TEMPLATE_DIR", str(template.parent))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "index"))

    source = frozen(origin, destination)
    assert verify_frozen(destination, source) == []
    copy_frozen(destination, "r", tmp_path / "copy")
    assert not marker.exists()
    assert not (destination / "r" / ".git" / "hooks").exists()
    assert not (tmp_path / "index").exists()
    assert tracked(destination / "r") == {b"a.py", b".gitattributes"}

    monkeypatch.delenv("GIT_INDEX_FILE")
    subprocess.run(["git", "-C", origin, "status"], capture_output=True, check=False)
    assert marker.exists(), "the bait was live"


def test_git_sees_a_clean_tree_with_its_own_index(origin: Path, destination: Path) -> None:
    make_repository(origin, NASTY)
    frozen(origin, destination)
    tree = destination / "r"
    assert git(tree, "status", "--porcelain", "-z").split(b"\0")[0].startswith(b"A  ")
    assert git(tree, "ls-files", "-z", "--modified") == b""
    assert git(tree, "ls-files", "-z", "--others") == b""
    assert git(tree, "rev-parse", "--show-toplevel").decode().strip() == str(tree)


def test_replaced_objects_are_frozen_as_committed(origin: Path, destination: Path) -> None:
    make_repository(origin, {"a.py": b"true\n"})
    git(origin, "replace", hash_blob(origin, b"true\n"), hash_blob(origin, b"false\n"))
    frozen(origin, destination)
    assert on_disk(destination / "r") == {b"a.py": b"true\n"}


def test_a_commit_without_files_freezes_to_an_empty_tree(origin: Path, destination: Path) -> None:
    make_repository(origin, {})
    source = frozen(origin, destination)
    assert (source.files, on_disk(destination / "r"), tracked(destination / "r")) == (0, {}, set())
    assert verify_frozen(destination, source) == []


@pytest.mark.parametrize(
    ("name", "why"),
    [
        (b"..", "has the part .."),
        (b".", "has the part ."),
        (b"../x", "has the part .."),
        (b"/etc/x", "is absolute"),
        (b"a//b", "has an empty part"),
        (b"a/", "has an empty part"),
        (b".git", "stands for .git"),
        (b".GIT", "stands for .git"),
        (b".git.", "stands for .git"),
        (b".git ", "stands for .git"),
        (b".git . ", "stands for .git"),
        (b".git:x", "stands for .git"),
        (b".git::$INDEX_ALLOCATION", "stands for .git"),
        (b"git~1", "stands for .git"),
        (b"GIT~1", "stands for .git"),
        (b"a\\.git\\config", "stands for .git"),
        (".g\u200cit".encode(), "stands for .git"),
        ("\ufeff.GIT".encode(), "stands for .git"),
    ],
)
@pytest.mark.parametrize("inside", [False, True])
def test_hostile_names_are_refused_before_anything_is_written(
    origin: Path, destination: Path, name: bytes, why: str, inside: bool
) -> None:
    make_repository(origin, {"a.py": b"1\n"})
    blob = hash_blob(origin, b"evil\n")
    tree = raw_tree(origin, [(0o100644, name, blob)])
    if inside:
        tree = raw_tree(origin, [(0o40000, b"folder", tree)])
        why = why if why != "is absolute" else "has an empty part"
    commit = commit_literally(origin, tree)
    before = everything(destination.parents[1])
    with pytest.raises(ProblemsError) as caught:
        frozen(origin, destination, commit=commit)
    (problem,) = caught.value.problems
    assert why in problem
    assert f"repository r at commit {commit}" in str(caught.value)
    assert everything(destination.parents[1]) == before


@pytest.mark.parametrize(
    "name", [b".gitx", b".gitattributes", b"git", b"git~10", b"x.git", b".git~1", b"..."]
)
def test_names_that_only_resemble_hostile_ones_are_written(
    origin: Path, destination: Path, name: bytes
) -> None:
    make_repository(origin, {name: b"1\n"})
    frozen(origin, destination)
    assert set(on_disk(destination / "r")) == tracked(destination / "r") == {name}


def test_a_hostile_folder_is_refused(origin: Path, destination: Path) -> None:
    make_repository(origin, {"a.py": b"1\n"})
    inner = raw_tree(origin, [(0o100644, b"config", hash_blob(origin, b"evil\n"))])
    commit = commit_literally(origin, raw_tree(origin, [(0o40000, b".Git", inner)]))
    with pytest.raises(ProblemsError, match=r"\.Git/config: has a part that stands for \.git"):
        frozen(origin, destination, commit=commit)


def test_a_link_in_place_of_gitmodules_is_refused(origin: Path, destination: Path) -> None:
    make_repository(origin, {"a.py": b"1\n"})
    tree = raw_tree(origin, [(0o120000, b".gitmodules", hash_blob(origin, b"/etc/passwd"))])
    with pytest.raises(ProblemsError, match=r"a link in place of \.gitmodules"):
        frozen(origin, destination, commit=commit_literally(origin, tree))


def test_a_name_given_twice_is_refused(origin: Path, destination: Path) -> None:
    make_repository(origin, {"a.py": b"1\n"})
    blobs = [hash_blob(origin, content) for content in (b"1\n", b"2\n")]
    tree = raw_tree(origin, [(0o100644, b"a.py", blob) for blob in blobs])
    with pytest.raises(ProblemsError, match=r"a\.py: is there twice"):
        frozen(origin, destination, commit=commit_literally(origin, tree))


def test_very_many_hostile_names_are_cut_and_counted(origin: Path, destination: Path) -> None:
    make_repository(origin, {"a.py": b"1\n"})
    blob = hash_blob(origin, b"1\n")
    tree = raw_tree(origin, [(0o100644, b"%03d//" % number, blob) for number in range(100)])
    with pytest.raises(ProblemsError) as caught:
        frozen(origin, destination, commit=commit_literally(origin, tree))
    assert caught.value.problems[-1] == "and 80 more"


def test_changes_are_named_one_by_one(origin: Path, destination: Path, tmp_path: Path) -> None:
    make_repository(origin, {**NASTY, "gone.py": b"1\n", "swapped.py": b"2\n", "folder.py": b"3\n"})
    source = frozen(origin, destination)
    tree = destination / "r"
    (tree / "bom.py").write_bytes(b"x = 1\n")
    (tree / os.fsdecode(b"esc\x1b[31m.py")).write_bytes(b"")
    (tree / "gone.py").unlink()
    (tree / "swapped.py").unlink()
    (tree / "swapped.py").symlink_to(tmp_path)
    (tree / "folder.py").unlink()
    (tree / "folder.py").mkdir()
    (tree / "folder.py" / "x").write_bytes(b"")
    (tree / "deep" / ".git").mkdir()
    (tree / "deep" / ".git" / "HEAD").write_bytes(b"")
    os.mkfifo(tree / "pipe")
    (tree / ".git" / "more").write_bytes(b"")
    assert verify_frozen(destination, source) == [
        "changed: bom.py",
        "added: deep/.git/HEAD",
        "changed: esc␛[31m.py",
        "missing: folder.py",
        "added: folder.py/x",
        "missing: gone.py",
        "added: pipe",
        "changed: swapped.py",
    ]


def test_a_link_with_the_same_content_is_still_a_change(
    origin: Path, destination: Path, tmp_path: Path
) -> None:
    make_repository(origin, {"a.py": b"1\n"})
    source = frozen(origin, destination)
    (tmp_path / "elsewhere.py").write_bytes(b"1\n")
    (destination / "r" / "a.py").unlink()
    (destination / "r" / "a.py").symlink_to(tmp_path / "elsewhere.py")
    assert verify_frozen(destination, source) == ["changed: a.py"]


def test_a_lost_tree_and_a_lost_listing_are_told(origin: Path, destination: Path) -> None:
    make_repository(origin, {"a.py": b"1\n"})
    source = frozen(origin, destination)
    (destination / "r" / "a.py").write_bytes(b"2\n")
    (destination / "r.files").write_bytes(b"a.py\0rubbish")
    assert verify_frozen(destination, source) == ["changed: the tree r, and also its listing r.files"]
    shutil.rmtree(destination / "r")
    assert verify_frozen(destination, source) == ["missing: the whole tree r"]


def test_a_frozen_tree_is_never_overwritten(origin: Path, destination: Path) -> None:
    make_repository(origin, {"a.py": b"1\n"})
    source = frozen(origin, destination)
    make_repository(origin, {"a.py": b"2\n"})
    with pytest.raises(InputError, match="is there already"):
        frozen(origin, destination)
    assert verify_frozen(destination, source) == []


def test_a_foreign_folder_under_the_name_is_not_touched(origin: Path, destination: Path) -> None:
    make_repository(origin, {"a.py": b"1\n"})
    (destination / "r").mkdir(parents=True)
    (destination / "r" / "mine").write_text("x")
    with pytest.raises(InputError, match="is there already"):
        frozen(origin, destination)
    assert everything(destination) == {"r", "r/mine"}


def test_what_a_killed_freeze_left_is_replaced(origin: Path, destination: Path) -> None:
    make_repository(origin, {"a.py": b"1\n"})
    leftover = destination / ".r.partial"
    (leftover / "half").mkdir(parents=True)
    (leftover / "half" / "written").write_bytes(b"x")
    (destination / "r.json").write_bytes(b"{}")
    assert read_frozen(destination, "r") is None
    source = frozen(origin, destination)
    assert on_disk(destination / "r") == {b"a.py": b"1\n"}
    assert read_frozen(destination, "r") == source
    assert not leftover.exists()


def test_a_freeze_that_fails_leaves_nothing(
    origin: Path, destination: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_repository(origin, {"a.py": b"1\n", "b.py": b"2\n"})

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "somewhere")

    for step in ("_write_index", "write_durably"):
        with monkeypatch.context() as patch:
            patch.setattr(sources, step, full)
            with pytest.raises(InputError, match="the disk is full; free some space"):
                frozen(origin, destination)
        assert everything(destination) == set()
    frozen(origin, destination)


def test_an_interrupted_freeze_leaves_nothing(
    origin: Path, destination: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_repository(origin, {"a.py": b"1\n", "b.py": b"2\n"})

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(sources, "_write_index", interrupt)
    with pytest.raises(KeyboardInterrupt):
        frozen(origin, destination)
    assert everything(destination) == set()


def test_a_missing_object_fails_the_freeze_and_leaves_nothing(origin: Path, destination: Path) -> None:
    make_repository(origin, {"a.py": b"1\n", "b.py": b"2\n"})
    blob = hash_blob(origin, b"2\n")
    (origin / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    with pytest.raises(InputError, match=f"object {blob} is not here"):
        frozen(origin, destination)
    assert everything(destination) == set()


def test_a_partial_clone_is_refused_and_not_completed(
    tmp_path: Path, origin: Path, destination: Path
) -> None:
    make_repository(origin, {"a.py": b"1\n"})
    git(origin, "config", "uploadpack.allowFilter", "true")
    git(tmp_path, "clone", "--quiet", "--no-checkout", "--filter=blob:none", f"file://{origin}", "partial")
    with pytest.raises(InputError, match="is not here; in a partial clone, clone again without --filter"):
        frozen(tmp_path / "partial", destination)
    assert everything(destination) == set()


def test_shallow_clones_and_worktrees_freeze_alike(tmp_path: Path, origin: Path, destination: Path) -> None:
    make_repository(origin, NASTY)
    git(tmp_path, "clone", "--quiet", "--no-checkout", "--depth=1", f"file://{origin}", "shallow")
    git(origin, "worktree", "add", "--quiet", "--no-checkout", str(tmp_path / "tree"))
    digests = {frozen(tmp_path / name, destination, name).tree_digest for name in ("shallow", "tree")}
    assert digests == {frozen(origin, destination, "origin").tree_digest}


def test_a_name_too_long_for_the_disk_is_told(origin: Path, destination: Path) -> None:
    make_repository(origin, {b"x" * 300: b"1\n"}, checkout=False)
    with pytest.raises(InputError, match="a name is longer than this file system allows"):
        frozen(origin, destination)
    assert everything(destination) == set()


def test_a_destination_that_is_a_file_is_told(origin: Path, tmp_path: Path) -> None:
    make_repository(origin, {"a.py": b"1\n"})
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(InputError, match=str(tmp_path / "file")):
        frozen(origin, tmp_path / "file")


def test_a_copy_is_whole_and_its_own(origin: Path, destination: Path, tmp_path: Path) -> None:
    make_repository(origin, NASTY, modes={b"crlf.py": 0o100755})
    source = frozen(origin, destination)
    target = tmp_path / "state" / "tree"
    copy_frozen(destination, "r", target)
    assert on_disk(target) == NASTY
    assert tracked(target) == set(NASTY)
    assert os.access(target / "crlf.py", os.X_OK)
    (target / "crlf.py").write_bytes(b"changed by a tool")
    git(target, "rm", "-q", "--cached", "bom.py")
    assert verify_frozen(destination, source) == []
    assert tracked(destination / "r") == set(NASTY)


def test_a_copy_replaces_nothing_and_fails_whole(origin: Path, destination: Path, tmp_path: Path) -> None:
    make_repository(origin, {"a.py": b"1\n"})
    frozen(origin, destination)
    (tmp_path / "target").mkdir()
    with pytest.raises(InputError, match="is there already"):
        copy_frozen(destination, "r", tmp_path / "target")
    os.mkfifo(destination / "r" / "pipe")
    with pytest.raises(InputError, match=r"could not write the copy of .*pipe"):
        copy_frozen(destination, "r", tmp_path / "other")
    with pytest.raises(InputError, match="could not write"):
        copy_frozen(destination, "absent", tmp_path / "other")
    assert {path.name for path in tmp_path.iterdir()} == {"origin", "run", "target"}
