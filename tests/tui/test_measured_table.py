"""Columns are as wide as what stands in them, however early their lines were drawn."""

from __future__ import annotations

from textual.app import App, ComposeResult

from tests.support.screens import shown, until
from tui.widgets.measured_table import MeasuredTable


class Host(App[None]):
    """Nothing but a table."""

    def compose(self) -> ComposeResult:
        yield MeasuredTable[str]()


async def test_lines_drawn_before_their_columns_were_measured_do_not_stay() -> None:
    app = Host()
    async with app.run_test(size=(60, 10)) as pilot:
        table = app.query_one(MeasuredTable)
        table.add_column("a")
        table.add_row("a text that is longer than the head of its column")
        for line in range(2):
            table.render_line(line)
        await until(pilot, lambda: "longer than the head of its column" in shown(app))
