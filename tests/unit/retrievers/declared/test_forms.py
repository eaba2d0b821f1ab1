from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from core.errors import ProblemsError
from core.ranking import Location
from core.retrievers.declared.entry import AnswerForm
from core.retrievers.declared.forms import Form
from core.retrievers.protocol import Answer, AnswerError

REPOSITORY = Path("/run/repositories/store")


def form(**fields: Any) -> Form:
    declared = AnswerForm(**fields)
    return Form(declared, declared.format, "config.answer")


def read(made: Form, output: Any, limit: int = 10) -> Answer:
    raw = output if isinstance(output, bytes) else json.dumps(output).encode()
    return made.ranking(raw, REPOSITORY, limit)


def failure(made: Form, output: Any) -> AnswerError:
    with pytest.raises(AnswerError) as caught:
        read(made, output)
    return caught.value


HITS = {"format": "json", "rows": "hits", "path": "file", "line": "at.from", "end_line": "at.to"}


def test_json_is_mapped_by_expressions() -> None:
    output = {"hits": [{"file": "a.py", "at": {"from": 3, "to": 9}}, {"file": "b.md", "at": None}]}
    assert read(form(**HITS), output).ranking == (Location("a.py", 3, 9), Location("b.md"))


def test_a_list_needs_no_rows() -> None:
    assert read(form(format="json", path="@"), ["a.py", "b.py"]).ranking == (
        Location("a.py"),
        Location("b.py"),
    )


def test_a_long_expression_is_told_in_short() -> None:
    assert len(str(failure(form(format="json", path="p", rows="a" * 10_000), {}))) < 200


def test_lines_may_end_with_a_carriage_return() -> None:
    made = form(format="lines", pattern="{path}:{line}")
    assert read(made, b"a.py:3\r\n\r\nb.py:4\r\n").ranking == (Location("a.py", 3), Location("b.py", 4))


def test_kinds_and_scores_are_read_in_the_words_of_the_tool() -> None:
    made = form(format="json", path="p", kind="k", score="s", kinds={"function": "symbol"})
    assert read(made, [{"p": "a.py", "k": "function", "s": 2}]).ranking == (
        Location("a.py", None, None, "symbol", 2.0),
    )
    assert failure(made, [{"p": "a.py", "k": "macro"}]).kind == "unknown_kind"
    assert failure(made, [{"p": "a.py", "k": ["macro"]}]).kind == "unknown_kind"


def test_lines_that_count_from_zero_are_counted_from_one() -> None:
    made = form(format="json", path="p", line="l", end_line="e", first_line=0)
    assert read(made, [{"p": "a.py", "l": 0, "e": 4}]).ranking == (Location("a.py", 1, 5),)
    assert failure(made, [{"p": "a.py", "l": "0"}]).kind == "bad_line"


def test_absolute_paths_inside_the_repository_are_made_relative() -> None:
    made = form(format="json", path="@")
    paths = [f"{REPOSITORY}/pkg/a.py", "./pkg/b.py", "c.py"]
    assert [each.path for each in read(made, paths).ranking] == ["pkg/a.py", "pkg/b.py", "c.py"]


def test_a_repository_behind_a_link_is_the_same_place(tmp_path: Path) -> None:
    real = tmp_path / "real"
    real.mkdir()
    (tmp_path / "link").symlink_to(real)
    made = form(format="json", path="@")
    output = json.dumps([f"{real}/a.py"]).encode()
    assert made.ranking(output, tmp_path / "link", 5).ranking == (Location("a.py"),)


@pytest.mark.parametrize("path", ["/etc/passwd", "../a.py", "a/../../b.py", f"{REPOSITORY}x/a.py"])
def test_paths_outside_the_repository_fail_the_query(path: str) -> None:
    assert failure(form(format="json", path="@"), [path]).kind == "outside_repository"


def test_duplicates_and_surplus_are_dropped_and_counted() -> None:
    rows = [{"file": name, "at": {"from": 1, "to": 2}} for name in ("a", "a", "b", "c", "a")]
    answer = read(form(**HITS), {"hits": rows}, limit=2)
    assert [each.path for each in answer.ranking] == ["a", "b"]
    assert (answer.duplicates, answer.surplus) == (2, 1)


@pytest.mark.parametrize(
    ("output", "kind"),
    [
        (b"", "empty_output"),
        (b"Loading the model...\n{}", "invalid_json"),
        (b'{"hits": [], "hits": []}', "invalid_json"),
        (b"\xff", "invalid_utf8"),
        ({"results": []}, "wrong_shape"),
        ({"hits": {"file": "a"}}, "wrong_shape"),
        ({"hits": [{"name": "a"}]}, "wrong_shape"),
        ({"hits": [{"file": 3}]}, "wrong_shape"),
        ({"hits": [{"file": "a", "at": {"from": 0}}]}, "bad_line"),
        ({"hits": [{"file": "a", "at": {"from": "3"}}]}, "bad_line"),
        ({"hits": [{"file": "a", "at": {"from": 3, "to": 2}}]}, "bad_line"),
    ],
)
def test_output_of_another_shape_is_named(output: Any, kind: str) -> None:
    assert failure(form(**HITS), output).kind == kind


