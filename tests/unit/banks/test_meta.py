"""The file beside a bank."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.banks.meta import meta_path, read_meta
from core.errors import InputError


def test_it_is_named_after_the_bank() -> None:
    assert meta_path(Path("a/cases.jsonl")) == Path("a/cases.jsonl.meta.json")
    assert meta_path(Path("CASES")) == Path("CASES.meta.json")


def test_a_bank_may_have_none(tmp_path: Path) -> None:
    assert read_meta(tmp_path / "cases.jsonl") is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "empty"),
        ("{", "not valid JSON"),
        ("[]", "expected an object"),
        ('{"format":"boresight-bank-meta@1"}', "python: found nothing"),
        ('{"format":"boresight-bank-meta@2","python":"3.14.0"}', "boresight-bank-meta@1"),
        ('{"format":"boresight-bank-meta@1","python":3.14}', "python: found 3.14, expected text"),
    ],
)
def test_an_unsound_one_is_named(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "cases.jsonl.meta.json").write_text(text)
    with pytest.raises(InputError, match=r"cases\.jsonl\.meta\.json") as caught:
        read_meta(tmp_path / "cases.jsonl")
    assert words in str(caught.value)
