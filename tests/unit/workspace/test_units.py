from __future__ import annotations

import os
from pathlib import Path

import pytest

from core.workspace.ingest import MAX_FILE_BYTES, collect
from core.workspace.markdown_units import markdown_units
from core.workspace.python_units import python_units
from core.workspace.units import embedding_text, excerpt
from tests.unit.workspace.builders import write_tree


def test_definitions_have_the_lines_of_def_and_class() -> None:
    source = (
        b'"""Module."""\nimport x\n\n@x.deco(\n    1)\nclass A:\n    """Doc."""\n'
        b"    async def m(self):\n        def inner(): pass\n\nif x:\n    def f():\n        return 1\n"
    )
    module, *definitions = python_units("p/a.py", source, 4000).units
    assert (module.kind, module.line, module.end_line, module.name) == ("file", None, None, "a")
    found = [(unit.scope, unit.name, unit.line, unit.end_line) for unit in definitions]
    assert found == [("", "A", 6, 9), ("A", "m", 8, 9), ("A.m", "inner", 9, 9), ("", "f", 12, 13)]


def test_a_docstring_is_summary_and_not_repeated_in_the_rest() -> None:
    source = b'def f(a):\n    """Say it.\n\n    Twice.\n    """\n    return a\n'
    _, unit = python_units("a.py", source, 4000).units
    assert unit.summary == "Say it.\n\nTwice."
    assert unit.rest == "def f(a):\n    return a"
    assert embedding_text(unit, 4000) == "f\nSay it.\n\nTwice.\ndef f(a):\n    return a"
    assert embedding_text(unit, 5) == "f\nSay"


@pytest.mark.parametrize("newline", [b"\n", b"\r\n", b"\r"])
def test_every_line_end_counts_as_python_counts_it(newline: bytes) -> None:
    source = newline.join([b"x = '\x0c'", b"", b"def f():", b"    pass", b""])
    _, unit = python_units("a.py", source, 4000).units
    assert (unit.line, unit.end_line, unit.source) == (3, 4, "def f():\n    pass")


@pytest.mark.parametrize(
    "source",
    [
        b"def broken(:\n",
        b"x = 1\0\n",
        b"\xff\xfe\xfa",
        b"# coding: no-such-codec\ndef f(): pass\n",
        b"# coding: hex\nabc\n",
        b"(" * 5000,
        b"x = " + b"-" * 100_000 + b"1",
    ],
)
def test_a_file_that_does_not_parse_yields_its_module(source: bytes) -> None:
    units, parsed = python_units("pkg/__init__.py", source, 100)
    assert not parsed
    assert [(unit.kind, unit.name) for unit in units] == [("file", "pkg")]
    units[0].source.encode("utf-8")


def test_lone_surrogates_from_an_odd_codec_are_replaced() -> None:
    for unit in python_units("a.py", b"# coding: raw_unicode_escape\ndef f():\n    '\\ud800'\n", 4000).units:
        "".join((unit.source, unit.summary, unit.rest)).encode("utf-8")


def test_texts_are_cut() -> None:
    module, unit = python_units("a.py", b'def f():\n    """' + b"d" * 500 + b'"""\n' + b" " * 500, 100).units
    assert {len(module.source), len(unit.summary), len(unit.source)} == {100}


def test_sections_end_where_the_next_heading_begins() -> None:
    source = b"Before.\n\n# One\ntext\n```sh\n# no heading\n```\n## Two ##\n# About C#\n#hash\n # indented\n"
    found = [
        (unit.scope, unit.name, unit.line, unit.end_line, unit.rest)
        for unit in markdown_units("docs/a.md", source, 4000)
    ]
    assert found == [
        ("", "a", 1, 2, "Before.\n"),
        ("", "One", 3, 7, "text\n```sh\n# no heading\n```"),
        ("One", "Two", 8, 8, ""),
        ("", "About C", 9, 11, "#hash\n # indented"),
    ]


def test_markdown_lines_are_those_of_splitlines() -> None:
    (unit,) = markdown_units("a.md", "\x0c\u2028# Späth\x85".encode() + b"\xff", 4000)
    assert (unit.name, unit.line) == ("Späth", 3)


def test_a_long_heading_of_blanks_takes_no_time() -> None:
    (unit,) = markdown_units("a.md", b"# a" + b" " * 1_000_000 + b"b", 4000)
    assert len(unit.name) == 4000


def test_a_tree_is_walked_in_order_and_what_is_left_out_is_counted(tmp_path: Path) -> None:
    root = write_tree(
        tmp_path / "r",
        {
            "b.py": "def g(): pass\n",
            "a/z.py": "x = 1\n",
            "a.md": "# Heading\n",
            "bad.py": "def (\n",
            "blank.py": " \n",
            "big.md": b"x" * (MAX_FILE_BYTES + 1),
            "deep/.git/config.py": "x = 1",
            "notes.txt": "no",
        },
    )
    (root / "link.py").symlink_to("b.py")
    (root / "loop").symlink_to(".")
    (root / "folder.md").mkdir()
    Path(os.fsdecode(bytes(root) + b"/\xff.py")).write_text("x = 1")
    found = collect(root, 4000)
    assert [unit.path for unit in found.code] == ["a/z.py", "b.py", "b.py", "bad.py"]
    assert [unit.path for unit in found.documentation] == ["a.md"]
    assert found.skipped == {"empty": 1, "links": 1, "not_utf8_path": 1, "too_large": 1, "unparsable": 1}


def test_excerpts_end_with_a_whole_line() -> None:
    assert excerpt("one\ntwo\nthree", 8) == "one\ntwo"
    assert excerpt("one\ntwo", 7) == "one\ntwo"
    assert excerpt("endless", 3) == "end"
