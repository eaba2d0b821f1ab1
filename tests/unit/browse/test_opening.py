"""Whatever lies where an index should, the run's own evidence is what is shown."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from core.browse import places, schema
from core.browse.index import DamagedIndexError, open_index
from core.errors import BoresightError, IdentityError, InputError, StoppedError
from core.outcomes import read_outcomes
from core.run.layout import RunLayout
from core.run.record import read_run
from tests.support.finished import finished_run
from tests.unit.browse.runs import Readings, primaries, settle, varied_run
from tests.unit.browse.test_contents import assert_holds


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    settle(monkeypatch)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return varied_run(tmp_path)


@pytest.fixture
def readings(monkeypatch: pytest.MonkeyPatch) -> Readings:
    return Readings(monkeypatch)


def execute(file: Path, sql: str) -> None:
    connection = sqlite3.connect(file)
    connection.execute(sql)
    connection.commit()
    connection.close()


def garbage(file: Path) -> None:
    file.write_bytes(os.urandom(5000))


def nothing(file: Path) -> None:
    file.write_bytes(b"")


def cut(file: Path) -> None:
    os.truncate(file, file.stat().st_size // 2 // 4096 * 4096)


def cut_in_the_head(file: Path) -> None:
    os.truncate(file, 50)


def edited(file: Path) -> None:
    execute(file, "UPDATE answers SET exact0 = 1, status0 = 1")


def with_a_trigger(file: Path) -> None:
    execute(file, "CREATE TRIGGER t AFTER INSERT ON problems BEGIN DELETE FROM cases; END")


def of_an_older_schema(file: Path) -> None:
    execute(file, "UPDATE meta SET value = '0' WHERE key = 'schema'")


def of_nonsense(file: Path) -> None:
    execute(file, "UPDATE meta SET value = '[' WHERE key = 'candidates'")


def without_facts(file: Path) -> None:
    execute(file, "DELETE FROM meta")


def another_database(file: Path) -> None:
    file.unlink()
    execute(file, "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)")


def a_link(file: Path) -> None:
    moved = file.with_name("elsewhere.sqlite")
    file.rename(moved)
    file.symlink_to(moved)


@pytest.mark.parametrize(
    "damage",
    [
        garbage,
        nothing,
        cut,
        cut_in_the_head,
        edited,
        with_a_trigger,
        of_an_older_schema,
        of_nonsense,
        without_facts,
        another_database,
        a_link,
        Path.unlink,
    ],
)
def test_an_index_that_does_not_hold_is_built_anew(run: Path, damage: Callable[[Path], None]) -> None:
    with open_index(run) as index:
        file = index.file
    damage(file)
    with open_index(run) as index:
        assert index.file == file
        assert_holds(index, read_outcomes(run))
    assert not file.is_symlink()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [path.name for path in run.iterdir() if "index.sqlite" in path.name] == ["index.sqlite"]


def test_an_index_of_another_run_is_built_anew(run: Path, tmp_path: Path) -> None:
    other = finished_run(tmp_path / "other").run
    with open_index(run) as index:
        shutil.copy(index.file, other / places.NAME)
    with open_index(other) as index:
        assert index.candidates == ("a", "b")
        assert_holds(index, read_outcomes(other))


def test_a_way_of_reading_that_changed_builds_anew(
    run: Path, readings: Readings, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_index(run).close()
    readings.take()
    monkeypatch.setattr("core.browse.freshness._reading", lambda: "another version")
    open_index(run).close()
    assert readings.take() != []


def test_damage_in_a_part_that_opening_does_not_read_is_told_and_mended_by_opening_again(run: Path) -> None:
    with open_index(run) as index:
        pages = index.file.stat().st_size // 4096
        with open(index.file, "r+b") as stream:
            for page in range(2, pages):
                stream.seek(page * 4096)
                stream.write(b"\xff" * 64)
    index = open_index(run)
    with pytest.raises(DamagedIndexError, match="open the run again"):
        index.page()
    with pytest.raises(BoresightError, match="closed"):
        index.page()
    with open_index(run) as index:
        assert_holds(index, read_outcomes(run))


def close_to_writing(run: Path) -> None:
    run.chmod(0o500)


def test_a_run_that_may_not_be_written_is_indexed_in_the_cache(run: Path, tmp_path: Path) -> None:
    close_to_writing(run)
    before = sorted(path.name for path in run.iterdir())
    with open_index(run) as index:
        assert index.file.parent == tmp_path / "cache" / "boresight"
        assert stat.S_IMODE(index.file.stat().st_mode) == 0o600
        assert stat.S_IMODE(index.file.parent.stat().st_mode) == 0o700
        assert_holds(index, read_outcomes(run))
        index.refresh()
    assert sorted(path.name for path in run.iterdir()) == before
    run.chmod(0o700)


def test_an_index_in_a_run_that_may_not_be_written_is_used_while_it_holds(
    run: Path, readings: Readings
) -> None:
    open_index(run).close()
    readings.take()
    close_to_writing(run)
    with open_index(run) as index:
        assert index.file == run / places.NAME
    assert readings.take() == []
    run.chmod(0o700)
    edited(run / places.NAME)
    close_to_writing(run)
    with open_index(run) as index:
        assert index.file != run / places.NAME
        assert_holds(index, read_outcomes(run))
    run.chmod(0o700)


def test_a_folder_in_its_place_sends_the_index_to_the_cache(run: Path, tmp_path: Path) -> None:
    (run / places.NAME).mkdir()
    with open_index(run) as index:
        assert tmp_path / "cache" in index.file.parents
        assert_holds(index, read_outcomes(run))


def test_where_nothing_can_be_written_the_message_says_what_to_do(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    close_to_writing(run)
    with pytest.raises(BoresightError, match="XDG_CACHE_HOME"):
        open_index(run)
    run.chmod(0o700)


def test_two_runs_of_one_campaign_have_an_index_each(run: Path, tmp_path: Path) -> None:
    copied = tmp_path / "copy"
    shutil.copytree(run, copied, symlinks=True)
    assert read_run(run).identity == read_run(copied).identity
    assert places.cached(read_run(run)) != places.cached(read_run(copied))


def test_a_run_that_cannot_be_trusted_has_no_index(run: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no run directory"):
        open_index(tmp_path)
    cases = RunLayout(run).cases
    cases.write_bytes(cases.read_bytes() + b"\n")
    with pytest.raises(IdentityError, match=r"cases\.jsonl"):
        open_index(run)
    assert not (run / places.NAME).exists()


def test_a_cancelled_build_leaves_nothing(run: Path) -> None:
    before = sorted(path.name for path in run.iterdir())
    with pytest.raises(StoppedError):
        open_index(run, is_cancelled=lambda: True)
    assert sorted(path.name for path in run.iterdir()) == before


def test_what_a_killed_build_left_is_swept_away(run: Path) -> None:
    dead = run / f".{places.NAME}.partial-{2**22 + 1}-abc"
    dead.write_bytes(b"half")
    living = run / f".{places.NAME}.partial-{os.getpid()}-abc"
    living.write_bytes(b"half")
    open_index(run).close()
    assert not dead.exists()
    assert living.exists()


def test_two_builds_at_once_both_end_in_a_whole_index(run: Path) -> None:
    problems: list[BaseException] = []

    def opened() -> None:
        try:
            with open_index(run) as index:
                assert_holds(index, read_outcomes(run))
        except BaseException as error:
            problems.append(error)

    threads = [threading.Thread(target=opened) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    with open_index(run) as index:
        assert_holds(index, read_outcomes(run))


def test_a_journal_of_a_killed_writer_does_not_reach_the_new_index(run: Path) -> None:
    with open_index(run) as index:
        file = index.file
    script = (
        "import os, sqlite3, sys\n"
        "connection = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "connection.execute('PRAGMA cache_size = 1')\n"
        "connection.execute('BEGIN')\n"
        "connection.execute('UPDATE cases SET query = zeroblob(5000)')\n"
        "os._exit(9)\n"
    )
    subprocess.run([sys.executable, "-c", script, str(file)], check=False)
    journal = file.with_name("index.sqlite-journal")
    assert journal.exists()
    with open_index(run) as index:
        assert_holds(index, read_outcomes(run))
        assert index.case(index.page()[0].id).row.query == read_outcomes(run).reader.bank.cases[0].query
    assert not journal.exists()


def test_a_build_waits_for_another_process_that_updates_in_place(run: Path) -> None:
    with open_index(run) as index:
        file = index.file
    before = file.stat().st_ino
    holder = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import fcntl, sys\n"
            "file = open(sys.argv[1])\n"
            "fcntl.flock(file, fcntl.LOCK_EX)\n"
            "print('held', flush=True)\n"
            "sys.stdin.read()\n",
            str(file),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with holder:
        assert holder.stdout is not None and holder.stdin is not None
        holder.stdout.readline()
        asked: list[int] = []

        def tires() -> bool:
            asked.append(file.stat().st_ino)
            return len(asked) > 20

        with pytest.raises(StoppedError):
            open_index(run, is_cancelled=tires, thorough=True)
        assert {*asked} == {before}
        holder.stdin.close()
    open_index(run, thorough=True).close()
    assert file.stat().st_ino != before


def test_an_index_is_shared_by_threads_while_it_is_refreshed(run: Path) -> None:
    problems: list[BaseException] = []
    with open_index(run) as index:

        def asking() -> None:
            try:
                for _ in range(50):
                    assert len(index.page()) == index.count()
            except BaseException as error:
                problems.append(error)

        threads = [threading.Thread(target=asking) for _ in range(3)]
        for thread in threads:
            thread.start()
        for _ in range(5):
            index.refresh(only=primaries(run, "a"))
        for thread in threads:
            thread.join()
    assert problems == []


def test_reports_do_not_heed_the_index(run: Path) -> None:
    before = read_outcomes(run)
    with open_index(run) as index:
        edited(index.file)
    assert read_outcomes(run).queries == before.queries


def test_more_candidates_than_columns_are_refused_in_words() -> None:
    assert schema.tables(schema.MOST_CANDIDATES)
    with pytest.raises(InputError, match="boresight report"):
        schema.tables(schema.MOST_CANDIDATES + 1)
