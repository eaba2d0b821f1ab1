"""A target's text with and without what its query was copied from."""

from __future__ import annotations

import pytest

from core.banks.rules import ARCHITECTURE, DOCS, ERROR, RULES, SYMBOL, TASK, Rule
from core.banks.target_text import SourceText
from core.ranking import Target
from tests.unit.banks.builders import SHOP


def beyond(source: bytes, rule: Rule, line: int, witness: str) -> list[str] | None:
    """Return the words of a target's text without the witness."""
    text = SourceText(source).beyond(Target("a", line, rule.kind), rule, witness)
    return None if text is None else text.split()


def test_a_symbol_is_left_without_the_line_of_its_definition() -> None:
    source = b"def page(size): return page(1)\ndef half(size):\n  return page(size) / half(2)\n"
    assert beyond(source, SYMBOL, 1, "page") == []
    assert beyond(source, SYMBOL, 2, "half") == ["return", "page(size)", "/", "half(2)"]


@pytest.mark.parametrize(
    ("body", "rest"),
    [
        (b' """Sum all the prices."""\n return 1\n', ["def", "f():", "return", "1"]),
        (b' "Sum all " "the prices."; x = 1\n', ["def", "f():", ";", "x", "=", "1"]),
        (b' """\n\n  Sum all the prices.\n\n  And more.\n  """\n', ["def", "f():", "And", "more."]),
        (b' """\\\nSum all the prices.\nAnd more."""\n', ["def", "f():", "And", "more."]),
        (b' "Sum all the prices.\\nAnd \\x6dore."\n', ["def", "f():", "And", "more."]),
        (b' """Sum all the prices."""\n "Sum"\n', ["def", "f():", '"Sum"']),
    ],
)
def test_a_task_is_left_without_its_docstrings_first_line(body: bytes, rest: list[str]) -> None:
    source = b"x = 1\ndef f():\n" + body
    assert beyond(source, TASK, 2, "Sum all the prices.") == rest


def test_a_docstring_on_the_line_of_its_definition_leaves_the_definition() -> None:
    source = "def größe(): 'Sagt, wie groß es ist.'; return maß\n"
    assert beyond(source.encode(), TASK, 1, "Sagt, wie groß es ist.") == [
        "def",
        "größe():",
        ";",
        "return",
        "maß",
    ]
    latin = b"# coding: latin-1\n" + source.encode("latin-1")
    assert beyond(latin, TASK, 2, "Sagt, wie groß es ist.") == ["def", "größe():", ";", "return", "maß"]


def test_a_module_is_left_without_its_docstrings_first_line() -> None:
    source = b'\xef\xbb\xbf# Before\n"""Keep all the carts.\n\nLonger.\n"""\nx = 1\n'
    assert beyond(source, ARCHITECTURE, 0, "Keep all the carts.") == ["#", "Before", "x", "=", "1", "Longer."]


def test_a_message_is_left_out_wherever_its_owner_raises_it() -> None:
    source = (
        b"def f(x):\n  if x:\n    raise E('the cart is empty', x)\n"
        b"  message = 'the cart is empty'\n  raise E(message)\n"
        b"  def _g(): raise E('the cart is empty')\n"
    )
    words = beyond(source, ERROR, 1, "the cart is empty")
    assert words is not None and " ".join(words) == (
        "def f(x): if x: raise E( , x) message = raise E(message) def _g(): raise E('the cart is empty')"
    )


def test_a_section_is_left_without_its_heading() -> None:
    source = b"# Prices of all\nText.\n## Prices of all\nMore.\n# Other things\n"
    assert beyond(source, DOCS, 1, "Prices of all") == ["Text.", "##", "Prices", "of", "all", "More."]


@pytest.mark.parametrize("rule", [ARCHITECTURE, TASK, ERROR, SYMBOL])
def test_a_witness_that_is_not_there_leaves_nothing_to_tell(rule: Rule) -> None:
    source = SHOP["shop/cart.py"]
    line = 0 if rule == ARCHITECTURE else 4
    assert beyond(source, rule, line, "made up by hand") is None
    assert beyond(b"def f(:\n", rule, line, "made up by hand") is None


@pytest.mark.parametrize("rule", RULES.values())
def test_a_target_of_another_kind_leaves_nothing_to_tell(rule: Rule) -> None:
    kinds = {"symbol", "file", "documentation"} - {rule.kind}
    for kind in kinds:
        target = Target("a", 4, kind)  # type: ignore[arg-type]
        assert SourceText(SHOP["shop/cart.py"]).beyond(target, rule, "Cart") is None
