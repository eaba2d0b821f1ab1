"""Shows a file of any size a window at a time; what reads the file does so in a thread."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from rich.segment import Segment
from rich.style import Style
from textual import events, work
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget
from textual.worker import Worker, WorkerState

from core.browse.paging import Source
from core.browse.searching import Needle
from core.browse.viewport import Line, Page, Viewport

Move = Callable[[Viewport], None]

_DIM = Style(dim=True)
_FOUND = Style(reverse=True, bold=True)
_WHEEL = 3
_LEAST_GUTTER = 6
_TOLD_BYTES = 1000


class Pager(Widget, can_focus=True):
    """A window on a source. Moves are taken in their order, several at once where they pile up."""

    @dataclass
    class Shown(Message):
        """Another page is shown."""

        page: Page

    @dataclass
    class Failed(Message):
        """The file cannot be read any more."""

        reason: str

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self.page: Page | None = None
        self.needle: Needle | None = None
        self._viewport: Viewport | None = None
        self._moves: list[Move] = []
        self._asked = asyncio.Event()

    def show(self, source: Source) -> None:
        """Show a source from its beginning."""
        self._moves.clear()
        self._viewport = Viewport(source)
        self._resized()
        self.serve()

    def move(self, move: Move) -> None:
        """Change the window, and show what it then shows."""
        self._moves.append(move)
        self._asked.set()

    @work(exclusive=True, group="pages", exit_on_error=False)
    async def serve(self) -> None:
        """Take moves as they come, until another source is shown."""
        viewport = self._viewport
        while viewport is not None:
            await self._asked.wait()
            self._asked.clear()
            moves, self._moves = self._moves, []
            try:
                page = await asyncio.to_thread(_moved, viewport, moves)
            except (OSError, MemoryError) as error:
                self.post_message(self.Failed(getattr(error, "strerror", None) or str(error)))
                continue
            if page == self.page:
                continue
            before, self.page = self._gutter_width(), page
            if self._gutter_width() != before:
                self._resized()
            self.refresh()
            self.post_message(self.Shown(page))

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """Let the screen tell of a defect, as workers tell only whoever began them."""
        if event.state is WorkerState.ERROR:
            self.screen.post_message(event)

    def on_resize(self) -> None:
        """Fit the window to the widget."""
        self._resized()

    def _resized(self) -> None:
        size = self.size

        def fit(viewport: Viewport) -> None:
            viewport.height = max(size.height, 1)
            viewport.width = max(size.width - self._gutter_width(), 8)

        self.move(fit)

    def _gutter_width(self) -> int:
        """Return columns enough for any byte's position, so that text never shifts under a reader's eyes."""
        size = self.page.size if self.page else 0
        return max(len(f"{size:,}"), _LEAST_GUTTER) + 2

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Move down."""
        event.stop()
        self.move(lambda viewport: viewport.move(_WHEEL))

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Move up."""
        event.stop()
        self.move(lambda viewport: viewport.move(-_WHEEL))

    def get_content_width(self, container: Size, viewport: Size) -> int:
        """Fill what there is."""
        return container.width

    def render_line(self, y: int) -> Strip:
        """Return one line of the window."""
        width, base = self.size.width, self.rich_style
        if self.page is None or y >= len(self.page.lines):
            return Strip.blank(width, base)
        line = self.page.lines[y]
        gutter = self._gutter(line)
        segments = [Segment(gutter, base + _DIM), *self._text(line, base)]
        strip = Strip(segments).adjust_cell_length(width, base)
        if not line.cut:
            return strip
        told = f" ›{line.cut:,} B" if line.cut >= _TOLD_BYTES else "›"
        return Strip([*strip.crop(0, width - len(told)), Segment(told, base + _DIM)])

    def _gutter(self, line: Line) -> str:
        width = self._gutter_width() - 2
        if not line.is_first:
            return f"{'↳':>{width}}  "
        told = f"{line.offset:,}" if line.number is None else f"{line.number}"
        return f"{told:>{width}}{'‹' if line.before else ' '} "

    def _text(self, line: Line, base: Style) -> list[Segment]:
        segments, at = [], 0
        for start, end in self.needle.places_in(line.text) if self.needle else ():
            segments += [Segment(line.text[at:start], base), Segment(line.text[start:end], base + _FOUND)]
            at = end
        return [*segments, Segment(line.text[at:], base)]


def _moved(viewport: Viewport, moves: list[Move]) -> Page:
    viewport.look()
    for move in moves:
        move(viewport)
    return viewport.page()
