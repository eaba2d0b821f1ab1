"""A file of any size, read a page at a time: outputs of tools, which may be gigabytes of anything."""

from __future__ import annotations

import json
from pathlib import Path
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Input, Static
from textual.worker import Worker, get_current_worker

from core.browse.paging import BytesSource, FileSource, Source
from core.browse.searching import Needle
from core.browse.viewport import Page, Viewport
from core.errors import InputError
from tui.screens.base import BoresightScreen
from tui.text import safe
from tui.widgets.key_footer import KeyFooter
from tui.widgets.pager import Pager

LOOK_SECONDS = 0.5
LARGEST_JSON = 4 * 1024 * 1024  # bytes that are laid out anew
LARGEST_LAYOUT = 64 * 1024 * 1024  # characters that they may become


class PagerScreen(BoresightScreen[None]):
    """One file; it is never read whole, and stays as it is."""

    AUTO_FOCUS = "Pager"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "Back", id="pager.back"),
        Binding("down,j", "line(1)", "Down", show=False, id="pager.down"),
        Binding("up,k", "line(-1)", "Up", show=False, id="pager.up"),
        Binding("space,pagedown,ctrl+f", "page(1)", "Page", key_display="space", id="pager.page_down"),
        Binding("b,pageup,ctrl+b", "page(-1)", "Page up", show=False, id="pager.page_up"),
        Binding("d", "half(1)", "Half a page", show=False, id="pager.half_down"),
        Binding("u", "half(-1)", "Half a page up", show=False, id="pager.half_up"),
        Binding("g,home", "start", "Start", show=False, id="pager.start"),
        Binding("G,end", "end", "End", show=False, id="pager.end"),
        Binding("right,l", "sideways(1)", "Right", show=False, id="pager.right"),
        Binding("left,h", "sideways(-1)", "Left", show=False, id="pager.left"),
        Binding("slash", "search", "Search", key_display="/", id="pager.search"),
        Binding("n", "again(False)", "Next", id="pager.next"),
        Binding("N", "again(True)", "Previous", show=False, id="pager.previous"),
        Binding("w", "wrap", "Wrap", id="pager.wrap"),
        Binding("F", "follow", "Follow", id="pager.follow"),
        Binding("J", "json", "JSON", id="pager.json"),
        Binding("y", "copy_path", "Copy path", show=False, id="pager.copy_path"),
        Binding("e", "edit", "Editor", show=False, id="pager.edit"),
    ]
    HELP = (
        "A file of any size; it is read a page at a time and never changed. The margin has line numbers, and "
        "beyond the first 64 MiB byte positions. Lines over a block (64 KiB) go on in rows marked ↳. "
        "› at the edge: the row goes on to the right, with the bytes of a long one.\n\n"
        "down up       a line (also j k)\n"
        "space b       a page (also pagedown pageup)\n"
        "d u           half a page\n"
        "g G           beginning, end\n"
        "left right    along long lines\n"
        "w             wrap long lines\n"
        "/             search; small letters match capitals too\n"
        "n N           next, previous place\n"
        "esc           end the search; then back\n"
        "F             follow the end as the file grows\n"
        "J             lay out JSON (up to 4 MiB); again: the bytes as they are\n"
        "y             copy the path\n"
        "e             open in $EDITOR\n\n"
        "Controls show as pictures (␛ ␀), bytes that are no UTF-8 as \\xNN."
    )

    def __init__(self, path: Path, title: str) -> None:
        super().__init__()
        self.path = path
        self._title = title
        self._file: FileSource | None = None
        self._shown: Source | None = None
        self._follows = False
        self._wraps = False
        self._backward = False
        self._search: Worker[None] | None = None
        self._told = ""
        self._found_at: int | None = None

    def compose(self) -> ComposeResult:
        """Lay out the title, the window, the search and the state."""
        yield Static(safe(self._title, 400), id="pager-title", markup=False)
        yield Pager(id="pager")
        yield Input(placeholder="search for; enter begins, esc ends", id="pager-search")
        yield Static("", id="pager-state", markup=False)
        yield KeyFooter()

    def on_mount(self) -> None:
        """Open the file."""
        self.query_one(Input).display = False
        self.open_file()
        self.set_interval(LOOK_SECONDS, self._look)

    def on_unmount(self) -> None:
        """Let go of the file."""
        if self._file is not None:
            self._file.close()

    @work(thread=True, exclusive=True, group="open", exit_on_error=False)
    def open_file(self) -> None:
        """Open the file without keeping the screen waiting."""
        try:
            source = FileSource(self.path)
        except InputError as error:
            self.app.call_from_thread(self._tell, str(error))
            return
        self.app.call_from_thread(self._opened, source)

    def _opened(self, source: FileSource) -> None:
        if not self.is_attached:
            source.close()
            return
        self._file = source
        self._show(source)

    def _show(self, source: Source) -> None:
        self._shown = source
        self.query_one(Pager).show(source)

    @property
    def _pager(self) -> Pager:
        return self.query_one(Pager)

    def _look(self) -> None:
        """Look whether the file grew or went; a page is cheap, and follows the end where that is wanted."""
        if self._shown is None:
            return
        if self._follows:
            self._pager.move(Viewport.to_end)
        else:
            self._pager.move(lambda viewport: None)

    @on(Pager.Shown)
    def _tell_page(self, event: Pager.Shown) -> None:
        self._tell_state(event.page)

    @on(Pager.Failed)
    def _tell_failure(self, event: Pager.Failed) -> None:
        self._tell(f"cannot be read: {event.reason}")

    def _tell(self, text: str) -> None:
        self._told = text
        self._tell_state(self._pager.page)

    def _tell_state(self, page: Page | None) -> None:
        parts = [f"⚠ {page.trouble}" if page and page.trouble else "", self._told]
        if page is not None and page.size == 0:
            parts.append("empty: 0 bytes")
        elif page is not None:
            parts.append(f"{page.percent} %  ·  bytes {page.start:,}–{page.stop:,} of {page.size:,}")
            parts.append(f"column {page.column + 1:,}" if page.column else "")
        parts.append("wrapped" if self._wraps else "")
        parts.append("following" if self._follows else "")
        state = self.query_one("#pager-state", Static)
        state.update(safe("  ·  ".join(part for part in parts if part), 600))

    def action_line(self, lines: int) -> None:
        """Move by lines."""
        self._moved_by_hand()
        self._pager.move(lambda viewport: viewport.move(lines))

    def action_page(self, pages: int) -> None:
        """Move by whole windows, less a line to hold on to."""
        self._moved_by_hand()
        self._pager.move(lambda viewport: viewport.move(pages * max(viewport.height - 1, 1)))

    def action_half(self, halves: int) -> None:
        """Move by half windows."""
        self._moved_by_hand()
        self._pager.move(lambda viewport: viewport.move(halves * max(viewport.height // 2, 1)))

    def action_start(self) -> None:
        """Show the beginning."""
        self._moved_by_hand()
        self._pager.move(Viewport.to_start)

    def action_end(self) -> None:
        """Show the end."""
        self._pager.move(Viewport.to_end)

    def action_sideways(self, halves: int) -> None:
        """Move along long lines by half a window."""
        self._pager.move(lambda viewport: viewport.sideways(halves * max(viewport.width // 2, 1)))

    def _moved_by_hand(self) -> None:
        self._follows = False

    def action_wrap(self) -> None:
        """Wrap long lines, or cut them at the edge."""
        self._wraps = wraps = not self._wraps

        def turn(viewport: Viewport) -> None:
            viewport.wraps, viewport.column = wraps, 0

        self._pager.move(turn)

    def action_follow(self) -> None:
        """Stay at the end while the file grows, or stay here."""
        self._follows = not self._follows
        self._look()

    def action_search(self) -> None:
        """Ask what to search for."""
        field = self.query_one(Input)
        field.display = True
        self.set_focus(field)

    @on(Input.Submitted)
    def _begin_search(self, event: Input.Submitted) -> None:
        self._hide_search()
        self._pager.needle = Needle(event.value) if event.value else None
        self._found_at = None
        self._tell("")
        self._pager.refresh()
        if event.value:
            self.action_again(backward=False)

    def _hide_search(self) -> None:
        self.query_one(Input).display = False
        self._pager.focus()

    def action_again(self, backward: bool) -> None:
        """Go to the next or previous place."""
        needle, source, page = self._pager.needle, self._shown, self._pager.page
        if needle is None or source is None or page is None:
            self._tell("nothing is searched for yet: press /")
            return
        self._moved_by_hand()
        start = self._found_at
        if start is None or not page.start <= start < max(page.stop, page.start + 1):
            start = page.start - 1 if not backward else page.stop  # search from what is seen
        self._search = self.search(source, needle, start if backward else start + 1, backward)

    @work(thread=True, exclusive=True, group="search", exit_on_error=False)
    def search(self, source: Source, needle: Needle, start: int, backward: bool) -> None:
        """Look for a place, telling how far the search is, until it is found or given up."""
        worker = get_current_worker()
        size = max(source.size(), 1)
        reported = -1

        def on_searched(done: int) -> None:
            nonlocal reported
            percent = done * 100 // size
            if percent != reported:
                reported = percent
                self.app.call_from_thread(self._tell, f"searching… {percent} % (esc ends it)")

        find = needle.find_before if backward else needle.find
        try:
            found = find(source, start, lambda: worker.is_cancelled, on_searched)
        except OSError as error:
            self.app.call_from_thread(self._tell, f"cannot be read: {error.strerror or error}")
            return
        if not worker.is_cancelled:
            self.app.call_from_thread(self._searched, needle, found, backward)

    def _searched(self, needle: Needle, found: int | None, backward: bool) -> None:
        self._search = None
        if found is None:
            where = "before" if backward else "after"
            self._tell(f"{needle.text!r}: no place {where} this one")
            return
        self._found_at = found
        self._tell(f"{needle.text!r} at byte {found:,}")
        self._pager.move(lambda viewport: viewport.to_offset(found))

    def action_json(self) -> None:
        """Lay the file's JSON out, or show its bytes again."""
        if self._file is None:
            return
        if self._shown is not self._file:
            self._tell("")
            self._show(self._file)
        else:
            self.lay_out(self._file)

    @work(thread=True, exclusive=True, group="json", exit_on_error=False)
    def lay_out(self, source: FileSource) -> None:
        """Lay JSON out in a thread; what is too large or none is told."""
        try:
            laid_out = pretty_json(source)
        except InputError as error:
            self.app.call_from_thread(self._tell, str(error))
            return
        self.app.call_from_thread(self._tell, "laid out as JSON; J shows the bytes")
        self.app.call_from_thread(self._show, BytesSource(laid_out))

    def action_copy_path(self) -> None:
        """Copy the file's path."""
        self.boresight.copy(str(self.path))

    def action_edit(self) -> None:
        """Open the file in the person's editor."""
        self.boresight.edit(self.path)

    def action_back(self) -> None:
        """End what is going on here, else go back."""
        if self.query_one(Input).display:
            self._hide_search()
        elif self._search is not None and self._search.is_running:
            self._search.cancel()
            self._search = None
            self._tell("search ended")
        else:
            self.go_back()


def pretty_json(source: Source) -> bytes:
    """Return JSON with a line for each value; raises InputError where that cannot be done."""
    try:
        size = source.size()
        if size > LARGEST_JSON:
            raise InputError(f"JSON is laid out up to {LARGEST_JSON // 2**20} MiB; this has {size:,} bytes")
        document = json.loads(source.read(0, size))
        parts, length = [], 0
        for part in json.JSONEncoder(indent=2, ensure_ascii=False).iterencode(document):
            parts.append(part)
            length += len(part)
            if length > LARGEST_LAYOUT:
                raise InputError("this JSON is nested so that laying it out would take too much room")
    except (ValueError, RecursionError) as error:
        raise InputError(f"no JSON: {error}") from None
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}") from None
    return "".join(parts).encode("utf-8", "backslashreplace")
