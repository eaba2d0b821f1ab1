from __future__ import annotations

import os
from pathlib import Path

import pytest

from core.errors import InputError, ProblemsError
from core.ranking import Location
from core.retrievers.recorded.trec_run import read_lines, read_trec_run

GOOD = """\
q2 Q0 b.py:-:- 1 1.5 tag
q1 Q0 a%20b.py:3:symbol 1 2 tag
q1 Q0 README.md:0:file 2 1 tag

q1 Q0 a%20b.py:3:symbol#2 3 0.5 tag
"""


def a_file(folder: Path, text: str) -> Path:
    path = folder / "old.run"
    path.write_text(text)
    return path


def problems(folder: Path, text: str) -> tuple[str, ...]:
    with pytest.raises(ProblemsError, match=r"old\.run is no sound run file") as caught:
        read_trec_run(a_file(folder, text))
    return caught.value.problems


def test_each_query_has_its_lines_best_first(tmp_path: Path) -> None:
    run = read_trec_run(a_file(tmp_path, GOOD))
    assert set(run.queries) == {"q1", "q2"} and run.rows == 4
    assert read_lines(run.queries["q1"]) == (
        Location("a b.py", 3, None, "symbol", 2.0),
        Location("README.md", None, None, "file", 1.0),
        Location("a b.py", 3, None, "symbol", 0.5),
    )
    assert read_lines(run.queries["q2"]) == (Location("b.py", score=1.5),)


def test_the_rank_orders_whatever_the_order_of_the_file(tmp_path: Path) -> None:
    run = read_trec_run(a_file(tmp_path, "q Q0 b:-:- 2 1 t\nq Q0 a:-:- 1 9 t\n"))
    assert [each.path for each in read_lines(run.queries["q"])] == ["a", "b"]


def test_nothing_kept_reads_as_nothing_found() -> None:
    assert read_lines(b"") == ()


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("q 0 a.py:1:symbol 1", "line 2: found 4 fields, expected CASE Q0 DOCNO RANK SCORE TAG; that"),
        ("q Q0 a b.py:1:- 1 1 t", "line 2: found 7 fields"),
        ("q Q0 src/a.py 1 1 t", "line 2: found the document name 'src/a.py', expected PATH:LINE:KIND"),
        ("q Q0 a.py:1:- 1 nan t", "line 2: found the score 'nan', expected a finite number"),
        ("q Q0 a.py:1:- 1 inf t", "line 2: found the score 'inf'"),
        ("q Q0 a.py:1:- 1 1_0 t", "line 2: found the score '1_0'"),
        ("q Q0 a.py:1:- " + "0" * 5000 + " 1 t", "line 2: found the rank"),
        ("q Q0 a.py:1:- 1 high t", "line 2: found the score 'high'"),
        ("q Q0 a.py:1:- first 1 t", "line 2: found the rank 'first', expected a whole number"),
        ("q Q0 a.py:1:- 99999999999999 1 t", "line 2: found the rank"),
        ("q Q0 %2E%2E/a.py:1:- 1 1 t", "line 2: found the document name"),
        ("q Q0 ../a.py:1:- 1 1 t", "line 2: the document.path: found '../a.py'"),
        ("q Q0 é.py:1:- 1 1 t", "line 2: holds other than ASCII"),
        ("p Q0 a.py:1:- 3 1 t", "line 2: p: the document of line 1 again"),
        ("p Q0 b.py:1:- 1 9 t", "line 2: p: the rank of line 1 again, 1"),
        ("p Q0 b.py:1:- 2 99 t", "line 2: p: scored higher than line 1, which stands before it by rank"),
    ],
)  # fmt: skip
def test_a_bad_line_is_named_by_its_number(tmp_path: Path, line: str, told: str) -> None:
    (problem,) = problems(tmp_path, f"p Q0 a.py:1:- 1 9 t\n{line}\n")
    assert problem.startswith(told)


def test_many_bad_lines_are_counted(tmp_path: Path) -> None:
    found = problems(tmp_path, "x\n" * 50)
    assert len(found) == 21 and found[-1] == "and 30 more"


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no result"):
        read_trec_run(a_file(tmp_path, "\n"))


def test_a_pipe_is_refused_rather_than_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.run")
    with pytest.raises(InputError, match=r"pipe\.run: is no regular file"):
        read_trec_run(tmp_path / "pipe.run")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"gone\.run: the run file cannot be read: No such file"):
        read_trec_run(tmp_path / "gone.run")
