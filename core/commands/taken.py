"""Says what a new run took over from another."""

from __future__ import annotations

from core import api
from core.commands.output import narrate
from core.text import printable


def tell_taken_over(taken: api.TakenOver) -> None:
    """Print how many operations were taken over, and for each cell that was not taken whole, why."""
    narrate(
        f"took over {taken.taken} of {taken.planned} operations from {printable(str(taken.source))}"
        + (":" if taken.cells else "")
    )
    for cell in taken.cells:
        why = f" ({printable(cell.reason, 400)})" if cell.reason else ""
        narrate(f"  {cell.candidate}/{cell.repository}: {cell.taken} of {cell.planned}{why}")
