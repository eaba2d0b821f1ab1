"""What a run takes is counted without following links, and its indexes can be freed at any moment."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from core.run.disk import CellState, bytes_on_disk, cell_states, disk_use, free_states
from core.run.layout import RunLayout


@pytest.fixture
def layout(tmp_path: Path) -> RunLayout:
    for name in ("a/one", "a/two", "b/one"):
        folder = tmp_path / "run/state" / name
        folder.mkdir(parents=True)
        (folder / "index").write_bytes(os.urandom(40_000))
    (tmp_path / "run/evidence").write_bytes(os.urandom(20_000))
    return RunLayout(tmp_path / "run")


def test_state_is_told_apart_from_the_whole(layout: RunLayout) -> None:
    use = disk_use(layout.root)
    assert use.state >= 120_000
    assert use.total - use.state >= 20_000


def test_links_are_not_followed_and_a_file_of_two_names_counts_once(
    layout: RunLayout, tmp_path: Path
) -> None:
    before = bytes_on_disk(layout.root)
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/large").write_bytes(os.urandom(200_000))
    (layout.root / "link").symlink_to(tmp_path / "outside")
    (layout.root / "again").hardlink_to(layout.root / "evidence")
    assert bytes_on_disk(layout.root) - before < 10_000
    assert bytes_on_disk(layout.root / "link") < 10_000


def test_nothing_takes_nothing(tmp_path: Path) -> None:
    assert disk_use(tmp_path / "nothing") == (0, 0)


def test_each_cell_is_told_with_its_bytes(layout: RunLayout) -> None:
    states = cell_states(layout)
    assert [(each.candidate, each.repository) for each in states] == [
        ("a", "one"),
        ("a", "two"),
        ("b", "one"),
    ]
    assert all(each.bytes >= 40_000 for each in states)
    assert all(isinstance(each, CellState) for each in states)


def test_freeing_removes_every_index_and_nothing_else(layout: RunLayout, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").write_text("kept")
    (layout.root / "state/b/link").symlink_to(outside)
    free_states(layout)
    assert cell_states(layout) == ()
    assert sorted(path.name for path in (layout.root / "state").rglob("*")) == ["a", "b"]
    assert (layout.root / "evidence").is_file()
    assert (outside / "kept").is_file()


def test_killed_while_freeing_an_index_is_whole_or_gone(
    layout: RunLayout, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(path: Path) -> None:
        (path / "index").unlink()
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(shutil, "rmtree", die)
        with pytest.raises(KeyboardInterrupt):
            free_states(layout)
    assert not layout.state("a", "one").exists()
    assert (layout.state("a", "two") / "index").is_file()
    assert [(each.candidate, each.repository) for each in cell_states(layout)] == [("a", "two"), ("b", "one")]

    free_states(layout)
    assert sorted(path.name for path in (layout.root / "state").rglob("*")) == ["a", "b"]


def test_an_index_that_was_built_since_a_killed_freeing_goes_too(layout: RunLayout) -> None:
    (layout.root / "state/a/.removing-one").mkdir()
    free_states(layout)
    assert list((layout.root / "state/a").iterdir()) == []
