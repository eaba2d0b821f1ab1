"""What a run was frozen with is read from its record, and never guessed."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from core.campaign.frozen import frozen_features, frozen_suffix
from core.errors import IdentityError
from core.retrievers.protocol import Features
from core.run.record import RunRecord, read_run
from tests.support.finished import finished_run


@pytest.fixture
def record(tmp_path: Path) -> RunRecord:
    return read_run(finished_run(tmp_path).run)


def with_candidate(record: RunRecord, group: str, change: Mapping[str, Any]) -> RunRecord:
    own = record.controls["candidates"]["a"]
    candidates = {**record.controls["candidates"], "a": {**own, group: {**own[group], **change}}}
    return dataclasses.replace(record, controls={**record.controls, "candidates": candidates})


def test_features_and_suffix_are_those_of_the_record(record: RunRecord) -> None:
    both = Features(frozenset({"emb", "docs"}), True, True, False, True, "exact")
    assert frozen_features(record) == {"a": both, "b": both}
    assert frozen_suffix(record, "a") == ".json"


@pytest.mark.parametrize(
    "change",
    [{"channels": "emb"}, {"channels": ["emb", "web"]}, {"channels": [[]]}, {"probe": 1}, {"level": "word"}],
)
def test_features_that_cannot_be_read_are_named(record: RunRecord, change: dict[str, Any]) -> None:
    with pytest.raises(IdentityError, match=r"campaign\.json: what the candidate 'a' could do"):
        frozen_features(with_candidate(record, "features", change))


@pytest.mark.parametrize("suffix", [7, "../../x"])
def test_a_suffix_that_is_none_is_named(record: RunRecord, suffix: object) -> None:
    with pytest.raises(IdentityError, match="restore the file from a copy"):
        frozen_suffix(with_candidate(record, "configuration", {"suffix": suffix}), "a")


def test_missing_fields_are_named(record: RunRecord) -> None:
    bare = dataclasses.replace(record, controls={**record.controls, "candidates": {"a": {}, "b": {}}})
    with pytest.raises(IdentityError, match="restore the file from a copy"):
        frozen_features(bare)
