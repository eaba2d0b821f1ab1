import os
from pathlib import Path

import psutil
import pytest

from core.errors import InputError
from core.git import GitRepository, TreeEntry, public_url, top_level
from tests.support.repositories import bait, commit_literally, git, hash_blob, make_repository

NASTY: dict[str | bytes, bytes] = {
    b"crlf.py": b"a\r\nb\r\n",
    b"bom.py": b"\xef\xbb\xbfx = 1\n",
    b"caf\xe9.py": b"# caf\xe9\n",
    b"new\nline.py": b"1\n",
    b"tab\t\"quote'.py": b"2\n",
    b"-dash.py": b"3\n",
    b"[bracket]*.py": b"4\n",
    b"a\\b.py": b"5\n",
    b"deep/er/empty.py": b"",
}


def contents(repository: GitRepository, commit: str) -> dict[str | bytes, bytes]:
    return {entry.path: repository.blob(entry.oid) for entry in repository.entries(commit)}


def refusal(path: Path) -> str:
    with pytest.raises(InputError) as caught, GitRepository(path) as repository:
        repository.head()
    assert str(path) in str(caught.value)
    return str(caught.value)


def test_every_path_and_byte_of_a_commit_is_read_as_stored(tmp_path: Path) -> None:
    commit = make_repository(tmp_path / "r", NASTY)
    with GitRepository(tmp_path / "r") as repository:
        assert repository.head() == commit
        assert contents(repository, commit) == NASTY


def test_entries_tell_what_they_are(tmp_path: Path) -> None:
    other = "0123456789abcdef0123456789abcdef01234567"
    commit = make_repository(
        tmp_path,
        {"file": b"1", "run": b"2", "link": b"/etc/passwd", "sub": other.encode()},
        modes={"run": 0o100755, "link": 0o120000, "sub": 0o160000},
    )
    with GitRepository(tmp_path) as repository:
        found = {entry.path: entry for entry in repository.entries(commit)}
    told = {
        path: (e.mode, e.is_file, e.is_executable, e.is_link, e.is_submodule) for path, e in found.items()
    }
    assert told == {
        b"file": (0o100644, True, False, False, False),
        b"run": (0o100755, True, True, False, False),
        b"link": (0o120000, False, False, True, False),
        b"sub": (0o160000, False, False, False, True),
    }
    assert found[b"sub"].oid == other


def test_the_work_tree_and_index_are_not_looked_at(tmp_path: Path) -> None:
    commit = make_repository(tmp_path, {"a.py": b"committed\n"})
    (tmp_path / "a.py").write_bytes(b"edited\n")
    (tmp_path / "b.py").write_bytes(b"staged\n")
    git(tmp_path, "add", "b.py")
    with GitRepository(tmp_path) as repository:
        assert contents(repository, commit) == {b"a.py": b"committed\n"}


@pytest.mark.parametrize("name", ["a b", "$HOME", "~", "new\nline", "caf\udce9", "-x"])
def test_a_repository_may_lie_anywhere(tmp_path: Path, name: str) -> None:
    commit = make_repository(tmp_path / name, {"a.py": b"1\n"})
    with GitRepository(tmp_path / name) as repository:
        assert repository.head() == commit


def test_a_relative_path_counts_from_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit = make_repository(tmp_path / "r", {"a.py": b"1\n"})
    monkeypatch.chdir(tmp_path)
    with GitRepository(Path("r")) as repository:
        monkeypatch.chdir("/")
        assert repository.head() == commit
        assert repository.path == tmp_path / "r"


def test_bare_repositories_worktrees_and_git_folders_work(tmp_path: Path) -> None:
    commit = make_repository(tmp_path / "r", NASTY)
    git(tmp_path, "clone", "--quiet", "--bare", "r", "bare.git")
    git(tmp_path / "r", "worktree", "add", "--quiet", "--no-checkout", tmp_path.joinpath("tree").as_posix())
    for name in ("bare.git", "tree", "r/.git"):
        with GitRepository(tmp_path / name) as repository:
            assert repository.head() == commit
            assert contents(repository, commit) == NASTY


