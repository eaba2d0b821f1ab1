"""What a graded bank is like: questions by shape, grades, facts, and facts that the repository bears out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from core.banks.case import Bank, GradedPart
from core.git import GitRepository
from core.questions import LARGEST_GRADE, Question
from core.repositories import RepositoryEntry
from core.scoring.faithfulness import faithfulness


class ShapeStats(NamedTuple):
    """The questions of one shape; `relevant` and `best` are means of modules a question."""

    shape: str
    questions: int
    relevant: float  # of grade 1 or more
    best: float  # of the highest grade
    facts: float


class FactTold(NamedTuple):
    """A fact that no relevant module of its question bears out, by its position from 0."""

    case_id: str
    fact: int
    missing_words: tuple[str, ...]


class GradedStats(NamedTuple):
    """A graded bank; the last two are None unless its repository was read.

    `grades` counts judgments by grade; `never_relevant` are modules that no question asks for. A fact is
    borne out where all its words occur in one module that its question grades 1 or more.
    """

    questions: int
    modules: int
    shapes: tuple[ShapeStats, ...]
    grades: Mapping[int, int]
    facts: int
    aliases: int
    never_relevant: tuple[str, ...]
    borne_out: int | None = None
    not_borne_out: tuple[FactTold, ...] | None = None


def graded_stats(bank: Bank, entry: RepositoryEntry | None = None) -> GradedStats:
    """Describe a graded bank; with its repository also by the facts that its modules bear out.

    Raises ValueError for a bank that is not graded, InputError where the repository cannot be read.
    """
    if bank.graded is None:
        raise ValueError("the bank is not graded")
    asked = tuple(bank.graded.questions.values())
    modules = sorted({path for question in asked for path in question.grades})
    found = GradedStats(
        questions=len(asked),
        modules=len(modules),
        shapes=tuple(_shapes(asked)),
        grades=_grades(asked),
        facts=sum(len(question.facts) for question in asked),
        aliases=sum(len(fact.aliases) for question in asked for fact in question.facts),
        never_relevant=tuple(
            path for path in modules if not any(question.grades.get(path, 0) for question in asked)
        ),
    )
    if entry is None:
        return found
    missing = tuple(_not_borne_out(asked, _texts(bank.graded, entry)))
    return found._replace(borne_out=found.facts - len(missing), not_borne_out=missing)


def _shapes(asked: Sequence[Question]) -> Iterator[ShapeStats]:
    for shape in dict.fromkeys(question.shape for question in asked):
        own = [question for question in asked if question.shape == shape]
        counts = [(len(q.relevant), len(q.best), len(q.facts)) for q in own]
        relevant, best, facts = (sum(column) / len(own) for column in zip(*counts, strict=True))
        yield ShapeStats(shape, len(own), relevant, best, facts)


def _grades(asked: Sequence[Question]) -> dict[int, int]:
    counts = Counter(grade for question in asked for grade in question.grades.values())
    return {grade: counts[grade] for grade in range(LARGEST_GRADE + 1)}


def _texts(graded: GradedPart, entry: RepositoryEntry) -> dict[str, str]:
    """Return the text of the relevant modules that are there."""
    wanted = {path.encode(): path for question in graded.questions.values() for path in question.relevant}
    with GitRepository(entry.path) as repository:
        return {
            wanted[item.path]: repository.blob(item.oid).decode("utf-8", "replace")
            for item in repository.entries(str(entry.commit))
            if item.is_file and item.path in wanted
        }


def _not_borne_out(asked: Sequence[Question], texts: Mapping[str, str]) -> Iterator[FactTold]:
    for question in asked:
        for number, fact in enumerate(question.facts):
            findings = [
                finding
                for path in question.relevant
                for finding in faithfulness(texts.get(path, ""), [fact]).facts
            ]
            if not any(finding.found for finding in findings):
                nearest = min((finding.missing_words for finding in findings), key=len, default=())
                yield FactTold(question.case_id, number, nearest)
