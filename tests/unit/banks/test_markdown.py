"""Which lines of Markdown are headings."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.banks.markdown import Heading, headings, markdown_cases, markdown_lines


def found(source: str | bytes) -> list[tuple[int, str]]:
    data = source.encode() if isinstance(source, str) else source
    return [(witness.line, witness.text) for witness in markdown_cases(data).found]


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("# Getting started", "Getting started"),
        ("###### Getting started", "Getting started"),
        ("#\tGetting started", "Getting started"),
        ("#   Getting started   ", "Getting started"),
        ("## Getting started ##", "Getting started"),
        ("## Getting started #####   ", "Getting started"),
        ("# Getting started#", "Getting started"),
        ("# A word on C#", "A word on C"),
        ("# Getting # started", "Getting # started"),
        ("# Getting started # #", "Getting started #"),
        ("# Getting *started*", "Getting *started*"),
        ("# [1.2.0] (2024-01-02)", "[1.2.0] (2024-01-02)"),
        ("#\u3000Größe und Gewicht", "Größe und Gewicht"),
        ("# 12345678", "12345678"),
    ],
)
def test_a_heading_is_read_without_its_marks(line: str, text: str) -> None:
    assert found(line) == [(1, text)]


@pytest.mark.parametrize(
    "line",
    [
        " # Getting started",
        "    # Getting started",
        "\t# Getting started",
        "####### Getting started",
        "#Getting started",
        "# 1234567",
        "# About C#",
        "#",
        "# ####################",
        "\\# Getting started",
        "> # Getting started",
        "Getting started\n===============",
        "\ufeff# Getting started",
    ],
)
def test_other_lines_are_no_headings_or_too_short(line: str) -> None:
    assert found(line) == []


def test_closing_marks_need_no_space_before_them() -> None:
    assert list(headings(["# About C#"])) == [Heading(1, 1, "About C")]


def test_the_query_names_its_subject() -> None:
    (witness,) = markdown_cases(b"\n## Getting started\n").found
    assert witness.query == "Documentation about Getting started"
    assert (witness.rule.name, witness.rule.channel, witness.rule.kind) == (
        "markdown_heading",
        "docs",
        "documentation",
    )


def test_short_headings_are_counted() -> None:
    assert markdown_cases(b"# Short\n# Long enough\n#\n# API\n").short == 2


IN, OUT = "# Inside the fence", "# Outside the fence"


@pytest.mark.parametrize(
    "fenced",
    [
        f"```\n{IN}\n```",
        f"~~~\n{IN}\n~~~",
        f"```python title=`x` ~~~\n{IN}\n```",
        f"~~~ ``` anything\n{IN}\n~~~",
        f"````\n```\n{IN}\n````",
        f"```\n````python\n{IN}\n```",
        f"```\n~~~\n{IN}\n~~~\n```",
        f"~~~~\n~~~\n{IN}\n~~~~~   ",
        f"   ```\n{IN}\n  ```",
        f"```\n    ```\n{IN}\n```",
        f"```\n``` not the end\n{IN}\n```",
    ],
)
def test_fenced_lines_are_code(fenced: str) -> None:
    assert [text for _, text in found(f"{fenced}\n{OUT}")] == [OUT[2:]]


@pytest.mark.parametrize("unfenced", ["``", "    ```", "\t```", "x ```", "`` `"])
def test_what_is_no_fence_opens_none(unfenced: str) -> None:
    assert [text for _, text in found(f"{unfenced}\n{OUT}")] == [OUT[2:]]


def test_an_unclosed_fence_runs_to_the_end() -> None:
    assert found(f"{OUT}\n```\n{IN}\n\n{IN}") == [(1, OUT[2:])]


@pytest.mark.parametrize(
    "end", ["\n", "\r\n", "\r", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85", "\u2028"]
)
def test_lines_are_counted_as_str_splitlines_counts_them(end: str) -> None:
    assert found(f"text{end}{end}# Getting started{end}") == [(3, "Getting started")]


def test_undecodable_bytes_are_replaced() -> None:
    assert found(b"\xff\n# Gr\xf6\xdfe und Gewicht") == [(2, "Gr\ufffd\ufffde und Gewicht")]


FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})(.*)$", re.DOTALL)
HEADING = re.compile(r"^(#{1,6})\s+(.*)$", re.DOTALL)


@given(
    st.lists(
        st.one_of(
            st.text(st.sampled_from("# `~ab\t\x1f\u3000"), max_size=16),
            st.sampled_from(["```", "~~~", "````", "   ~~~~ ", "# Getting started", "## C# ##"]),
        ),
        max_size=12,
    )
)
def test_headings_agree_with_the_rule_said_in_another_way(lines: list[str]) -> None:
    expected, fence = [], None
    for number, line in enumerate(lines, start=1):
        mark = FENCE.match(line)
        if mark and fence is None:
            fence = mark[1]
        elif mark and mark[1][0] == fence[0] and len(mark[1]) >= len(fence) and not mark[2].strip():  # type: ignore[index,arg-type]
            fence = None
        elif not mark and fence is None and (heading := HEADING.match(line)):
            text = re.sub(r"\s*#*\s*$", "", heading[2].strip(), count=1)
            expected.append(Heading(number, len(heading[1]), text))
    assert list(headings(lines)) == expected


@given(st.binary(max_size=300))
def test_every_heading_stands_on_the_line_that_it_names(source: bytes) -> None:
    lines = markdown_lines(source)
    for witness in markdown_cases(source).found:
        assert witness.text in lines[witness.line - 1]
        assert len(witness.text) >= 8


def test_a_line_of_many_marks_takes_no_time_to_speak_of() -> None:
    assert found("# a" + " " * 200_000 + "x" + "#" * 200_000)[0][0] == 1