def test_a_link_to_a_repository_works(tmp_path: Path) -> None:
    commit = make_repository(tmp_path / "r", {"a.py": b"1\n"})
    (tmp_path / "link").symlink_to("r")
    with GitRepository(tmp_path / "link") as repository:
        assert repository.head() == commit


def test_a_shallow_clone_has_its_own_commits_only(tmp_path: Path) -> None:
    first = make_repository(tmp_path / "r", {"a.py": b"1\n"})
    tree = git(tmp_path / "r", "rev-parse", f"{first}^{{tree}}").decode().strip()
    second = git(tmp_path / "r", "commit-tree", "-p", first, "-m", "next", tree).decode().strip()
    git(tmp_path / "r", "update-ref", "HEAD", second)
    git(tmp_path, "clone", "--quiet", "--depth=1", f"file://{tmp_path}/r", "shallow")
    with GitRepository(tmp_path / "shallow") as repository:
        assert contents(repository, second) == {b"a.py": b"1\n"}
        assert not repository.has_commit(first)
        with pytest.raises(InputError, match=f"git fetch origin {first}.*git fetch --unshallow"):
            repository.resolve(first)
        assert repository.head() == second


def test_a_partial_clone_is_never_completed(tmp_path: Path) -> None:
    commit = make_repository(tmp_path / "r", {"a.py": b"missing\n", "b.py": b"too\n"})
    git(tmp_path / "r", "config", "uploadpack.allowFilter", "true")
    git(
        tmp_path, "clone", "--quiet", "--no-checkout", "--filter=blob:none", f"file://{tmp_path}/r", "partial"
    )
    marker = bait(tmp_path, "upload")
    git(tmp_path / "partial", "config", "remote.origin.uploadpack", str(tmp_path / "upload"))
    with GitRepository(tmp_path / "partial") as repository:
        for entry in list(repository.entries(commit)):
            with pytest.raises(InputError, match=f"{entry.oid} is not here.*without --filter") as caught:
                repository.blob(entry.oid)
            assert str(tmp_path / "partial") in str(caught.value)
        assert not repository.has_commit("1" * 40)
        assert repository.head() == commit
    assert not marker.exists()
    missing = git(tmp_path / "partial", "rev-list", "--objects", "--missing=print", "HEAD")
    assert missing.count(b"\n?") == 2


def test_a_partial_clone_without_trees_is_refused(tmp_path: Path) -> None:
    commit = make_repository(tmp_path / "r", {"a.py": b"1\n"})
    git(tmp_path / "r", "config", "uploadpack.allowFilter", "true")
    git(tmp_path, "clone", "--quiet", "--no-checkout", "--filter=tree:0", f"file://{tmp_path}/r", "partial")
    with (
        GitRepository(tmp_path / "partial") as repository,
        pytest.raises(InputError, match=f"tree of commit {commit} cannot be read.*without --filter"),
    ):
        list(repository.entries(commit))


def test_replace_refs_and_grafts_are_ignored(tmp_path: Path) -> None:
    commit = make_repository(tmp_path, {"a.py": b"true\n"})
    blob = hash_blob(tmp_path, b"true\n")
    git(tmp_path, "replace", blob, hash_blob(tmp_path, b"false\n"))
    empty = git(tmp_path, "mktree", stdin=b"").decode().strip()
    decoy = git(tmp_path, "commit-tree", "-m", "decoy", empty).decode().strip()
    git(tmp_path, "replace", commit, decoy)
    (tmp_path / ".git" / "info").mkdir(exist_ok=True)
    (tmp_path / ".git" / "info" / "grafts").write_text(f"{commit} {decoy}\n")
    assert git(tmp_path, "cat-file", "blob", blob) == b"false\n"
    with GitRepository(tmp_path) as repository:
        assert repository.blob(blob) == b"true\n"
        assert contents(repository, commit) == {b"a.py": b"true\n"}


