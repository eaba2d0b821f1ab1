from __future__ import annotations

import pytest

from core.errors import ProblemsError
from core.retrievers.declared.line_pattern import parse_pattern


def read(pattern: str, line: str) -> object:
    return parse_pattern(pattern, "config.answer.pattern").read(line)


@pytest.mark.parametrize(
    ("pattern", "line", "fields"),
    [
        ("{path}:{line}:{text}", "a/b.py:12:x = 1", {"path": "a/b.py", "line": "12", "text": "x = 1"}),
        ("{path}:{line}:{text}", "a.py:12:", {"path": "a.py", "line": "12", "text": ""}),
        ("{path}:{line}:{text}", "a:b.py:12:c:13:d", {"path": "a:b.py", "line": "12", "text": "c:13:d"}),
        ("{path}\0{line}:{text}", "a:1:b.py\x007:x", {"path": "a:1:b.py", "line": "7", "text": "x"}),
        ("{path}:{line}:{column}", "a.py:1:2", {"path": "a.py", "line": "1", "column": "2"}),
        ("{score} {path}#L{line}", "0.5 a b.py#L3", {"score": "0.5", "path": "a b.py", "line": "3"}),
        ("{path}:{line}-{end_line}", "a-b:3-9", {"path": "a-b", "line": "3", "end_line": "9"}),
        ("{path}", "a b.py", {"path": "a b.py"}),
        ("<{kind}> {path}", "<def> a.py", {"kind": "def", "path": "a.py"}),
    ],
)  # fmt: skip
def test_fields_are_found_between_the_literal_text(pattern: str, line: str, fields: dict[str, str]) -> None:
    assert read(pattern, line) == fields


@pytest.mark.parametrize(
    "line", ["", "a.py", "a.py:x:y", ":1:x", "a.py:١:x", "a.py:-1:x", "Binary file a matches"]
)
def test_other_lines_do_not_fit(line: str) -> None:
    assert read("{path}:{line}:{text}", line) is None


@pytest.mark.parametrize(
    ("pattern", "repeated"),
    [
        ("{path}:{line}:{text}", "x:"),
        ("{path}:{line}:{column}", "1:"),
        ("{path}:{kind}:{line}", "x:"),
        ("{path} {kind} {excerpt} {text} {line}", "x "),
        ("{path} {line}:{kind}", "1 "),
    ],
)
def test_a_long_line_is_given_up_without_trying_each_way_to_cut_it(pattern: str, repeated: str) -> None:
    assert read(pattern, repeated * 200_000) is None


def test_a_number_is_cut_where_what_follows_it_begins_with_a_digit() -> None:
    assert read("{line}0:{path}", "1200:a.py") == {"line": "120", "path": "a.py"}


@pytest.mark.parametrize(
    ("pattern", "told"),
    [
        ("{line}:{text}", "found no {path}"),
        ("{path}{line}", "stand side by side"),
        ("{path}:{path}", "found {path} twice"),
        ("{file}:{line}", "found the placeholder {file}"),
        ("{path", "found a single {"),
    ],
)
def test_a_bad_pattern_is_named(pattern: str, told: str) -> None:
    with pytest.raises(ProblemsError, match=r"config\.answer\.pattern") as caught:
        parse_pattern(pattern, "config.answer.pattern")
    assert told in str(caught.value)
