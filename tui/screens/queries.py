"""Screen 5: a run's cases with the rank of each candidate's first hit, filtered, sorted and paged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import DataTable, Static
from textual.worker import get_current_worker

from core.browse.filters import Filters, Sort
from core.browse.index import PAGE, RunIndex
from core.browse.rows import CaseRow
from core.errors import BoresightError
from tui.cases import sort_menu
from tui.cases.case_text import place_words
from tui.cases.filter_words import filter_parts, hit_words, page_words, sort_words
from tui.cases.names import group_word
from tui.cases.page import Page, View, export_rows, read_page
from tui.cases.standings import LEGEND, MARKS_TOLD
from tui.cases.table_rows import CANDIDATES_FROM, TableForm, export_header, table_form
from tui.cases.walk import CaseWalk
from tui.screens.case import CaseScreen
from tui.screens.filter_dialog import Choosable, FilterDialog
from tui.screens.live_index import LiveIndexScreen
from tui.text import safe
from tui.widgets.case_search import CaseSearch
from tui.widgets.case_table import CaseTable
from tui.widgets.filter_chips import Chip, FilterChips
from tui.widgets.key_footer import KeyFooter
from tui.widgets.marks import bar
from tui.widgets.title_bar import TitleBar


class QueriesScreen(LiveIndexScreen):
    """The cases of one run."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f", "filter", "Filter", id="queries.filter"),
        Binding("slash", "search", "Search", id="queries.search", key_display="/"),
        Binding("F", "clear_filters", "Clear", id="queries.clear", show=False),
        Binding("s", "sort", "Sort", id="queries.sort"),
        Binding("right_square_bracket", "turn(1)", "Next page", id="queries.next_page", show=False),
        Binding("left_square_bracket", "turn(-1)", "Page before", id="queries.previous_page", show=False),
        Binding("y", "copy_case", "Copy", id="queries.copy"),
        Binding("Y", "copy_place", "Copy place", id="queries.copy_place", show=False),
        Binding("e", "edit", "Edit", id="queries.edit"),
        Binding("x", "export", "Export", id="queries.export"),
        Binding("f5", "refresh_run", "Refresh", id="queries.refresh", show=False),
    ]
    HELP = (
        "The cases of a run, and for each candidate the rank of its first hit.\n\n"
        "enter    one case in full: sources, rankings, contexts\n"
        "f        filters that combine; their parts stand above the table (tab, then enter, takes one away)\n"
        "/        search in ids, queries and target paths;   F clears all filters\n"
        "s        sort;   a click on a candidate's column sorts by its rank\n"
        "] [      next page, page before (so do pgdn and pgup at the page's ends)\n"
        "← →      scroll sideways where there are more candidates than fit\n"
        "y Y      copy the case's id, or its target's path:line\n"
        "e        open the target's file, as it was frozen\n"
        "x        export all cases that fulfil the filters\n"
        "f5       look at the run again (it is looked at every few seconds while it goes on)\n"
        f"\n{LEGEND}"
    )

    def __init__(self, run: Path, filters: Filters, sort: Sort, case: str | None = None) -> None:
        super().__init__(run)
        self.view = View(filters, sort)
        self.rows: tuple[CaseRow, ...] = ()
        self.total = 0
        self._case = case
        self._walk: CaseWalk | None = None
        self._form: TableForm | None = None
        self._drawn: View | None = None  # what the table shows, while `view` may be on its way
        self._cursor: int | None = 0  # the row that the page on its way was asked with

    def compose(self) -> ComposeResult:
        """Lay out the filters, the table and the lines about the case under the cursor."""
        yield TitleBar()
        yield FilterChips(id="case-filters")
        yield CaseSearch()
        yield Static("", id="case-page", markup=False)
        yield Static(MARKS_TOLD, id="case-marks", markup=False)
        yield CaseTable(id="cases", cursor_type="row", zebra_stripes=True, fixed_columns=1)
        yield Static("", id="about-case", markup=False)
        yield KeyFooter()

    def on_mount(self) -> None:
        """Show the filters until the index is open."""
        self.query_one(CaseTable).focus()
        self._show_filters()
        self.tell("opening the run's index …")

    def index_progress(self, done: int, total: int) -> None:
        """Show how far the index is built."""
        self.tell(f"reading the run's evidence  {bar(done, total, 20)}  {done:,} of {total:,} operations")

    def index_ready(self, index: RunIndex) -> None:
        """Show the first page, or the case that was asked for."""
        self.view = self.view.of(index)
        self._show_filters()
        self.index_refreshed()

    def index_refreshed(self) -> None:
        """Show the page as it is now, with the cursor where it is by then."""
        self.load(self.view, self._cursor)

    def action_refresh_run(self) -> None:
        """Look at the run again now."""
        self.tell("looking at the run again …")
        self.open_index()

    def load(self, view: View, cursor: int | None) -> None:
        """Show a page with the cursor on a row of it (-1: the last one; None: the case it is on)."""
        self.view, self._cursor = view, cursor
        self._read(view, cursor)

    @work(thread=True, exclusive=True, group="page", exit_on_error=False)
    def _read(self, view: View, cursor: int | None) -> None:
        """Ask the index for a page without keeping the screen waiting."""
        worker, index = get_current_worker(), self.index
        if index is None or worker.is_cancelled:
            return
        try:
            page = read_page(index, view, self.size.width)
        except BoresightError as error:
            if not worker.is_cancelled:
                self.app.call_from_thread(self.question_failed, error)
            return
        if not worker.is_cancelled:
            self.app.call_from_thread(self.show_page, page, cursor)

    def question_failed(self, error: BoresightError) -> None:
        """Say why there is no answer; what is shown stays."""
        self._cursor = None
        super().question_failed(error)

    def show_page(self, page: Page, cursor: int | None) -> None:
        """Put a page into the table, with the cursor on a row of it, as `load` says."""
        self.index_answered()
        table, row = self.query_one(CaseTable), self._row_of(page, cursor)
        is_same_page = (page.view, row) == (self._drawn, table.cursor_row)
        if not is_same_page or (page.rows, page.form) != (self.rows, self._form):
            table.fill(page.form.heads, page.cells, row, is_same_page=is_same_page)
        self.view, self.rows, self.total, self._form = page.view, page.rows, page.total, page.form
        self._drawn, self._cursor = page.view, None
        self._tell_page()
        self._tell_case()
        self._open_asked_case()

    def _row_of(self, page: Page, cursor: int | None) -> int:
        """Return the row of a page that the cursor belongs on."""
        last = len(page.rows) - 1
        if cursor is None:
            held = self.chosen()
            ids = [row.id for row in page.rows] if held is not None and page.view == self._drawn else []
            cursor = max(self.query_one(CaseTable).cursor_row, 0)
            if held is not None and held.id in ids:
                cursor = ids.index(held.id)
        return last if cursor < 0 else min(cursor, last)

    def on_resize(self) -> None:
        """Lay the table out anew where its columns no longer fit."""
        index = self.index
        if index is None:
            return
        if table_form(index.candidates, self.size.width, group_word(index.intents)) != self._form:
            self.index_refreshed()

    def tell(self, words: str) -> None:
        """Say what is shown, or what goes on."""
        self.query_one("#case-page", Static).update(safe(words, 400))

    def _tell_page(self) -> None:
        parts = (
            page_words(self.view.offset, len(self.rows), self.total),
            hit_words(self.view.filters, self.index.level if self.index else "exact"),
            sort_words(self.view.sort),
        )
        self.tell(" · ".join(parts))

    @on(DataTable.RowHighlighted)
    def _tell_case(self) -> None:
        row = self.chosen()
        lines = () if row is None else (row.id, row.query, f"→ {row.target}")
        about = "\n".join(safe(line, 300).plain for line in lines)
        self.query_one("#about-case", Static).update(about)

    def chosen(self) -> CaseRow | None:
        """Return the case under the cursor."""
        at = self.query_one(CaseTable).cursor_row
        return self.rows[at] if 0 <= at < len(self.rows) else None

    @on(CaseTable.Turned)
    def turned(self, event: CaseTable.Turned) -> None:
        """Go on with the next page, or back to the end of the one before."""
        self._turn(event.pages, 0 if event.pages > 0 else -1)

    def action_turn(self, pages: int) -> None:
        """Go to the start of another page."""
        self._turn(pages, 0)

    def _turn(self, pages: int, cursor: int) -> None:
        offset = self.view.offset + pages * PAGE
        is_idle = self._cursor is None  # a key held down asks more often than pages come
        if is_idle and 0 <= offset < self.total:
            self.load(replace(self.view, offset=offset), cursor)

    # Filters and order

    def ask_for(self, filters: Filters, sort: Sort | None = None) -> None:
        """Show the first page of other cases, or of another order."""
        self.load(View(filters, sort or self.view.sort), 0)
        self._show_filters()

    def _show_filters(self) -> None:
        self.query_one(FilterChips).parts = filter_parts(self.view.filters)

    @on(Chip.Removed)
    def take_away(self, event: Chip.Removed) -> None:
        """Take a part of the filters away."""
        self.query_one(CaseTable).focus()
        self.ask_for(event.without)

    def action_clear_filters(self) -> None:
        """Take all filters away."""
        self.ask_for(Filters())

    def action_filter(self) -> None:
        """Open the form of filters."""
        index = self.index
        if index is not None:
            choosable = Choosable(index.candidates, index.repositories, index.intents, index.level)
            self.app.push_screen(FilterDialog(self.view.filters, choosable, index.count), self._filtered)

    def _filtered(self, filters: Filters | None) -> None:
        if filters is not None:
            self.ask_for(filters)

    def action_search(self) -> None:
        """Open the line to search in."""
        self.query_one(CaseSearch).open(self.view.filters.text)

    @on(CaseSearch.Sought)
    def searched(self, event: CaseSearch.Sought) -> None:
        """Show what was found; go to it once the search is done."""
        if event.text != self.view.filters.text:
            self.ask_for(self.view.filters._replace(text=event.text))
        if event.done:
            self.query_one(CaseTable).focus()

    def action_sort(self) -> None:
        """Open the menu of orders."""
        if self.index is not None:
            self.app.push_screen(sort_menu.order_dialog(self.index.candidates), self._ordered)

    def _ordered(self, order: str | None, chosen: Sequence[str] = ()) -> None:
        if order is None or self.index is None:
            return
        dialog = sort_menu.next_dialog(order, chosen, self.index.candidates)
        if dialog is None:
            self.ask_for(self.view.filters, sort_menu.sort_of(order, chosen))
            return

        def answered(name: str | None) -> None:
            if name is not None:
                self._ordered(order, (*chosen, name))

        self.app.push_screen(dialog, answered)

    @on(DataTable.HeaderSelected)
    def sort_by_column(self, event: DataTable.HeaderSelected) -> None:
        """Sort by the rank of the candidate whose column was clicked, or by case."""
        candidates = self.index.candidates if self.index is not None else ()
        at, present = event.column_index - CANDIDATES_FROM, self.view.sort
        if event.column_index == 0:
            self.ask_for(self.view.filters, Sort())
        elif 0 <= at < len(candidates):
            again = present.by == "rank" and present.candidate == candidates[at]
            order = Sort("rank", candidates[at], descending=again and not present.descending)
            self.ask_for(self.view.filters, order)

    # What is done with a case

    @on(DataTable.RowSelected)
    def open_case(self) -> None:
        """Show the case under the cursor in full."""
        row = self.chosen()
        if row is not None:
            shown = self._drawn or self.view
            self._push_case(row.id, shown.offset + self.query_one(CaseTable).cursor_row)

    def _open_asked_case(self) -> None:
        asked, self._case = self._case, None
        if asked is not None:
            self._push_case(asked, None)

    def _push_case(self, case_id: str, position: int | None) -> None:
        if self.index is not None:
            self._walk = CaseWalk(self.view.filters, self.view.sort, position, self.total)
            self.app.push_screen(CaseScreen(self.run_path, self.index, case_id, self._walk, self._about()))

    def _about(self) -> str | None:
        """Return the candidate that the list is about: by its filters, else by its order."""
        filters = self.view.filters
        named = [outcome.candidate for outcome in filters.outcomes]
        named += [split.misses for split in filters.disagreements]
        return named[0] if named else self.view.sort.candidate

    def on_screen_resume(self) -> None:
        """Put the cursor on the case that the walk through the details ended at."""
        if self._walk is None or self._walk.position is None:
            return
        page, row = divmod(self._walk.position, PAGE)
        self._walk = None
        if page * PAGE == self.view.offset and row < self.query_one(CaseTable).row_count:
            self.query_one(CaseTable).move_cursor(row=row, scroll=True)
        else:
            self.load(replace(self.view, offset=page * PAGE), row)

    def action_copy_case(self) -> None:
        """Copy the case's id."""
        row = self.chosen()
        if row is not None:
            self.boresight.copy(row.id)

    def action_copy_place(self) -> None:
        """Copy the first target's path and line."""
        row = self.chosen()
        if row is not None:
            self.find_target(row.id, is_to_be_opened=False)

    def action_edit(self) -> None:
        """Open the first target's file in an editor."""
        row = self.chosen()
        if row is not None:
            self.find_target(row.id, is_to_be_opened=True)

    @work(thread=True, exclusive=True, group="target", exit_on_error=False)
    def find_target(self, case_id: str, *, is_to_be_opened: bool) -> None:
        """Find a case's first target, and have its place copied or its frozen file opened."""
        from core.detail.source_tree import SourceError, source_path

        index = self.index
        if index is None:
            return
        try:
            detail = index.case(case_id)
            if not is_to_be_opened:
                self.app.call_from_thread(self.boresight.copy, place_words(detail.targets[0]))
                return
            root = index.record.layout.source(detail.row.repository)
            path = source_path(root, detail.targets[0].path)
        except BoresightError as error:
            self.app.call_from_thread(self.question_failed, error)
        except SourceError as error:
            words = f"The target's file is {error}."
            self.app.call_from_thread(self.app.notify, words, severity="warning", markup=False)
        else:
            self.app.call_from_thread(self.boresight.edit, path)

    def action_export(self) -> None:
        """Export every case that fulfils the filters."""
        if self.index is not None:
            rows = export_rows(self.index, self.view)
            self.boresight.export(self.run_path, "queries", export_header(self.index.candidates), rows)
