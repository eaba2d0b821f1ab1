from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.workspace.channels.lexical import MAX_QUERY_TOKENS, LexicalChannel, match_expression
from core.workspace.ingest import collect
from core.workspace.store import Store, write_store
from tests.unit.workspace.builders import PROJECT, Files, write_tree


def best(folder: Path, text: str, files: Files = PROJECT) -> list[tuple[str, int | None]]:
    repository = write_tree(folder / "repository", files)
    write_store(folder / "state", collect(repository, 4000).units, None)
    with Store(folder / "state") as store:
        ranked = LexicalChannel(store).rank(text, ("emb",), 10)["emb"]
        return [(unit.path, unit.line) for unit in store.units(scored.unit for scored in ranked)]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("load manifest", 3),
        ("loadManifest", 3),
        ("LOAD_MANIFEST", 3),
        ("http server", 8),
        ("stop_serving", 11),
    ],
)
def test_identifiers_are_found_by_their_words_in_any_spelling(tmp_path: Path, text: str, line: int) -> None:
    assert best(tmp_path, text)[0] == ("app/manifest.py", line)


def test_the_exact_name_ranks_before_what_shares_its_words(tmp_path: Path) -> None:
    files = {
        "a.py": "def load_manifest_file():\n    load_manifest()\n    load_manifest()\n",
        "b.py": "def manifest_load():\n    '''Load a manifest, load it.'''\n",
        "c.py": "x = 1\ndef load_manifest():\n    return 'manifest'\n",
    }
    assert best(tmp_path, "load_manifest", files)[0] == ("c.py", 2)


def test_a_name_counts_more_than_a_word_in_the_source(tmp_path: Path) -> None:
    files = {"a.py": "def other():\n    return anchor\n", "b.py": "x = 1\ndef anchor():\n    return other\n"}
    assert best(tmp_path, "anchor", files)[0] == ("b.py", 2)


@pytest.mark.parametrize("text", ["", "   ", "!!!", "\0", "💥", "___"])
def test_a_query_without_words_finds_nothing(tmp_path: Path, text: str) -> None:
    assert best(tmp_path, text) == []


@given(st.text())
def test_no_text_is_an_fts_expression_of_its_own(text: str) -> None:
    expression = match_expression(text + ' NEAR("a" b) OR c* AND NOT name:d ^e "')
    database = sqlite3.connect(":memory:")
    database.execute("CREATE VIRTUAL TABLE words USING fts5(x, tokenize=\"ascii tokenchars '_'\")")
    assert database.execute("SELECT * FROM words WHERE words MATCH ?", (expression,)).fetchall() == []
    database.close()
    assert all(part.startswith('"') and part.endswith('"') for part in expression.split(" OR "))


def test_only_so_many_words_of_a_query_are_asked() -> None:
    assert match_expression(" ".join(f"w{n}x" for n in range(2000))).count(" OR ") == MAX_QUERY_TOKENS - 1