def test_a_banner_is_shown_as_what_the_output_begins_with() -> None:
    assert "begins with 'Loading the model...'" in str(failure(form(**HITS), b"Loading the model...\n{}"))


def test_an_error_object_fails_the_query() -> None:
    made = form(**HITS, error="error.message")
    found = failure(made, {"error": {"message": "no such model"}, "hits": []})
    assert (found.kind, "no such model" in str(found)) == ("tool_error", True)
    assert read(made, {"error": None, "hits": []}).ranking == ()


def test_an_answer_to_another_command_fails_the_query() -> None:
    made = form(**HITS, expect={"command": "search", "version": 2})
    assert read(made, {"command": "search", "version": 2, "hits": []}).ranking == ()
    assert failure(made, {"command": "stats", "version": 2, "hits": []}).kind == "wrong_answer"
    assert failure(made, {"command": "search", "version": True, "hits": []}).kind == "wrong_answer"
    assert failure(made, {"hits": []}).kind == "wrong_answer"


def test_an_expression_that_cannot_be_followed_fails_the_query() -> None:
    made = form(format="json", rows="sort_by(hits, &rank)", path="file")
    assert failure(made, {"hits": [{"rank": 1}, {"rank": "x"}]}).kind == "wrong_shape"


def test_json_lines_are_one_list() -> None:
    made = form(format="json-lines", rows="[?type=='match'].data", path="path", line="line")
    output = b'{"type":"begin"}\n\n{"type":"match","data":{"path":"a.py","line":4}}\n'
    assert read(made, output).ranking == (Location("a.py", 4),)
    assert read(made, b"").ranking == ()
    assert "line 2" in str(failure(made, b"{}\nnope\n"))


def test_lines_of_text_are_read_by_the_pattern() -> None:
    made = form(format="lines", pattern="{path}:{line}:{text}")
    assert read(made, b"a.py:3:x\n./b.py:4:\xff\xfe\r\n\n").ranking == (
        Location("a.py", 3),
        Location("b.py", 4),
    )
    assert read(made, b"").ranking == ()


def test_a_line_that_does_not_fit_fails_the_query_unless_it_may_be_skipped() -> None:
    output = b"a.py:3:x\nBinary file b matches\n"
    assert failure(form(format="lines", pattern="{path}:{line}:{text}"), output).kind == "unreadable_line"
    made = form(format="lines", pattern="{path}:{line}:{text}", skip_other_lines=True)
    assert read(made, output).ranking == (Location("a.py", 3),)


def test_a_path_that_is_not_utf_8_is_refused() -> None:
    assert failure(form(format="lines", pattern="{path}:{line}:{text}"), b"\xff.py:3:x\n").kind == "bad_path"


@pytest.mark.parametrize("line", ["99999999999999999999", "0"])
def test_a_line_number_that_is_none_is_refused(line: str) -> None:
    assert (
        failure(form(format="lines", pattern="{path}:{line}:{text}"), f"a:{line}:x".encode()).kind
        == "bad_line"
    )


def test_scores_in_lines_are_numbers() -> None:
    made = form(format="lines", pattern="{score} {path}")
    assert read(made, b"0.25 a.py\n").ranking == (Location("a.py", score=0.25),)
    assert failure(made, b"nan a.py\n").kind == "bad_score"
    assert failure(made, b"high a.py\n").kind == "bad_score"


def test_context_joins_the_excerpts() -> None:
    made = form(format="json", path="p", line="l", excerpt="t")
    context = made.context(json.dumps([{"p": "a.py", "l": 3, "t": "def a(): ..."}]).encode(), REPOSITORY, 5)
    assert context.text == "a.py:3\ndef a(): ..."


def test_a_session_tells_which_request_it_answers() -> None:
    assert form(**HITS).session_id(b'{"id": "7"}') == "7"
    assert form(**HITS, id="meta.request").session_id(b'{"meta": {"request": "7"}}') == "7"
    for line in (b"[]", b"nope", b'{"id": 7}', b"{}"):
        assert form(**HITS).session_id(line) is None


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"format": "json"}, "config.answer.path: found nothing"),
        ({"format": "lines"}, "config.answer.pattern: found nothing"),
        ({"format": "json", "path": "a", "pattern": "{path}"}, "config.answer.pattern: has no meaning"),
        ({"format": "lines", "pattern": "{path}", "rows": "a"}, "config.answer.rows: has no meaning"),
        ({"rows": "a"}, "config.answer.rows: has no meaning with format = 'boresight-ranking@1'"),
        ({"format": "json", "path": "a[["}, "config.answer.path: 'a[[' is no JMESPath expression"),
        ({"format": "json", "path": "a[*].lenght(@)"}, "JMESPath expression (Unknown function: lenght())"),
        ({"format": "json", "path": "a", "expect": {"!!": 1}}, "config.answer.expect: '!!' is no JMESPath"),
    ],
)
def test_a_bad_form_names_the_field(fields: dict[str, Any], told: str) -> None:
    with pytest.raises(ProblemsError) as caught:
        form(**fields)
    assert told in str(caught.value)
