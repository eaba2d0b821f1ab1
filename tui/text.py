"""The one way for text from outside to reach the screen: controls made visible, never read as markup."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from rich.cells import cell_len, set_cell_size
from rich.console import Console, ConsoleOptions
from rich.segment import Segment
from rich.text import Text
from textual.content import Content

from core.text import printable, printable_lines

LINE_LIMIT = 2000  # characters of one line that a screen ever lays out


def safe(text: object, limit: int = LINE_LIMIT) -> Content:
    """Return text as one line of content that no markup or control can act in."""
    return Content(printable(str(text), limit))


def cell(text: object, limit: int = 100) -> Text:
    """Return text as a table's cell; tables measure Rich's text, not Textual's."""
    return Text(printable(str(text), limit), no_wrap=True, overflow="ellipsis")


class LazyCell(NamedTuple):
    """A table's cell of safe text in one style, for tables that draw hundreds of cells at once.

    Rich's text would be laid out first, which takes longer than all else of a cell. It has no measure, so its
    column's width must be told; what does not fit ends in an ellipsis.
    """

    plain: str
    style: str = ""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Segment]:
        """Yield what is drawn."""
        shown, room = self.plain, options.max_width
        if cell_len(shown) > room:
            shown = set_cell_size(shown, room - 1) + "…"
        yield Segment(shown, console.get_style(self.style))


def lazy_cell(text: object, limit: int = 100, style: str = "") -> LazyCell:
    """Return text as a cell of a table whose columns' widths are told."""
    return LazyCell(printable(str(text), limit), style)


def safe_lines(text: str, limit: int = LINE_LIMIT) -> Content:
    """Return text with its line ends, each line made safe and cut to `limit` characters."""
    cut = "\n".join(line[:limit] for line in text.split("\n"))
    return Content(printable_lines(cut))


def facts(parts: Iterable[str], width: int, between: str = " · ") -> Content:
    """Return facts one after the other, in lines of a width that end between two of them."""
    lines: list[str] = []
    for part in parts:
        told = printable(part, LINE_LIMIT)
        if lines and cell_len(f"{lines[-1]}{between}{told}") <= width:
            lines[-1] += between + told
        else:
            lines.append(told)
    return Content("\n".join(lines))


def near(path: Path, folder: Path | None = None) -> str:
    """Return a path as short as it stays clear, safe to show: from the folder, or from the home folder."""
    if folder is not None and path.is_relative_to(folder):
        return printable(str(path.relative_to(folder)))
    try:
        home = Path.home()
    except RuntimeError:
        return printable(str(path))
    return printable(f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path))
