import json
from pathlib import Path
from typing import Any

import pytest

from core.errors import InputError, ProblemsError
from core.repositories import RepositoryEntry, pinned, read_repository_manifest
from tests.support.repositories import make_repository

COMMIT = "0123456789abcdef0123456789abcdef01234567"


def write(folder: Path, repositories: Any, **more: Any) -> Path:
    path = folder / "repositories.json"
    path.write_text(json.dumps({"schema_version": 1, "repositories": repositories, **more}))
    return path


def problems(path: Path) -> tuple[str, ...]:
    with pytest.raises(ProblemsError) as caught:
        read_repository_manifest(path)
    assert str(path) in str(caught.value)
    return caught.value.problems


def test_a_manifest_is_read_in_its_order(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        [
            {"label": "b", "path": "/somewhere/b", "commit": COMMIT, "url": "https://u:p@example.org/b.git"},
            {"label": "a_-1", "path": "/somewhere/a", "private": True},
        ],
    )
    assert read_repository_manifest(path) == (
        RepositoryEntry(
            label="b",
            path=Path("/somewhere/b"),
            commit=COMMIT,
            url="https://example.org/b.git",
            private=False,
        ),
        RepositoryEntry(label="a_-1", path=Path("/somewhere/a"), commit=None, url=None, private=True),
    )


def test_a_relative_path_counts_from_the_manifest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, [{"label": "a", "path": "checkouts/a"}])
    monkeypatch.chdir(tmp_path.parent)
    relative = Path(tmp_path.name) / "repositories.json"
    assert read_repository_manifest(relative)[0].path == tmp_path / "checkouts" / "a"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"label": "a b"}, 'repositories[0].label: found "a b", expected 1 to 64 of A-Z, a-z, 0-9, _ and -'),
        ({"label": ""}, 'repositories[0].label: found "", expected 1 to 64'),
        ({"label": "a" * 65}, "expected 1 to 64"),
        ({"label": "a\n"}, 'repositories[0].label: found "a\\n", expected 1 to 64'),
        ({"label": "٣"}, "expected 1 to 64"),
        ({"label": 3}, "repositories[0].label: found 3, expected text in quotes"),
        ({"commit": COMMIT.upper()}, "expected 40 lower-case hexadecimal digits"),
        ({"commit": COMMIT[:12]}, 'repositories[0].commit: found "0123456789ab", expected 40 lower-case'),
        ({"commit": COMMIT + "\n"}, "expected 40 lower-case hexadecimal digits"),
        ({"path": ""}, 'repositories[0].path: found "", expected the folder of a Git repository'),
        ({"path": "a\0b"}, "expected the folder of a Git repository"),
        ({"path": 3}, "repositories[0].path: found 3, expected a path in quotes"),
        ({"private": "yes"}, 'repositories[0].private: found "yes", expected true or false'),
        ({"url": "/home/somebody/a"}, 'repositories[0].url: found "/home/somebody/a", expected an https'),
        ({"comit": COMMIT}, 'repositories[0].comit: unknown key; did you mean "commit"?'),
    ],
)
def test_a_bad_entry_is_refused_by_field(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    (problem,) = problems(write(tmp_path, [{"label": "a", "path": "/a", **change}]))
    assert message in problem


def test_missing_parts_are_named(tmp_path: Path) -> None:
    assert problems(write(tmp_path, [{}])) == (
        'repositories[0].label: found nothing, expected a value; add "label"',
        'repositories[0].path: found nothing, expected a value; add "path"',
    )
    assert "at least 1 entries" in problems(write(tmp_path, []))[0]


def test_a_label_given_twice_is_refused(tmp_path: Path) -> None:
    (problem,) = problems(write(tmp_path, [{"label": name, "path": "/x"} for name in ("a", "b", "a")]))
    assert problem.startswith('repositories[2].label: found "a" again')
    assert "repositories[0] has it" in problem


def test_other_versions_and_unknown_keys_are_refused(tmp_path: Path) -> None:
    entry = {"label": "a", "path": "/a"}
    assert problems(write(tmp_path, [entry], schema_version=2)) == ("schema_version: found 2, expected 1",)
    assert problems(write(tmp_path, [entry], repositores=[])) == (
        'repositores: unknown key; did you mean "repositories"?',
    )


def test_duplicate_keys_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    path.write_text('{"schema_version": 1, "repositories": [{"label": "a", "label": "b", "path": "/a"}]}')
    with pytest.raises(InputError, match="duplicate key 'label'"):
        read_repository_manifest(path)


def test_pinning_takes_head_only_where_no_commit_is_given(tmp_path: Path) -> None:
    head = make_repository(tmp_path / "r", {"a.py": b"1\n"})
    entry = RepositoryEntry(label="a", path=tmp_path / "r")
    assert pinned(entry) == RepositoryEntry(label="a", path=tmp_path / "r", commit=head)
    given = RepositoryEntry(label="a", path=tmp_path / "missing", commit=COMMIT)
    assert pinned(given) is given


def test_pinning_a_missing_repository_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no such folder"):
        pinned(RepositoryEntry(label="a", path=tmp_path / "missing"))
