from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from core.canonical import sha256_file
from core.workspace.errors import IndexStateError, WorkspaceError
from core.workspace.ingest import collect
from core.workspace.store import DATABASE, VECTORS, Record, Store, Vectors, verify_store, write_store
from tests.unit.workspace.builders import write_tree

DIMENSION = 3
UNITS = 9


@pytest.fixture
def state(tmp_path: Path) -> Path:
    units = collect(write_tree(tmp_path / "repository"), 4000).units
    assert len(units) == UNITS
    data = bytes(4 * DIMENSION * UNITS)
    write_store(tmp_path / "state", units, Vectors(DIMENSION, data))
    return tmp_path / "state"


def test_a_whole_index_is_counted_from_its_own_rows(state: Path) -> None:
    assert verify_store(state) == Record(6, 3, UNITS, DIMENSION, sha256_file(state / VECTORS))
    assert sorted(path.name for path in state.iterdir()) == [VECTORS, DATABASE]


def test_reading_leaves_nothing_beside_the_index(state: Path) -> None:
    before = {path.name: path.read_bytes() for path in state.iterdir()}
    verify_store(state)
    with Store(state) as store:
        store.units([1, 2])
    assert {path.name: path.read_bytes() for path in state.iterdir()} == before


def test_each_channel_is_one_range_of_rows() -> None:
    record = Record(emb=4, docs=2)
    assert (record.rows("emb"), record.rows("docs")) == (range(4), range(4, 6))


def edit(statement: str) -> Callable[[Path], None]:
    def apply(state: Path) -> None:
        with closing(sqlite3.connect(state / DATABASE)) as database:
            database.execute(statement)
            database.commit()

    return apply


def truncate(state: Path) -> None:
    data = (state / DATABASE).read_bytes()
    (state / DATABASE).write_bytes(data[: len(data) // 2])


def flip_vector(state: Path) -> None:
    data = bytearray((state / VECTORS).read_bytes())
    data[5] ^= 1
    (state / VECTORS).write_bytes(data)


@pytest.mark.parametrize(
    ("damage", "kind"),
    [
        (lambda state: (state / DATABASE).unlink(), "missing_index"),
        (lambda state: (state / DATABASE).write_bytes(b""), "damaged_index"),
        (lambda state: (state / DATABASE).write_bytes(b"SQLite format 3\0" + b"x" * 5000), "damaged_index"),
        (truncate, "damaged_index"),
        (lambda state: (state / VECTORS).unlink(), "incomplete_index"),
        (lambda state: (state / VECTORS).write_bytes(b"1234"), "incomplete_index"),
        (flip_vector, "damaged_index"),
        (edit("DELETE FROM units WHERE id = 2"), "incomplete_index"),
        (edit("UPDATE units SET channel = 'docs' WHERE id = 2"), "incomplete_index"),
        (edit("INSERT INTO emb_words (emb_words) VALUES ('delete-all')"), "incomplete_index"),
        (edit("DROP TABLE docs_words"), "damaged_index"),
        (edit("DELETE FROM record"), "damaged_index"),
        (edit("UPDATE record SET json = '[]'"), "damaged_index"),
        (edit("UPDATE record SET json = replace(json, 'workspace@1', 'workspace@9')"), "damaged_index"),
        (
            edit("UPDATE record SET json = replace(json, '\"vectors\":9', '\"vectors\":8')"),
            "incomplete_index",
        ),
    ],
)
def test_a_damaged_index_is_found_out(state: Path, damage: Callable[[Path], object], kind: str) -> None:
    damage(state)
    with pytest.raises(IndexStateError) as caught:
        verify_store(state)
    assert caught.value.kind == kind


def test_an_index_is_never_written_over(state: Path, tmp_path: Path) -> None:
    units = collect(tmp_path / "repository", 4000).units
    with pytest.raises(WorkspaceError, match="already holds an index"):
        write_store(state, units, None)


def test_a_failed_index_leaves_nothing_that_looks_like_one(tmp_path: Path) -> None:
    units = collect(write_tree(tmp_path / "repository"), 4000).units
    broken = [units[0], units[1]._replace(path=None)]  # type: ignore[arg-type]
    with pytest.raises(sqlite3.IntegrityError):
        write_store(tmp_path / "state", broken, None)
    assert list((tmp_path / "state").iterdir()) == []
