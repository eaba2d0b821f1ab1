"""What the rules find in Python source, and where."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.banks.python_source import definitions, parse, python_cases
from core.banks.rules import UnparsableError


def found(source: str | bytes, intent: str) -> list[tuple[str, int]]:
    """Return the sorted queries and lines of one intent."""
    data = source.encode() if isinstance(source, str) else source
    return sorted((w.query, w.line) for w in python_cases(data).found if w.rule.intent == intent)


def symbols(source: str | bytes) -> list[tuple[str, int]]:
    return found(source, "symbol_lookup")


def errors(source: str) -> list[tuple[str, int]]:
    return found(source, "error_or_trace_lookup")


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("def f(): pass", [("f", 1)]),
        ("async def f(): pass", [("f", 1)]),
        ("class C: pass", [("C", 1)]),
        ("def _f(): pass\nclass _C: pass\ndef __init__(): pass", []),
        ("class C:\n  def m(self):\n    class D: pass", [("C", 1), ("D", 3), ("m", 2)]),
        ("def _f():\n  def g(): pass", [("g", 2)]),
        ("@a\n@b(\n 1)\ndef f(): pass", [("f", 4)]),
        ("@a\nclass C: pass", [("C", 2)]),
        (
            "if x:\n  def f(): pass\nelif y:\n  def g(): pass\nelse:\n  def h(): pass",
            [("f", 2), ("g", 4), ("h", 6)],
        ),
        ("for x in y:\n  def f(): pass\nelse:\n  def g(): pass", [("f", 2), ("g", 4)]),
        ("while x:\n  def f(): pass\nelse:\n  def g(): pass", [("f", 2), ("g", 4)]),
        ("with x:\n  def f(): pass", [("f", 2)]),
        (
            "try:\n  def f(): pass\nexcept E:\n  def g(): pass\n"
            "else:\n  def h(): pass\nfinally:\n  def i(): pass",
            [("f", 2), ("g", 4), ("h", 6), ("i", 8)],
        ),
        ("try:\n  def f(): pass\nexcept* E:\n  def g(): pass", [("f", 2), ("g", 4)]),
        ("match x:\n  case 1:\n    def f(): pass", [("f", 3)]),
        (
            "async def a():\n  async for x in y:\n    def f(): pass\n  async with z:\n    def g(): pass",
            [("a", 1), ("f", 3), ("g", 5)],
        ),
        ("f = lambda: 1", []),
        ("", []),
    ],
)
def test_every_public_definition_is_found_at_its_own_line(
    source: str, expected: list[tuple[str, int]]
) -> None:
    assert symbols(source) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('"""Fifteen letters"""', ["Fifteen letters"]),
        ('"""Fourteen chars"""', []),
        ('"""\n\n   Where things begin.\n   More.\n"""', ["Where things begin."]),
        ('"""  Where things begin.  \n  More."""', ["Where things begin."]),
        ('"""Where\tthings begin."""', ["Where   things begin."]),
        ('"""Where things\\x0cbegin and end."""', []),
        ('"""\\x0cWhere things begin and end."""', None),
        ("x = 1\n'''Where things begin.'''", []),
        ('f"""Where things begin."""', []),
        ('b"""Where things begin."""', []),
        ('"""Where things""" " begin."', ["Where things begin."]),
        ('""""""', []),
        ("# only a comment", []),
    ],
)
def test_a_module_is_asked_for_by_the_first_line_of_its_docstring(
    source: str, expected: list[str] | None
) -> None:
    if expected is None:  # which Python cleans it decides
        cleaned = inspect.cleandoc("\x0cWhere things begin and end.").splitlines()[0].strip()
        expected = [cleaned] if cleaned else []
    queries = [("Where is this component defined: " + text, 0) for text in expected]
    assert found(source, "architecture_lookup") == queries


@given(st.text(st.sampled_from("ab \t\n\r\x0b\x0c\x1c\x1f\x85\u2028\u3000é"), max_size=60))
def test_a_summary_is_the_first_line_of_the_cleaned_docstring(docstring: str) -> None:
    cleaned = inspect.cleandoc(docstring)
    summary = cleaned.splitlines()[0].strip() if cleaned.splitlines() else ""
    expected = [("Where is this component defined: " + summary, 0)] if len(summary) >= 15 else []
    assert found(ascii(docstring), "architecture_lookup") == expected


def test_definitions_are_asked_for_by_their_docstrings() -> None:
    source = '''
class Basket:
    """Hold what was chosen."""
    def _private(self):
        """Never to be asked for."""
        def inner():
            """Found all the same."""
    async def put(self):
        """Put one more thing in.

        And more."""
    def short(self):
        """Too short."""
'''
    prefix = "Where is this behavior implemented: "
    assert found(source, "task_lookup") == [
        (prefix + "Found all the same.", 6),
        (prefix + "Hold what was chosen.", 2),
        (prefix + "Put one more thing in.", 8),
    ]
    assert python_cases(source.encode()).short == 1


LONG = "twelve chars"
RAISE = f'raise E("{LONG}")'


@pytest.mark.parametrize(
    "body",
    [
        RAISE,
        f'raise errors.E("{LONG}") from cause',
        f'raise E("{LONG}", 1, code=2)',
        f'raise E("  {LONG}  ")',
        'raise E("twelve " "chars")',
        f'm = "{LONG}"; raise E(m)',
        f'n = m = "{LONG}"; raise E(m)',
        f'm = "{LONG}"\n\n  # why\n  raise E(m)',
        f"if x: {RAISE}",
        f"if x: pass\n  else: {RAISE}",
        f"try: {RAISE}\n  finally: pass",
        f"try: pass\n  except E: {RAISE}",
        f"try: pass\n  except* E: {RAISE}",
        f"with x: {RAISE}",
        f"while x: {RAISE}",
        f"for x in y: pass\n  else: {RAISE}",
        f"match x:\n    case 1: {RAISE}",
        f"{RAISE}\n  {RAISE}",
        f'{RAISE}\n  raise F("{LONG} ")',
    ],
)
def test_a_literal_message_leads_to_its_owner_once(body: str) -> None:
    assert errors(f"def f():\n  {body}") == [(LONG, 1)]


@pytest.mark.parametrize(
    "body",
    [
        f'raise E(f"{LONG}")',
        f'raise E(f"{LONG} {{x}}")',
        'raise E("%s is a long message" % x)',
        'raise E("a long message of {}".format(x))',
        'raise E("a long " + "message")',
        f'raise E(b"{LONG}")',
        f'raise E(message="{LONG}")',
        f'raise E(x, "{LONG}")',
        f'raise E(*["{LONG}"])',
        f'raise E("{LONG}\\nmore")',
        'raise E("elevenchars")',
        'raise E("  elevenchars  ")',
        "raise E()",
        "raise E",
        "raise",
        "raise E(123456789012)",
        f'm: str = "{LONG}"; raise E(m)',
        f'm += "{LONG}"; raise E(m)',
        f'm = "{LONG}"; x = 1; raise E(m)',
        f'm = "{LONG}"\n  if x: raise E(m)',
        f'n = "{LONG}"; raise E(m)',
        f'm, n = "{LONG}", 1; raise E(m)',
        f'o.m = "{LONG}"; raise E(o.m)',
        f'm = f"{LONG}"; raise E(m)',
        f"def _g():\n    {RAISE}",
    ],
)
def test_other_messages_are_left_alone(body: str) -> None:
    assert errors(f"def f():\n  {body}") == []


def test_a_nested_error_belongs_to_its_nested_definition() -> None:
    source = f"class C:\n  {RAISE}\n  def m(self):\n    {RAISE}\n    def g():\n      {RAISE}\n"
    assert errors(source) == [(LONG, 1), (LONG, 3), (LONG, 5)]
    assert errors(f"def _f():\n  {RAISE}\n  def g():\n    {RAISE}") == [(LONG, 3)]
    assert errors(RAISE) == []


def test_bytes_are_read_as_python_reads_them() -> None:
    assert symbols(b"\xef\xbb\xbfdef f(): pass") == [("f", 1)]
    assert found(b'# -*- coding: latin-1 -*-\n"""Gr\xf6\xdfe und Gewicht"""', "architecture_lookup") == [
        ("Where is this component defined: Größe und Gewicht", 0)
    ]
    assert symbols(b"x = 1\r\ry = 2\r\ndef f(): pass\r\x0c\rdef g(): pass") == [("f", 4), ("g", 6)]


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (b"def f(:", "SyntaxError at line 1: "),
        (b"print 'hello'", "SyntaxError at line 1: "),
        (b"if x:\npass", "IndentationError at line 2: "),
        (b"if x:\n\ty\n        z", "TabError at line 3: "),
        (b"x = '\xff'", "SyntaxError"),
        (b"# coding: no-such-codec\n", "SyntaxError: "),
        (b"x = 1\0", "null bytes"),
        (b"-" * 100_000 + b"1", "nested too deeply"),
        (b"1" + b"+1" * 100_000, "nested too deeply"),
        (b"a" + b".b" * 100_000, "nested too deeply"),
        (b"(" * 100_000, "too many nested parentheses"),
        (b"if a: pass\n" + b"elif a: pass\n" * 20_000, "nested too deeply"),
        (b"x = " + b"9" * 5_000, "SyntaxError"),
    ],
)
def test_what_does_not_parse_says_why(source: bytes, reason: str) -> None:
    with pytest.raises(UnparsableError) as caught:
        python_cases(source)
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 250


@given(st.binary(max_size=200))
def test_any_bytes_yield_witnesses_or_a_reason(source: bytes) -> None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(source)
    except (SyntaxError, ValueError):
        with pytest.raises(UnparsableError):
            python_cases(source)
    else:
        assert python_cases(source).short >= 0


def test_warnings_of_the_parser_stay_unseen_whatever_the_filters() -> None:
    source = b'def f():\n  return "\\d" is 1\n'
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        assert symbols(source) == [("f", 1)]
        warnings.simplefilter("error")
        assert symbols(source) == [("f", 1)]
    assert seen == []


def test_nothing_is_printed_about_odd_source() -> None:
    code = (
        "from core.banks.python_source import python_cases\n"
        "assert len(python_cases(b'def f(): return \"\\\\d\" is 1').found) == 1\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert done.stderr == b"" and done.stdout == b""


def test_definitions_end_where_their_last_line_stands() -> None:
    tree = parse(b"@a\ndef f():\n  pass\n\nclass _C:\n  def g(self):\n    return (\n      1)\n")
    assert {line: node.end_lineno for line, node in definitions(tree).items()} == {2: 3, 5: 8, 6: 8}