def test_the_users_environment_and_configuration_do_not_matter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit = make_repository(tmp_path / "r", {"a.py": b"1\n"})
    make_repository(tmp_path / "other", {"b.py": b"2\n"})
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text("this is not configuration\n")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "other" / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(tmp_path))
    monkeypatch.setenv("GIT_OBJECT_DIRECTORY", str(tmp_path))
    monkeypatch.setenv("GIT_CONFIG_PARAMETERS", "nonsense")
    monkeypatch.setenv("GIT_TRACE", str(tmp_path / "trace"))
    monkeypatch.setenv("GIT_REPLACE_REF_BASE", "refs/heads/")
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    with GitRepository(tmp_path / "r") as repository:
        assert contents(repository, repository.head()) == {b"a.py": b"1\n"}
        assert repository.head() == commit
    assert not (tmp_path / "trace").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a repository to somebody else")
def test_other_peoples_repositories_are_read(tmp_path: Path) -> None:
    commit = make_repository(tmp_path, {"a.py": b"1\n"})
    for path in (tmp_path, tmp_path / ".git"):
        os.chown(path, 12345, 12345)
    with GitRepository(tmp_path) as repository:
        assert repository.head() == commit


def test_a_folder_inside_a_repository_is_refused_with_the_top_level(tmp_path: Path) -> None:
    make_repository(tmp_path / "r", {"src/deep/a.py": b"1\n"})
    message = refusal(tmp_path / "r" / "src" / "deep")
    assert f"lies inside the repository {tmp_path / 'r'}" in message
    assert message.endswith(f"give {tmp_path / 'r'}")


def test_the_top_level_around_a_folder_is_found(tmp_path: Path) -> None:
    make_repository(tmp_path / "r", {"src/deep/a.py": b"1\n"})
    git(tmp_path, "clone", "--quiet", "--bare", "r", "bare.git")
    assert top_level(tmp_path / "r" / "src" / "deep") == tmp_path / "r"
    assert top_level(tmp_path / "r") == tmp_path / "r"
    assert top_level(tmp_path / "bare.git") == tmp_path / "bare.git"


def test_what_is_no_repository_is_refused(tmp_path: Path) -> None:
    assert "not a Git repository; check the path, or run `git init`" in refusal(tmp_path)
    assert "there is no such folder" in refusal(tmp_path / "missing")
    assert "there is no such folder" in refusal(tmp_path / ("x" * 300))
    (tmp_path / "file").write_text("x")
    assert "not a folder" in refusal(tmp_path / "file")
    with pytest.raises(InputError, match="there is no such folder"):
        GitRepository(Path("a\0b"))


def test_an_empty_repository_is_refused(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet")
    assert "HEAD names no commit" in refusal(tmp_path)


def test_a_sha256_repository_is_refused(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "--object-format=sha256")
    assert "sha256 object format" in refusal(tmp_path)


def test_a_broken_repository_is_refused(tmp_path: Path) -> None:
    make_repository(tmp_path, {"a.py": b"1\n"})
    (tmp_path / ".git" / "config").write_text("[core\n")
    assert "Git cannot open it: fatal: bad config" in refusal(tmp_path)


def test_git_must_be_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_repository(tmp_path, {"a.py": b"1\n"})
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match=r"Git is not installed, or not on PATH; install Git 2\.31 or newer"):
        GitRepository(tmp_path)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("git version 2.30.9", "is Git 2.30.9; install Git 2.31 or newer"),
        ("git version 1.99", "is Git 1.99; install Git 2.31 or newer"),
        ("hello", "does not act like Git"),
    ],
)
def test_git_must_be_new_enough(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str, message: str
) -> None:
    make_repository(tmp_path / "r", {"a.py": b"1\n"})
    script = tmp_path / "git"
    script.write_text(f"#!/bin/sh\necho '{words}'\n")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    with pytest.raises(InputError, match=message):
        GitRepository(tmp_path / "r")


