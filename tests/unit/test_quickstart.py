"""The first ten minutes: which repository is taken, how much of it, and what is left behind."""

from __future__ import annotations

from pathlib import Path

import pytest

from core import api, quickstart
from core.errors import InputError
from tests.support.campaigns import SOURCE
from tests.support.repositories import make_repository


def module(number: int) -> bytes:
    return SOURCE.replace(b"records", b"records%d" % number).replace(b"word", b"word%d" % number)


def test_a_folder_without_repository_gets_the_sample_and_is_told_so(tmp_path: Path) -> None:
    choice = quickstart.choose(tmp_path, tmp_path / "inputs")
    assert choice.entry.label == "sample"
    assert any("not a Git repository" in remark for remark in choice.remarks)
    assert any("sample" in remark for remark in choice.remarks)
    assert len(choice.intents) == 5 and choice.per_intent >= 5


def test_a_small_repository_is_said_to_be_too_small(tmp_path: Path) -> None:
    make_repository(tmp_path / "tiny", {"a.py": SOURCE})
    choice = quickstart.choose(tmp_path / "tiny", tmp_path / "inputs")
    assert choice.entry.label == "sample"
    assert any("tiny is too small" in remark and "symbol_lookup" in remark for remark in choice.remarks)


def test_intents_that_a_repository_cannot_supply_are_left_out_by_name(tmp_path: Path) -> None:
    make_repository(tmp_path / "own", {f"m{number}.py": module(number) for number in range(6)})
    choice = quickstart.choose(tmp_path / "own", tmp_path / "inputs")
    assert choice.entry.label == "own"
    assert "docs_lookup" not in choice.intents
    assert any("docs_lookup" in remark for remark in choice.remarks)
    assert not (tmp_path / "inputs").exists()


def test_a_label_is_made_of_whatever_the_folder_is_called(tmp_path: Path) -> None:
    make_repository(tmp_path / "größe [x]", {f"m{number}.py": module(number) for number in range(6)})
    choice = quickstart.choose(tmp_path / "größe [x]", tmp_path / "inputs")
    assert choice.entry.label == "gr-e-x"


def test_the_campaign_file_reads_back_as_written(tmp_path: Path) -> None:
    make_repository(tmp_path / "own", {f"m{number}.py": module(number) for number in range(6)})
    inputs = tmp_path / "inputs"
    choice = quickstart.choose(tmp_path / "own", inputs)
    campaign = api.read_campaign(quickstart.write_inputs(choice, inputs))
    assert [candidate.id for candidate in campaign.candidates] == ["lexical", "minilm", "hybrid"]
    assert campaign.baseline == "lexical"
    bank = api.read_bank(campaign.cases)
    assert len(bank.cases) == choice.per_intent * len(choice.intents)
    assert api.check_bank(bank, campaign.repositories).ok


@pytest.mark.parametrize(
    ("units", "max_tokens", "told"), [(100, 256, False), (3000, 32, False), (90_000, 32, True)]
)
def test_the_depth_shrinks_with_the_repository_and_a_long_wait_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, units: int, max_tokens: int, told: bool
) -> None:
    monkeypatch.setattr(quickstart, "estimated_units", lambda entries: units)
    choice = quickstart.choose(tmp_path, tmp_path / "inputs", sample=True)
    assert choice.max_tokens == max_tokens
    assert any("min" in remark for remark in choice.remarks) == told


def test_runs_are_numbered_and_an_unwritable_folder_is_refused(tmp_path: Path) -> None:
    assert quickstart.next_folder(tmp_path) == tmp_path / "runs/quickstart/001"
    assert quickstart.next_folder(tmp_path) == tmp_path / "runs/quickstart/002"
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="new runs go here, but it cannot be written"):
        quickstart.next_folder(tmp_path / "file")
