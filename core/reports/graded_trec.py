"""TREC run and qrels files of a graded bank: documents are modules, judgments are their grades.

A module is named as `core.docno` names a whole file, `PATH:0:file`. Every module of the repository is judged,
grade 0 included, so that R, P, RR, Success and nDCG of other evaluators are our numbers; their nDCG needs the
gains 0, 1, 3 and 7 (ir-measures: `nDCG(gains={0: 0, 1: 1, 2: 3, 3: 7})@5`), as by itself it takes the grades.
A question that failed or has no results has no lines in a run: average over all questions of the qrels.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from core.docno import docno
from core.questions import Question
from core.scoring.graded_records import GradedCandidate


def graded_qrels(questions: Iterable[Question]) -> Iterator[str]:
    """Yield the lines of TREC qrels, `CASE 0 DOCNO GRADE`, for every module of each question, by path."""
    for question in questions:
        for path, grade in sorted(question.grades.items()):
            yield f"{question.case_id} 0 {docno(path, 0, 'file')} {grade}\n"


def graded_run(found: GradedCandidate) -> Iterator[str]:
    """Yield the lines of a TREC run over modules, with scores that fall strictly."""
    for query in found.queries:
        size = len(query.ranked)
        for rank, path in enumerate(query.ranked, start=1):
            name = docno(path, 0, "file")
            yield f"{query.question.case_id} Q0 {name} {rank} {size - rank + 1} {found.candidate}\n"