def test_revisions_are_resolved_to_full_commits(tmp_path: Path) -> None:
    commit = make_repository(tmp_path, {"a.py": b"1\n"})
    git(tmp_path, "tag", "-a", "-m", "a tag", "v1")
    with GitRepository(tmp_path) as repository:
        for revision in ("HEAD", "main", "v1", commit, commit[:10], commit.upper(), "refs/heads/main"):
            assert repository.resolve(revision) == commit
        assert repository.has_commit(commit)
        assert not repository.has_commit("main")
        assert not repository.has_commit("0" * 40)


@pytest.mark.parametrize(
    "revision",
    [
        "",
        "nowhere",
        "--help",
        "-",
        "HEAD\nHEAD",
        "HEAD\0",
        "HEAD:a.py",
        "HEAD^{tree}",
        "a b",
        "\ud800",
        "0" * 40,
    ],
)
def test_what_is_no_commit_is_refused_and_reading_goes_on(tmp_path: Path, revision: str) -> None:
    commit = make_repository(tmp_path, {"a.py": b"1\n"})
    with GitRepository(tmp_path) as repository:
        with pytest.raises(InputError, match="no commit"):
            repository.resolve(revision)
        assert repository.head() == commit


def test_a_blob_of_many_pieces_is_read_whole(tmp_path: Path) -> None:
    content = os.urandom(3 * 1024 * 1024 + 7)
    commit = make_repository(tmp_path, {"big": content, "small": b"1"})
    with GitRepository(tmp_path) as repository:
        big, _small = repository.entries(commit)
        assert repository.blob(big.oid) == content
        assert [len(chunk) for chunk in repository.blob_chunks(big.oid)] == [1024 * 1024] * 3 + [7]


def test_an_unfinished_blob_never_leaks_into_the_next_one(tmp_path: Path) -> None:
    commit = make_repository(tmp_path, {"big": b"x" * 3 * 1024 * 1024, "small": b"1"})
    with GitRepository(tmp_path) as repository:
        big, small = repository.entries(commit)
        unfinished = repository.blob_chunks(big.oid)
        next(unfinished)
        assert repository.blob(small.oid) == b"1"
        with pytest.raises(ValueError, match="closed"):
            next(unfinished)
        assert repository.blob(small.oid) == b"1"


def test_objects_of_another_kind_or_none_are_no_blobs(tmp_path: Path) -> None:
    commit = make_repository(tmp_path, {"a.py": b"1\n"})
    with GitRepository(tmp_path) as repository:
        with pytest.raises(InputError, match=f"object {commit} is a commit, expected a blob"):
            repository.blob(commit)
        with pytest.raises(InputError, match="is not here"):
            repository.blob("1" * 40)
        (entry,) = repository.entries(commit)
        assert repository.blob(entry.oid) == b"1\n"


def test_a_damaged_object_is_an_error_and_not_other_bytes(tmp_path: Path) -> None:
    commit = make_repository(tmp_path, {"a.py": b"1\n" * 100_000, "b.py": b"2\n"})
    with GitRepository(tmp_path) as repository:
        damaged, sound = repository.entries(commit)
        place = tmp_path / ".git" / "objects" / damaged.oid[:2] / damaged.oid[2:]
        place.chmod(0o644)
        place.write_bytes(place.read_bytes()[:60])
        with pytest.raises(InputError, match=f"{damaged.oid}.*git fsck"):
            repository.blob(damaged.oid)
        assert repository.blob(sound.oid) == b"2\n"


def test_nothing_is_left_open(tmp_path: Path) -> None:
    commit = make_repository(tmp_path, {"a.py": os.urandom(2 * 1024 * 1024), "b.py": b"2\n"})
    process = psutil.Process()

    def opened() -> tuple[int, int]:
        return process.num_fds(), len(process.children())

    with GitRepository(tmp_path) as repository:
        repository.head()
    before = opened()
    for _ in range(3):
        with GitRepository(tmp_path) as repository:
            first, _second = repository.entries(commit)
            pieces = repository.blob_chunks(first.oid)
            next(pieces)
            assert opened()[1] == before[1] + 1
        with pytest.raises(ValueError, match="closed"):
            next(pieces)
        with pytest.raises(InputError), GitRepository(tmp_path) as repository:
            repository.blob("1" * 40)
    assert opened() == before


