"""What leaves the app: text to the clipboard, files to the person's editor, tables to the disk."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from textual import work
from textual.app import App, SuspendNotSupported

from core.errors import BoresightError
from core.reports.wording import counted
from core.run.exports import Row, export_table
from core.text import printable
from tui.clipboard import TERMINAL_LIMIT, program_for, put
from tui.editor import editor_command, run_editor
from tui.screens.dialogs import TextDialog

TOLD_SECONDS = 6.0


class OutwardApp(App[int]):
    """An app whose screens can copy, edit and export."""

    def tell(self, text: str, *, warning: bool = False) -> None:
        """Show a line of news for a few seconds; anything lasting belongs in a panel or dialog."""
        self.notify(
            printable(text),
            severity="warning" if warning else "information",
            markup=False,
            timeout=TOLD_SECONDS,
        )

    def tell_error(self, title: str, error: BaseException | str) -> None:
        """Show what went wrong, and what to do, until the person closes it."""
        self.push_screen(TextDialog(title, str(error)))

    def copy(self, text: str) -> None:
        """Put text on the person's clipboard by every way that leads there, and say which were taken."""
        text = text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        by_terminal = len(text.encode()) <= TERMINAL_LIMIT
        if by_terminal:
            self.copy_to_clipboard(text)
        self._copy_by_program(text, by_terminal)

    @work(thread=True, group="copy", exit_on_error=False)
    def _copy_by_program(self, text: str, by_terminal: bool) -> None:
        program = program_for()
        failure = put(text, program) if program is not None else None
        ways = ["the terminal (OSC 52)"] if by_terminal else []
        ways += [program.name] if program is not None and failure is None else []
        if not ways:
            why = failure or "no clipboard program is here"
            told = f"Not copied: too long for the terminal ({len(text)} characters), and {why}"
        else:
            told = f"Copied {len(text)} characters by {' and '.join(ways)}"
            told += f"; {failure}" if failure else ""
        self.call_from_thread(self.tell, told, warning=not ways)

    def edit(self, path: Path) -> None:
        """Open a file in `$VISUAL` or `$EDITOR`, handing it the terminal until the editor ends."""
        try:
            command = editor_command(path)
            with self.suspend():
                status = run_editor(command)
        except SuspendNotSupported:
            self.tell(f"This terminal cannot be handed to an editor; open {path} elsewhere", warning=True)
        except BoresightError as error:
            self.tell_error("Not opened in an editor", error)
        else:
            if status != 0:
                self.tell(f"{command[0]} ended with status {status}", warning=True)

    @work(thread=True, group="export", exit_on_error=False)
    def export(self, run: Path, name: str, header: Sequence[str], rows: Iterable[Row]) -> None:
        """Write rows to a CSV file in the run's `exports/`, without those of private repositories.

        Each row is the label of its repository, or None, and its cells. `rows` is consumed in a thread, so
        it may page through an index.
        """
        try:
            written = export_table(run, name, header, rows)
        except BoresightError as error:
            self.call_from_thread(self.tell_error, "Not exported", error)
            return
        told = f"{counted(written.rows, 'row')} written to {written.file}"
        if written.withheld:
            told += f"; {counted(written.withheld, 'row')} of private repositories withheld"
        self.call_from_thread(self.tell, told)
