"""What a whole repository yields at a commit, and what is left out of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.banks.case import case_line, parse_bank
from core.banks.derivation import LEFT_OUT, case_id
from core.canonical import sha256
from core.errors import InputError
from core.ranking import Target
from core.repositories import RepositoryEntry
from tests.support.repositories import commit_tree, git, hash_blob, make_repository, raw_tree
from tests.unit.banks.builders import SHOP, derived, shop

PYTHON = b"def find_me(): pass\n"
MARKDOWN = b"# Find me here\n"


def paths(files: dict[str | bytes, bytes], folder: Path) -> set[str]:
    """Return the paths that yield cases."""
    commit = make_repository(folder, files, checkout=False)
    derivation = derived(RepositoryEntry(label="r", path=folder, commit=commit))
    return {case.targets[0].path for case in derivation.cases}


def test_every_case_of_a_repository_is_derived(tmp_path: Path) -> None:
    entry = shop(tmp_path)
    derivation = derived(entry)
    assert (derivation.label, derivation.commit) == ("shop", entry.commit)
    assert sorted((case.intent, case.query, case.targets[0]) for case in derivation.cases) == [
        (
            "architecture_lookup",
            "Where is this component defined: Keep what a customer wants to buy.",
            Target("shop/cart.py", 0, "file"),
        ),
        (
            "architecture_lookup",
            "Where is this component defined: Work out what things cost today.",
            Target("shop/prices.py", 0, "file"),
        ),
        ("docs_lookup", "Documentation about A little shop", Target("README.md", 1, "documentation")),
        ("docs_lookup", "Documentation about Closing hours", Target("README.md", 7, "documentation")),
        ("docs_lookup", "Documentation about How prices are found", Target("README.md", 3, "documentation")),
        ("error_or_trace_lookup", "count must be positive", Target("shop/cart.py", 7, "symbol")),
        ("error_or_trace_lookup", "the cart holds nothing", Target("shop/prices.py", 4, "symbol")),
        ("symbol_lookup", "Cart", Target("shop/cart.py", 4, "symbol")),
        ("symbol_lookup", "add", Target("shop/cart.py", 7, "symbol")),
        ("symbol_lookup", "total_price", Target("shop/prices.py", 4, "symbol")),
        (
            "task_lookup",
            "Where is this behavior implemented: Hold the articles that were chosen.",
            Target("shop/cart.py", 4, "symbol"),
        ),
        (
            "task_lookup",
            "Where is this behavior implemented: Put some pieces of an article in.",
            Target("shop/cart.py", 7, "symbol"),
        ),
        (
            "task_lookup",
            "Where is this behavior implemented: Sum the prices of a whole cart.",
            Target("shop/prices.py", 4, "symbol"),
        ),
    ]
    assert derivation.rules == {
        "definition_docstring": 3,
        "literal_raise": 2,
        "markdown_heading": 3,
        "module_docstring": 2,
        "python_definition": 3,
    }
    assert derivation.files == {"markdown": 1, "python": 2}
    assert derivation.left_out == {} and derivation.unparsable == {}


def test_a_case_carries_its_evidence(tmp_path: Path) -> None:
    derivation = derived(shop(tmp_path))
    (case,) = [case for case in derivation.cases if case.query == "total_price"]
    assert case.evidence == ("python_definition", sha256(SHOP["shop/prices.py"]))
    assert case.channel == "emb" and case.commit == derivation.commit
    assert {case.channel for case in derivation.cases if case.intent == "docs_lookup"} == {"docs"}


def test_ids_are_those_of_the_public_format() -> None:
    commit = "6e0dbe1d51895d56fc7c8c1b9c667105654f27b1"
    assert (
        case_id(
            "codira",
            commit,
            "symbol_lookup",
            "load_manifest",
            "scripts/embedding_model_manifest.py",
            102,
            "python_definition",
        )
        == "codira-symbol_lookup-0001e52800f63133bfeb"
    )
    assert (
        case_id(
            "codira",
            commit,
            "docs_lookup",
            "Documentation about ADR-013 — Final multirepo repository set and release coordination policy",
            "docs/adr/ADR-013-final-multirepo-repository-set-release-coordination-policy.md",
            1,
            "markdown_heading",
        )
        == "codira-docs_lookup-00017db37f6d4999e065"
    )


def test_the_commit_is_read_and_not_the_work_tree(tmp_path: Path) -> None:
    entry = shop(tmp_path)
    before = derived(entry)
    (tmp_path / "shop/prices.py").write_text("def other(): pass\n")
    (tmp_path / "new.py").write_text("def new(): pass\n")
    assert derived(entry) == before


def test_without_a_commit_head_is_read(tmp_path: Path) -> None:
    entry = shop(tmp_path)
    assert derived(entry.model_copy(update={"commit": None})) == derived(entry)


def test_an_unknown_commit_is_bad_input(tmp_path: Path) -> None:
    entry = shop(tmp_path).model_copy(update={"commit": "e" * 40})
    with pytest.raises(InputError, match=r"no commit e{40} here"):
        derived(entry)


def test_only_python_and_markdown_outside_excluded_folders_are_read(tmp_path: Path) -> None:
    taken = {
        "a.py",
        "a/b.md",
        "test/a.py",
        "Tests/a.py",
        "tests.py",
        "a/vendor.md",
        "docs/mytests/a.py",
        ".md",
    }
    left = {
        f"{before}{folder}/a{suffix}"
        for before in ("", "a/")
        for folder in ("tests", "fixtures", "benchmarks", "_archive", "node_modules", "vendor")
        for suffix in (".py", ".md", "/b.py")
    }
    other = {"a.pyi", "a.PY", "a.txt", "py", "a.py.in", "a.markdown"}
    files: dict[str | bytes, bytes] = {
        path: MARKDOWN if path.endswith(".md") else PYTHON for path in taken | left | other
    }
    assert paths(files, tmp_path) == taken
    entry = RepositoryEntry(label="r", path=tmp_path)
    assert derived(entry).left_out == {"excluded_folder": len(left)}


def test_what_is_left_out_is_counted_by_its_reason(tmp_path: Path) -> None:
    files: dict[str | bytes, bytes] = {
        "good.py": PYTHON,
        "tests/a.py": PYTHON,
        "broken.py": b"def f(:\n",
        "null.py": b"\0",
        "link.py": b"good.py",
        "other-link": b"good.py",
        "module": b"1" * 40,
        b"\xff.py": PYTHON,
        "short.md": b"# Short\n",
        "large.md": b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n",
        "odd.py": b'def odd():\n  raise E("\\ud800 cannot be encoded")\n',
    }
    modes: dict[str | bytes, int] = {"link.py": 0o120000, "other-link": 0o120000, "module": 0o160000}
    commit = make_repository(tmp_path, files, modes=modes, checkout=False)
    derivation = derived(RepositoryEntry(label="r", path=tmp_path, commit=commit))
    assert {case.targets[0].path for case in derivation.cases} == {"good.py", "odd.py"}
    assert derivation.left_out == {
        "excluded_folder": 1,
        "lfs_pointer": 1,
        "link": 1,
        "path_not_utf8": 1,
        "short_text": 1,
        "submodule": 1,
        "unencodable_text": 1,
        "unparsable": 2,
    }
    assert set(derivation.left_out) <= set(LEFT_OUT)
    assert derivation.files == {"markdown": 2, "python": 4}
    assert derivation.unparsable.keys() == {"broken.py", "null.py"}
    assert derivation.unparsable["broken.py"].startswith("SyntaxError at line 1")


def test_no_text_is_too_long_to_be_asked(tmp_path: Path) -> None:
    heading = "x" * 100_000
    entry = shop(tmp_path / "r", {"long.md": b"# " + heading.encode()})
    (case,) = derived(entry).cases
    assert case.query == f"Documentation about {heading}"
    assert parse_bank(case_line(case), "c").cases == (case,)


def test_a_pointer_of_git_lfs_is_counted_and_read_by_the_rules(tmp_path: Path) -> None:
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n"
    files = {"large.md": pointer + MARKDOWN, "large.py": pointer + PYTHON}
    derivation = derived(shop(tmp_path, files))
    assert [case.query for case in derivation.cases] == ["Documentation about Find me here"]
    assert derivation.left_out == {"lfs_pointer": 2, "unparsable": 1}
    assert derivation.files == {"markdown": 1, "python": 1}


def test_paths_are_taken_as_they_are_where_they_are_utf8(tmp_path: Path) -> None:
    odd = {"Größe.py", 'quote".py', "new\nline.md", "back\\slash.py", "tab\t.md", "\u202e.py"}
    files: dict[str | bytes, bytes] = {path: MARKDOWN if path.endswith(".md") else PYTHON for path in odd}
    assert paths(files, tmp_path) == odd


def test_a_tree_cannot_lead_out_of_the_repository(tmp_path: Path) -> None:
    make_repository(tmp_path, {"a.py": PYTHON})
    blob = hash_blob(tmp_path, PYTHON)
    inner = raw_tree(tmp_path, [(0o100644, b"evil.py", blob)])
    commit = commit_tree(
        tmp_path, raw_tree(tmp_path, [(0o40000, b"..", inner), (0o100644, b"good.py", blob)])
    )
    derivation = derived(RepositoryEntry(label="r", path=tmp_path, commit=commit))
    assert [case.targets[0].path for case in derivation.cases] == ["good.py"]
    assert derivation.left_out == {"path_not_canonical": 1}


def test_a_missing_blob_is_bad_input(tmp_path: Path) -> None:
    entry = shop(tmp_path)
    oid = git(tmp_path, "rev-parse", "HEAD:README.md").decode().strip()
    loose = tmp_path / ".git" / "objects" / oid[:2] / oid[2:]
    loose.unlink()
    with pytest.raises(InputError, match=oid):
        derived(entry)


def test_a_pool_is_sorted_by_id_and_has_each_query_once(tmp_path: Path) -> None:
    files = {f"m{number}.py": b"def main(): pass\ndef other(): pass\n" for number in range(5)}
    derivation = derived(shop(tmp_path, files))
    pool = derivation.pool("symbol_lookup")
    ids = [case.id for case in pool]
    assert ids == sorted(ids) and sorted(case.query for case in pool) == ["main", "other"]
    for case in pool:
        assert case.id == min(other.id for other in derivation.cases if other.query == case.query)
    assert derivation.pool("docs_lookup") == ()


def test_derivation_gives_the_same_lines_each_time(tmp_path: Path) -> None:
    first, second = derived(shop(tmp_path / "a")), derived(shop(tmp_path / "b"))
    assert [case_line(case) for case in first.cases] == [case_line(case) for case in second.cases]
