from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from core.reports.markup import code, table, text
from core.text import printable

GFM = MarkdownIt("gfm-like", {"linkify": False})
HOSTILE = [
    "a | b",
    "`tick` ``two``",
    "<script>alert(1)</script>",
    "![x](http://e.example/x.png)",
    "[x](javascript:1)",
    "*b* _i_ ~~s~~ **B**",
    "\\|",
    "&lt;",
    "https://e.example www.e.example",
    "line\nbreak\r\x1b[31mred\u202e",
    "# no heading",
    "> no quote",
    "\ud800",
]


def cells(markdown: str) -> list[list[str]]:
    """Return the text of each table cell in each row, as a Markdown reader sees it."""
    rows: list[list[str]] = []
    for token in GFM.parse(markdown):
        if token.type == "tr_open":
            rows.append([])
        if token.type == "inline" and rows:
            kinds = {child.type for child in token.children or []}
            assert kinds <= {"text", "code_inline", "text_special"}, kinds
            rows[-1].append("".join(child.content for child in token.children or []))
    return rows


@pytest.mark.parametrize("value", HOSTILE)
def test_hostile_text_stays_in_its_cell_and_shows_literally(value: str) -> None:
    markdown = "\n".join(table(["a", "b", "c"], [[text(value), code(value), "end"]]))
    _, row = cells(markdown)
    assert row == [printable(value), printable(value), "end"]


@given(st.text(min_size=1, max_size=40))
def test_any_text_stays_in_its_cell(value: str) -> None:
    markdown = "\n".join(table(["a", "b", "c"], [["x" + text(value), code(value), "end"]]))
    _, row = cells(markdown)
    assert len(row) == 3
    assert row[2] == "end"
    assert row[0].split() == ("x" + printable(value)).split()


def test_addresses_are_written_so_that_no_reader_links_them() -> None:
    assert "://" not in text("https://e.example")
    assert "www." not in text("www.e.example")


def test_an_at_sign_is_escaped_but_in_a_metrics_name() -> None:
    assert text("MRR@10 (Recall@5). Hit@1.") == "MRR@10 (Recall@5). Hit@1."
    assert text("@x a@b.c a@1.c a@1b a@1234 1@2") == "\\@x a\\@b.c a\\@1.c a\\@1b a\\@1234 1\\@2"


def test_plain_words_and_numbers_are_left_readable() -> None:
    assert text("symbol_lookup p < .001") == "symbol_lookup p < .001"
    assert code("load_manifest") == "`load_manifest`"


def test_a_row_of_another_length_is_refused() -> None:
    with pytest.raises(ValueError, match="2 columns"):
        table(["a", "b"], [["1"]])
