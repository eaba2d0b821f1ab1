"""What is wrong with a campaign that is being edited: field, line, message, remedy."""

from __future__ import annotations

from pathlib import Path

import pytest

from core import api
from core.campaign.checking import Checker, FieldProblem
from core.campaign.document import CampaignDocument
from core.campaign.jobs import create_retrievers
from core.campaign.manifest import parse_campaign, read_campaign
from core.errors import InputError
from tests.support.campaigns import Scene, make_scene
from tests.support.repositories import make_repository

TEXT = """\
format = "boresight-campaign@1"
name = "test"
cases = "store.jsonl"
baseline = "lexical"

[[repositories]]
label = "store"
path = "store"

[[candidates]]
id = "lexical"
retriever = "embedded"
engine = "lexical"

[[candidates]]
id = "other"
retriever = "embedded"
engine = "lexical"
"""


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return make_scene(tmp_path)


def quick(text: str, base: Path = Path("/")) -> tuple[FieldProblem, ...]:
    return Checker(base).quick(CampaignDocument(text).snapshot)


def thorough(text: str, base: Path) -> tuple[FieldProblem, ...]:
    return Checker(base).thorough(CampaignDocument(text, base / "campaign.toml").snapshot)


def test_a_sound_campaign_has_no_problems(scene: Scene) -> None:
    assert quick(TEXT) == ()
    assert thorough(TEXT, scene.folder) == ()


@pytest.mark.parametrize(
    ("old", "new", "place", "line", "message"),
    [
        ('name = "test"', 'name = "a b"', ("name",), 2, "expected 1 to 64 of"),
        ('name = "test"\n', "", ("name",), None, "add"),
        ('name = "test"', 'nam = "test"', ("nam",), 2, "did you mean"),
        ('baseline = "lexical"', 'baseline = "none"', ("baseline",), 4, "expected a candidate"),
        ('label = "store"', "label = 5", ("repositories", 0, "label"), 7, "expected text"),
        ('id = "other"', 'id = "lexical"', ("candidates", 1, "id"), 16, "again"),
        ('id = "other"', "id = 5", ("candidates", 1, "id"), 16, "expected text"),
        ('engine = "lexical"\n\n', 'engine = "x"\n\n', ("candidates", 0, "engine"), 13, "expected"),
        (
            'engine = "lexical"\n\n',
            'engine = "lexical"\ndimension = 5\n\n',
            ("candidates", 0, "dimension"),
            14,
            "lexical has no vectors",
        ),
        (
            'engine = "lexical"\n\n',
            'engine = "lexical"\nconfig = {max_tokens = 2}\n\n',
            ("candidates", 0, "config", "max_tokens"),
            14,
            "at least 8",
        ),
        ('"embedded"\nengine = "lexical"\n\n', '"nobody"\n\n', ("candidates", 0, "retriever"), 12, "one of"),
        ('name = "test"', 'name = "test"\nseed = -1', ("seed",), 3, "at least 0"),
    ],
)
def test_each_problem_names_its_field_and_line(
    old: str, new: str, place: tuple[str | int, ...], line: int | None, message: str
) -> None:
    text = TEXT.replace(old, new, 1)
    assert text != TEXT
    found = [problem for problem in quick(text) if problem.place == place]
    assert found and message in found[0].message
    assert found[0].line == line
    with pytest.raises(InputError):  # whoever reads the file to run it refuses it too
        create_retrievers(parse_campaign(text, Path("/campaign.toml")).candidates)


def test_no_toml_is_one_problem_with_its_line() -> None:
    (problem,) = quick(TEXT + "[[")
    assert problem.place == () and problem.line == TEXT.count("\n") + 1
    assert "not valid TOML" in problem.message


def test_a_missing_baseline_is_a_warning_only() -> None:
    (problem,) = quick(TEXT.replace('baseline = "lexical"\n', ""))
    assert problem.severity == "warning" and problem.place == ("baseline",)


