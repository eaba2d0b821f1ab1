"""A repository that is as hostile as Git allows, from its bank to a verdict: all bytes kept, nothing run."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.errors import Exit
from core.run.layout import RunLayout
from tests.support.hostile import FILES, MODES, SUBMODULE, Hostile, hostile_repository
from tests.support.repositories import git
from tests.support.shell import Shell

INTENTS = ("symbol_lookup", "task_lookup", "docs_lookup", "error_or_trace_lookup")
COUNT = "2"


@pytest.fixture
def hostile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hostile]:
    made = hostile_repository(tmp_path)
    monkeypatch.setenv("HOME", str(made.home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(made.home / ".config"))
    yield made
    assert not made.marker.exists(), "something that the repository or its user configured was run"


def manifest(folder: Path, repository: Path) -> Path:
    path = folder / "repositories.json"
    entry = {"label": "hostile", "path": str(repository)}
    path.write_text(json.dumps({"schema_version": 1, "repositories": [entry]}))
    return path


def models(folder: Path) -> Path:
    path = folder / "models.json"
    entry = {"id": "lexical", "retriever": "embedded", "engine": "lexical", "model": "bm25", "version": "1"}
    path.write_text(json.dumps({"models": [entry]}))
    return path


def frozen_files(tree: Path) -> dict[str | bytes, bytes]:
    found: dict[str | bytes, bytes] = {}
    for path in tree.rglob("*"):
        relative = path.relative_to(tree)
        if relative.parts[0] != ".git" and not path.is_dir():
            assert not path.is_symlink()
            found[os.fsencode(relative)] = path.read_bytes()
    return found


def test_a_hostile_repository_goes_from_bank_to_verdict(
    tmp_path: Path, hostile: Hostile, capsys: pytest.CaptureFixture[str]
) -> None:
    shell = Shell(capsys)
    cases, run = tmp_path / "cases.jsonl", tmp_path / "run"
    sources = ("--repo-manifest", manifest(tmp_path, hostile.folder))
    build = ("bank", "build", *sources, "--per-intent", COUNT, "--output", cases, "--intents", *INTENTS)

    assert shell(*build) == Exit.DONE, shell.err
    assert shell("bank", "check", cases, *sources) == Exit.DONE, shell.out
    campaign = ("--dataset", cases, *sources, "--model-manifest", models(tmp_path))
    assert shell("run", *campaign, "--output", run, "--quiet-progress", "--together") == Exit.DONE, shell.err
    assert shell("rescore", run) == Exit.DONE, shell.err
    assert shell("verify", run, "--quiet-progress") == Exit.DONE, shell.out

    expected = {path: content for path, content in FILES.items() if MODES.get(path) != 0o160000}
    assert frozen_files(RunLayout(run).source("hostile")) == expected
    source = json.loads((RunLayout(run).repositories / "hostile.json").read_text())
    assert (source["links"], source["submodules"], source["lfs_pointers"]) == (2, 1, 1)
    assert source["commit"] == hostile.commit
    model = json.loads(RunLayout(run).summary.read_text())["models"]["lexical"]
    assert model["counts"]["answered"] == model["counts"]["planned"] == int(COUNT) * len(INTENTS)
    tracked = git(RunLayout(run).source("hostile"), "ls-files", "-z").split(b"\0")[:-1]
    assert set(tracked) == set(expected) - {SUBMODULE}


def test_every_case_of_a_hostile_repository_is_at_its_line_of_the_stored_bytes(
    tmp_path: Path, hostile: Hostile, capsys: pytest.CaptureFixture[str]
) -> None:
    shell = Shell(capsys)
    cases = tmp_path / "cases.jsonl"
    build = ("bank", "build", "--repo-manifest", manifest(tmp_path, hostile.folder), "--per-intent", "20")
    assert shell(*build, "--output", cases, "--intents", "symbol_lookup") == Exit.DONE, shell.err
    found = {}
    for line in cases.read_text().splitlines():
        case = json.loads(line)
        target = case["targets"][0]
        text = FILES[target["path"].encode()].decode("latin-1").split("\n")[target["line"] - 1]
        assert f"def {case['query']}(" in text or f"class {case['query']}:" in text
        found[case["query"]] = target["path"]
    assert found["after_20000_lines"] == "long.py"
    assert not {
        "broken",
        "nested",
        "after_nul",
        "has_no_coding_line",
        "replaced",
        "named_outside_utf8",
    } & set(found)
    assert {"ends_with_crlf", "begins_with_a_mark", "has_a_coding_line", "with_newline"} <= set(found)


@pytest.mark.parametrize("kind", ["bare", "shallow", "worktree"])
def test_clones_of_every_kind_give_the_same_bank(
    tmp_path: Path, hostile: Hostile, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    shell = Shell(capsys)
    clone = tmp_path / kind
    plain = tmp_path / "plain.git"
    git(tmp_path, "clone", "--quiet", "--bare", str(hostile.folder), str(plain))
    if kind == "bare":
        clone = plain
    elif kind == "shallow":
        git(tmp_path, "clone", "--quiet", "--no-checkout", "--depth=1", f"file://{plain}", str(clone))
    else:
        git(plain, "worktree", "add", "--quiet", "--no-checkout", str(clone), hostile.commit)
    banks = []
    for number, folder in enumerate((hostile.folder, clone)):
        output = tmp_path / f"{number}.jsonl"
        words = ("--repo-manifest", manifest(tmp_path, folder), "--per-intent", COUNT, "--output", output)
        assert shell("bank", "build", *words, "--intents", *INTENTS) == Exit.DONE, shell.err
        banks.append(output.read_bytes())
    assert banks[0] == banks[1]


def test_a_partial_clone_is_refused_with_the_remedy_and_not_completed(
    tmp_path: Path, hostile: Hostile, capsys: pytest.CaptureFixture[str]
) -> None:
    shell = Shell(capsys)
    plain, clone = tmp_path / "plain.git", tmp_path / "partial"
    git(tmp_path, "clone", "--quiet", "--bare", str(hostile.folder), str(plain))
    git(plain, "config", "uploadpack.allowFilter", "true")
    git(tmp_path, "clone", "--quiet", "--no-checkout", "--filter=blob:none", f"file://{plain}", str(clone))
    words = (
        "--repo-manifest",
        manifest(tmp_path, clone),
        "--per-intent",
        COUNT,
        "--output",
        tmp_path / "bank",
    )
    assert shell("bank", "build", *words, "--intents", *INTENTS) == Exit.BAD_INPUT
    assert "is not here; in a partial clone, clone again without --filter" in shell.err
    assert not (tmp_path / "bank").exists()
    manifest(tmp_path, plain)  # a clone without --filter
    assert shell("bank", "build", *words, "--intents", *INTENTS) == Exit.DONE, shell.err


def test_the_sha256_object_format_is_refused_with_the_remedy(
    tmp_path: Path, hostile: Hostile, capsys: pytest.CaptureFixture[str]
) -> None:
    shell = Shell(capsys)
    git(tmp_path, "init", "--quiet", "--object-format=sha256", "long")
    words = ("--repo-manifest", manifest(tmp_path, tmp_path / "long"), "--per-intent", COUNT)
    assert shell("bank", "build", *words, "--output", tmp_path / "bank") == Exit.BAD_INPUT
    assert "uses the sha256 object format" in shell.err and "use a SHA-1 clone of it" in shell.err


def test_the_bait_is_live(tmp_path: Path) -> None:
    """Git itself, asked without Boresight's care, runs what the repository configures."""
    made = hostile_repository(tmp_path)
    subprocess.run(["git", "-C", made.folder, "status"], capture_output=True, check=False)
    assert made.marker.exists()
