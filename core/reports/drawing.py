"""What every report for a terminal is drawn with: plain text, sentences and tables; Rich comes when used."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from core.reports.sentence import Name, Sentence
from core.text import printable

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text


def drawn_table(words: Sequence[str], numbers: Sequence[str]) -> Table:
    """Return an empty table: columns of words, then columns of numbers, which stand on the right."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, padding=(0, 1), pad_edge=False, collapse_padding=True)
    for title in words:
        table.add_column(drawn(title), overflow="fold")
    for title in numbers:
        table.add_column(drawn(title), justify="right", overflow="fold")
    return table


def drawn_sentence(sentence: Sentence) -> Text:
    """Return a sentence with its names in bold."""
    built = drawn("")
    for part in sentence:
        built.append(printable(part), "bold" if isinstance(part, Name) else None)
    return built


def drawn(value: str, style: str = "") -> Text:
    """Return text in which nothing is markup; whoever has it from outside makes it printable first."""
    from rich.text import Text

    return Text(value, style)