def test_what_only_the_reader_refuses_is_told_too() -> None:
    deep = "{a = " * 25 + "1" + "}" * 25
    text = TEXT.replace(
        'id = "other"\nretriever = "embedded"\nengine = "lexical"',
        f'id = "other"\nretriever = "fake"\nconfig = {deep}',
    )
    assert any("flatten" in problem.message for problem in quick(text))


def test_a_bank_that_is_not_there_or_no_bank(scene: Scene) -> None:
    (problem,) = thorough(TEXT.replace("store.jsonl", "gone.jsonl"), scene.folder)
    assert problem.place == ("cases",) and "no such file" in problem.message and problem.line == 3
    (scene.folder / "bad.jsonl").write_text("{}\n")
    (problem,) = thorough(TEXT.replace("store.jsonl", "bad.jsonl"), scene.folder)
    assert problem.place == ("cases",) and "line 1" in problem.message


def test_repositories_that_do_not_fit_the_bank(scene: Scene, tmp_path: Path) -> None:
    found = thorough(TEXT.replace('label = "store"', 'label = "shop"'), scene.folder)
    assert {problem.place for problem in found} == {("repositories",), ("repositories", 0, "label")}
    commit = "0" * 40
    found = thorough(TEXT.replace('path = "store"', f'path = "store"\ncommit = "{commit}"'), scene.folder)
    assert [problem.place for problem in found] == [("repositories", 0, "commit")]
    assert "the bank was derived at" in found[0].message


def test_repositories_that_are_not_there_or_lack_the_commit(scene: Scene) -> None:
    (problem,) = thorough(TEXT.replace('path = "store"', 'path = "[/foo] bar"'), scene.folder)
    assert problem.place == ("repositories", 0, "path") and "no such folder" in problem.message
    make_repository(scene.folder / "other", {"a.py": b"x = 1\n"})
    (problem,) = thorough(TEXT.replace('path = "store"', 'path = "other"'), scene.folder)
    assert problem.place == ("repositories", 0, "path") and "no commit" in problem.message


def test_a_head_that_moved_on_is_a_warning(scene: Scene) -> None:
    make_repository(scene.repository.path, {"store/records.py": b"x = 1\n"})
    (problem,) = thorough(TEXT, scene.folder)
    assert problem.severity == "warning" and "HEAD is" in problem.message


def test_a_candidate_that_cannot_run_here_says_what_it_lacks(scene: Scene) -> None:
    lacking = 'engine = "onnx"\ndimension = 8\nconfig = {package = "no-such-model"}\n'
    head, _, _ = TEXT.rpartition("engine")
    text = head + lacking
    (problem,) = thorough(text, scene.folder)
    assert problem.place == ("candidates", 1) and "pip install no-such-model" in problem.message


def test_a_changed_bank_is_read_again_and_a_repaired_repository_after_forgetting(scene: Scene) -> None:
    checker = Checker(scene.folder)
    bank = scene.cases.read_bytes()
    snapshot = CampaignDocument(TEXT).snapshot
    scene.cases.write_bytes(b"{}\n")
    assert checker.thorough(snapshot)
    scene.cases.write_bytes(bank)
    assert checker.thorough(snapshot) == ()
    away = scene.repository.path.rename(scene.folder / "away")
    checker.forget()
    assert checker.thorough(snapshot)
    away.rename(scene.repository.path)
    checker.forget()
    assert checker.thorough(snapshot) == ()


def test_a_cancelled_check_ends(scene: Scene) -> None:
    snapshot = CampaignDocument(TEXT.replace('path = "store"', 'path = "gone"')).snapshot
    assert Checker(scene.folder).thorough(snapshot, lambda: True) == ()


def test_checks_agree_with_the_reader_on_a_sound_file(scene: Scene) -> None:
    path = scene.folder / "campaign.toml"
    path.write_text(TEXT)
    assert read_campaign(path).name == "test"
    assert api.read_bank(scene.cases).repositories == ("store",)
