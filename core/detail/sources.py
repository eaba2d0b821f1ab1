"""A case's targets as they stand in the frozen tree: their lines, their digest, the words they share."""

from __future__ import annotations

from collections.abc import Sequence

from core.banks.case import Case
from core.banks.fields import HISTORICAL
from core.banks.overlap import asked_text, ordered_words, words
from core.banks.rules import RULES
from core.banks.target_text import SourceText
from core.detail.records import Excerpt, Overlap, TargetSource, Witness
from core.detail.source_tree import SourceError, SourceFile, SourceTree
from core.ranking import Location, Target

LINE_CHARACTERS = 400
LINES_BEFORE, LINES_AFTER = 3, 12  # of a target's line
FILE_LINES = 16  # of a target that is a whole file
RESULT_LINES = 3
COMMIT = "the subject of a commit, which is no part of the frozen tree (`boresight bank check` compares it)"
GRADED = "judged by people, so there is no source that it was derived from"


def target_source(tree: SourceTree, target: Target) -> TargetSource:
    """Return a target with the lines around it."""
    try:
        file = tree.file(target.path)
    except SourceError as error:
        return TargetSource(target, None, str(error))
    if target.line > file.line_count:
        return TargetSource(target, None, f"has {file.line_count} lines only")
    first = max(target.line - LINES_BEFORE, 1)
    count = target.line + LINES_AFTER - first + 1 if target.line else FILE_LINES
    return TargetSource(target, _excerpt(file, first, count))


def result_excerpt(tree: SourceTree, location: Location) -> tuple[Excerpt | None, str | None]:
    """Return the first lines of a result, or why there are none."""
    try:
        file = tree.file(location.path)
    except SourceError as error:
        return None, str(error)
    first = location.line or 1
    if first > max(file.line_count, 1):
        return None, f"has {file.line_count} lines only"
    count = RESULT_LINES
    if location.line is not None and location.end_line is not None:
        count = min(count, max(location.end_line - location.line, 0) + 1)
    return _excerpt(file, first, count), None


def witness_of(case: Case, tree: SourceTree) -> Witness:
    """Return what a case was derived by, with its source compared again."""
    if not case.evidence.source_sha256:
        return Witness(case.evidence.rule, case.query, None, "unknown", GRADED)
    known = (case.evidence.rule, asked_text(case), case.evidence.source_sha256)
    if case.schema_version == HISTORICAL:
        return Witness(*known, "unknown", COMMIT)
    try:
        digest = tree.file(case.targets[0].path).sha256
    except SourceError as error:
        return Witness(*known, "unknown", f"its source is {error}")
    return Witness(*known, "matches" if digest == case.evidence.source_sha256 else "differs")


def overlap_of(case: Case, tree: SourceTree) -> Overlap | None:
    """Return which of a query's words its targets hold; None where a target's text is not there."""
    try:
        texts = [SourceText(tree.file(target.path).data) for target in case.targets]
    except SourceError:
        return None
    pairs = list(zip(texts, case.targets, strict=True))
    whole = _together([text.of(target) for text, target in pairs])
    if whole is None:
        return None
    rule, asked = RULES.get(case.intent), ordered_words(asked_text(case))
    beyond = None
    if rule is not None:
        beyond = _together([text.beyond(target, rule, asked_text(case)) for text, target in pairs])
    held, elsewhere = words(whole), words(beyond or "")
    return Overlap(
        tuple(word for word in asked if word in held),
        tuple(word for word in asked if word not in held),
        None if beyond is None else tuple(word for word in asked if word in elsewhere),
    )


def _excerpt(file: SourceFile, first: int, count: int) -> Excerpt:
    lines = file.lines(first, count, LINE_CHARACTERS)
    return Excerpt(first, lines, max(file.line_count - (first - 1 + len(lines)), 0))


def _together(parts: Sequence[str | None]) -> str | None:
    known = [part for part in parts if part is not None]
    return "\n".join(known) if len(known) == len(parts) else None