def test_a_closed_repository_is_not_reopened_by_use(tmp_path: Path) -> None:
    make_repository(tmp_path, {"a.py": b"1\n"})
    repository = GitRepository(tmp_path)
    repository.close()
    repository.close()
    with pytest.raises(ValueError, match="closed"):
        repository.head()


def test_nothing_of_a_repositorys_configuration_is_run(tmp_path: Path) -> None:
    folder = tmp_path / "r"
    commit = make_repository(folder, {"a.py": b"1\n", ".gitattributes": b"* filter=bait diff=bait\n"})
    marker = bait(tmp_path, "run")
    script = str(tmp_path / "run")
    for key in (
        "core.fsmonitor",
        "core.pager",
        "core.sshCommand",
        "core.editor",
        "core.alternateRefsCommand",
    ):
        git(folder, "config", key, script)
    for key in ("filter.bait.smudge", "filter.bait.clean", "filter.bait.process", "diff.bait.textconv"):
        git(folder, "config", key, script)
    for alias in ("cat-file", "ls-tree", "rev-parse"):
        git(folder, "config", f"alias.{alias}", f"!{script}")
    with GitRepository(folder) as repository:
        assert contents(repository, commit)[b"a.py"] == b"1\n"
        assert repository.url() is None
    assert not marker.exists()


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("https://example.org/a/b.git", "https://example.org/a/b.git"),
        ("https://user:secret@example.org:8443/a.git", "https://example.org:8443/a.git"),
        ("https://ghp_token@example.org/a.git", "https://example.org/a.git"),
        ("https://example.org/a.git?token=secret#secret", "https://example.org/a.git"),
        ("http://[::1]:80/a", "http://[::1]:80/a"),
        ("ssh://git:secret@example.org/a.git", "ssh://git@example.org/a.git"),
        ("git@example.org:a/b.git", "git@example.org:a/b.git"),
        ("git://example.org/a.git", "git://example.org/a.git"),
        ("/home/somebody/a", None),
        ("../a", None),
        ("file:///home/somebody/a", None),
        ("C:\\code\\a", None),
        ("C:/code/a", None),
        ("ext::sh -c evil", None),
        ("ext::sh", None),
        ("https://", None),
        ("https://example.org:port/a", None),
        ("https://example.org/\x1b]0;title\x07", None),
        ("", None),
    ],
)
def test_an_address_is_told_without_secrets(tmp_path: Path, address: str, public: str | None) -> None:
    assert public_url(address) == public


def test_the_address_is_that_of_origin(tmp_path: Path) -> None:
    make_repository(tmp_path, {"a.py": b"1\n"})
    git(tmp_path, "config", "remote.origin.url", "https://user:secret@example.org/a.git")
    git(tmp_path, "config", "url.https://elsewhere.org/.insteadOf", "https://example.org/")
    with GitRepository(tmp_path) as repository:
        assert repository.url() == "https://example.org/a.git"


def test_malformed_trees_are_refused(tmp_path: Path) -> None:
    make_repository(tmp_path, {"a.py": b"1\n"})
    data = b"not a tree"
    tree = git(tmp_path, "hash-object", "-t", "tree", "-w", "--stdin", "--literally", stdin=data)
    commit = commit_literally(tmp_path, tree.decode().strip())
    with GitRepository(tmp_path) as repository, pytest.raises(InputError, match="cannot be read"):
        list(repository.entries(commit))


def test_entries_are_plain_values() -> None:
    assert TreeEntry(b"a", 0o100644, "0" * 40) == (b"a", 0o100644, "0" * 40)
