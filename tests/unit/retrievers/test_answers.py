from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.ranking import Location
from core.retrievers.answers import (
    MAX_ANSWER_BYTES,
    read_context,
    read_index_report,
    read_ranking,
)
from core.retrievers.protocol import AnswerError


def ranking(*results: object) -> bytes:
    return json.dumps({"format": "boresight-ranking@1", "results": results}).encode()


def row(**fields: Any) -> dict[str, Any]:
    return {"path": "a.py", "line": 3, "end_line": 5, "kind": "symbol", "score": 0.5, **fields}


def test_rows_become_locations_in_their_order() -> None:
    answer = read_ranking(ranking(row(score=0.1), row(path="b/c.md", line=None, end_line=None, score=2)), 10)
    assert answer.ranking == (
        Location("a.py", 3, 5, "symbol", 0.1),
        Location("b/c.md", None, None, "symbol", 2.0),
    )
    assert (answer.duplicates, answer.surplus) == (0, 0)


def test_only_the_path_must_be_given() -> None:
    assert read_ranking(ranking({"path": "a.py"}), 1).ranking == (Location("a.py"),)
    assert read_ranking(ranking(), 1).ranking == ()


def test_duplicates_and_surplus_are_dropped_and_counted() -> None:
    rows = [row(), row(score=0.4), row(kind="file"), row(line=4), row(path="z.py")]
    answer = read_ranking(ranking(*rows), 2)
    assert [(hit.kind, hit.line, hit.score) for hit in answer.ranking] == [
        ("symbol", 3, 0.5),
        ("file", 3, 0.5),
    ]
    assert (answer.duplicates, answer.surplus) == (1, 2)


@pytest.mark.parametrize(
    ("stdout", "kind"),
    [
        (b"", "empty_output"),
        (b" \n", "empty_output"),
        (b"\xff\xfe", "invalid_utf8"),
        (b'{"format": "boresight-ranking@1", "results": [', "invalid_json"),
        (b'{"format": "boresight-ranking@1", "results": []} trailing', "invalid_json"),
        (b'{"format": "boresight-ranking@1", "results": [], "results": []}', "invalid_json"),
        (b'{"format": "boresight-ranking@1", "results": [{"path": "a", "score": NaN}]}', "invalid_json"),
        (b"[" * 100_000, "invalid_json"),
        (b"1" * 5000, "invalid_json"),
        (b" " * (MAX_ANSWER_BYTES + 1), "too_long"),
        (b"[]", "wrong_shape"),
        (b"null", "wrong_shape"),
        (b"{}", "wrong_shape"),
        (b'{"format": "boresight-ranking@2", "results": []}', "wrong_shape"),
        (b'{"format": "boresight-ranking@1"}', "wrong_shape"),
        (b'{"format": "boresight-ranking@1", "results": {}}', "wrong_shape"),
        (b'{"format": "boresight-ranking@1", "results": [], "more": 1}', "wrong_shape"),
    ],
)
def test_what_is_no_answer_is_refused_by_kind(stdout: bytes, kind: str) -> None:
    with pytest.raises(AnswerError) as caught:
        read_ranking(stdout, 5)
    assert caught.value.kind == kind
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(
    ("result", "kind"),
    [
        ("a.py", "wrong_shape"),
        ({}, "wrong_shape"),
        (row(path=1), "wrong_shape"),
        (row(lineno=1), "wrong_shape"),
        (row(excerpt="x"), "wrong_shape"),
        (row(path="/etc/passwd"), "outside_repository"),
        (row(path="../a.py"), "outside_repository"),
        (row(path="a/../../b.py"), "outside_repository"),
        (row(path=""), "bad_path"),
        (row(path="./a.py"), "bad_path"),
        (row(path="a//b.py"), "bad_path"),
        (row(path="a/"), "bad_path"),
        (row(path="a\0.py"), "bad_path"),
        (row(path="\ud800.py"), "bad_path"),
        (row(path="a" * 5000), "bad_path"),
        (row(line=0), "bad_line"),
        (row(line=-1), "bad_line"),
        (row(line=True), "bad_line"),
        (row(line=3.0), "bad_line"),
        (row(line="3"), "bad_line"),
        (row(line=2**40), "bad_line"),
        (row(end_line=2), "bad_line"),
        (row(line=None), "bad_line"),
        (row(kind="function"), "unknown_kind"),
        (row(kind=["symbol"]), "unknown_kind"),
        (row(score="1"), "bad_score"),
        (row(score=True), "bad_score"),
        (row(score=10**400), "bad_score"),
    ],
)
def test_a_wrong_row_is_refused_by_kind_and_place(result: object, kind: str) -> None:
    with pytest.raises(AnswerError, match=r"results\[1\]") as caught:
        read_ranking(ranking({"path": "ok.py"}, result), 5)
    assert caught.value.kind == kind


def test_an_infinite_score_is_refused() -> None:
    stdout = b'{"format": "boresight-ranking@1", "results": [{"path": "a", "score": 1e999}]}'
    with pytest.raises(AnswerError) as caught:
        read_ranking(stdout, 5)
    assert caught.value.kind == "bad_score"


@given(st.binary(max_size=200))
def test_any_bytes_give_an_answer_or_an_answer_error(stdout: bytes) -> None:
    for read in (read_ranking, read_context):
        with pytest.raises(AnswerError):
            read(stdout, 5)


def test_a_context_shows_each_excerpt_under_its_place() -> None:
    results = [
        row(excerpt="def f():"),
        row(excerpt="again"),
        {"path": "b.py", "excerpt": "\ud800"},
        {"path": "c.md", "line": 2, "excerpt": "# C"},
        {"path": "d.md", "excerpt": ""},
    ]
    stdout = json.dumps({"format": "boresight-context@1", "results": results}).encode()
    context = read_context(stdout, 3)
    assert context.text == "a.py:3-5\ndef f():\n\nb.py\n?\n\nc.md:2\n# C"
    assert [hit.path for hit in context.ranking] == ["a.py", "b.py", "c.md"]


def test_a_context_needs_excerpts() -> None:
    stdout = json.dumps({"format": "boresight-context@1", "results": [row()]}).encode()
    with pytest.raises(AnswerError, match=r"results\[0\].excerpt: found None"):
        read_context(stdout, 3)


def index(**fields: Any) -> bytes:
    report = {"units": 3, "emb": 2, "docs": 1, "vectors": 0, "skipped": {"links": 1}}
    return json.dumps({"format": "boresight-index@1", **report, **fields}).encode()


def test_an_index_report_is_read() -> None:
    report = read_index_report(index())
    assert (report.units, report.emb, report.docs, report.vectors) == (3, 2, 1, 0)
    assert report.skipped == {"links": 1}


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        ({"units": 4}, "wrong_shape"),
        ({"emb": True, "units": 2}, "wrong_shape"),
        ({"vectors": -1}, "wrong_shape"),
        ({"skipped": None}, "wrong_shape"),
        ({"skipped": {"links": "1"}}, "wrong_shape"),
        ({"units": 0, "emb": 0, "docs": 0}, "empty_index"),
    ],
)
def test_a_wrong_index_report_is_refused(fields: dict[str, Any], kind: str) -> None:
    with pytest.raises(AnswerError) as caught:
        read_index_report(index(**fields))
    assert caught.value.kind == kind
