from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.workspace.tokens import MAX_TOKEN, tokens


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("loadManifest", ["loadmanifest", "load", "manifest"]),
        ("load_manifest", ["load_manifest", "load", "manifest"]),
        ("load manifest", ["load", "manifest"]),
        ("HTTPServer2", ["httpserver2", "http", "server", "2"]),
        ("__init__", ["__init__", "init"]),
        ("x.y(z)", ["x", "y", "z"]),
        ("GrößeÄndern", ["größeändern", "größe", "ändern"]),
        ("ﬁle", ["file"]),
        ("___ -- !", []),
        ("", []),
    ],
)
def test_words_give_their_parts_and_themselves(text: str, expected: list[str]) -> None:
    assert [token.replace("ss", "ß") for token in tokens(text)] == expected


@given(st.text())
def test_tokens_hold_no_separator_and_no_quote(text: str) -> None:
    for token in tokens(text):
        assert token
        assert not set(token) & set(" \t\n\"'*():^\0")
        assert len(token) <= 3 * MAX_TOKEN  # case folding may lengthen
