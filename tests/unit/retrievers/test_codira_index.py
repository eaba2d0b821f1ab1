from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Sequence
from pathlib import Path

import pytest

from core.retrievers.codira_index import verify
from core.retrievers.protocol import AnswerError
from tests.support.codira import make_index

SYMBOLS, DOCUMENTATION = 4, 2


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """The state of an index of four symbols and two headings."""
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "a.py").write_text("def one(): pass\ndef two(): pass\n")
    (tree / "b.py").write_text('def three(): pass\nclass Four:\n    """The fourth."""\n')
    (tree / "README.md").write_text("# First heading\n\n# Second heading\n")
    make_index(tree, tmp_path / "state")
    return tmp_path / "state"


def change(state: Path, database: str, *statements: str) -> None:
    connection = sqlite3.connect(state / ".codira" / database)
    with connection:
        for statement in statements:
            connection.execute(statement)
    connection.close()


def refusal(state: Path) -> AnswerError:
    with pytest.raises(AnswerError) as caught:
        verify(state)
    return caught.value


def test_a_complete_index_is_counted_from_its_own_databases(state: Path) -> None:
    found = verify(state)
    assert found.units == SYMBOLS + DOCUMENTATION
    assert found.details == {
        "symbol_embeddings": SYMBOLS,
        "documentation_embeddings": DOCUMENTATION,
        "vector_sets": 1,
    }


def test_texts_that_are_the_same_share_a_vector(state: Path) -> None:
    change(
        state,
        "embeddings.db",
        "UPDATE vector_bindings SET content_hash = (SELECT content_hash FROM vector_payloads WHERE id = 1)",
        "DELETE FROM vector_payloads WHERE id > 1",
        "DELETE FROM vector_payload_index_1_rowids WHERE rowid > 1",
    )
    change(state, "index.db", f"UPDATE embeddings SET content_hash = '{_first_hash(state)}'")
    assert verify(state).units == SYMBOLS + DOCUMENTATION


def test_lost_bindings_of_earlier_batches_are_numbered(state: Path) -> None:
    change(state, "embeddings.db", "DELETE FROM vector_bindings WHERE rowid <= 3")
    found = refusal(state)
    assert found.kind == "incomplete_index"
    assert str(found).startswith("of 6 embedded rows, 3 have no vector binding (")


def test_a_binding_of_another_text_is_no_binding(state: Path) -> None:
    change(state, "embeddings.db", "UPDATE vector_bindings SET content_hash = 'x' WHERE rowid = 1")
    assert "1 have no vector binding" in str(refusal(state))


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM vector_payloads WHERE id <= 2",
        "DELETE FROM vector_payload_index_1_rowids WHERE rowid <= 2",
    ],
)
def test_missing_payloads_are_numbered(state: Path, statement: str) -> None:
    change(state, "embeddings.db", statement)
    found = refusal(state)
    assert found.kind == "incomplete_index"
    assert "2 are bound to a vector that is not there" in str(found)


def test_an_index_without_its_vectors_lacks_all_payloads(state: Path) -> None:
    change(state, "embeddings.db", "DROP TABLE vector_payload_index_1_rowids")
    assert "6 are bound to a vector that is not there (4 symbols, 2 documentation)" in str(refusal(state))


def test_faults_of_several_kinds_are_told_at_once(state: Path) -> None:
    change(state, "embeddings.db", "DELETE FROM vector_bindings WHERE rowid = 1")
    change(state, "embeddings.db", "DELETE FROM vector_payloads WHERE id = 6")
    change(state, "index.db", "INSERT INTO pending_embeddings VALUES ('symbol', 9, 's')")
    change(state, "index.db", "UPDATE embeddings SET object_id = 99 WHERE id = 2")
    told = str(refusal(state))
    assert "1 belong to no symbol or documentation" in told
    assert "1 have no vector binding" in told
    assert "1 are bound to a vector that is not there" in told
    assert "1 more still wait to be embedded" in told


