"""Tables on disk: whole or absent, without private rows, and harmless in a spreadsheet."""

from __future__ import annotations

import csv
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.errors import BoresightError, IdentityError, InputError
from core.run.exports import Row, export_table, harmless, write_table
from tests.support.finished import finished_run


def read(file: Path) -> list[list[str]]:
    return list(csv.reader(file.read_text(encoding="utf-8").split("\n")[:-1]))


def test_a_table_is_written_for_its_owner_alone_under_a_stamped_name(tmp_path: Path) -> None:
    run = finished_run(tmp_path).run
    rows: list[Row] = [("store", ["a,b", 1, None]), (None, ['say "x"', 0.5, True])]
    written = export_table(run, "queries", ["case", "rank", "more"], rows)
    assert (written.rows, written.withheld) == (2, 0)
    assert written.file.parent == run / "exports"
    assert written.file.name.startswith("queries-2") and written.file.name.endswith("Z.csv")
    assert read(written.file) == [["case", "rank", "more"], ["a,b", "1", ""], ['say "x"', "0.5", "True"]]
    assert stat.S_IMODE(written.file.stat().st_mode) == 0o600
    assert stat.S_IMODE(written.file.parent.stat().st_mode) == 0o700


def test_rows_of_private_and_of_unknown_repositories_are_withheld(tmp_path: Path) -> None:
    run = finished_run(tmp_path, private=True).run
    rows: list[Row] = [("store", ["secret"]), ("other", ["unknown"]), (None, ["all"])]
    written = export_table(run, "queries", ["case"], rows)
    assert (written.rows, written.withheld) == (1, 2)
    assert read(written.file) == [["case"], ["all"]]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("=1+1", "'=1+1"),
        ("+cmd|' /C calc'!A0", "'+cmd|' /C calc'!A0"),
        ("-2+3", "'-2+3"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("  =1", "'  =1"),
        ("\t=1", "'␉=1"),
        ("-0.05", "-0.05"),
        ("+.08", "+.08"),
        ("-3.5 %", "-3.5 %"),
        (-0.05, "-0.05"),
        (12, "12"),
        (None, ""),
        ("—", "—"),
        ("a\x1b[2Jb\n", "a␛[2Jb␊"),
        ("\u202eabc", "\\u202eabc"),
        ("1=2", "1=2"),
    ],
)
def test_cells_hold_no_formula_and_no_control(value: object, text: str) -> None:
    assert harmless(value) == text


def test_nothing_is_overwritten_and_names_stay_in_the_folder(tmp_path: Path) -> None:
    first = write_table(tmp_path, "../a b/c", ["h"], [])
    second = write_table(tmp_path, "../a b/c", ["h"], [])
    third = write_table(tmp_path, "…", ["h"], [])
    assert first.file != second.file
    assert {file.parent for file in (first.file, second.file, third.file)} == {tmp_path / "exports"}
    assert third.file.name.startswith("table-")


def test_rows_that_fail_leave_nothing(tmp_path: Path) -> None:
    def rows() -> Iterator[Row]:
        yield None, ["one"]
        raise InputError("the index is damaged")

    with pytest.raises(InputError, match="damaged"):
        write_table(tmp_path, "queries", ["h"], rows())
    assert list((tmp_path / "exports").iterdir()) == []


def test_a_disk_that_refuses_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(folder: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("core.run.exports.os.fsync", refuse)
    with pytest.raises(BoresightError, match="No space left on device; make room"):
        write_table(tmp_path, "queries", ["h"], [(None, ["x"])])
    assert list((tmp_path / "exports").iterdir()) == []


def test_a_link_in_place_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "exports").symlink_to("elsewhere")
    with pytest.raises(IdentityError, match="a link stands in the run"):
        write_table(tmp_path, "queries", ["h"], [])
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_run_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no run directory"):
        export_table(tmp_path, "queries", ["h"], [])
    assert list(tmp_path.iterdir()) == []


def test_a_file_in_place_of_the_folder_is_told(tmp_path: Path) -> None:
    (tmp_path / "exports").write_text("")
    with pytest.raises(BoresightError, match="cannot be made"):
        write_table(tmp_path, "queries", ["h"], [])
