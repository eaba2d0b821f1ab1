"""What a graded run's evidence holds for each question: ranked modules, and contexts judged by the facts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from core.questions import Question
from core.rankings import Observation, RunReader
from core.retrievers.protocol import AnswerError
from core.scoring.faithfulness import faithfulness
from core.scoring.graded import GradedAnswer, graded_board
from core.scoring.graded_records import Faithfulness, GradedBoard
from core.scoring.records import Status
from core.scoring.reduction import count_tokens, reduction
from core.scoring.relevance import Embedding, relevance


def read_graded(reader: RunReader, embedding: Embedding | None = None) -> GradedBoard | None:
    """Score a run's graded questions from its verified evidence; None where its bank has none.

    Evidence that differs from its digest counts as missing, and `reader.changed` names it. Without an
    embedding function the columns that need one are None.
    """
    graded = reader.bank.graded
    if graded is None:
        return None
    answers, contexts = _read(reader, graded.questions)
    modules = next(iter(graded.questions.values())).grades
    tokens = _module_tokens(reader, list(modules))
    judged = []
    for key, answer in answers.items():
        context = contexts.get(key)
        if context is not None:
            answer = answer._replace(
                faithfulness=_judged(context, answer.question, embedding),
                reduction=reduction(context, tokens),
            )
        judged.append(answer)
    return graded_board(
        judged,
        {name: features.probe for name, features in reader.features.items()},
        tuple(dict.fromkeys(question.shape for question in graded.questions.values())),
        len(modules),
        None if embedding is None else embedding.name,
    )


def _judged(context: str, question: Question, embedding: Embedding | None) -> Faithfulness:
    judged = faithfulness(context, question.facts)
    if embedding is None:
        return judged
    return judged._replace(**relevance(context, question, embedding.embed)._asdict())


_Key = tuple[str, str]  # candidate, case


def _read(
    reader: RunReader, questions: Mapping[str, Question]
) -> tuple[dict[_Key, GradedAnswer], dict[_Key, str]]:
    answers = {
        (candidate, case_id): GradedAnswer(candidate, question, _unplanned(reader, candidate, case_id))
        for candidate in reader.record.candidates
        for case_id, question in questions.items()
    }
    contexts: dict[_Key, str] = {}
    for seen in reader.observations():
        operation = seen.planned.operation
        if operation.case is None:
            continue
        key = (operation.candidate, operation.case)
        if operation.kind == "ctx":
            text = _context(reader, seen)
            if text is not None:
                contexts[key] = text
        else:
            answers[key] = _answer(reader, seen, questions[operation.case])
    return answers, contexts


def _unplanned(reader: RunReader, candidate: str, case_id: str) -> Status:
    """Return what an answer counts as before any is seen; none is planned on a channel without answers."""
    channels = reader.features[candidate].channels
    return "missing" if reader.cases[case_id].channel in channels else "unsupported"


def _answer(reader: RunReader, seen: Observation, question: Question) -> GradedAnswer:
    candidate = seen.planned.operation.candidate
    if seen.status != "accepted":
        return GradedAnswer(candidate, question, cast(Status, seen.status), seen.error_class)
    try:
        ranking = reader.ranking(seen)
    except AnswerError as error:
        return GradedAnswer(candidate, question, "failed", error.kind)
    return GradedAnswer(candidate, question, "answered", ranked=tuple(place.path for place in ranking))


def _context(reader: RunReader, seen: Observation) -> str | None:
    if seen.status != "accepted":
        return None
    try:
        return reader.context(seen).text
    except AnswerError:
        return None


def _module_tokens(reader: RunReader, modules: list[str]) -> int:
    """Count the tokens of all modules in the frozen tree; what is not there any more counts for nothing."""
    tree = reader.layout.source(reader.record.repositories[0])
    total = 0
    for module in modules:
        path = tree / module
        if path.is_symlink() or not path.is_file():
            continue
        total += count_tokens(path.read_text("utf-8", "replace"))
    return total
