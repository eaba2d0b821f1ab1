"""The choices of a new campaign: what there is to tick, what is said of it, and what stands in its way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from textual.content import Content
from textual.widgets.selection_list import Selection

from core.banks.case import INTENTS, Bank
from core.banks.known_target import choose
from core.campaign.preview import assumed_detectable
from core.campaign.starting import Preset
from core.campaign.yields import ASKS, Yields, head_line, label_for, short_cells
from core.text import printable

PRESELECTED = 3  # of the built-in candidates


class Look(NamedTuple):
    """What was found at the repository and the bank that are typed as `places`."""

    places: tuple[str, ...] = ()
    yields: Yields | None = None
    bank: Bank | None = None
    root: Path | None = None

    @property
    def label(self) -> str:
        """What a campaign about it would be called; empty where that cannot be told."""
        if self.bank is not None:
            return next(iter(self.bank.commits), "") or (label_for(self.root) if self.root else "")
        return self.yields.entry.label if self.yields is not None else ""


def intent_ticks(yields: Yields, ticked: Sequence[str]) -> Iterator[Selection[str]]:
    """Yield the kinds of questions, each with how many cases it could have."""
    for intent in INTENTS:
        line = f"{yields.count(intent):>6,}  {intent:<21} {ASKS[intent]}"
        yield Selection(Content(line), intent, intent in ticked)


def preset_ticks(found: Sequence[Preset]) -> Iterator[Selection[str]]:
    """Yield the candidates that are ready here, the first of the built-in ones ticked."""
    ready = [preset for preset in found if preset.missing is None]
    for preset in ready:
        is_ticked = preset in ready[:PRESELECTED] and preset.entry.get("retriever") == "embedded"
        yield Selection(Content(printable(f"{preset.id:<12} {preset.about}", 200)), preset.id, is_ticked)


def lacking_words(found: Sequence[Preset]) -> str:
    """Return which candidates are not ready here; nothing where all are."""
    lacking = ", ".join(_retriever_words(preset) for preset in found if preset.missing)
    return f"not ready here: {lacking} (adding one to the campaign tells what it lacks)" if lacking else ""


def _retriever_words(preset: Preset) -> str:
    """Name a retriever, and the id that it would have here where that is another: `replay (as "earlier")`."""
    retriever = str(preset.entry.get("retriever", preset.id))
    return retriever if retriever == preset.id else f'{retriever} (as "{preset.id}")'


def repository_words(yields: Yields) -> str:
    """Return which commit is meant, and what was read of it."""
    files = yields.derivation.files
    read = f"{files['python']:,} Python and {files['markdown']:,} Markdown files"
    return f"{head_line(yields.head)} · {read}"


def bank_words(bank: Bank) -> str:
    """Return how many cases a bank has, and about what."""
    asked = ", ".join(f"{label} at {commit[:12]}" for label, commit in bank.commits.items())
    if bank.graded is not None:
        asked = "the one repository that is named"
    return f"{len(bank.cases):,} cases about {asked}"


def amount_fault(yields: Yields, intents: Sequence[str], each: int) -> str | None:
    """Return why no bank can be built with so many cases of each intent, and what to do."""
    if not intents:
        return "tick at least one kind of question"
    if each < 1:
        return "type how many cases of each, at least 1"
    short = short_cells(yields.derivation, intents, each)
    if not short:
        return None
    told = ", ".join(f"{cell.intent} has {cell.have}" for cell in short)
    fewest = min(cell.have for cell in short)
    remedy = f"type {fewest} or less, or untick them" if fewest else "untick them"
    return f"too few for {each} of each: {told}; {remedy}"


def amount_words(yields: Yields, intents: Sequence[str], each: int) -> str:
    """Return how many cases a bank would have, and which difference it could show; raises ShortageError."""
    chosen = choose([yields.derivation], each, intents)
    found = assumed_detectable(chosen)
    could = "are too few to tell small differences"
    if found.value is not None:
        could = f"could show a difference of about {found.value:.2f} in Recall@5"
    return f"{len(chosen):,} cases {could} (if {found.share:.0%} of them came out differently)"
