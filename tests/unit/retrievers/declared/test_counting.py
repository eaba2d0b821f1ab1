from __future__ import annotations

import sys
from pathlib import Path

import pytest

from core.retrievers.declared import counting
from core.retrievers.protocol import AnswerError, Completeness, Place


@pytest.fixture
def place(tmp_path: Path) -> Place:
    made = Place(tmp_path / "repository", tmp_path / "state", tmp_path / "configuration.json")
    for folder in (made.repository / ".git", made.state / "home", made.state / "tmp"):
        folder.mkdir(parents=True)
    (made.repository / ".git" / "index").write_text("x")
    (made.state / ".attempt").write_text("1\n")
    return made


def verify(place: Place, program: str) -> Completeness:
    return counting.verified((sys.executable, "-c", program), {}, (), place, place.state)


def test_files_of_the_repository_are_the_units_of_a_tool_without_index(place: Place) -> None:
    (place.repository / "a.py").write_text("")
    (place.repository / "pkg").mkdir()
    (place.repository / "pkg" / "b.py").write_text("")
    assert counting.tracked_files(place) == Completeness(2, {"tracked_files": 2})


def test_an_empty_repository_has_nothing_to_search(place: Place) -> None:
    with pytest.raises(AnswerError, match="no files"):
        counting.tracked_files(place)


def test_an_index_is_what_a_tool_left_beside_what_is_ours(place: Place) -> None:
    with pytest.raises(AnswerError) as caught:
        counting.left_behind(place, ())
    assert caught.value.kind == "empty_index"
    (place.state / "index.db").write_bytes(b"12345")
    assert counting.left_behind(place, ()) == Completeness(1, {"index_files": 1, "index_bytes": 5})


def test_named_places_must_hold_something(place: Place) -> None:
    index = place.repository / ".tool"
    with pytest.raises(AnswerError, match="missing or empty"):
        counting.left_behind(place, (index,))
    index.mkdir()
    (index / "empty").touch()
    with pytest.raises(AnswerError, match="missing or empty"):
        counting.left_behind(place, (index,))
    (index / "full").write_text("x")
    assert counting.left_behind(place, (index,)).units == 2


def test_a_tool_counts_its_own_index(place: Place) -> None:
    assert verify(place, 'print(\'{"units": 3, "expected": 3, "vectors": 9}\')') == Completeness(
        3, {"expected": 3, "vectors": 9}
    )


@pytest.mark.parametrize(
    ("program", "kind"),
    [
        ("print('{\"units\": 0}')", "empty_index"),
        ('print(\'{"units": 3, "expected": 5}\')', "incomplete_index"),
        ("import sys; sys.exit('half of it is gone')", "incomplete_index"),
        ("print('3')", "unverifiable_index"),
        ("print('{\"units\": -1}')", "unverifiable_index"),
        ("print('three')", "unverifiable_index"),
        ("print('{}')", "unverifiable_index"),
    ],
)
def test_an_index_that_is_not_counted_whole_is_refused(place: Place, program: str, kind: str) -> None:
    with pytest.raises(AnswerError) as caught:
        verify(place, program)
    assert caught.value.kind == kind


def test_what_the_verification_complains_of_is_told(place: Place) -> None:
    with pytest.raises(AnswerError, match="half of it is gone"):
        verify(place, "import sys; sys.exit('half of it is gone')")


def test_a_verification_that_cannot_be_started_is_named(place: Place) -> None:
    with pytest.raises(AnswerError, match="could not be started"):
        counting.verified((str(place.state / "no-such-tool"),), {}, (), place, place.state)
