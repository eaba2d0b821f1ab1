"""A graded question's facts as text to read: which of them a context holds, and where."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from textual.content import Content

from core.detail.records import FactView
from core.reports.graded_wording import fact_words, is_contradicted
from tui.cases.case_text import BAD, GOOD, MUTED, WARN, styled

_FACT_CHARACTERS = 300


def facts_line(facts: Sequence[FactView]) -> Content:
    """Return in a line how many facts the context holds."""
    found = sum(view.finding.found for view in facts)
    denied = sum(is_contradicted(view.finding) for view in facts)
    style = BAD if denied else GOOD if found == len(facts) else WARN
    more = f", {denied} contradicted" if denied else ""
    return styled(f"facts: {found} of {len(facts)} in the context{more} (c shows where)", style)


def fact_lines(facts: Sequence[FactView]) -> Iterator[Content]:
    """Yield each fact with a mark, what the context says of it, and the place where it does."""
    for view in facts:
        mark, style = _mark(view)
        yield Content.assemble(styled(f"{mark} ", style), styled(view.finding.fact, "bold", _FACT_CHARACTERS))
        yield styled(f"    {_words(view)}", style)
        if view.line is not None:
            yield styled(f"    line {view.line}: “{' '.join(view.quote.split())}”", MUTED)


def _words(view: FactView) -> str:
    return " ".join(fact_words(view.finding).split())


def _mark(view: FactView) -> tuple[str, str]:
    if is_contradicted(view.finding):
        return "✖", BAD
    return ("✔", GOOD) if view.finding.found else ("—", WARN)