@pytest.mark.parametrize(
    "statements",
    [
        ["INSERT INTO vector_sets VALUES (2, 'older')"],
        ["INSERT INTO vector_sets VALUES (2, 'older')", "UPDATE vector_bindings SET vector_set_id = 2"],
        ["UPDATE vector_bindings SET vector_set_id = 2 WHERE rowid = 1"],
    ],
)
def test_two_vector_sets_are_refused(state: Path, statements: Sequence[str]) -> None:
    change(state, "embeddings.db", *statements)
    found = refusal(state)
    assert found.kind == "two_vector_sets"
    assert "found 2 vector sets with 6 bindings" in str(found)


def test_no_vector_set_is_incomplete(state: Path) -> None:
    change(
        state,
        "embeddings.db",
        *(f"DELETE FROM {table}" for table in ("vector_sets", "vector_bindings", "vector_payloads")),
    )
    assert str(refusal(state)) == "found no vector set for 6 embedded rows"


def test_zero_embeddings_are_an_empty_index(state: Path) -> None:
    change(state, "index.db", "DELETE FROM embeddings")
    found = refusal(state)
    assert found.kind == "empty_index"
    assert "0 embeddings of 3 files" in str(found)


@pytest.mark.parametrize("name", ["index.db", "embeddings.db"])
def test_a_database_that_is_gone_damaged_or_no_file_is_unreadable(state: Path, name: str) -> None:
    database = state / ".codira" / name
    content = database.read_bytes()

    def told() -> str:
        found = refusal(state)
        assert found.kind == "unreadable_index"
        assert name in str(found)
        return str(found)

    database.write_bytes(b"not a database, and longer than its header" * 9)
    assert "not a database" in told()
    database.write_bytes(content[:6000])
    told()
    database.unlink()
    assert "No such file" in told()
    os.mkfifo(database)
    assert "no plain file" in told()
    database.unlink()
    (state / "elsewhere").write_bytes(content)
    database.symlink_to(state / "elsewhere")
    assert "no plain file" in told()


def test_a_table_that_is_missing_is_told(state: Path) -> None:
    change(state, "embeddings.db", "DROP TABLE vector_bindings")
    found = refusal(state)
    assert found.kind == "unreadable_index"
    assert "no such table" in str(found)


def test_rows_of_other_types_and_bytes_are_counted_like_all_others(state: Path) -> None:
    change(
        state,
        "index.db",
        "UPDATE embeddings SET content_hash = x'ff00', object_type = 5 WHERE id = 1",
        "UPDATE symbol_index SET stable_id = x'fffe' WHERE id = 2",
    )
    told = str(refusal(state))
    assert "1 belong to no symbol or documentation" in told
    assert "1 have no vector binding" in told


def test_nothing_is_written_and_odd_folders_are_read(state: Path, tmp_path: Path) -> None:
    odd = tmp_path / "100% odd?mode=rwc#x"
    shutil.copytree(state, odd)
    before = {path.name: path.read_bytes() for path in (odd / ".codira").iterdir()}
    assert verify(odd).digest == verify(state).digest
    assert {path.name: path.read_bytes() for path in (odd / ".codira").iterdir()} == before


def test_the_digest_covers_what_queries_read_and_not_the_numbers_of_rows(state: Path) -> None:
    before = verify(state).digest
    change(state, "index.db", "UPDATE embeddings SET id = id + 100")
    assert verify(state).digest == before
    change(state, "index.db", "UPDATE symbol_index SET lineno = lineno + 1 WHERE id = 1")
    assert verify(state).digest != before


def _first_hash(state: Path) -> str:
    connection = sqlite3.connect(state / ".codira" / "embeddings.db")
    found = connection.execute("SELECT content_hash FROM vector_payloads WHERE id = 1").fetchone()[0]
    connection.close()
    return str(found)
