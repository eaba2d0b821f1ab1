"""A case in full as text to read: its question, where it comes from, and its targets with their source."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from textual.content import Content

from core.detail.records import CaseView, Excerpt, Overlap, TargetSource, Witness
from core.questions import Question
from core.ranking import Location, Target
from core.reports.graded_wording import expected_words
from tui.text import safe

_QUERY_CHARACTERS = 600
_DIGEST_CHARACTERS = 8
_WORDS_TOLD = 8
_GRADED_LINES = 1
MUTED, GOOD, BAD, WARN = "$text-muted", "$text-success", "bold $text-error", "$text-warning"


def head_text(view: CaseView, place: str) -> Content:
    """Return the question, the case's place in the list, and what it was derived by."""
    row, question = view.row, view.question
    intent = row.intent if question is None else f"shape {row.intent}"
    matched = f"matched: {view.level}" if question is None else "matched: modules by path"
    facts = " · ".join((intent, row.repository, f"channel {row.channel}", matched))
    lines = [
        Content.assemble(styled(place, MUTED), "  ", safe(row.id, 120)),
        styled(row.query, "bold", _QUERY_CHARACTERS),
        styled(facts, MUTED),
        _witness(view.witness) if question is None else _grades(question),
        _overlap(view.overlap),
    ]
    return joined(lines)


def targets_text(view: CaseView, most: int | None = None) -> Content:
    """Return each target with its lines, `most` of them where the screen is low."""
    lines: list[Content] = []
    for at, source in enumerate(view.targets, start=1):
        number = f" {at} of {len(view.targets)}" if len(view.targets) > 1 else ""
        place, grade = place_of(source.target), ""
        if view.question is not None:  # which can have many targets, all of them whole files
            place = source.target.path
            grade = f"  grade {view.question.grades.get(place, 0)}"
            source = _beginning(source)
        lines.append(
            Content.assemble(styled(f"target{number}  ", MUTED), styled(place, "bold"), styled(grade, MUTED))
        )
        lines.extend(_source_lines(source if most is None else _around(source, most)))
    return joined(lines)


def _beginning(source: TargetSource) -> TargetSource:
    """Return a target with the first of its lines only."""
    found = source.excerpt
    if found is None:
        return source
    cut = max(len(found.lines) - _GRADED_LINES, 0)
    excerpt = Excerpt(found.first, found.lines[:_GRADED_LINES], found.more + cut)
    return source._replace(excerpt=excerpt)


def _around(source: TargetSource, most: int) -> TargetSource:
    """Return a target with few of its lines, from the one before its own on."""
    found = source.excerpt
    if found is None or len(found.lines) <= most:
        return source
    start = min(max(source.target.line - found.first - 1, 0), len(found.lines) - most)
    left = len(found.lines) - start - most
    excerpt = Excerpt(found.first + start, found.lines[start : start + most], found.more + left)
    return source._replace(excerpt=excerpt)


def place_of(place: Target | Location) -> str:
    """Return a place as `path:line-end kind`."""
    text = place.path
    if place.line:
        text += f":{place.line}"
    end = place.end_line if isinstance(place, Location) else None
    if end is not None and end != place.line:
        text += f"-{end}"
    return f"{text} {place.kind}" if place.kind else text


def place_words(target: Target) -> str:
    """Return a target as `path:line`, as editors and searches take it."""
    return f"{target.path}:{target.line}" if target.line else target.path


def excerpt_lines(excerpt: Excerpt, marked: int | None = None) -> Iterator[Content]:
    """Yield numbered lines; the marked one bears a mark."""
    width = len(str(excerpt.first + len(excerpt.lines)))
    for number, line in enumerate(excerpt.lines, start=excerpt.first):
        mark = "▶" if number == marked else " "
        text = safe(line.expandtabs(4))
        yield Content.assemble(
            styled(f" {mark} {number:>{width}} ", GOOD if number == marked else MUTED),
            text.stylize("bold") if number == marked else text,
        )


def styled(text: str, style: str, limit: int = 400) -> Content:
    """Return text from anywhere, made safe, in a style."""
    return safe(text, limit).stylize(style)


def joined(lines: Iterable[Content]) -> Content:
    """Return lines one below the other."""
    return Content("\n").join(lines)


def _source_lines(source: TargetSource) -> Iterator[Content]:
    if source.excerpt is None:
        yield styled(f"   ✖ {source.problem}", BAD)
        return
    yield from excerpt_lines(source.excerpt, source.target.line or None)
    if source.excerpt.more:
        yield styled(f"   … {source.excerpt.more:,} more lines (e opens the file)", MUTED)


def _witness(witness: Witness) -> Content:
    if witness.rule and witness.source_sha256 is None:
        return safe(f"{witness.rule}: {witness.problem}")
    rule = f"derived by {witness.rule}" if witness.rule else "derivation unknown"
    digest = f" (sha256 {witness.source_sha256[:_DIGEST_CHARACTERS]}…)" if witness.source_sha256 else ""
    if witness.check == "matches":
        return Content.assemble(rule, " · ", styled(f"✔ source holds its digest{digest}", GOOD))
    if witness.check == "differs":
        return Content.assemble(rule, " · ", styled(f"✖ source differs from its digest{digest}", BAD))
    return Content.assemble(safe(rule), " · ", styled(f"? not compared: {witness.problem}", WARN))


def _grades(question: Question) -> Content:
    others = len(question.grades) - len(question.relevant)
    return styled(f"graded by people: {expected_words(question)}; {others} others 0", "", 600)


def _overlap(overlap: Overlap | None) -> Content:
    if overlap is None:
        return styled("lexical overlap unknown: the target's text is not there", MUTED)
    asked = len(overlap.shared) + len(overlap.absent)
    if not asked:
        return styled("lexical overlap: the query holds no words", MUTED)
    words = f"{len(overlap.shared)} of {asked} query words stand in the target"
    if overlap.beyond_witness is not None:
        words += f", {len(overlap.beyond_witness)} beyond where it was copied from"
    if overlap.absent:
        more = "…" if len(overlap.absent) > _WORDS_TOLD else ""
        words += f" (not: {', '.join(overlap.absent[:_WORDS_TOLD])}{more})"
    return safe(words)
