"""The verdict in lines: numbers stay with their units, and what does not fit is told of."""

from __future__ import annotations

from textual.content import Content
from textual.widgets import Static

_UNITS = (" %",)
_HOLD = "\u2800"  # stands for a space that no line may end at, as lines end at no-break spaces too
_MORE = " … v shows all"


class VerdictText(Static):
    """Content wrapped to its width; on a low screen beside a plot, only its first lines."""

    def __init__(self) -> None:
        super().__init__("", markup=False)
        self._told = Content("")
        self._laid_out: tuple[Content, int, int | None] | None = None
        self._most: int | None = None

    def tell(self, content: Content) -> None:
        """Show content."""
        self._told = content
        self._lay_out()

    def cut(self, most: int | None) -> None:
        """Show at most so many lines; all of them without a number."""
        self._most = most
        self._lay_out()

    def on_resize(self) -> None:
        """Wrap to the width there is."""
        self._lay_out()

    def _lay_out(self) -> None:
        wanted = (self._told, self.size.width, self._most)
        if wanted != self._laid_out:
            self._laid_out = wanted
            self.update(wrapped(*wanted) if self.size.width else self._told)


def wrapped(content: Content, width: int, most: int | None = None) -> Content:
    """Return content in lines of a width that part no number from its unit, `most` of them and a sign."""
    lines = _held(content).wrap(width)
    if most is not None and len(lines) > most:
        lines = lines[:most]
        lines[-1] = Content.assemble(lines[-1].truncate(max(width - len(_MORE), 1)).rstrip(), _MORE)
    return _let_go(Content("\n").join(line.rstrip() for line in lines))


def _held(content: Content) -> Content:
    text = content.plain
    for unit in _UNITS:
        text = text.replace(unit, unit.replace(" ", _HOLD))
    return Content(text, list(content.spans))


def _let_go(content: Content) -> Content:
    return Content(content.plain.replace(_HOLD, " "), list(content.spans))
