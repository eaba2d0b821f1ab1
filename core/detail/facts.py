"""What a context says of a graded question's facts, and where in it."""

from __future__ import annotations

from collections.abc import Iterator

from core.detail.records import FactView
from core.questions import Question
from core.scoring.faithfulness import faithfulness

QUOTE_CHARACTERS = 240


def fact_views(context: str, question: Question) -> tuple[FactView, ...]:
    """Return a question's facts, in their order, as a context bears them out or not."""
    return tuple(_views(context, question))


def _views(context: str, question: Question) -> Iterator[FactView]:
    for finding in faithfulness(context, question.facts).facts:
        if finding.start is None or finding.end is None:
            yield FactView(finding)
            continue
        stretch = context[finding.start : finding.end]
        quote = stretch[:QUOTE_CHARACTERS] + ("…" if len(stretch) > QUOTE_CHARACTERS else "")
        yield FactView(finding, context.count("\n", 0, finding.start) + 1, quote)
